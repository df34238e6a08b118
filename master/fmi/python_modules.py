"""Which Python modules FMUs of pythonfmu bring into this process.

Two modules of one name in one process: pythonfmu would run the first for both FMUs, without a word.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from master.fmi import archive

_MARKER = "resources/slavemodule.txt"

_loaded: dict[str, tuple[str, str]] = {}
"""module -> (digest of the FMU, its name)"""


def clash(file: Path) -> str | None:
    """Return why an FMU cannot be loaded in this process, None if it can."""
    modules = _modules(file)
    content = archive.digest(file) if modules else ""
    for module in sorted(modules):
        first, name = _loaded.get(module, (content, ""))
        if first != content:
            return f"its Python module {module!r} has the name of one of {name}, which this process has loaded"
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
