"""Workers of this machine that stand still: an FMU may stop its own process, and then nothing within it ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType

import psutil

LOOKS, LOOK_S = 5, 1.0
"""Looks in a row at which a process must stand still, and the time between two, s.

They are counted, because Ctrl-Z stops this process too: it looks no more until it goes on.
"""


class StoppedWorkers:
    """Ends processes that a signal has stopped, so that what they were doing is told as a crash; a context manager.

    `processes` returns the numbers of the processes to look at, None for one that has just ended. They are looked at in
    a thread of its own: whoever waits for a stopped process does not look. A debugger that holds a process is let be.
    """

    def __init__(self, processes: Callable[[], Iterable[int | None]]) -> None:
        self._processes = processes
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="stopped-workers", daemon=True)

    def __enter__(self) -> StoppedWorkers:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join()

    def _watch(self) -> None:
        seen: dict[int, int] = {}
        while not self._left.wait(LOOK_S):
            seen = {number: seen.get(number, 0) + 1 for number in self._processes() if number and _is_stopped(number)}
            for number in [number for number, looks in seen.items() if looks >= LOOKS]:
                del seen[number]
                _end(number)


def _is_stopped(number: int) -> bool:
    try:
        return bool(psutil.Process(number).status() == psutil.STATUS_STOPPED)
    except psutil.NoSuchProcess:
        return False


def _end(number: int) -> None:
    with suppress(psutil.NoSuchProcess):
        psutil.Process(number).kill()
