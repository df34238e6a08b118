"""What a macOS library needs and gives, read from its load commands and its table of symbols."""

from __future__ import annotations

import struct

from fmus.native.symbols import Library, LibraryError

_LOAD_LIBRARY, _LOAD_WEAK_LIBRARY, _REEXPORT_LIBRARY, _SYMBOLS = 0xC, 0x80000018, 0x8000001F, 0x2
_EXTERNAL, _TYPE, _UNDEFINED, _DEBUG = 0x01, 0x0E, 0x00, 0xE0


def read_macho(data: bytes) -> Library:
    """The symbols of a 64-bit library, named as in C, without their leading underscore.

    Raises LibraryError for what is not such a file.
    """
    try:
        return _read(data)
    except (struct.error, ValueError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read(data: bytes) -> Library:
    if data[:4] != b"\xcf\xfa\xed\xfe":
        raise LibraryError("this is not a 64-bit macOS library")
    (count,) = struct.unpack_from("<I", data, 16)
    needed: list[str] = []
    undefined: set[str] = set()
    defined: set[str] = set()
    place = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, place)
        if size < 8:
            raise LibraryError(f"load command at {place} has no size")
        if command in (_LOAD_LIBRARY, _LOAD_WEAK_LIBRARY, _REEXPORT_LIBRARY):
            (offset,) = struct.unpack_from("<I", data, place + 8)
            needed.append(data[place + offset : data.index(0, place + offset)].decode())
        elif command == _SYMBOLS:
            symbols, number, strings, _ = struct.unpack_from("<IIII", data, place + 8)
            for i in range(number):
                at, kind = struct.unpack_from("<IB", data, symbols + 16 * i)
                if kind & _EXTERNAL and not kind & _DEBUG:
                    name = data[strings + at : data.index(0, strings + at)].decode().removeprefix("_")
                    (undefined if kind & _TYPE == _UNDEFINED else defined).add(name)
        place += size
    return Library(tuple(needed), frozenset(undefined), frozenset(defined), False)
