"""HDF5 datasets of a recording: a column of values for each variable, and the table of strings.

HDF5 would shuffle and compress while it holds the interpreter lock. Here zlib-ng compresses, which releases the lock.
Its output is readable by HDF5's own filters, takes a third of the time of zlib, and is 2 to 5 % larger. The datasets
are created through h5py's low-level interface, in a third of the time: a recording has hundreds, and a run waits for
them before its first step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import h5py
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t
from zlib_ng import zlib_ng

from dockfmu.master.fmi import strings

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
        return Column(h5py.Dataset(dataset), np.dtype(dtype), self._rows, self._level)


class Column:
    """A dataset that grows at its end, from empty, in chunks of `rows`, with the filters that `Columns` gave it.

    Its length is kept here, because looking it up in HDF5 would take as long as all the rest.
    """

    def __init__(self, dataset: h5py.Dataset, dtype: np.dtype, rows: int, level: int | None) -> None:
        self.dataset = dataset
        self._dtype, self._rows, self._level = dtype, rows, level
        self._length = 0

    def append(self, values: np.ndarray) -> None:
        """Append values, shape (n,), bypassing HDF5's filters if whole chunks are added."""
        first, rows = self._length, self._rows
        self._length += len(values)
        self.dataset.id.set_extent((self._length,))
        values = values.astype(self._dtype)
        if self._level is None or first % rows or len(values) % rows:
            self.dataset[first:] = values
            return
        for start in range(0, len(values), rows):
            self.dataset.id.write_direct_chunk((first + start,), _filtered(values[start : start + rows], self._level))


def _filtered(values: np.ndarray, level: int) -> bytes:
    """Return the values shuffled (the first bytes of all values, then the second bytes, and so on) and compressed."""
    shuffled = values.view(np.uint8).reshape(len(values), values.itemsize).T
    return zlib_ng.compress(shuffled.tobytes(), level)


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
