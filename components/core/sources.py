"""Source files that a module's compiled code depends on, and their digest: the key of every build cache."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

from dockfmu.base.cache import ROOT


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Return the files that `file` imports directly.

    Only `dockfmu.components`, `dockfmu.base` and the package of `file` itself count, and modules beside `file` that it
    imports by their bare names.
    """
    names: set[tuple[Path, str]] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update((_root(file, alias.name), alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = f"{node.module}." if node.module else ""
            found = [start.removesuffix("."), *(f"{start}{alias.name}" for alias in node.names)]
            names.update((file.parents[node.level - 1] if node.level else _root(file, name), name) for name in found)
    files: set[Path] = set()
    for root, name in names:
        path = root.joinpath(*name.removeprefix("dockfmu.").split(".") if root == ROOT else name.split("."))
        files.update(p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())
    return frozenset(files)


def _root(file: Path, name: str) -> Path:
    """Return the folder below which the module `name` that `file` imports by its full name is looked for."""
    first, _, rest = name.partition(".")
    if first == "dockfmu" and rest.split(".")[0] in ("components", "base"):
        return ROOT
    return next((parent for parent in _packages(file) if parent.name == first), file).parent


def _packages(file: Path) -> list[Path]:
    """Return the folders of the packages that hold `file`, from the inside outward."""
    found: list[Path] = []
    while (found[-1] if found else file).parent.joinpath("__init__.py").is_file():
        found.append((found[-1] if found else file).parent)
    return found


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


def kernel_sources(file: Path) -> tuple[Path, ...]:
    """Return the `sources` of a file with kernels on whose text their machine code can depend.

    Without `dockfmu.base` and `dockfmu.components.core`: what a kernel refers to there is named by its content
    (`dockfmu.base.content.digest_of`), and the compiler and the decorator of kernels are in the key by themselves.
    """
    floors = ROOT / "base", ROOT / "components" / "core"
    return tuple(source for source in sources(file) if not any(source.is_relative_to(floor) for floor in floors))


def named_sources(file: Path) -> dict[str, Path]:
    """Return `sources(file)` by names that do not depend on where dockfmu and the package of `file` are."""
    outermost = (_packages(Path(file).resolve()) or [Path(file).resolve()])[-1].parent
    named = {}
    for source in sources(file):
        root = ROOT if source.is_relative_to(ROOT) else outermost
        named[source.relative_to(root).as_posix() if source.is_relative_to(root) else source.name] = source
    return named


@cache
def digest(file: Path) -> str:
    """Return the hex digest of the contents of `sources(file)`; independent of the location of the checkout."""
    return _digest(named_sources(file))


@cache
def kernel_digest(file: Path) -> str:
    """Return the hex digest of the contents of `kernel_sources(file)`; independent of the location of the checkout."""
    kept = kernel_sources(file)
    return _digest({name: source for name, source in named_sources(file).items() if source in kept})


def _digest(named: dict[str, Path]) -> str:
    total = hashlib.sha256()
    for name, source in named.items():
        total.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
    return total.hexdigest()
