"""The TOML files of systems: those that come with dockfmu, and files that extend others.

This module imports neither physics nor master, so that `dockfmu list` takes a fraction of a second.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dockfmu.base.cache import ROOT
from dockfmu.base.names import did_you_mean
from dockfmu.declare.toml.tables import DeclarationError, Table

SYSTEMS = ROOT / "ssp" / "systems"
STANDARDS = SYSTEMS.parent / "standards"


def names() -> list[str]:
    """Return the names of the systems that come with dockfmu."""
    return sorted(file.stem for file in SYSTEMS.glob("*.toml"))


def description(name: str) -> str:
    """Return the description of a system that comes with dockfmu. Raises DeclarationError."""
    file = SYSTEMS / f"{name}.toml"
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
    """Return a file and the files that it extends, without those of dockfmu: all that must be moved with it.

    The file itself always comes first. Raises DeclarationError.
    """
    found: list[Path] = []
    last: Path | None = file
    while last is not None and (not found or last.parent.resolve() != SYSTEMS):
        found.append(last)
        last = _extended(last, _content(last), tuple(path.resolve() for path in found[:-1]))
    return found


def _content(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeclarationError(f"{file}: {reason}") from error


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
