"""The HDF5 file of a writer that was killed, in a form that HDF5 reads like one that was closed.

Such a file differs from a closed one in three ways, which `opened` corrects as it reads, without changing the file:

- It is marked as open for writing, and the end of the file that it states is that at its start.
- The operating system copies a write page by page, and a process can be killed between two pages. Part of a block of
  metadata is then new, the rest old, and the checksum wrong. HDF5 writes in an order in which each block is valid
  whether the blocks written after it are there or not, and changes numbers only: such a block is valid, too, and gets
  the checksum of its bytes. The rows that it has lost are those of the last write, which the journal holds.

HDF5's own way to read such a file, SWMR, waits for the writer to complete the block: forever. Formats of the blocks:
HDF5 File Format Specification, version 3.0.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import h5py

from dockfmu.master.observers.recording.checksum import SUPERBLOCK

PAGE = 4096
"""Smallest page of an operating system, bytes."""

_FLAGS = 11
_END_OF_FILE = 28
_HEADER = b"OHDR"
_BLOCKS = (b"EAHD", b"EAIB", b"EASB", b"EADB", b"FRHP", b"BTHD")
"""Blocks, other than object headers, that change after the start of a recording and end with their checksum. HDF5 reads
each as a whole."""
_SUM = 4
_MASK = 0xFFFFFFFF


def opened(file: Path) -> h5py.File:
    """Open the file of a writer that was killed, for reading. Raises the exceptions of h5py."""
    return h5py.File(_KilledFile(file), "r")


class _KilledFile:
    """A binary file, for reading: the part of the protocol of `io.RawIOBase` that h5py needs."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("rb", buffering=0)
        self._changes: dict[int, bytes] = {}
        """What is read in place of the bytes of the file, by position."""
        size = self.seek(0, os.SEEK_END)
        self.seek(0)
        start = bytearray(self.read(SUPERBLOCK))
        if len(start) == SUPERBLOCK:
            start[_FLAGS] = 0
            struct.pack_into("<Q", start, _END_OF_FILE, size)
            changed = bytes(start[:-_SUM])
            self._changes[0] = changed + _packed(lookup3(changed))
        self.seek(0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def read(self, size: int = -1) -> bytes:
        first = self.tell()
        data = bytearray(self._stream.read(size))
        after = self.tell()
        if data[:4] == _HEADER:
            self._complete(first, self._header(first))
        elif data[:4] in _BLOCKS:
            self._complete(first, bytes(data))
        self.seek(after)
        for position, change in self._changes.items():
            begin, end = max(position, first), min(position + len(change), first + len(data))
            if begin < end:
                data[begin - first : end - first] = change[begin - position : end - position]
        return bytes(data)

    def _header(self, first: int) -> bytes:
        """Return the first block of the object header at position `first`; HDF5 reads a guess of its size at first."""
        self.seek(first)
        prefix = self._stream.read(4 + 2 + 16 + 4 + 8).ljust(34, b"\0")
        flags = prefix[5]
        at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        width = 1 << (flags & 3)
        size = at + width + int.from_bytes(prefix[at : at + width], "little") + _SUM
        self.seek(first)
        return self._stream.read(size) if size < PAGE * PAGE else b""

    def _complete(self, first: int, block: bytes) -> None:
        """Correct the checksum of a block that may have been written in part: one on two pages."""
        if len(block) > _SUM and first // PAGE != (first + len(block) - 1) // PAGE:
            self._changes[first + len(block) - _SUM] = _packed(lookup3(block[:-_SUM]))


def _packed(number: int) -> bytes:
    return struct.pack("<I", number)


def lookup3(data: bytes) -> int:
    """Return Bob Jenkins' hash `lookup3` of some bytes (hashlittle, initial value 0), the checksum of HDF5."""
    a = b = c = (0xDEADBEEF + len(data)) & _MASK
    if not data:
        return c
    words = struct.unpack(f"<{-(-len(data) // 12) * 3}I", data + bytes(-len(data) % 12))
    for k in range(0, len(words) - 3, 3):
        a, b, c = (a + words[k]) & _MASK, (b + words[k + 1]) & _MASK, (c + words[k + 2]) & _MASK
        a = ((a - c) & _MASK) ^ _rotated(c, 4)
        c = (c + b) & _MASK
        b = ((b - a) & _MASK) ^ _rotated(a, 6)
        a = (a + c) & _MASK
        c = ((c - b) & _MASK) ^ _rotated(b, 8)
        b = (b + a) & _MASK
        a = ((a - c) & _MASK) ^ _rotated(c, 16)
        c = (c + b) & _MASK
        b = ((b - a) & _MASK) ^ _rotated(a, 19)
        a = (a + c) & _MASK
        c = ((c - b) & _MASK) ^ _rotated(b, 4)
        b = (b + a) & _MASK
    a, b, c = (a + words[-3]) & _MASK, (b + words[-2]) & _MASK, (c + words[-1]) & _MASK
    c = ((c ^ b) - _rotated(b, 14)) & _MASK
    a = ((a ^ c) - _rotated(c, 11)) & _MASK
    b = ((b ^ a) - _rotated(a, 25)) & _MASK
    c = ((c ^ b) - _rotated(b, 16)) & _MASK
    a = ((a ^ c) - _rotated(c, 4)) & _MASK
    b = ((b ^ a) - _rotated(a, 14)) & _MASK
    return ((c ^ b) - _rotated(b, 24)) & _MASK


def _rotated(word: int, bits: int) -> int:
    """Return a word of 32 bits rotated to the left."""
    return (word << bits | word >> (32 - bits)) & _MASK
