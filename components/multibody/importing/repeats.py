"""Elements of MJCF that stand for many: counted before MuJoCo makes them, which could take it for ever."""

from __future__ import annotations

import re
from pathlib import Path

from dockfmu.base.given_files import read_text
from dockfmu.base.number_text import decimal_number

MOST = 10_000
"""Copies that a description may ask for."""

_TOKEN = re.compile(r"<(/?)(replicate|composite|flexcomp|include)\b([^>]*)>")
_VALUE = r"""\b{name}\s*=\s*["']([^"']*)["']"""


def most_copies(text: str, folder: Path, seen: frozenset[Path] = frozenset()) -> float:
    """Return an upper bound of the copies that the elements of a text ask for, with those of included files."""
    open_counts: list[float] = []
    here, total = 1.0, 0.0
    for closing, tag, attributes in _TOKEN.findall(text):
        if closing:
            if tag == "replicate" and open_counts:
                here /= open_counts.pop()
            continue
        if tag == "include":
            total += here * _included(_attribute(attributes, "file"), folder, seen)
            continue
        copies = 1.0
        for count in _attribute(attributes, "count").split():
            copies *= max(_number(count), 1.0)
        total += here * copies
        if tag == "replicate" and not attributes.endswith("/"):
            open_counts.append(copies)
            here *= copies
    return total


def _included(name: str, folder: Path, seen: frozenset[Path]) -> float:
    file = folder / name
    if not name or file in seen:
        return 0.0
    try:
        return most_copies(read_text(file), folder, seen | {file})
    except (OSError, ValueError):
        # MuJoCo says what is wrong with it
        return 0.0


def _attribute(attributes: str, name: str) -> str:
    found = re.search(_VALUE.format(name=name), attributes)
    return found[1] if found else ""


def _number(text: str) -> float:
    try:
        return decimal_number(text)
    except ValueError:
        return 1.0
