"""Ctrl-C and requests to terminate, deferred until a run can end in an orderly way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dockfmu.base.errors import DockfmuError

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):
    _WORDS[signal.SIGHUP] = "terminated, because the terminal was closed,"


_raised: list[int] = []
"""Signals that have raised an exception, which the code that it met, such as a weakref callback, may have swallowed."""


class Terminated(KeyboardInterrupt):
    """A request to end came while no run was stepping; `number` is that of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def signal_of(error: BaseException) -> int:
    """Return the number of the signal behind an interruption."""
    return error.number if isinstance(error, Terminated) else int(signal.SIGINT)


def _raise(number: int, frame: object) -> None:
    _raised.append(number)
    raise Terminated(number)


@contextmanager
def orderly() -> Iterator[None]:
    """Make Ctrl-C and requests to terminate raise Terminated, so that files are closed.

    If code that the exception meets swallows it, the next `deferred(earlier=True)` reports the signal. If another error
    has come of it, as Python makes one of whatever is raised in a class body, or a library fails that has swallowed it,
    Terminated is raised in its place.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {number: handler for number in _WORDS if (handler := signal.getsignal(number)) in usual}
    _raised.clear()
    for number in before:
        signal.signal(number, _raise)
    try:
        yield
    except Exception as error:
        origin: BaseException | None = error
        while origin is not None and not isinstance(origin, Terminated):
            origin = origin.__cause__ or origin.__context__
        if origin is None and (isinstance(error, DockfmuError) or not _raised):
            raise
        raise Terminated(_raised[-1] if origin is None else origin.number) from error
    finally:
        _raised.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


class Interruption:
    """An interruption of a run: the `word` for it, and the `number` of the signal; empty and 0 if there was none."""

    def __init__(self) -> None:
        self.word = ""
        self.number = 0


@contextmanager
def deferred(*, earlier: bool = False) -> Iterator[Interruption]:
    """Record SIGINT (Ctrl-C), SIGTERM and SIGHUP without interrupting a step; a second signal acts as usual.

    With `earlier`, a signal counts whose exception has been swallowed within `orderly`.

    Signals that this process ignores, because of `nohup` or as a background job of a shell, stay ignored.
    """
    received = Interruption()
    if earlier and _raised:
        received.word, received.number = _WORDS[signal.Signals(_raised[-1])], _raised[-1]
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


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Run a block to its end and then raise Terminated if a signal came; a second signal acts as usual.

    Use it for short work that an interruption would leave in an undefined state, such as opening HDF5 files.
    """
    with deferred() as received:
        yield
    if received.number:
        raise Terminated(received.number)
