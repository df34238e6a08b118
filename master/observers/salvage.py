"""What can still be read of a damaged recording: `python -m master.observers.salvage FILE OUT`, a process of its own.

HDF5 may crash, or never come back, over bytes that nobody wrote: that must not happen to who reads. Without OUT it only
tells, by its exit status, whether all can be read.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from master.observers import seal

LONGEST_S = 10.0
"""Time for a small file."""
SLOWEST = 2e6
"""Bytes in a second, of large ones."""
LIBVER = ("v110", "v110")

_ERRORS = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError)
"""What h5py raises over a damaged file."""


def salvage(file: Path, out: Path) -> str:
    """Write what can be read of `file` to `out`; returns in words what is missing. Raises RuntimeError if it is all."""
    return _apart(file, str(out.absolute()))


def probe(file: Path) -> None:
    """Read all of a file that bears no seal, elsewhere. Raises RuntimeError where that fails."""
    _apart(file)


def _apart(file: Path, *arguments: str) -> str:
    """What another process says when it is done with a file. Raises RuntimeError where it does not come to an end."""
    command = [sys.executable, "-m", "master.observers.salvage", str(file.absolute()), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=LONGEST_S + file.stat().st_size / SLOWEST,
            cwd=Path(__file__).parents[2], stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise RuntimeError("reading it does not come to an end") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"reading it ends with {done.returncode}")
    return done.stdout.decode(errors="replace").strip()


def _copied(file: Path, out: Path) -> h5py.File:
    """A copy that HDF5 opens: with the length and the first bytes that it should have."""
    shutil.copyfile(file, out)
    known = seal.find(file)
    with out.open("r+b") as stream:
        if known is not None:
            stream.truncate(known.length)
            stream.write(known.superblock)
        else:
            # where HDF5 says that its file ends; bytes that are missing are read as zeros, and found to be none of its
            head = stream.read(seal.SUPERBLOCK)
            length = stream.seek(0, 2)
            end = struct.unpack_from("<Q", head, 28)[0] if len(head) == seal.SUPERBLOCK else 0
            if length < end < 1 << 44:
                stream.truncate(end)
    return _opened(out)


def _opened(file: Path) -> h5py.File:
    """A file that was closed, or one whose writer was not."""
    try:
        return h5py.File(file, "r")
    except _ERRORS:
        return h5py.File(file, "r", swmr=True, libver="latest")


def _rows(dataset: h5py.Dataset, most: int) -> np.ndarray:
    """The rows of a dataset up to the first chunk that cannot be read, at the most so many."""
    size = dataset.chunks[0] if dataset.chunks else most
    pieces = [np.empty(0, dataset.dtype)]
    for first in range(0, min(len(dataset), most), size):
        try:
            # chunks that nobody wrote are none
            if dataset.chunks and dataset.id.get_chunk_info_by_coord((first,)).byte_offset is None:
                break
            pieces.append(dataset[first : min(first + size, most)])
        except _ERRORS:
            break
    return np.concatenate(pieces)


def _attributes(source: Any, target: Any) -> None:
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
    """Copy what can be read; returns what is missing."""
    missing = []
    _attributes(source, out)
    dataset = source["time"]
    said = len(dataset)
    time = _rows(dataset, said)
    falling = ~(np.diff(time) > 0.0)
    time = time[: int(falling.argmax()) + 1] if falling.any() else time
    columns: dict[str, tuple[h5py.Dataset, np.ndarray]] = {}
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
    count = min([len(time), *(len(values) for _, values in columns.values())])
    for path, (source_column, values) in [("time", (dataset, time)), *columns.items()]:
        target = out.create_dataset(path, data=values[:count], maxshape=(None,))
        _attributes(source_column, target)
        # texts alone bear no sum by which damage in them would show
        if path != "time" and not ({"type", "unit"} <= set(target.attrs) and target.attrs["type"] != "String"):
            del out[path]
            missing.append(path)
    words = [f"{count} of {said} rows come back"] if count < said else [f"all of its {said} rows come back"]
    return [*words, *(f"{name} cannot be read" for name in missing)]


def _look(source: h5py.File) -> None:
    """Read everything as far as there are times. Raises what h5py raises."""
    count = len(source["time"])

    def read(_: str, found: h5py.Group | h5py.Dataset) -> None:
        dict(found.attrs)
        if isinstance(found, h5py.Dataset):
            step = found.chunks[0] if found.chunks else max(len(found), 1)
            for first in range(0, min(len(found), count), step):
                found[first : first + step]

    dict(source.attrs)
    source.visititems(read)


def main(file: Path, out: Path | None = None) -> None:
    if out is None:
        with _opened(file) as source:
            _look(source)
        return
    copy = out.with_name(out.name + ".copy")
    with _copied(file, copy) as source, h5py.File(out, "w", libver=LIBVER) as target:
        print(", ".join(_read(source, target)))
    copy.unlink()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
