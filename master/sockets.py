"""Network ports that a run listens on, and the time that it has for them."""

from __future__ import annotations

import socket
import time

from dockfmu.master.errors import MasterError


def listen(kind: socket.SocketKind, host: str, port: int, what: str) -> socket.socket:
    """Return a non-blocking socket at `port` of `host` (0: any free one).

    Raises MasterError for a port that is not available; `what` begins its message.
    """
    found = socket.socket(socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            # connections of an earlier run may linger
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        if kind == socket.SOCK_STREAM:
            found.listen()
    except OSError as error:
        found.close()
        raise MasterError(f"{what}: port {port} of {host} is not available ({error.strerror})") from error
    found.setblocking(False)
    return found


SHARE = 0.1
"""Largest share of the time of a run that is spent on one port, whatever arrives."""
BURST_S = 2e-3
"""Time that may be saved for a burst, s."""


class Allowance:
    """Time of processor that a run may spend on a port: SHARE of the time that passes, of which BURST_S can be saved.

    Otherwise a sender that is faster than the run would hold it up. Looks are skipped until a long one is made up for.
    """

    def __init__(self) -> None:
        self._left = BURST_S
        self._clock = self._spent = 0.0

    def begin(self) -> None:
        """Begin a look."""
        now = time.perf_counter()
        self._left = min(self._left + SHARE * (now - self._clock), BURST_S)
        self._clock, self._spent = now, time.thread_time()

    def lasts(self) -> bool:
        """Return whether the look may go on."""
        now = time.thread_time()
        self._left -= now - self._spent
        self._spent = now
        return self._left > 0.0
