"""The layout of a recording (see recording_file.py), checked before anything is read from a file of others.

HDF5 files can refer to other files, which a reader then opens with its own rights, name filters that are loaded as
libraries, and state sizes that they do not have. A recording does none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5t, h5z

from dockfmu.base.fmi import TYPES
from dockfmu.base.messages import shown
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording.datasets import STRINGS
from dockfmu.master.observers.recording.envelope import ENTRY, EXTREMES, NAMES

RESERVED = ("time", "parameters", "fmus", STRINGS, EXTREMES)
"""Names in a recording that are not elements."""

TEXTS = {"recording", "system", "algorithm", "created", "status", "message", "outcome"}
NUMBERS = {"step", "record_every", "t_end"}
"""Attributes of the file that are texts and numbers. Whoever records may add others."""

FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE, h5z.FILTER_FLETCHER32)
"""Filters of the datasets, which HDF5 itself has."""
OTHER_FILTERS = (*FILTERS, h5z.FILTER_NBIT, h5z.FILTER_SCALEOFFSET, h5z.FILTER_LZF)
"""Filters of files that are no recordings; none of them is a library that HDF5 loads because a file names it."""

COMPRESSION = 1100
"""Largest ratio of sizes before and after compression: deflate reaches 1032."""
SMALL = 1 << 20
"""Size up to which datasets need not be compared with their file, bytes: a chunk may be larger than the file."""

ABOUT = {"unit": "1", "description": "", "causality": "output", "variability": "continuous", "type": "Real"}
"""Attributes of each variable, with the values for one without them: its writer was killed as it wrote them."""


class LayoutError(MasterError):
    """A file is not laid out as a recording."""


def check_safety(opened: h5py.File, size: int, *, depth: int = 2, filters: Sequence[int] = FILTERS) -> None:
    """Raise LayoutError if anything in a file of `size` bytes leads out of it, or claims to be larger than it.

    Nothing but headers is read. What cannot be read because of damage is passed over. A recording has groups in groups,
    up to `depth` of them, and uses the `filters`.
    """
    declared = 0
    for path, member in _members(opened, "", depth, depth):
        if isinstance(member, h5py.Dataset):
            _check_storage(path, member, filters)
            declared += member.size * member.dtype.itemsize if member.shape is not None else 0
            if declared > SMALL + COMPRESSION * size:
                raise LayoutError(f"{path} and what comes before it claim {declared} bytes, in a file of {size}")


def check_layout(opened: h5py.File) -> None:
    """Raise LayoutError, which names the object and what is wrong with it, unless the file is laid out as a recording.

    `check_safety` must have passed.
    """
    if "time" not in opened:
        raise LayoutError("it has no time")
    _check_dataset("time", opened["time"], "f")
    if STRINGS in opened:
        _check_dataset(STRINGS, opened[STRINGS], "S")
    about = dict(opened.attrs)
    _check_attributes("the file", about)
    for name in TEXTS & about.keys():
        if not isinstance(about[name], str):
            raise LayoutError(f"the attribute {name} of the file is {shown(about[name])}, not a text")
    for name in NUMBERS & about.keys():
        if isinstance(about[name], str):
            raise LayoutError(f"the attribute {name} of the file is {shown(about[name])}, not a number")
    for name, member in opened.items():
        if name in ("time", STRINGS):
            continue
        if not isinstance(member, h5py.Group):
            raise LayoutError(f"{name} is not a group")
        if name == EXTREMES:
            _check_extremes(member)
        elif name == "parameters":
            for element, table in member.items():
                _check_parameters(f"{name}/{element}", table)
        elif name == "fmus":
            for element, about in member.items():
                if not isinstance(about, h5py.Group):
                    raise LayoutError(f"{name}/{element} is not a group")
                _check_attributes(f"{name}/{element}", about.attrs, numbers=False)
        else:
            for variable, column in member.items():
                _check_column(f"{name}/{variable}", column, STRINGS in opened)


def _members(group: h5py.Group, path: str, depth: int, most: int) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
    """Yield the path and the object of each member, at any depth. Raises LayoutError for links and other objects."""
    try:
        names = list(group)
    except (OSError, RuntimeError, ValueError, KeyError):
        return
    for name in names:
        where = f"{path}{name}"
        try:
            link = group.get(name, getlink=True)
            member = group[name] if isinstance(link, h5py.HardLink) else None
        except (OSError, RuntimeError, ValueError, KeyError, TypeError):
            continue
        if isinstance(link, h5py.ExternalLink):
            raise LayoutError(f"{where} is a link to another file, {shown(link.filename)}")
        if isinstance(link, h5py.SoftLink):
            raise LayoutError(f"{where} is a link, to {shown(link.path)}")
        if not isinstance(member, h5py.Group | h5py.Dataset):
            raise LayoutError(f"{where} is neither a group nor a dataset")
        yield where, member
        if isinstance(member, h5py.Group):
            if depth == 0:
                raise LayoutError(f"{where} is a group in a group{' in a group' * (most - 1)}")
            yield from _members(member, f"{where}/", depth - 1, most)


def _check_storage(path: str, dataset: h5py.Dataset, filters: Sequence[int]) -> None:
    """Raise LayoutError if the values of a dataset are not in the file, or need filters that HDF5 does not have."""
    creation = dataset.id.get_create_plist()
    if creation.get_external_count():
        raise LayoutError(f"the values of {path} are in another file, {shown(creation.get_external(0)[0])}")
    if creation.get_layout() == h5d.VIRTUAL:
        raise LayoutError(f"{path} is a virtual dataset, with values from elsewhere")
    for k in range(creation.get_nfilters()):
        if (code := creation.get_filter(k)[0]) not in filters:
            raise LayoutError(f"{path} is filtered by a filter that is not read here, number {code}")
    if creation.get_layout() == h5d.CHUNKED:
        chunk = int(np.prod(creation.get_chunk(), dtype=float)) * dataset.dtype.itemsize
        if chunk > 64 * SMALL:
            raise LayoutError(f"{path} has chunks of {chunk} bytes")


def _check_dataset(path: str, dataset: Any, kinds: str) -> None:
    """Raise LayoutError unless an object is a one-dimensional dataset of simple values of one of the kinds."""
    if not isinstance(dataset, h5py.Dataset):
        raise LayoutError(f"{path} is not a dataset")
    if dataset.shape is None or len(dataset.shape) != 1:
        raise LayoutError(f"{path} has the shape {dataset.shape}, not one dimension")
    if dataset.dtype.kind not in kinds:
        raise LayoutError(f"{path} has values of type {dataset.dtype}")


def _check_column(path: str, column: Any, strings: bool) -> None:
    _check_dataset(path, column, "fib")
    about = dict(column.attrs)
    _check_attributes(path, about, numbers=False)
    kind = about.get("type", "Real")
    if kind not in TYPES:
        raise LayoutError(f"{path} is of type {shown(kind)}")
    if (kind == "Real") > (column.dtype.kind == "f"):
        raise LayoutError(f"{path} is Real and has values of type {column.dtype}")
    if kind == "String" and not strings:
        raise LayoutError(f"{path} is a String, and the file holds no {STRINGS}")


def _check_attributes(path: str, attributes: Any, *, numbers: bool = True) -> None:
    """Raise LayoutError for an attribute that is not a string or a number; `items` is a list of strings."""
    for name, value in attributes.items():
        simple = isinstance(value, str) or (numbers and isinstance(value, int | float | np.integer | np.floating))
        listed = name == "items" and isinstance(value, np.ndarray) and value.ndim == 1
        if not simple and not (listed and all(isinstance(item, str) for item in value)):
            raise LayoutError(f"the attribute {name} of {path} is of type {type(value).__name__}")


def _check_parameters(path: str, table: Any) -> None:
    """Raise LayoutError unless an object is a table of name, value and unit."""
    if not isinstance(table, h5py.Dataset) or table.shape is None or len(table.shape) != 1:
        raise LayoutError(f"{path} is not a table")
    kind = table.dtype
    text = all(h5t.check_string_dtype(kind[name]) for name in ("name", "unit")) if kind.names == _FIELDS else False
    if not text or kind["value"] != np.float64:
        raise LayoutError(f"{path} is not a table of name, value and unit")


_FIELDS = ("name", "value", "unit")


def _check_extremes(group: h5py.Group) -> None:
    """Raise LayoutError unless a group has a dataset for each field of the extremes, and one of names."""
    missing = {NAMES, *(ENTRY.names or ())} ^ set(group)
    if missing:
        raise LayoutError(f"{EXTREMES}/{min(missing)} is missing, or one too many")
    _check_dataset(f"{EXTREMES}/{NAMES}", group[NAMES], "S")
    for name in ENTRY.names or ():
        _check_dataset(f"{EXTREMES}/{name}", group[name], "f" if ENTRY[name].kind == "f" else "u")
