"""Ctrl-C and a request to terminate, kept until a run can end in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Interruption:
    """`word` says how a run was ended from outside; empty as long as it was not."""

    def __init__(self) -> None:
        self.word = ""


@contextmanager
def deferred() -> Iterator[Interruption]:
    """SIGINT (Ctrl-C) and SIGTERM are noted and do not break into a step; a second one acts as usual."""
    noted = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = {number: signal.getsignal(number) for number in _WORDS}

    def handle(number: int, frame: object) -> None:
        noted.word = _WORDS[signal.Signals(number)]
        signal.signal(number, before[signal.Signals(number)])

    for number in _WORDS:
        signal.signal(number, handle)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
