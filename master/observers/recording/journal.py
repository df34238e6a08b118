"""The journal of a recording: a plain file that holds rows until they are in the HDF5 file.

HDF5 takes rows in compressed chunks; rows that do not fill a chunk yet would be lost with the process. The journal has
one line with the identity of the recording and the names, followed by rows of float64: number, time, values, and a
checksum of the row. A row is dropped after it has been written to the HDF5 file, and may be in both until then.

The extremes of a row (see envelope.ENTRY) precede it, in rows of the same width that begin with its number, negated:
the number of extremes, then variable, smallest and largest value of each.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dockfmu.base.entry_points import EntryPoint
from dockfmu.base.files import open_in_place
from dockfmu.base.given_files import check_plain
from dockfmu.master.observers.recording.envelope import ENTRY

NO_ENTRIES = np.empty(0, ENTRY)

_KERNELS = Path(__file__).with_name("kernels.py")
_lay_out = EntryPoint("dockfmu.master.observers.recording.kernels", "lay_out", [_KERNELS])


def beside(recording: Path) -> Path:
    """Return the journal of a recording."""
    return recording.with_name(recording.name + ".journal")


def unfinished(file: Path) -> Path:
    """Return the file in which the journal that will replace `file` is written."""
    return file.with_name(f"{file.name}.new")


class Journal:
    """A journal that is being written. Methods raise OSError where the file cannot be written."""

    def __init__(self, file: Path, names: Sequence[str], recording: str = "") -> None:
        """Create the file; `recording` identifies the recording that the rows belong to."""
        self.file = file
        self.last = 0
        """Number of the last row that the journal holds or held."""
        self._empty = True
        """Whether it holds no row."""
        self._room = np.empty(0)
        """Memory for rows on their way to the file."""
        about = json.dumps({"recording": recording, "names": list(names)}).encode()
        self._head = b"%08x %s\n" % (zlib.crc32(about), about)
        # unbuffered: what the operating system has accepted survives this process
        self._out = open_in_place(file, "wb", buffering=0)
        self._write(self._head)

    def _write(self, data: bytes | memoryview) -> None:
        # retry the rest after a partial write: only the next attempt reports the reason
        while data:
            data = data[self._out.write(data) :]

    def append(self, first: int, time: np.ndarray, values: np.ndarray, entries: np.ndarray = NO_ENTRIES) -> None:
        """Append rows from number `first` on, counted from 1, with `entries` of extremes, in the order of their rows.

        Rows that the journal already has are skipped.
        """
        time, values = time[max(self.last + 1 - first, 0) :], values[max(self.last + 1 - first, 0) :]
        first = max(first, self.last + 1)
        if not len(time):
            return
        width = _width(values.shape[1])
        room = (width - 3) // 3
        most = 2 * len(time) + len(entries) // room
        if most * width > self._room.size:
            self._room = np.empty(most * width)
        table = self._room[: most * width].reshape(most, width)
        lines = _lay_out(first, np.ascontiguousarray(time), np.ascontiguousarray(values), entries, room, table)
        table = table[:lines]
        table[:, -1] = _checksums(table).view(float)
        begin, row = self._out.seek(0, 2), table[0].nbytes
        self._empty = False
        try:
            self._write(table.data.cast("B"))
            self.last = first + len(time) - 1
        except OSError:
            # a partial row would misalign those that follow
            written = (self._out.seek(0, 2) - begin) // row
            self._out.truncate(begin + written * row)
            self._out.seek(0, 2)
            self.last = first + int(np.count_nonzero(table[:written, 0] > 0.0)) - 1
            raise

    def restart(self, first: int, time: np.ndarray, values: np.ndarray, entries: np.ndarray = NO_ENTRIES) -> None:
        """Keep only these rows; HDF5 has the others. At every moment the file holds the old rows or the new ones."""
        if self._empty:
            self.last = first - 1
            self.append(first, time, values, entries)
            return
        old, new, last = self._out, unfinished(self.file), self.last
        self._out = open_in_place(new, "wb", buffering=0)
        self.last, self._empty = first - 1, True
        try:
            self._write(self._head)
            self.append(first, time, values, entries)
        except OSError:
            self._out.close()
            self._out, self.last, self._empty = old, last, False
            new.unlink()
            raise
        self._out.close()
        old.close()
        new.replace(self.file)
        self._out = open_in_place(self.file, "ab", buffering=0)

    def close(self, *, remove: bool) -> None:
        """Close the file, and remove it if `remove` is true."""
        self._out.close()
        if remove:
            self.file.unlink(missing_ok=True)


def _width(names: int) -> int:
    """Return the width of the rows: number, time, at least one entry of extremes, and checksum."""
    return max(names, 3) + 3


def _unpack(table: np.ndarray) -> np.ndarray:
    """Return the entries in rows of extremes."""
    room = (table.shape[1] - 3) // 3
    packed = table[:, 2 : 2 + 3 * room].reshape(len(table), room, 3)
    used = np.arange(room) < table[:, 1, None]
    entries = np.empty(int(used.sum()), ENTRY)
    entries["row"] = np.repeat(-table[:, 0] - 1.0, used.sum(axis=1))
    entries["variable"], entries["low"], entries["high"] = packed[used].T
    return entries


def _checksums(table: np.ndarray) -> np.ndarray:
    """Return a checksum of each row without its last number, modulo 2^64; any change of a single number changes it.

    Each number counts as a 64-bit integer with an odd weight, which has an inverse.
    """
    words = table[:, :-1].view(np.uint64)
    weights = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C16) | np.uint64(1)
    return words @ weights + np.uint64(0xD1B54A32D192ED03)


class JournalRows(NamedTuple):
    """Rows of a journal, in order and without gaps: the number of the first, times, and values by name.

    `entries` are their extremes. `recording` identifies the recording that they belong to; `damage` says what is wrong
    with the journal, if anything.
    """

    first: int
    time: np.ndarray
    values: dict[str, np.ndarray]
    entries: np.ndarray = NO_ENTRIES
    recording: str = ""
    damage: str = ""


def read(file: Path) -> JournalRows:
    """Return the complete rows of a journal, none if there is no journal. It may be written to meanwhile."""
    nothing = JournalRows(1, np.zeros(0), {})
    damaged = nothing._replace(damage=f"{file}: its first line is damaged, and its rows cannot be read")
    try:
        check_plain(file)
        head, newline, body = file.read_bytes().partition(b"\n")
    except OSError:
        return nothing
    if not newline:
        # if the process ended or the disk was full before the first row, the file holds the beginning of a line of text
        if head.isascii() and head.decode("ascii").isprintable():
            return nothing
        return damaged
    try:
        if zlib.crc32(head[9:]) != int(head[:8], 16):
            raise ValueError
        about = json.loads(head[9:])
        names, recording = about["names"], about["recording"]
    except (ValueError, KeyError, TypeError):
        return damaged
    width = _width(len(names))
    table = np.frombuffer(body[: len(body) // (8 * width) * 8 * width]).reshape(-1, width)
    sound = _checksums(table) == np.ascontiguousarray(table[:, -1]).view(np.uint64)
    is_row = table[:, 0] > 0.0
    first = int(abs(table[0, 0])) if len(table) and sound[0] else 1
    # extremes have the number of the row that follows them
    due = first + np.cumsum(is_row) - is_row
    torn = ~sound | (np.abs(table[:, 0]) != due)
    count = int(torn.argmax()) if torn.any() else len(table)
    beyond = int(sound[count:].sum())
    whole, extremes = table[:count][is_row[:count]], table[:count][~is_row[:count]]
    row, rows = len(whole) + 1, int(is_row.sum())
    damage = f"{file}: row {row} of {max(row, rows)} is damaged; those before it could be read" if beyond else ""
    values = {name: whole[:, 2 + k] for k, name in enumerate(names)}
    entries = _unpack(extremes)
    return JournalRows(first, whole[:, 1], values, entries[entries["row"] < first + len(whole) - 1], recording, damage)
