"""The TOML files of systems: those that come with dockfmu, and files that extend others.

This module imports neither physics nor master, so that `dockfmu list` takes a fraction of a second.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dockfmu.base.cache import ROOT
from dockfmu.base.given_files import LARGEST, read_toml
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.declare.toml.tables import DeclarationError, Table

SYSTEMS = ROOT / "ssp" / "systems"
GROUP = "dockfmu.systems"
"""Entry points of installed packages: `mine = "my_package.systems"` names a package that holds .toml files."""
_FILE = re.compile(r"\.(fmu|toml|urdf|xml)$")
STANDARDS = SYSTEMS.parent / "standards"


def names() -> list[str]:
    """Return the names of the systems that come with dockfmu, then of those of installed packages."""
    return list(_named_files())


def own_names() -> list[str]:
    """Return the names of the systems that come with dockfmu."""
    return sorted(file.stem for file in SYSTEMS.glob("*.toml"))


def system_file(name: str) -> Path:
    """Return the file of the system called `name`.

    Raises DeclarationError, with near matches, for a name that no system has or that systems of several packages have.
    """
    known = _named_files()
    if name not in known and _is_component(name):
        raise DeclarationError(f"{name}: this is a component, no system; `dockfmu build {name}` makes its FMU")
    if name not in known:
        hint = did_you_mean(name, known) or "; `dockfmu list` names all, and a file ends in .ssp or .toml"
        raise DeclarationError(f"there is no system {shown(name)}{hint}")
    if len(known[name]) > 1:
        places = ", ".join(map(str, known[name]))
        raise DeclarationError(f"several systems are called {name!r}: {places}; name the file of one")
    return known[name][0]


def _is_component(name: str) -> bool:
    """Return whether the catalogue has a component of this name."""
    # completion and lists of systems need no numpy
    from dockfmu.fmus import catalogue

    return name in catalogue.names()


def _named_files() -> dict[str, list[Path]]:
    """Return the files of all named systems, by their names."""
    found = {name: [SYSTEMS / f"{name}.toml"] for name in own_names()}
    for folder in _plugged():
        for file in sorted(folder.glob("*.toml")):
            found.setdefault(file.stem, []).append(file)
    return found


@cache
def _plugged() -> tuple[Path, ...]:
    """Return the folders of systems of installed packages: the packages that entry points of GROUP name."""
    specs = [find_spec(point.value) for point in entry_points(group=GROUP)]
    return tuple(Path(place) for spec in specs if spec is not None for place in spec.submodule_search_locations or ())


def description(name: str) -> str:
    """Return the description of a named system. Raises DeclarationError."""
    file = system_file(name)
    text: str = Table(read_tables(file), str(file)).text("description", "")
    return text


def read_tables(file: Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the tables of a file, laid over those of its standard, over those that it extends.

    Raises DeclarationError.
    """
    content = _content(file)
    extended = _extended(file, content, above)
    content.pop("extends", None)
    tables = {} if extended is None else read_tables(extended, (*above, file.resolve()))
    return _merged(_merged(tables, _standard(file, content)), content)


def _standard(file: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Take the name of a standard out of the content of `file`, and return the tables of the standard."""
    if "standard" not in content:
        return {}
    name = Table(content, str(file)).text("standard")
    content.pop("standard")
    known = sorted(path.stem for path in STANDARDS.glob("*.toml"))
    if name not in known:
        raise DeclarationError(f"{file}: standard = {name!r}: there is {', '.join(known)}{did_you_mean(name, known)}")
    tables = _content(STANDARDS / f"{name}.toml")
    tables.pop("description", None)
    return tables


def files_of(file: Path) -> list[Path]:
    """Return a file, the files that it extends or names, and those of its components' folders: what moves with it.

    Those of dockfmu are left out. The file itself always comes first. Raises DeclarationError.
    """
    found: list[Path] = []
    named: dict[Path, None] = {}
    last: Path | None = file
    while last is not None and (not found or last.parent.resolve() != SYSTEMS):
        found.append(last)
        content = _content(last)
        named |= dict.fromkeys(place for place in map(Path, _places(content, last.parent)) if place.exists())
        last = _extended(last, content, tuple(path.resolve() for path in found[:-1]))
    return found + [inner for place in named for inner in _files_in(place)]


def _files_in(place: Path) -> list[Path]:
    """Return a file, or all files of a folder without what Python keeps there."""
    inside = [file for file in sorted(place.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]
    return inside if place.is_dir() else [place]


def read_plain(file: Path, most: int = LARGEST) -> dict[str, Any]:
    """Return the tables of a file as they stand there; `most` is the largest size, bytes. Raises DeclarationError."""
    try:
        return read_toml(file, most)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeclarationError(f"{file}: {reason}") from error


def _content(file: Path) -> dict[str, Any]:
    content = read_plain(file)
    _places(content, file.parent)
    return content


def _places(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Return the files and folders that the elements and scenes of a file name, made absolute in `content`.

    These are an `fmu`, the `model` of a multibody system, a component with a separator, "./hinge", and options that
    have one or end like a file, "modes.toml".
    """
    found: list[str] = []
    elements = content.get("elements")
    for element in elements.values() if isinstance(elements, dict) else ():
        if not isinstance(element, dict):
            continue
        options = element.get("options")
        places: list[tuple[dict[str, Any], list[str]]] = [(element, ["component", "fmu", "model"])]
        places += [(options, list(options))] if isinstance(options, dict) else []
        for table, keys in places:
            for key in keys:
                text = table.get(key)
                if isinstance(text, str) and ("/" in text or _FILE.search(text)):
                    table[key] = os.path.normpath(folder.absolute() / text)
                    found.append(table[key])
    scene = content.get("scene")
    for shapes in scene.values() if isinstance(scene, dict) else ():
        for shape in shapes if isinstance(shapes, list) else ():
            if isinstance(shape, dict) and isinstance(shape.get("file"), str):
                shape["file"] = os.path.normpath(folder.absolute() / shape["file"])
                found.append(shape["file"])
    return found


def _extended(file: Path, content: Mapping[str, Any], above: tuple[Path, ...]) -> Path | None:
    """Return the file that the content of `file` extends, if any; it must not be one of `above`."""
    if "extends" not in content:
        return None
    base = f"{Table(content, str(file)).text('extends')}.toml"
    if Path(base).is_absolute():
        raise DeclarationError(f"{file}: extends {base}: name it from the folder of this file, so that both can move")
    found = next((folder / base for folder in (file.parent, SYSTEMS) if (folder / base).is_file()), None)
    if found is None or found.resolve() in (*above, file.resolve()):
        raise DeclarationError(f"{file}: extends {base}, which {'extends it' if found else 'does not exist'}")
    return found


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the tables of `over` laid over it, table by table."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both and "value" not in value else value
    return merged
