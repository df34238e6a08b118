"""What a Linux library needs and gives, read from its dynamic section."""

from __future__ import annotations

import struct
from collections.abc import Callable

from fmus.native.symbols import Library, LibraryError

_NEEDED, _STRTAB, _SYMTAB, _TEXTREL, _HASH, _GNU_HASH, _FLAGS = 1, 5, 6, 22, 4, 0x6FFFFEF5, 30


def read_elf(data: bytes) -> Library:
    """The dynamic section of a 64-bit little-endian ELF file. Raises LibraryError for anything else."""
    try:
        return _read_elf(data)
    except (struct.error, KeyError, IndexError, UnicodeError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read_elf(data: bytes) -> Library:
    if data[:6] != b"\x7fELF\x02\x01":
        raise LibraryError("this is not a 64-bit ELF library")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]

    def place(address: int) -> int:
        for kind, _, file_offset, start, _, length in segments:
            if kind == 1 and start <= address < start + length:
                return address - start + file_offset
        raise LibraryError(f"address {address:#x} lies in no segment")

    entries: list[tuple[int, int]] = []
    for kind, _, file_offset, _, _, length in segments:
        if kind == 2:
            for i in range(length // 16):
                entries.append(struct.unpack_from("<QQ", data, file_offset + 16 * i))
    tags = dict(entries)
    strings = place(tags[_STRTAB]) if _STRTAB in tags else 0

    def name(position: int) -> str:
        end = data.find(b"\0", strings + position)
        return data[strings + position : end].decode()

    symbols = place(tags[_SYMTAB])
    undefined: set[str] = set()
    defined: set[str] = set()
    for i in range(1, _symbol_count(data, tags, place)):
        at, info, _, section = struct.unpack_from("<IBBH", data, symbols + 24 * i)
        if info >> 4 in (1, 2):
            (defined if section else undefined).add(name(at))
    textrel = _TEXTREL in tags or bool(tags.get(_FLAGS, 0) & 4)
    needed = tuple(name(value) for tag, value in entries if tag == _NEEDED)
    return Library(needed, frozenset(undefined), frozenset(defined), textrel)


def _symbol_count(data: bytes, tags: dict[int, int], place: Callable[[int], int]) -> int:
    """Number of dynamic symbols. There may be no section headers; the hash tables tell it."""
    if _HASH in tags:
        (_, count) = struct.unpack_from("<II", data, place(tags[_HASH]))
        return int(count)
    if _GNU_HASH not in tags:
        raise LibraryError("there is no table of symbols")
    table = place(tags[_GNU_HASH])
    bucket_count, first, bloom_size, _ = struct.unpack_from("<IIII", data, table)
    buckets = table + 16 + 8 * bloom_size
    last = max(struct.unpack_from(f"<{bucket_count}I", data, buckets), default=0)
    if last < first:
        return int(first)
    chain = buckets + 4 * bucket_count
    # the last entry of a chain has its lowest bit set
    while not struct.unpack_from("<I", data, chain + 4 * (last - first))[0] & 1:
        last += 1
    return last + 1
