"""Standard streams of the command line: messages, warnings, and what libraries of FMUs print."""

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
    # a run does not end because nobody reads what it says
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print what this program warns of as a sentence, without the line of its source."""
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
    """Have something behind the three standard streams, and every name printable.

    Where one is closed, the next file that is opened gets its number, and with it what libraries of FMUs print.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def own_output() -> Iterator[None]:
    """Keep standard output for this program: what libraries of FMUs print meanwhile goes to standard error."""
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
