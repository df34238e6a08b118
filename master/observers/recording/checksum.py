"""The checksum of a closed recording: a trailer after the end of the HDF5 file, which HDF5 ignores.

It holds the length of the file, a CRC-32 of its bytes, and a copy of its superblock, without which nothing can be read.
HDF5 removes it when it opens the file for writing.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

_TRAILER = struct.Struct("<16sQI48sI")
_MAGIC = b"dockfmu seal 1\r\n"
_PIECE = 1 << 20

SUPERBLOCK = 48
"""Size of the superblock at the start of an HDF5 file of version 1.10, which leads to all other data, bytes."""


class Checksum(NamedTuple):
    """Length and CRC-32 of a file, and its superblock."""

    length: int
    crc: int
    superblock: bytes


def append(file: Path) -> None:
    """Append the checksum to a file. Raises OSError."""
    with file.open("r+b") as stream:
        superblock = stream.read(SUPERBLOCK)
        stream.seek(0)
        total, length = _crc(stream, None)
        data = _TRAILER.pack(_MAGIC, length, total, superblock, 0)
        stream.write(data[:-4] + struct.pack("<I", zlib.crc32(data[:-4])))


def find(file: Path) -> Checksum | None:
    """Return the checksum of a file; None if there is none, or a damaged one. Raises OSError."""
    with file.open("rb") as stream:
        length = stream.seek(0, 2) - _TRAILER.size
        if length < 0:
            return None
        stream.seek(length)
        data = stream.read(_TRAILER.size)
    magic, expected, total, superblock, own = _TRAILER.unpack(data)
    if magic != _MAGIC or expected != length or own != zlib.crc32(data[:-4]):
        return None
    return Checksum(length, total, superblock)


def matches(file: Path, checksum: Checksum) -> bool:
    """Return whether a file is unchanged since its checksum was computed. Raises OSError."""
    with file.open("rb") as stream:
        return _crc(stream, checksum.length)[0] == checksum.crc


def _crc(stream: BinaryIO, length: int | None) -> tuple[int, int]:
    """Return (CRC-32, number) of the next `length` bytes, or of all remaining bytes."""
    total = done = 0
    while piece := stream.read(_PIECE if length is None else min(_PIECE, length - done)):
        total, done = zlib.crc32(piece, total), done + len(piece)
    return total, done
