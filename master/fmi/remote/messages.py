"""Messages between the master and the process of an FMU as bytes of a fixed layout.

An FMU can write into the memory through which messages pass. What is read from there is checked and becomes plain
values: None, Booleans, 64-bit integers, floats, strings, bytes, lists, and dictionaries with strings as keys. A value
is encoded as a byte for its kind, followed, little-endian, by the number itself or by a 32-bit count and as many bytes
or values.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from dockfmu.master.errors import MasterError

DEEPEST = 16
"""Deepest nesting of lists and dictionaries; messages of the master have three levels."""

_COUNT, _INTEGER, _FLOAT = struct.Struct("<I"), struct.Struct("<q"), struct.Struct("<d")


class MessageError(MasterError):
    """Bytes are not a message."""


def encode(value: Any) -> bytes:
    """Encode a value; numpy scalars become Python numbers, tuples become lists. Raises MasterError for other types."""
    parts: list[bytes] = []
    _encode(value, parts)
    return b"".join(parts)


def _encode(value: Any, parts: list[bytes]) -> None:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        parts.append({None: b"N", True: b"T", False: b"F"}[value])
    elif isinstance(value, int) and -(2**63) <= value < 2**63:
        parts += (b"i", _INTEGER.pack(value))
    elif isinstance(value, float):
        parts += (b"d", _FLOAT.pack(value))
    elif isinstance(value, str | bytes):
        # strings that came from file names may hold code points that UTF-8 does not allow
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        parts += (b"b" if isinstance(value, bytes) else b"s", _count(len(data)), data)
    elif isinstance(value, list | tuple):
        parts += (b"l", _count(len(value)))
        for item in value:
            _encode(item, parts)
    elif isinstance(value, Mapping):
        parts += (b"m", _count(len(value)))
        for key, item in value.items():
            _encode(str(key), parts)
            _encode(item, parts)
    else:
        raise MasterError(f"{value!r} of type {type(value).__name__} cannot be passed to another process")


def _count(number: int) -> bytes:
    if number >= 2**32:
        raise MasterError(f"{number} bytes are too many for one call of another process")
    return _COUNT.pack(number)


def decode(data: bytes) -> Any:
    """Return the value that `encode` encoded. Raises only MessageError for other bytes."""
    value, end = _decode(data, 0, DEEPEST)
    if end != len(data):
        raise MessageError(f"{len(data) - end} bytes too many")
    return value


def _decode(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    """Return the value that begins at the offset `at`, and the offset after it."""
    kind, at = data[at : at + 1], at + 1
    if kind in (b"N", b"T", b"F"):
        return {b"N": None, b"T": True, b"F": False}[kind], at
    if kind in (b"i", b"d"):
        return _number(_INTEGER if kind == b"i" else _FLOAT, data, at), at + 8
    if kind not in (b"s", b"b", b"l", b"m"):
        raise MessageError(f"no value begins with {kind!r}")
    count, at = _number(_COUNT, data, at), at + 4
    # each item takes at least one byte
    if count > len(data) - at:
        raise MessageError(f"{count} items do not fit into {len(data) - at} bytes")
    if kind == b"b":
        return data[at : at + count], at + count
    if kind == b"s":
        try:
            return data[at : at + count].decode("utf-8", "surrogatepass"), at + count
        except UnicodeDecodeError as error:
            raise MessageError("a string is not UTF-8") from error
    if not depth:
        raise MessageError(f"more than {DEEPEST} levels")
    items = []
    for _ in range(count if kind == b"l" else 2 * count):
        item, at = _decode(data, at, depth - 1)
        items.append(item)
    if kind == b"l":
        return items, at
    if not all(isinstance(key, str) for key in items[::2]):
        raise MessageError("a key is not a string")
    return dict(zip(items[::2], items[1::2], strict=True)), at


def _number(form: struct.Struct, data: bytes, at: int) -> Any:
    try:
        return form.unpack_from(data, at)[0]
    except struct.error as error:
        raise MessageError("it is truncated") from error
