"""Shared libraries that FMUs bring along: one process loads only one library of each name."""

from __future__ import annotations

from pathlib import Path

from dockfmu.base.temporary import PREFIX

UNPACKED = "fmu"
"""The purpose of the temporary folders of unpacked FMUs."""


def foreign_libraries(folder: Path) -> list[tuple[str, str]]:
    """Return (name, FMU folder) of each library in an unpacked FMU for which that of another FMU is loaded.

    The dynamic linker takes a library that it needs by its name (soname): if another FMU has loaded one of this name,
    the FMU gets that one, of whatever version, instead of its own. Found on Linux only.
    """
    own = {path.name: path for path in folder.glob("binaries/*/*") if ".so" in path.name}
    if len(own) < 2:
        return []
    loaded = _loaded()
    found = []
    for name, path in own.items():
        places = loaded.get(name, set())
        others = [place for place in places if _is_of_an_fmu(place)]
        if str(path) not in places and others and not _equal(path, Path(others[0])):
            found.append((name, "the one that another FMU has loaded"))
    return found


def _is_of_an_fmu(place: str) -> bool:
    parts = Path(place).parts
    return "binaries" in parts and any(part.startswith(f"{PREFIX}{UNPACKED}-") for part in parts)


def _equal(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:  # unpacked FMUs are removed when they are closed
        return False


def _loaded() -> dict[str, set[str]]:
    """Return the files of the libraries of this process by name."""
    found: dict[str, set[str]] = {}
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return found
    for line in lines:
        place = line[73:].strip().removesuffix(" (deleted)")
        if place.startswith("/"):
            found.setdefault(Path(place).name, set()).add(place)
    return found
