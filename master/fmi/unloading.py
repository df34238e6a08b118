"""What a library has left running in this process: while it runs, the library must stay loaded."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_BLOCK = 256
"""Bytes that hold a struct sigaction, which begins with the address of the handler."""


def other_threads() -> frozenset[int]:
    """Return the threads of this process that Python has not started; none on systems other than Linux."""
    known = {thread.native_id for thread in threading.enumerate()}
    with suppress(OSError):
        return frozenset(int(name) for name in os.listdir("/proc/self/task")) - known  # noqa: PTH208  # a list of names
    return frozenset()


def is_left_running(path: str, before: frozenset[int]) -> bool:
    """Return whether code of the library at `path` may still be called: by a thread of its own, or by a signal.

    `before` are the `other_threads` from before it was loaded. Threads that other code has started since count too,
    for nothing tells them apart. False on systems other than Linux.
    """
    return sys.platform == "linux" and (bool(other_threads() - before) or _handles_a_signal(path))


def _handles_a_signal(path: str) -> bool:
    places = [*_places(path)]
    sigaction, block = ctypes.CDLL(None).sigaction, ctypes.create_string_buffer(_BLOCK)
    for number in signal.valid_signals():
        sigaction(int(number), None, block)
        handler = int.from_bytes(block.raw[: ctypes.sizeof(ctypes.c_void_p)], sys.byteorder)
        if any(first <= handler < end for first, end in places):
            return True
    return False


def _places(path: str) -> Iterator[tuple[int, int]]:
    """Yield the addresses at which a library lies: of the first byte, and behind the last one."""
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            if line[73:].strip().removesuffix(" (deleted)") == path:
                first, end = line.split(" ", 1)[0].split("-")
                yield int(first, 16), int(end, 16)
