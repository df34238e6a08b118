"""Rows on their way into a recording: a plain file that holds them until HDF5 does.

HDF5 takes rows in compressed chunks; what does not fill a chunk yet would be lost with the process. It waits here: one
line of JSON with the names, then rows of float64: number, time, values, and the number again, which shows that the row
is whole. A row is dropped after it has reached the HDF5 file, and until then may stand in both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np


def beside(recording: Path) -> Path:
    """The journal of a recording."""
    return recording.with_name(recording.name + ".journal")


class Journal:
    """Raises OSError where the disk does not take it."""

    def __init__(self, file: Path, names: Sequence[str]) -> None:
        self.file = file
        self._head = json.dumps(list(names)).encode() + b"\n"
        # unbuffered: what was accepted is with the operating system, and survives this process
        self._out = file.open("wb", buffering=0)
        self._write(self._head)

    def _write(self, data: bytes | memoryview) -> None:
        # what is cut short is tried again: only then does the system say why
        while data:
            data = data[self._out.write(data) :]

    def append(self, first: int, time: np.ndarray, values: np.ndarray) -> None:
        """Rows number `first` and following, counted from 1."""
        if not len(time):
            return
        numbers = np.arange(first, first + len(time), dtype=float)
        self._write(np.column_stack([numbers, time, values, numbers]).data.cast("B"))

    def restart(self, first: int, time: np.ndarray, values: np.ndarray) -> None:
        """Drop all rows, which HDF5 has, but these. At every moment the file holds the old rows or the new ones."""
        old, unfinished = self._out, self.file.with_name(self.file.name + ".new")
        self._out = unfinished.open("wb", buffering=0)
        try:
            self._write(self._head)
            self.append(first, time, values)
        except OSError:
            self._out.close()
            self._out = old
            unfinished.unlink()
            raise
        self._out.close()
        old.close()
        unfinished.replace(self.file)
        self._out = self.file.open("ab", buffering=0)

    def close(self, *, remove: bool) -> None:
        self._out.close()
        if remove:
            self.file.unlink(missing_ok=True)


class Rows(NamedTuple):
    """Rows that a journal holds, in order and without gaps: the number of the first, times, and values by name."""

    first: int
    time: np.ndarray
    values: dict[str, np.ndarray]


def read(file: Path) -> Rows:
    """The whole rows of a journal, none where there is no journal. It may be written to meanwhile."""
    try:
        head, _, body = file.read_bytes().partition(b"\n")
    except OSError:
        return Rows(1, np.zeros(0), {})
    names = json.loads(head) if head.endswith(b"]") else []
    width = len(names) + 3
    table = np.frombuffer(body[: len(body) // (8 * width) * 8 * width]).reshape(-1, width)
    first = int(table[0, 0]) if len(table) else 1
    expected = first + np.arange(len(table))
    torn = (table[:, 0] != expected) | (table[:, -1] != expected)
    whole = table[: int(torn.argmax()) if torn.any() else len(table)]
    return Rows(first, whole[:, 1], {name: whole[:, 2 + k] for k, name in enumerate(names)})
