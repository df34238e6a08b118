"""The checksum of a closed recording: a trailer after the end of the HDF5 file, which HDF5 ignores.

It holds the length of the file, a CRC-32 of its bytes, which reveals damage, a digest with the key of the user who
wrote it, which nobody else can make, and a copy of the superblock of the file, without which nothing can be read. HDF5
removes the trailer when it opens the file for writing.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

from zlib_ng import zlib_ng

from dockfmu.base.private_key import private_key

_TRAILER = struct.Struct("<16sQI32s48sI")
_MAGIC = b"dockfmu seal 2\r\n"
_PIECE = 1 << 20

SUPERBLOCK = 48
"""Size of the superblock at the start of an HDF5 file of version 1.10, which leads to all other data, bytes."""


class Checksum(NamedTuple):
    """Length, CRC-32 and keyed digest of a file, and its superblock."""

    length: int
    crc: int
    digest: bytes
    superblock: bytes


class Verdict(NamedTuple):
    """Whether a file is as it was when its checksum was computed, and whether this user wrote it on this machine."""

    intact: bool
    own: bool


def append(file: Path) -> None:
    """Append the checksum to a file. Raises OSError."""
    with file.open("r+b") as stream:
        superblock = stream.read(SUPERBLOCK)
        stream.seek(0)
        found, length = _sums(stream, None)
        data = _TRAILER.pack(_MAGIC, length, *found, superblock, 0)
        stream.write(data[:-4] + struct.pack("<I", zlib.crc32(data[:-4])))


def find(file: Path) -> Checksum | None:
    """Return the checksum of a file; None if there is none, or a damaged one. Raises OSError."""
    with file.open("rb") as stream:
        length = stream.seek(0, 2) - _TRAILER.size
        if length < 0:
            return None
        stream.seek(length)
        data = stream.read(_TRAILER.size)
    magic, expected, total, digest, superblock, own = _TRAILER.unpack(data)
    if magic != _MAGIC or expected != length or own != zlib.crc32(data[:-4]):
        return None
    return Checksum(length, total, digest, superblock)


def verify(file: Path, checksum: Checksum) -> Verdict:
    """Compare a file with its checksum. Raises OSError."""
    with file.open("rb") as stream:
        (crc, digest), _ = _sums(stream, checksum.length)
    own = digest != NO_DIGEST and hmac.compare_digest(digest, checksum.digest)
    return Verdict(crc == checksum.crc, own)


NO_DIGEST = bytes(32)
"""In place of the digest where there is no key."""


def _sums(stream: BinaryIO, length: int | None) -> tuple[tuple[int, bytes], int]:
    """Return (CRC-32, keyed digest) and the number of the next `length` bytes, or of all remaining bytes."""
    key = private_key()
    digest = hashlib.blake2b(key=key or b"", digest_size=len(NO_DIGEST))
    total = done = 0
    while piece := stream.read(_PIECE if length is None else min(_PIECE, length - done)):
        total, done = zlib_ng.crc32(piece, total), done + len(piece)
        digest.update(piece)
    return (total, digest.digest() if key else NO_DIGEST), done
