"""Values of a run for subscribers during the run: lines of JSON over TCP.

The first line describes the run: {"system", "start", "stop", "names", "units"}. One line follows for each row,
{"t", "values"}, and a last line {"status", "t_end", "message"}. A subscriber that reads too slowly misses rows, and
gets a line {"dropped": count}; the run never waits for it.
"""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dockfmu.base.numbers import as_json
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.sockets import Allowance, listen
from dockfmu.master.system import Structure

LIMIT = 1 << 20
"""Bytes that wait for a subscriber before rows are dropped."""
SUBSCRIBERS = 64
"""Largest number of subscribers; more are turned away, to bound the memory and the open files of a run."""


class Stream(Observer):
    """Listens on `port` of `host` and sends `variables` to subscribers after every `every` macro steps.

    With port 0 any free port is taken; `port` is its number after `open`. By default all outputs of type Real are sent.
    Rows are sent between chunks of steps: about ten times a second, or after each step in a paced run.
    """

    def __init__(
        self, port: int = 0, variables: Sequence[str] | None = None, *, every: int = 1, host: str = "127.0.0.1"
    ) -> None:
        self.variables = None if variables is None else tuple(variables)
        self.every = every
        self.host, self.port = host, port
        self.dropped = self.turned_away = 0
        self._subscribers: list[_Subscriber] = []
        self._listener: socket.socket | None = None
        self._allowance = Allowance()

    def open(self) -> None:
        """Listen, unless it already does; subscribers wait for the run. Raises MasterError if the port is in use."""
        if self._listener is None:
            self._listener = listen(socket.SOCK_STREAM, self.host, self.port, "stream")
            self.port = self._listener.getsockname()[1]

    def sampling(self, system: Structure) -> Sampling:
        if self.variables is None:
            self.variables = tuple(system.select(types=("Real",)))
        units = [system.resolve(name)[1].unit or "1" for name in self.variables]
        self._about: dict[str, Any] = {"system": system.name, "names": list(self.variables), "units": units}
        return Sampling(self.variables, self.every)

    def reset(self) -> None:
        raise MasterError("Stream observes one run only: create another simulation")

    def begin(self, run: RunContext) -> None:
        self._about |= {"start": run.start, "stop": run.stop if math.isfinite(run.stop) else None}

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        self._accept_subscribers()
        if self._subscribers:
            for t, row in zip(time.tolist(), values.tolist(), strict=True):
                line = _line({"t": t, "values": [v if math.isfinite(v) else None for v in row]})
                for subscriber in self._subscribers:
                    subscriber.offer(line)

    def progress(self, time: float, wall: float) -> None:
        for subscriber in self._subscribers:
            subscriber.send()
        self._remove_closed()

    def _accept_subscribers(self) -> None:
        if self._listener is None:
            return
        self._allowance.begin()
        while self._allowance.lasts():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if len(self._subscribers) >= SUBSCRIBERS:
                connection.close()
                self.turned_away += 1
            else:
                self._subscribers.append(_Subscriber(connection, _line(self._about)))

    def _remove_closed(self) -> None:
        self.dropped += sum(s.dropped_in_all for s in self._subscribers if s.gone)
        self._subscribers = [s for s in self._subscribers if not s.gone]

    def end(self, result: Result) -> None:
        self._accept_subscribers()
        last_line = _line({"status": result.status, "t_end": result.t_end, "message": result.message})
        for subscriber in self._subscribers:
            subscriber.close(last_line)
        self._remove_closed()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        result.network |= {"rows_dropped": self.dropped, "subscribers_turned_away": self.turned_away}
        if self.dropped:
            result.warnings.append(f"stream: {self.dropped} rows were dropped, because a subscriber was too slow")
        if self.turned_away:
            result.warnings.append(f"stream: {self.turned_away} subscribers beyond {SUBSCRIBERS} were turned away")


class _Subscriber:
    """One connection, and the bytes that wait for it."""

    def __init__(self, connection: socket.socket, first_line: bytes) -> None:
        self._connection = connection
        connection.setblocking(False)
        self._waiting = bytearray(first_line)
        self._dropped = 0
        self.dropped_in_all = 0
        self.gone = False

    def offer(self, line: bytes) -> None:
        """Queue a line if there is room, otherwise drop it."""
        if len(self._waiting) + len(line) > LIMIT:
            self.send()
        if len(self._waiting) + len(line) > LIMIT:
            self._dropped += 1
            self.dropped_in_all += 1
            return
        self._queue_dropped()
        self._waiting += line

    def _queue_dropped(self) -> None:
        if self._dropped:
            self._waiting += _line({"dropped": self._dropped})
            self._dropped = 0

    def send(self) -> None:
        """Send as much as the connection accepts now."""
        try:
            while self._waiting and not self.gone:
                del self._waiting[: self._connection.send(self._waiting)]
        except BlockingIOError:
            pass
        except OSError:
            self._leave()

    def close(self, last_line: bytes) -> None:
        """Send the rest and the last line if that is possible at once, and close the connection."""
        self._queue_dropped()
        self._waiting += last_line
        self.send()
        self._leave()

    def _leave(self) -> None:
        self.gone = True
        self._connection.close()


def _line(content: dict[str, Any]) -> bytes:
    return as_json(content).encode() + b"\n"


def subscribe(port: int, host: str = "127.0.0.1") -> Iterator[dict[str, Any]]:
    """Yield the messages of a streaming run until it ends. Raises MasterError if no run listens.

    >>> for message in subscribe(5555):                                   # doctest: +SKIP
    ...     if "values" in message:
    ...         print(message["t"], message["values"])
    """
    try:
        connection = socket.create_connection((host, port))
    except OSError as error:
        raise MasterError(f"nothing streams on port {port} of {host} ({error.strerror})") from error
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise MasterError(f"port {port} of {host} does not stream a run: it sends {line[:40]!r}") from error
            yield message
