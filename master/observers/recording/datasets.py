"""HDF5 datasets of a recording: a column of values for each variable, and the table of strings.

Whole chunks bypass HDF5's filters, see `filters`. The datasets are created through h5py's low-level interface, in a
third of the time: a recording has hundreds, and a run waits for them before its first step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import h5py
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t

from dockfmu.master.fmi import strings
from dockfmu.master.observers.recording.filters import Filters

STRINGS = "strings"
"""Name of the dataset that holds each string of a recording once."""
STRING_BYTES = 256
ELLIPSIS = "…"


class Columns:
    """Creates the columns of a recording: empty datasets in chunks of `rows`, with the same filters.

    The filters are shuffle and gzip of `level`, or none if `level` is None.
    """

    def __init__(self, out: h5py.File, rows: int, level: int | None) -> None:
        self._out, self._rows, self._level = out, rows, level
        self._creation = h5p.create(h5p.DATASET_CREATE)
        self._creation.set_chunk((rows,))
        self._creation.set_obj_track_times(False)
        if level is not None:
            self._creation.set_shuffle()
            self._creation.set_deflate(level)
        self._link = h5p.create(h5p.LINK_CREATE)
        self._link.set_char_encoding(h5t.CSET_UTF8)
        self._empty, self._scalar = h5s.create_simple((0,), (h5s.UNLIMITED,)), h5s.create(h5s.SCALAR)
        self._text, self._text_type = h5py.string_dtype(), h5t.py_create(h5py.string_dtype(), logical=True)
        self._groups: dict[str, h5py.Group] = {}
        self._taken: dict[str, set[str]] = {}

    def create(
        self, group: str, name: str, dtype: type | np.dtype, attributes: Mapping[str, str] | None = None
    ) -> Column:
        """Create the dataset of a variable in a group; the root group has the name "/".

        The dataset has the name of the variable if HDF5 allows it; otherwise its attribute `name` holds that name.
        """
        if group not in self._groups:
            self._groups[group] = self._out.require_group(group)
            self._taken[group] = set(self._groups[group])
        taken = self._taken[group]
        unique = name.replace("/", "|")
        if name in (".", "") or unique in taken:
            unique = f"{unique}~{len(taken)}"
        taken.add(unique)
        h5type = h5t.py_create(np.dtype(dtype), logical=True)
        dataset = h5d.create(self._groups[group].id, unique.encode(), h5type, self._empty, self._creation, self._link)
        named = {} if unique.replace("|", "/") == name else {"name": name}
        for key, text in {**named, **(attributes or {})}.items():
            value = np.array(text, self._text)
            h5a.create(dataset, key.encode(), self._text_type, self._scalar).write(value)
        return Column(h5py.Dataset(dataset), np.dtype(dtype))

    def table(self, columns: Sequence[Column]) -> GrowingTable:
        """Return a table of columns, by which they grow."""
        return GrowingTable(columns, self._rows, self._level)


@dataclass(frozen=True)
class Column:
    """A dataset that grows at its end, from empty, and the type of its values."""

    dataset: h5py.Dataset
    dtype: np.dtype


class GrowingTable:
    """Columns that grow together, by the same rows, with the filters that `Columns` gave them.

    Their length is kept here, because looking it up in HDF5 would take as long as all the rest.
    """

    def __init__(self, columns: Sequence[Column], rows: int, level: int | None) -> None:
        self._columns, self._rows = tuple(columns), rows
        self._filters = None if level is None else Filters([column.dtype for column in columns], rows, level)
        self._length = 0

    def append(self, values: np.ndarray) -> None:
        """Append float64 rows, shape (n, columns), bypassing HDF5's filters from the start of a chunk on.

        The last chunk is filled up with zeros, as HDF5 does. A column is extended before its chunks are written.
        """
        first, self._length = self._length, self._length + len(values)
        if self._filters is None or first % self._rows:
            for k, column in enumerate(self._columns):
                column.dataset.id.set_extent((self._length,))
                column.dataset[first:] = values[:, k].astype(column.dtype)
            return
        for start in range(0, len(values), self._rows):
            rows = values[start : start + self._rows]
            place, end = first + start, first + start + len(rows)
            if len(rows) < self._rows:
                rows = np.concatenate([rows, np.zeros((self._rows - len(rows), len(self._columns)))])
            for column, chunk in zip(self._columns, self._filters.chunks(np.ascontiguousarray(rows)), strict=True):
                column.dataset.id.set_extent((end,))
                column.dataset.id.write_direct_chunk((place,), chunk)


class StringTable:
    """The strings of a recording, each once; the column of a String variable has their indices.

    `reserve` is called with the number of bytes before they are written.
    """

    def __init__(self, out: h5py.File, reserve: Callable[[int], None]) -> None:
        # not compressed: a chunk is written several times, and must be complete at any time
        self._dataset = out.create_dataset(STRINGS, (0,), f"S{STRING_BYTES}", maxshape=(None,), chunks=(64,))
        self._reserve = reserve
        self._indices: dict[int, int] = {}

    def indices(self, numbers: np.ndarray) -> np.ndarray:
        """Return the indices of strings that are given by their numbers in this process; new ones are added."""
        distinct, where = np.unique(numbers.astype(int), return_inverse=True)
        fresh = [number for number in distinct.tolist() if number not in self._indices]
        if fresh:
            self._reserve(STRING_BYTES * (len(fresh) + 64))
            first = len(self._dataset)
            self._dataset.resize(first + len(fresh), axis=0)
            self._dataset[first:] = [_shortened(strings.string(number)) for number in fresh]
            self._dataset.flush()
            self._indices |= {number: first + k for k, number in enumerate(fresh)}
        return np.array([self._indices[number] for number in distinct.tolist()], float)[where]


def _shortened(text: str) -> bytes:
    data = text.encode()
    if len(data) < STRING_BYTES:
        return data
    return data[: STRING_BYTES - 8].decode(errors="ignore").encode() + ELLIPSIS.encode()


def read_strings(recording: h5py.File) -> list[str]:
    """Return the strings of a recording by their indices."""
    return [data.decode(errors="replace") for data in recording[STRINGS][:]] if STRINGS in recording else []
