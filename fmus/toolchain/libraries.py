"""Shared libraries: what they need and export, read from ELF, PE and Mach-O files, and what FMUs may need."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.fmus.toolchain.targets import Target

_FMI = """
    GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
    ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean
    SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
    GetDirectionalDerivative SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus
    GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus
"""
_MATHS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin
    fmod frexp hypot ldexp lgamma log log10 log1p log2 nearbyint pow remainder rint round sin sincos sinh sqrt tan tanh
    tgamma trunc
"""
_C = """
    bsearch calloc fclose fgetc fopen fread free getc malloc memcmp memcpy memmove memset snprintf stpcpy strcat strcmp
    strcpy strlen strncmp strncpy strstr vsnprintf
"""
_LOADER = "__cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable"
# what libSystem has besides; LLVM makes memset_pattern16 of loops that fill an array with one number
_MACOS = "bzero __bzero memset_pattern16 __sincos_stret dyld_stub_binder"

FUNCTIONS = frozenset(f"fmi2{name}" for name in _FMI.split())
"""All functions of FMI 2.0 for co-simulation."""

MATHS = frozenset(_MATHS.split())
"""Functions of libm."""

ALLOWED = frozenset((f"{_MATHS} {_C} {_LOADER} {_MACOS}").split())
"""Symbols that a library may use from libm, libc and the loader."""


class LibraryError(DockfmuError, ValueError):
    """A shared library is damaged, lacks a function of the standard, or needs more than is on every machine."""

    exit_status = FAILED


@dataclass(frozen=True)
class LibraryInterface:
    """The interface of a shared library: libraries and symbols that it needs, symbols that it exports."""

    needed: tuple[str, ...]
    undefined: frozenset[str]
    defined: frozenset[str]
    text_relocations: bool


# ELF: tags of the dynamic section
_NEEDED, _STRTAB, _SYMTAB, _TEXTREL, _HASH, _GNU_HASH, _FLAGS = 1, 5, 6, 22, 4, 0x6FFFFEF5, 30


def read_elf(data: bytes) -> LibraryInterface:
    """Return the interface of a 64-bit little-endian ELF library. Raises LibraryError for any other file."""
    try:
        return _read_elf(data)
    except (struct.error, KeyError, IndexError, UnicodeError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read_elf(data: bytes) -> LibraryInterface:
    if data[:6] != b"\x7fELF\x02\x01":
        raise LibraryError("this is not a 64-bit ELF library")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]

    def place(address: int) -> int:
        for kind, _, file_offset, start, _, length in segments:
            if kind == 1 and start <= address < start + length:
                return int(address - start + file_offset)
        raise LibraryError(f"address {address:#x} is in no segment")

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
    return LibraryInterface(needed, frozenset(undefined), frozenset(defined), textrel)


def _symbol_count(data: bytes, tags: dict[int, int], place: Callable[[int], int]) -> int:
    """Return the number of dynamic symbols from a hash table: there may be no section headers."""
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


def read_pe(data: bytes) -> LibraryInterface:
    """Return the interface of a 64-bit DLL: the libraries that it needs, without the functions that it uses of them.

    Raises LibraryError for any other file.
    """
    try:
        return _read_pe(data)
    except (struct.error, IndexError, UnicodeError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read_pe(data: bytes) -> LibraryInterface:
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
        raise LibraryError(f"address {address:#x} is in no section")

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
    return LibraryInterface(tuple(needed), frozenset(), frozenset(defined), False)


# Mach-O: load commands, and bits of the type of a symbol
_LOAD_LIBRARY, _LOAD_WEAK_LIBRARY, _REEXPORT_LIBRARY, _SYMBOLS = 0xC, 0x80000018, 0x8000001F, 0x2
_EXTERNAL, _TYPE, _UNDEFINED, _DEBUG = 0x01, 0x0E, 0x00, 0xE0


def read_macho(data: bytes) -> LibraryInterface:
    """Return the interface of a 64-bit macOS library, its symbols as in C, without their leading underscore.

    Raises LibraryError for any other file.
    """
    try:
        return _read_macho(data)
    except (struct.error, ValueError) as error:
        raise LibraryError(f"damaged shared library: {error}") from error


def _read_macho(data: bytes) -> LibraryInterface:
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
    return LibraryInterface(tuple(needed), frozenset(undefined), frozenset(defined), False)


_READERS = {".so": read_elf, ".dll": read_pe, ".dylib": read_macho}


def faults(library: LibraryInterface, target: Target) -> list[str]:
    """Return what is wrong with a library: functions that it lacks, symbols and libraries that it must not need."""
    found = []
    if missing := sorted(FUNCTIONS - library.defined):
        found.append(f"does not export {', '.join(missing)}")
    if undefined := sorted(library.undefined - ALLOWED):
        found.append(f"needs {', '.join(undefined)}, which neither libc nor libm has")
    if others := [name for name in library.needed if not name.startswith(target.libraries)]:
        found.append(f"needs the libraries {', '.join(others)}")
    if library.text_relocations:
        found.append("is not position-independent (text relocations)")
    return found


def check_library(data: bytes, target: Target) -> None:
    """Raise LibraryError unless the library is complete and needs only what is on every machine."""
    if found := faults(_READERS[target.extension](data), target):
        raise LibraryError(f"library for {target.folder} {'; '.join(found)}")
