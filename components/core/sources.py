"""Source files that a module's compiled code depends on, and their digest: the key of every build cache."""

from __future__ import annotations

import ast
import hashlib
import os
from functools import cache
from pathlib import Path

from dockfmu.base.cache import ROOT


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Return the files that `file` imports directly.

    Only `dockfmu.components` and `dockfmu.base` count, and modules beside `file` that it imports by their bare names.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    files: set[Path] = set()
    for name in names:
        root, *inside = name.split(".")
        if root == "dockfmu" and inside and inside[0] in ("components", "base"):
            path = ROOT.joinpath(*inside)
            files.update(p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())
        elif (beside := file.parent / f"{name}.py").is_file():
            files.add(beside)
    return frozenset(files)


@cache
def sources(file: Path) -> tuple[Path, ...]:
    """Return `file` and all files that it imports, directly or indirectly (see `_imports`), sorted."""
    seen: set[Path] = set()
    waiting = [Path(file).resolve()]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(_imports(current))
    return tuple(sorted(seen))


@cache
def digest(file: Path) -> str:
    """Return the hex digest of the contents of `sources(file)`; independent of the location of the checkout."""
    total = hashlib.sha256()
    for source in sources(file):
        total.update(os.path.relpath(source, ROOT).encode() + b"\0" + source.read_bytes() + b"\0")
    return total.hexdigest()
