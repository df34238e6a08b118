"""Names of variables and elements: near matches for a misspelled one, patterns, elements of arrays, owners."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable

_SUBSCRIPTED = re.compile(r"(.*)\[(\d+(?:,\d+)*)\]")
_MUCH_LESS = 0.2
"""Difference in the ratio of difflib from the best match, beyond which a match is left out."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean ...?" with the names most similar to `name`, or an empty string if none is.

    Names that end in `name` come first: `mass` suggests `parameters.mass`. Names that are much less similar than the
    best one are left out.
    """
    known = list(names)
    suggestions = [other for other in known if other.endswith(f".{name}")] if name else []
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    similarity = [difflib.SequenceMatcher(None, other, name).ratio() for other in close]
    close = [other for other, ratio in zip(close, similarity, strict=True) if ratio > similarity[0] - _MUCH_LESS]
    suggestions = list(dict.fromkeys([*suggestions, *close]))[:3]
    return f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern selects, in the given order.

    `*` matches any text, and no other character is special. The name of a group or an array selects everything in it:
    `chaser.body` selects `chaser.body.position[1]`.
    """
    form = re.compile(".*".join(map(re.escape, pattern.split("*"))) + r"(?:[.\[].*)?")
    return [name for name in names if form.fullmatch(name)]


def vector(name: str, size: int = 3) -> tuple[str, ...]:
    """Return the names of the elements of an array: name[1] to name[size]."""
    return tuple(f"{name}[{k}]" for k in range(1, size + 1))


def subscripts(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the array and the subscripts of an element of it, ("a", (1, 2)) for a[1,2]; (name, ()) for a scalar."""
    found = _SUBSCRIPTED.fullmatch(name)
    return (found[1], tuple(map(int, found[2].split(",")))) if found else (name, ())


def owner(name: str, elements: Container[str]) -> str | None:
    """Return the longest of `elements` that `name` begins with, followed by a dot; None if there is none."""
    end = name.rfind(".")
    while end > 0:
        if name[:end] in elements:
            return name[:end]
        end = name.rfind(".", 0, end)
    return None
