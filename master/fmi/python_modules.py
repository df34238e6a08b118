"""The Python modules that FMUs of pythonfmu load into this process.

If two FMUs have modules of the same name, pythonfmu silently runs the first one for both FMUs.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from dockfmu.master.fmi import archive

_MARKER = "resources/slavemodule.txt"

_loaded: dict[str, tuple[str, str]] = {}
"""Maps a module to (digest of the FMU, its name)."""


def clash(file: Path) -> str | None:
    """Return why an FMU cannot be loaded in this process, None if it can."""
    modules = _modules(file)
    content = archive.digest(file) if modules else ""
    for module in sorted(modules):
        first, name = _loaded.get(module, (content, ""))
        if first != content:
            return f"its Python module {module!r} has the same name as one of {name}, which this process has loaded"
    return None


def register(file: Path) -> None:
    """Register the modules of an FMU as loaded in this process."""
    if modules := _modules(file):
        _loaded.update(dict.fromkeys(modules, (archive.digest(file), file.name)))


def _modules(file: Path) -> set[str]:
    """Return the names of the modules in an FMU of pythonfmu, none for others."""
    members = archive.members(file)
    if _MARKER not in members:
        return set()
    modules = {_module(PurePosixPath(name).relative_to("resources")) for name in members if _is_python(name)}
    return modules - {"pythonfmu"}


def _is_python(name: str) -> bool:
    return name.startswith("resources/") and name.endswith(".py")


def _module(path: PurePosixPath) -> str:
    """Return the name under which a file of the resources is imported: that of its package, or its own."""
    return path.parts[0] if len(path.parts) > 1 else path.stem
