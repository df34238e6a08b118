"""Files that others have made, read as bytes, text, TOML or JSON: plain files of bounded size, and errors of two kinds.

A pipe can hold a reader up for ever, and a device has no end. What no TOML or JSON should be, such as lists in lists in
lists, is a ValueError here, as every other mistake in a text is.
"""

from __future__ import annotations

import errno
import json
import os
import re
import select
import stat
import time
import tomllib
from pathlib import Path
from typing import Any

LARGEST = 64 << 20
"""Bytes of the largest text that is read where nothing else is said."""

PIPE_S = 60.0
"""Time in which a pipe of the command line must come to its end, s."""

MOST_PARTS = 64
"""Most parts of a dotted key: `tomllib` takes a time that grows with their square."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = rf"(?<![\w\\-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}"
_OTHER = (
    r'''"""(?:[^"\\]|\\.|"{1,2}+(?!"))*+"*+|'''
    r"""'''(?:[^']|'{1,2}+(?!'))*+'*+|"""
    rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+|"
    r"""["'][^\n]*+|#[^\n]*+"""
)
_LONG_KEY_OR_OTHER = re.compile(rf"(?s)(?P<key>{_LONG_KEY})|{_OTHER}")
"""A long key, or else a string, a shorter key, or a comment, in which no key begins. A string may lack its end."""


_piped: dict[Path, bytes] = {}
"""Content of the pipes that the user has named, for a pipe can be read once."""


def accept_pipe(file: Path, seconds: float = PIPE_S) -> None:
    """Read `file` now if it is a pipe, as `<(...)` of a shell is; `read_bytes` gives its content from then on.

    This is for what users name on their own command line, never for a name in a file. Raises OSError for a pipe
    without an end within these seconds or LARGEST bytes.
    """
    try:
        is_pipe = stat.S_ISFIFO(file.stat().st_mode)
    except OSError:
        return  # whether it exists is for its reader to say
    if not is_pipe or file in _piped:
        return
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    data, end = bytearray(), time.monotonic() + seconds
    try:
        # of a pipe that nobody has opened for writing yet, it reports nothing
        ready = select.poll()
        ready.register(descriptor, select.POLLIN)
        while True:
            left = end - time.monotonic()
            if left <= 0.0:
                raise OSError(errno.ETIMEDOUT, f"has no end after {seconds:g} s: write it to a file", str(file))
            if not ready.poll(left * 1e3):
                continue
            piece = os.read(descriptor, 1 << 16)
            data += piece
            if len(data) > LARGEST:
                raise OSError(errno.EFBIG, f"has more than {LARGEST} bytes", str(file))
            if not piece:
                break
    finally:
        os.close(descriptor)
    _piped[file] = bytes(data)


def check_plain(file: Path) -> None:
    """Raise OSError for what is neither a plain file nor a folder, which opening refuses, or is not there."""
    mode = file.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "is a pipe, a socket or a device: give a file", str(file))


def unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return in words why a text could not be read."""
    if isinstance(error, UnicodeDecodeError):
        return f"must be text in UTF-8: {error.reason} at byte {error.start}"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return f"cannot be read: {error.strerror or error}"


def read_bytes(file: Path, most: int = LARGEST) -> bytes:
    """Return the content of a file. Raises OSError, also for one of more than `most` bytes or that is not plain."""
    data = _piped.get(file)
    if data is None:
        check_plain(file)
        with file.open("rb") as stream:
            data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"has more than {most} bytes", str(file))
    return data


def read_text(file: Path, most: int = LARGEST) -> str:
    """Return the text of a UTF-8 file, each line of which ends in a line feed. Raises OSError, UnicodeDecodeError."""
    return read_bytes(file, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def read_toml(file: Path, most: int = LARGEST) -> dict[str, Any]:
    """Return the tables of a TOML file. Raises OSError; ValueError for a text that is no UTF-8 or no TOML."""
    return parse_toml(read_text(file, most))


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises ValueError."""
    for found in _LONG_KEY_OR_OTHER.finditer(text):
        if found["key"] is not None:
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(f"line {line}: a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("tables or lists are nested too deeply") from error


def read_json(file: Path, most: int = LARGEST) -> Any:
    """Return the content of a JSON file. Raises OSError; ValueError for a text that is no UTF-8 or no JSON."""
    return parse_json(read_text(file, most))


def parse_json(text: str | bytes) -> Any:
    """Return the content of JSON. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("lists or tables are nested too deeply") from error
