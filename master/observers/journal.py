"""Rows on their way into a recording: a plain file that holds them until HDF5 does.

HDF5 takes rows in compressed chunks; what does not fill a chunk yet would be lost with the process. It waits here: one
line with the identity of the recording and the names, then rows of float64: number, time, values, and a sum that shows
that the row is whole. A row is dropped after it has reached the HDF5 file, and until then may stand in both.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np


def beside(recording: Path) -> Path:
    """The journal of a recording."""
    return recording.with_name(recording.name + ".journal")


def unfinished(file: Path) -> Path:
    """Return where the next journal is begun that takes the place of `file`."""
    return file.with_name(f"{file.name}.new")


class Journal:
    """Raises OSError where the disk does not take it."""

    def __init__(self, file: Path, names: Sequence[str], recording: str = "") -> None:
        """`recording` is the identity of the recording that the rows belong to."""
        self.file = file
        self.last = 0
        """number of the last row that it has, or that was dropped"""
        about = json.dumps({"recording": recording, "names": list(names)}).encode()
        self._head = b"%08x %s\n" % (zlib.crc32(about), about)
        # unbuffered: what was accepted is with the operating system, and survives this process
        self._out = file.open("wb", buffering=0)
        self._write(self._head)

    def _write(self, data: bytes | memoryview) -> None:
        # what is cut short is tried again: only then does the system say why
        while data:
            data = data[self._out.write(data) :]

    def append(self, first: int, time: np.ndarray, values: np.ndarray) -> None:
        """Rows number `first` and following, counted from 1; those that it has are left out."""
        time, values = time[max(self.last + 1 - first, 0) :], values[max(self.last + 1 - first, 0) :]
        first = max(first, self.last + 1)
        if not len(time):
            return
        table = np.empty((len(time), values.shape[1] + 3))
        table[:, 0] = np.arange(first, first + len(time))
        table[:, 1], table[:, 2:-1] = time, values
        table[:, -1] = _sums(table[:, :-1]).view(float)
        begin, row = self._out.seek(0, 2), table[0].nbytes
        try:
            self._write(table.data.cast("B"))
            self.last = first + len(time) - 1
        except OSError:
            # half a row would put those that come later out of place
            written = (self._out.seek(0, 2) - begin) // row
            self._out.truncate(begin + written * row)
            self._out.seek(0, 2)
            self.last = first + written - 1
            raise

    def restart(self, first: int, time: np.ndarray, values: np.ndarray) -> None:
        """Drop all rows, which HDF5 has, but these. At every moment the file holds the old rows or the new ones."""
        old, new, last = self._out, unfinished(self.file), self.last
        self._out = new.open("wb", buffering=0)
        self.last = first - 1
        try:
            self._write(self._head)
            self.append(first, time, values)
        except OSError:
            self._out.close()
            self._out, self.last = old, last
            new.unlink()
            raise
        self._out.close()
        old.close()
        new.replace(self.file)
        self._out = self.file.open("ab", buffering=0)

    def close(self, *, remove: bool) -> None:
        self._out.close()
        if remove:
            self.file.unlink(missing_ok=True)


def _sums(table: np.ndarray) -> np.ndarray:
    """Return a sum of each row, modulo 2^64, that any change of one number in it changes, whatever the number is.

    Each number counts as an integer of 64 bits with a weight that is odd, and so has an inverse.
    """
    words = np.ascontiguousarray(table).view(np.uint64)
    weights = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C16) | np.uint64(1)
    return (words * weights).sum(axis=1, dtype=np.uint64) + np.uint64(0xD1B54A32D192ED03)


class Rows(NamedTuple):
    """Rows that a journal holds, in order and without gaps: the number of the first, times, and values by name.

    `recording` is the recording that they belong to, `damage` what is wrong with the journal, if anything is.
    """

    first: int
    time: np.ndarray
    values: dict[str, np.ndarray]
    recording: str = ""
    damage: str = ""


def read(file: Path) -> Rows:
    """The whole rows of a journal, none where there is no journal. It may be written to meanwhile."""
    nothing = Rows(1, np.zeros(0), {})
    try:
        head, newline, body = file.read_bytes().partition(b"\n")
    except OSError:
        return nothing
    if not newline:
        # the process ended, or the disk was full, before there was a row
        return nothing
    try:
        if zlib.crc32(head[9:]) != int(head[:8], 16):
            raise ValueError
        about = json.loads(head[9:])
        names, recording = about["names"], about["recording"]
    except (ValueError, KeyError, TypeError):
        return nothing._replace(damage=f"{file}: its first line is damaged, and the rows in it cannot be told")
    width = len(names) + 3
    table = np.frombuffer(body[: len(body) // (8 * width) * 8 * width]).reshape(-1, width)
    sound = _sums(table[:, :-1]) == np.ascontiguousarray(table[:, -1]).view(np.uint64)
    first = int(table[0, 0]) if len(table) and sound[0] else 1
    torn = ~sound | (table[:, 0] != first + np.arange(len(table)))
    count = int(torn.argmax()) if torn.any() else len(table)
    whole, beyond = table[:count], int(sound[count:].sum())
    damage = f"{file}: row {count + 1} of {len(table)} is damaged; those before it are there" if beyond else ""
    return Rows(first, whole[:, 1], {name: whole[:, 2 + k] for k, name in enumerate(names)}, recording, damage)
