"""Text on a terminal: colours, and tables of its width."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def coloured(stream: TextIO) -> bool:
    """Return whether text for a stream is coloured: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: TextIO) -> str:
    """Return text in a style of `_CODES`, or unchanged if the stream has no colours."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text and coloured(stream) else text


def width(stream: TextIO) -> int | None:
    """Return the number of columns of a terminal; None for a file or a pipe, whose lines may be of any length."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def table(rows: Sequence[Sequence[str]], columns: int | None = None, limits: Sequence[int | None] = ()) -> list[str]:
    """Return rows as lines of aligned columns, two spaces apart, cut at `columns` characters.

    If the lines are cut, `limits` are the most characters of each column, None for any number.
    """
    if columns is not None:
        rows = [[cut(cell, limit) for cell, limit in zip(row, limits, strict=True)] for row in rows]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(len(rows[0]))] if rows else []
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)
    return [cut(line, columns) for line in lines]


def cut(text: str, limit: int | None) -> str:
    """Return text of at most `limit` characters, with an ellipsis where it is cut."""
    return text if limit is None or len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"
