"""How a checkout is built: its folders, the imports between them, circles, and floors.

python -m benchmarks structure [FOLDER ...]    checkouts to compare; the default is this one

A room is a Python file of one of the packages; generated ones are left out. An arrow leads from a file to one that it
imports, at any depth of its code, but not for type checkers only, as Python never makes those imports. Files on a
circle reach each other. The floor of a file is one more than the highest floor that it imports. The same is counted
between the packages.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGES = ("base", "components", "fmus", "master", "ssp", "dockfmu")
HEADS = (
    "checkout",
    "folders",
    "rooms",
    "lines",
    "arrows",
    "on circles",
    "floors",
    "arrows of packages",
    "their floors",
)

Graph = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Return the modules of a checkout by their dotted names from its root."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a module imports, without what is for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module and child.level == 0:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from _imports(child)


def files_graph(found: Mapping[str, Path]) -> Graph:
    """Return which modules each module imports."""
    graph: dict[str, set[str]] = {name: set() for name in found}
    for name, path in found.items():
        for target in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            parts = target.split(".")
            # all packages but the public one stand below `dockfmu` or, in older checkouts, at the top
            if len(parts) > 1 and parts[0] == "dockfmu" and parts[1] in PACKAGES:
                parts = parts[1:]
            while parts and ".".join(parts) not in found:
                parts.pop()
            if parts and ".".join(parts) != name:
                graph[name].add(".".join(parts))
    return graph


def package_graph(files: Graph) -> Graph:
    """Return which packages each package imports."""
    graph: dict[str, set[str]] = {name.partition(".")[0]: set() for name in files}
    for name, targets in files.items():
        own = name.partition(".")[0]
        graph[own] |= {target.partition(".")[0] for target in targets} - {own}
    return graph


def circles(graph: Graph) -> list[set[str]]:
    """Return the sets of nodes that reach each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for target in graph[todo.pop()] - seen:
                seen.add(target)
                todo.append(target)
        reached[start] = seen
    found: list[set[str]] = []
    for start in graph:
        ring = {other for other in reached[start] if start in reached[other]}
        if ring and ring not in found:
            found.append(ring)
    return found


def floors(graph: Graph) -> int:
    """Return the number of floors."""
    ring = {name: frozenset(circle) for circle in circles(graph) for name in circle}
    height: dict[frozenset[str], int] = {}

    def floor(node: frozenset[str]) -> int:
        if node not in height:
            below = {ring.get(target, frozenset({target})) for name in node for target in graph[name]} - {node}
            height[node] = 1 + max((floor(target) for target in below), default=0)
        return height[node]

    return max(floor(ring.get(name, frozenset({name}))) for name in graph)


def measure(root: Path) -> tuple[object, ...]:
    """Return the row of a checkout."""
    found = modules(root)
    every = files_graph(found)
    own = {name: path for name, path in found.items() if "generated" not in path.parts}
    files = {name: every[name] & set(own) for name in own}
    packages = package_graph(files)
    return (
        root.name,
        len({path.parent for path in own.values()}),
        len(own),
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in own.values()),
        sum(map(len, files.values())),
        sum(map(len, circles(files))),
        floors(files),
        sum(map(len, packages.values())),
        floors(packages),
    )


def main() -> None:
    """Print a row for each checkout."""
    folders = [Path(word) for word in sys.argv[1:]] or [Path(__file__).resolve().parents[2]]
    for row in (HEADS, *(measure(folder.resolve()) for folder in folders)):
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
