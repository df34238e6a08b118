"""Names: near matches for a misspelled one, names of array elements, valid file names."""

from __future__ import annotations

import difflib
import hashlib
import re
import reprlib
from collections.abc import Container, Iterable

_LONGEST = 100
_SUBSCRIPTED = re.compile(r"(.*)\[(\d+(?:,\d+)*)\]")
_SPECIAL = re.compile(r'[/\\:*?"<>|]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
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


class _ShortRepr(reprlib.Repr):
    """Make a `repr` of bounded length and depth."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxdict = 4, 20, 20, 8
        self.maxstring = self.maxother = _LONGEST

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to print integers of thousands of digits
        return repr(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"


def shown(value: object) -> str:
    """Return the `repr` of a value for a message, shortened if it is long."""
    return _ShortRepr().repr(value)


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article, such as "an output"."""
    return f"{'an' if noun[:1] in set('aeiou') else 'a'} {noun}"


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


def file_name_problem(name: object) -> str:
    """Return why a name is not a valid file name on every operating system, or an empty string if it is."""
    if not isinstance(name, str) or not name:
        return "is not a string" if name != "" else "is empty"
    if not name.isprintable() or _SPECIAL.search(name):
        return 'has a character that file names cannot have: / \\ : * ? " < > | or an unprintable one'
    if name != name.strip(" .") or _DEVICES.fullmatch(name):
        return "begins or ends with a dot or a space" if name != name.strip(" .") else "names a device on Windows"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    return ""


def file_name(name: str) -> str:
    """Return a file name that is unique to `name`: `name` itself if it is a valid file name."""
    if not file_name_problem(name) and name.isascii():
        return name
    plain = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-")[:40] or "system"
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
