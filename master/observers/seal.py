"""What shows that a recording is as it was when it was closed: a few bytes behind its end, which HDF5 does not look at.

They hold the length of the file, a sum of its bytes, and a copy of its first ones, without which nothing can be found.
HDF5 itself takes them away when it opens the file for writing.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import NamedTuple

_FORM = struct.Struct("<16sQI48sI")
_MAGIC = b"dockfmu seal 1\r\n"
_PIECE = 1 << 20

SUPERBLOCK = 48
"""Bytes at the beginning of an HDF5 file of version 1.10 from which all others are found."""


class Seal(NamedTuple):
    """Length and sum of a file's bytes, and its first ones."""

    length: int
    sum: int
    superblock: bytes


def put(file: Path) -> None:
    """Put a seal behind the end of a file. Raises OSError."""
    with file.open("r+b") as stream:
        superblock = stream.read(SUPERBLOCK)
        stream.seek(0)
        total, length = _sum(stream, None)
        data = _FORM.pack(_MAGIC, length, total, superblock, 0)
        stream.write(data[:-4] + struct.pack("<I", zlib.crc32(data[:-4])))


def find(file: Path) -> Seal | None:
    """Return the seal of a file; None where there is none, or none that is whole. Raises OSError."""
    with file.open("rb") as stream:
        length = stream.seek(0, 2) - _FORM.size
        if length < 0:
            return None
        stream.seek(length)
        data = stream.read(_FORM.size)
    magic, said, total, superblock, own = _FORM.unpack(data)
    if magic != _MAGIC or said != length or own != zlib.crc32(data[:-4]):
        return None
    return Seal(length, total, superblock)


def holds(file: Path, seal: Seal) -> bool:
    """Return whether a file is as it was when it was sealed. Raises OSError."""
    with file.open("rb") as stream:
        return _sum(stream, seal.length)[0] == seal.sum


def _sum(stream, length: int | None) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    """(sum, number) of the next `length` bytes, or of all that there are."""
    total = done = 0
    while piece := stream.read(_PIECE if length is None else min(_PIECE, length - done)):
        total, done = zlib.crc32(piece, total), done + len(piece)
    return total, done
