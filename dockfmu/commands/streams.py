"""Standard streams of the command line: messages, warnings, and output of FMU libraries."""

from __future__ import annotations

import ctypes
import io
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from dockfmu.commands.terminal import styled


def say(text: str) -> None:
    """Print a line on standard error."""
    # a run goes on if nobody reads its messages
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings of this program as plain sentences, without their source lines."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def sentence(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if category.__module__.startswith("dockfmu."):
                say(f"{styled('warning:', 'yellow', sys.stderr)} {message}")
            else:
                show(message, category, *where, **more)

        warnings.showwarning = sentence
        yield


def open_standard_streams() -> None:
    """Open closed standard streams on the null device, and make every name printable.

    Otherwise the next file that is opened would get the number of a closed stream, and with it the output of FMU
    libraries.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


_CONTROLS = re.compile(r"(\x1b\[[0-9;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters other than tab, line feed and carriage return; colours, as `styled` writes them, in group 1."""


class _Printable:
    """A stream of text on which control characters become escapes, so that no name can command the terminal.

    An error of the stream, which has no file name, gets the `name` in its place.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, text: str) -> int:
        try:
            return self._stream.write(printable(text))
        except OSError as error:
            error.filename = self._name
            raise

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            error.filename = self._name
            raise

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def printable(text: str) -> str:
    """Return text with its control characters as escapes of Python, except ends of lines, tabs and colours."""
    return _CONTROLS.sub(lambda found: found[1] or f"\\x{ord(found[0]):02x}", text)


@contextmanager
def printable_streams() -> Iterator[None]:
    """Let the standard streams write control characters as escapes: names come from files of others."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Printable(out, "standard output"), _Printable(err, "standard error")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


@contextmanager
def own_output() -> Iterator[None]:
    """Keep standard output for this program: redirect the output of FMU libraries to standard error."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL("msvcrt" if sys.platform == "win32" else None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
