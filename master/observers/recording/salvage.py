"""Read what can still be read of a damaged recording, in a separate process.

HDF5 may crash or hang on damaged bytes, which must not happen in the process of the reader. `python -m
dockfmu.master.observers.recording.salvage FILE OUT` copies what can be read; without OUT, the exit status says whether
the file is laid out as a recording and everything can be read.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np

if sys.platform != "win32":
    import resource

from dockfmu.base.processes import import_path, python_command
from dockfmu.master.observers.recording import checksum, killed
from dockfmu.master.observers.recording.envelope import ENTRY, EXTREMES, NAMES
from dockfmu.master.observers.recording.layout import OTHER_FILTERS, LayoutError, check_layout, check_safety

LONGEST_S = 10.0
"""Time limit for a small file, s."""
SLOWEST = 2e6
"""Slowest rate of reading allowed for large files, bytes per second."""
LIBVER = ("v110", "v110")
REFUSED = 3
"""Exit status for a file that is not laid out as a recording."""
MEMORY = 1 << 33
"""Limit of the address space of the process, bytes: a small file can claim to hold more than any machine has."""

COLUMNS = "--columns"
"""In place of OUT: FILE is no recording."""
DEPTH = 8
"""Deepest groups of a file that is no recording."""

_ERRORS = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError)
"""Exceptions that h5py raises for a damaged file."""


def salvage(file: Path, out: Path) -> str:
    """Write what can be read of `file` to `out`; return a note on what is missing.

    Raises LayoutError for a file that refers to others, RuntimeError on failure.
    """
    return _run_apart(file, str(out.absolute()))


def probe(file: Path) -> None:
    """Check the layout of a file and read all of it, in another process.

    Raises LayoutError for a file that is not laid out as a recording, RuntimeError if it cannot be read.
    """
    _run_apart(file)


def probe_columns(file: Path) -> None:
    """Check that an HDF5 file, which is no recording, is whole and leads nowhere else, in another process.

    Raises LayoutError and RuntimeError as `probe` does.
    """
    _run_apart(file, COLUMNS)


def check_columns(opened: h5py.File, size: int) -> None:
    """Check an open file of `size` bytes that is no recording, and read it. Raises the exceptions of h5py too."""
    check_safety(opened, size, depth=DEPTH, filters=OTHER_FILTERS)
    _read_all(opened, size)


def _run_apart(file: Path, *arguments: str) -> str:
    """Run this module on a file; return its output.

    Raises LayoutError if the file is refused, RuntimeError if the process fails or does not end.
    """
    command = python_command("-m", "dockfmu.master.observers.recording.salvage", str(file.absolute()), *arguments)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=LONGEST_S + file.stat().st_size / SLOWEST,
            cwd=import_path(),
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError("reading it takes too long") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        if done.returncode == REFUSED:
            raise LayoutError(lines[-1])
        raise RuntimeError(lines[-1] if lines else f"reading it ended with exit status {done.returncode}")
    return done.stdout.decode(errors="replace").strip()


def _copied(file: Path, out: Path) -> h5py.File:
    """Return an open copy with the length and the first bytes that the file should have."""
    shutil.copyfile(file, out)
    known = checksum.find(file)
    if known is not None:
        with out.open("r+b") as stream:
            stream.truncate(known.length)
            stream.write(known.superblock)
    return _opened(out)


def _opened(file: Path) -> h5py.File:
    """Open a file that was closed properly, or one whose writer was killed."""
    try:
        return h5py.File(file, "r")
    except _ERRORS:
        return killed.opened(file)


def _rows(dataset: h5py.Dataset, most: int) -> np.ndarray:
    """Return the rows of a dataset up to the first chunk that cannot be read, at most `most`."""
    size = dataset.chunks[0] if dataset.chunks else most
    pieces = [np.empty(0, dataset.dtype)]
    for first in range(0, min(len(dataset), most), size):
        try:
            # stop at a chunk that was never written
            if dataset.chunks and dataset.id.get_chunk_info_by_coord((first,)).byte_offset is None:
                break
            pieces.append(dataset[first : min(first + size, most)])
        except _ERRORS:
            break
    return np.concatenate(pieces)


def _copy_attributes(source: Any, target: Any) -> None:
    """Copy the attributes that can be read."""
    try:
        names = list(source.attrs)
    except _ERRORS:
        return
    for name in names:
        try:
            target.attrs[name] = source.attrs[name]
        except _ERRORS:
            continue


def _read(source: h5py.File, out: h5py.File) -> list[str]:
    """Copy what can be read; return notes on what is missing."""
    missing = []
    _copy_attributes(source, out)
    dataset = source["time"]
    expected = len(dataset)
    time = _rows(dataset, expected)
    falling = ~(np.diff(time) > 0.0)
    time = time[: int(falling.argmax()) + 1] if falling.any() else time
    columns: dict[str, tuple[h5py.Dataset, np.ndarray]] = {}
    fields: dict[str, np.ndarray] = {}
    for element in source:
        if element == "time":
            continue
        try:
            group = source[element]
            if isinstance(group, h5py.Dataset):
                continue
            members = list(group)
        except _ERRORS:
            missing.append(element)
            continue
        if element == EXTREMES:
            for name in members:
                try:
                    found = group[name]
                    fields[f"{element}/{name}"] = found[:] if name == NAMES else _rows(found, len(found))
                except _ERRORS:
                    missing.append(f"{element}/{name}")
            continue
        if element in ("parameters", "fmus"):
            for name in members:
                try:
                    source.copy(f"{element}/{name}", out.require_group(element), name)
                except _ERRORS:
                    missing.append(f"{element}/{name}")
            continue
        for name in members:
            try:
                column = group[name]
                columns[f"{element}/{name}"] = (column, _rows(column, len(time)))
            except _ERRORS:
                missing.append(f"{element}/{name}")
    if fields.keys() == {f"{EXTREMES}/{name}" for name in (*(ENTRY.names or ()), NAMES)}:
        for path, values in fields.items():
            out.create_dataset(path, data=values, maxshape=(None,))
    count = min([len(time), *(len(values) for _, values in columns.values())])
    for path, (source_column, values) in [("time", (dataset, time)), *columns.items()]:
        target = out.create_dataset(path, data=values[:count], maxshape=(None,))
        _copy_attributes(source_column, target)
        # strings have no checksum by which damage would be detected
        if path != "time" and not ({"type", "unit"} <= set(target.attrs) and target.attrs["type"] != "String"):
            del out[path]
            missing.append(path)
    notes = (
        [f"{count} of {expected} rows could be read"]
        if count < expected
        else [f"all of its {expected} rows could be read"]
    )
    return [*notes, *(f"{name} cannot be read" for name in missing)]


def _read_all(source: h5py.File, count: int) -> None:
    """Read everything, `count` rows at most. Raises the exceptions of h5py."""

    def read(_: str, found: h5py.Group | h5py.Dataset) -> None:
        dict(found.attrs)
        if isinstance(found, h5py.Dataset) and found.shape:
            step = found.chunks[0] if found.chunks else max(len(found), 1)
            for first in range(0, min(len(found), count), step):
                found[first : first + step]

    dict(source.attrs)
    source.visititems(read)


def main(file: Path, out: Path | None = None) -> None:
    """Copy what can be read of `file` to `out`, or read all of it if there is no `out`."""
    if out is None:
        with _opened(file) as source:
            check_safety(source, file.stat().st_size)
            check_layout(source)
            _read_all(source, len(source["time"]))
        return
    copy = out.with_name(out.name + ".copy")
    with _copied(file, copy) as source, h5py.File(out, "w", libver=LIBVER) as target:
        check_safety(source, file.stat().st_size)
        print(", ".join(_read(source, target)))
    copy.unlink()


if __name__ == "__main__":
    if sys.platform != "win32":
        # a limit that this process was started with may be lower, and cannot be raised
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        least = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (least, least))
    try:
        if sys.argv[2:] == [COLUMNS]:
            with h5py.File(sys.argv[1]) as columns:
                check_columns(columns, Path(sys.argv[1]).stat().st_size)
        else:
            main(*map(Path, sys.argv[1:]))
    except LayoutError as error:
        print(str(error).replace("\n", " "), file=sys.stderr)
        sys.exit(REFUSED)
