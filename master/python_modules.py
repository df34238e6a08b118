"""Which Python modules FMUs of pythonfmu bring into this process.

Two modules of one name in one process: pythonfmu would run the first for both FMUs, without a word.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from master import archive

_MARKER = "resources/slavemodule.txt"

_brought: dict[str, tuple[str, str]] = {}
"""module -> (digest of the FMU, its name)"""


def clash(file: Path) -> str | None:
    """What stands against loading an FMU in this process; if nothing does, its modules count as loaded."""
    members = archive.members(file)
    if _MARKER not in members:
        return None
    content = archive.digest(file)
    modules = {_module(PurePosixPath(name).relative_to("resources")) for name in members if _is_python(name)}
    modules -= {"pythonfmu"}
    for module in sorted(modules):
        first, name = _brought.get(module, (content, ""))
        if first != content:
            return f"its Python module {module!r} has the name of one of {name}, which this process has loaded"
    _brought.update(dict.fromkeys(modules, (content, file.name)))
    return None


def _is_python(name: str) -> bool:
    return name.startswith("resources/") and name.endswith(".py")


def _module(path: PurePosixPath) -> str:
    """The name under which a file of the resources is imported: that of its package, or its own."""
    return path.parts[0] if len(path.parts) > 1 else path.stem
