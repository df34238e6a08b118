"""A binary feed of all rows of a run to one reader during the run: the data that the page in the browser shows live.

The feed consists of lines of JSON over a connected stream. The first line describes the run, as a recording does:
`system`, `start`, `stop`, `variables` (name: unit, description, causality, variability, type, ...), `parameters` of
each element, `attributes`. The following lines are `{"rows": n}`, followed by n times (float64) and n rows of values
(float64) as bytes; `{"event": name, "t": t}`; `{"dropped": n}` if the reader was too slow; messages that others `put`
in between; at the end `{"status", "outcome", "success", "t_end", "message"}`.

`Stream`, in contrast, sends text to any subscriber: 100 rows of 400 values a second take 5 % of a core. The feed is for
a run at full speed.
"""

from __future__ import annotations

import math
import queue
import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dockfmu.base.fmi import NUMERIC_TYPES
from dockfmu.base.numbers import as_json
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

LIMIT = 1 << 26
"""Bytes that wait for the reader before rows are dropped."""

LAST_S = 2.0
"""Longest time that the end of a run waits for a reader that does not read, s."""


class Feed(Observer):
    """Sends rows and events over a connection, in a separate thread: the run never waits for the reader.

    Parameters
    ----------
    connection : socket
        Connected stream; it is not closed here.
    attributes : mapping of str to str
        The attributes that a recording has on its file.
    more : sequence of str
        Variables besides all numeric outputs.
    every : int
        Macro steps between two rows.
    events : mapping of str to Event
        Events that are sent, each once unless the event says otherwise.
    """

    def __init__(
        self,
        connection: socket.socket,
        attributes: Mapping[str, str],
        *,
        more: Sequence[str] = (),
        every: int = 1,
        events: Mapping[str, Event] | None = None,
    ) -> None:
        self.attributes, self.more, self.every = dict(attributes), tuple(more), every
        self.events = list((events or {}).items())
        self.dropped = 0
        self._connection = connection
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._count = threading.Lock()
        self._dropped_since = 0
        self._seen: set[str] = set()
        self._sender: threading.Thread | None = None

    def reset(self) -> None:
        raise MasterError("Feed observes one run only: create another simulation")

    def sampling(self, system: Structure) -> Sampling:
        # the same sampling as the recorder's: the loop reads it once for both
        names = tuple(system.select(types=NUMERIC_TYPES))
        self._names = (*names, *(name for name in self.more if name not in names))
        self._variables = {name: _described(system.resolve(name)[1]) for name in self._names}
        return Sampling(self._names, self.every)

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        return [event.trigger(system) for _, event in self.events]

    def begin(self, run: RunContext) -> None:
        self._sender = threading.Thread(target=self._send, name="feed", daemon=True)
        self._sender.start()
        self.put(
            {
                "system": run.system.name,
                "start": run.start,
                "stop": run.stop if math.isfinite(run.stop) else None,
                "variables": self._variables,
                "parameters": {name: _parameters(run, name) for name in run.system.elements},
                "attributes": self.attributes,
            }
        )

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        if self._waiting > LIMIT:
            self.dropped += len(time)
            self._dropped_since += len(time)
            return
        if self._dropped_since:
            self.put({"dropped": self._dropped_since})
            self._dropped_since = 0
        head = b'{"rows":%d}\n' % len(time)
        self._offer(head + np.ascontiguousarray(time, "<f8").tobytes() + np.ascontiguousarray(values, "<f8").tobytes())

    def event(self, trigger: int, time: float, old: float, new: float) -> None:
        name, event = self.events[trigger]
        if event.happened(old, new) and not (event.once and name in self._seen):
            self._seen.add(name)
            self.put({"event": name, "t": time})

    def put(self, content: Mapping[str, Any]) -> None:
        """Send a message besides those of the feed itself; call this between `begin` and `end`."""
        self._offer(as_json(content).encode() + b"\n")

    def _offer(self, data: bytes) -> None:
        with self._count:
            self._waiting += len(data)
        self._queue.put(data)

    def _send(self) -> None:
        while (data := self._queue.get()) is not None:
            try:
                self._connection.sendall(data)
            except OSError:
                return
            with self._count:
                self._waiting -= len(data)

    def end(self, result: Result) -> None:
        if self._sender is not None:
            self.put(
                {
                    "status": result.status,
                    "outcome": result.outcome,
                    "success": result.success,
                    "t_end": result.t_end,
                    "message": result.message,
                }
            )
            self._queue.put(None)
            self._sender.join(LAST_S)
        result.network |= {"view_rows_dropped": self.dropped}
        if self.dropped:
            result.warnings.append(f"view: {self.dropped} rows were dropped, because their reader was too slow")


def _described(variable: Variable) -> dict[str, Any]:
    """Return the attributes that a recording has for a variable."""
    return {
        "unit": variable.unit or ("1" if variable.type == "Real" else ""),
        "description": variable.description,
        "causality": variable.causality,
        "variability": variable.variability,
        "type": variable.type,
        "display_unit": variable.display_unit or "",
        "items": [f"{value}={name}" for name, value in variable.items],
    }


def _parameters(run: RunContext, element: str) -> dict[str, float]:
    """Return the values of the numeric parameters of an element, as its FMU reports them."""
    chosen = [v.name for v in run.descriptions[element].select("parameter") if v.type != "String"]
    values = run.read([f"{element}.{name}" for name in chosen])
    return {name: float(value) for name, value in zip(chosen, values, strict=True)}
