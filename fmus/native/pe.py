"""What a Windows library needs and gives, read from its import and export directories."""

from __future__ import annotations

import struct

from fmus.native.symbols import Library, LibraryError


def read_pe(data: bytes) -> Library:
    """The directories of a 64-bit DLL. Imported functions are not listed: the libraries they come from are.

    Raises LibraryError for what is not such a file.
    """
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read(data: bytes) -> Library:
    (header,) = struct.unpack_from("<I", data, 0x3C)
    if data[:2] != b"MZ" or data[header : header + 4] != b"PE\0\0":
        raise LibraryError("this is not a Windows library")
    (section_count,) = struct.unpack_from("<H", data, header + 6)
    (optional_size,) = struct.unpack_from("<H", data, header + 20)
    optional = header + 24
    (kind,) = struct.unpack_from("<H", data, optional)
    if kind != 0x20B:
        raise LibraryError("this is not a 64-bit Windows library")
    exports, _, imports, _ = struct.unpack_from("<IIII", data, optional + 112)
    sections = [struct.unpack_from("<IIII", data, optional + optional_size + 40 * i + 8) for i in range(section_count)]

    def place(address: int) -> int:
        for virtual_size, start, raw_size, offset in sections:
            if start <= address < start + max(virtual_size, raw_size):
                return int(address - start + offset)
        raise LibraryError(f"address {address:#x} lies in no section")

    def text(address: int) -> str:
        start = place(address)
        return data[start : data.index(0, start)].decode()

    needed = []
    entry = place(imports) if imports else 0
    while entry and (name := struct.unpack_from("<I", data, entry + 12)[0]):
        needed.append(text(name))
        entry += 20
    defined = set()
    if exports:
        directory = place(exports)
        (count,) = struct.unpack_from("<I", data, directory + 24)
        (names,) = struct.unpack_from("<I", data, directory + 32)
        defined = {text(address) for address in struct.unpack_from(f"<{count}I", data, place(names))}
    return Library(tuple(needed), frozenset(), frozenset(defined), False)
