"""Names that people write: which element is meant, and what to suggest where none is."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable


def near(name: str, names: Iterable[str]) -> str:
    """ "; did you mean ...?" with the names most like `name`, empty if there are none."""
    found = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(found)}?" if found else ""


def vector(name: str, size: int = 3) -> tuple[str, ...]:
    """The names of the elements of an array: name[1] to name[size]."""
    return tuple(f"{name}[{k}]" for k in range(1, size + 1))


def owner(name: str, elements: Container[str]) -> str | None:
    """The element whose name, and a dot, `name` begins with; the longest where there are several."""
    end = name.rfind(".")
    while end > 0:
        if name[:end] in elements:
            return name[:end]
        end = name.rfind(".", 0, end)
    return None
