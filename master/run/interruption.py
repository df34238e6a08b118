"""Ctrl-C and requests to terminate, deferred until a run can end in an orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):
    _WORDS[signal.SIGHUP] = "terminated, because the terminal was closed,"


class Terminated(KeyboardInterrupt):
    """A request to terminate came while no run was stepping; `number` is that of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def signal_of(error: BaseException) -> int:
    """Return the number of the signal behind an interruption."""
    return error.number if isinstance(error, Terminated) else int(signal.SIGINT)


def _raise(number: int, frame: object) -> None:
    raise Terminated(number)


@contextmanager
def orderly() -> Iterator[None]:
    """Make requests to terminate raise Terminated, as Ctrl-C raises KeyboardInterrupt, so that files are closed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    unhandled = [number for number in _WORDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in unhandled:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in unhandled:
            signal.signal(number, signal.SIG_DFL)


class Interruption:
    """An interruption of a run: the `word` for it, and the `number` of the signal; empty and 0 if there was none."""

    def __init__(self) -> None:
        self.word = ""
        self.number = 0


@contextmanager
def deferred() -> Iterator[Interruption]:
    """Record SIGINT (Ctrl-C), SIGTERM and SIGHUP without interrupting a step; a second signal acts as usual.

    Signals that this process ignores, because of `nohup` or as a background job of a shell, stay ignored.
    """
    received = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.getsignal(number) for number in _WORDS}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def handle(number: int, frame: object) -> None:
        received.word, received.number = _WORDS[signal.Signals(number)], number
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, handle)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
