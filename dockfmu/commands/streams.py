"""Standard streams of the command line: messages, warnings, and output of FMU libraries."""

from __future__ import annotations

import ctypes
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

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
            if category.__module__.startswith(("master.", "dockfmu.")):
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
