"""Names of variables and elements: near matches for a misspelled one, patterns, elements of arrays, owners."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Container, Iterable, Sequence

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
    `chaser.body` selects `chaser.body.position[1]`. A pattern that is itself one of the names selects this name, and
    what is in it, even if it contains `*`.
    """
    known = list(names)
    parts = [pattern] if pattern in known else pattern.split("*")
    form = re.compile(".*".join(map(re.escape, parts)) + r"(?:[.\[].*)?", re.DOTALL)
    return [name for name in known if form.fullmatch(name)]


def split_list(text: str, names: Container[str] = ()) -> list[str]:
    """Return the parts of a comma-separated list; a comma in brackets belongs to a name, `inertia[1,2]`, `der(x,2)`.

    A text that is itself one of `names`, with whatever commas, is not split.
    """
    if text in names:
        return [text]
    parts, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character in "[(") - (character in "])"))
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [reading_among(part, names) or part.strip() for part in parts]


def readings(text: str) -> tuple[str, ...]:
    """Return the names that a text can be, the likeliest first: as it is, and without the blanks at its ends.

    Users put blanks around an equals sign; FMI and SSP allow names that end in one.
    """
    return tuple(dict.fromkeys((text, text.strip())))


def reading_among(text: str, names: Container[str]) -> str | None:
    """Return the likeliest of the `readings` of a text that is among `names`, or None."""
    return next((name for name in readings(text) if name in names), None)


def vector(name: str, size: int = 3) -> tuple[str, ...]:
    """Return the names of the elements of an array: name[1] to name[size]."""
    return tuple(f"{name}[{k}]" for k in range(1, size + 1))


def subscripts(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the array and the subscripts of an element of it, ("a", (1, 2)) for a[1,2]; (name, ()) for a scalar."""
    found = _SUBSCRIPTED.fullmatch(name)
    return (found[1], tuple(map(int, found[2].split(",")))) if found else (name, ())


def array_shape(places: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of an array from the subscripts of its elements; empty if they do not fill one.

    Other tools also use brackets for other things: the one name `p[1,2]` is a scalar.
    """
    if not all(places) or len({len(place) for place in places}) != 1:
        return ()
    shape = tuple(map(max, zip(*places, strict=True)))
    return shape if len(set(places)) == len(places) == math.prod(shape) and min(map(min, places)) >= 1 else ()


def owner(name: str, elements: Container[str]) -> str | None:
    """Return the longest of `elements` that `name` begins with, followed by a dot; None if there is none."""
    end = name.rfind(".")
    while end > 0:
        if name[:end] in elements:
            return name[:end]
        end = name.rfind(".", 0, end)
    return None
