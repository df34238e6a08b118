"""Live runs: held to the clock, streamed to subscribers, with inputs from the network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from master.drivers.datagrams import Datagrams
from master.drivers.driver import Driver
from master.drivers.operator import LoggedInputs
from master.observers.observer import Observer
from master.observers.pacing import Pacing
from master.observers.stream import Stream
from master.system import Structure


@dataclass(frozen=True)
class Live:
    """Clock, stream and inputs of a live run.

    Attributes
    ----------
    realtime : float, optional
        Factor to real time to which the run is held; None for as fast as possible.
    late : {"slip", "skip", "stop"}
        What is done about a late step; see `Pacing`.
    stream : int, optional
        TCP port that sends rows to subscribers; see `Stream`.
    receive : int, optional
        UDP port that takes values of inputs that no connection sets; see `Datagrams`.
    view : int, optional
        Port of the page in the browser that shows the run as it goes, 0 for any; with `realtime` it can be operated
        there. For a folder of results (`System.record`).
    inputs : Path, optional
        Log of an operator's session, `inputs.jsonl`, whose inputs are set again.
    """

    realtime: float | None = None
    late: Literal["slip", "skip", "stop"] = "slip"
    stream: int | None = None
    receive: int | None = None
    view: int | None = None
    inputs: Path | None = None

    def watchers(self, system: Structure) -> tuple[list[Driver], list[Observer]]:
        """Return the drivers and observers of a run of this system."""
        drivers: list[Driver] = []
        observers: list[Observer] = []
        if self.receive is not None:
            drivers.append(Datagrams(self.receive, free_inputs(system)))
        if self.inputs is not None:
            drivers.append(LoggedInputs(self.inputs))
        if self.stream is not None:
            observers.append(Stream(self.stream))
        if self.realtime is not None and self.view is None:
            # the last to see a step: what the others do belongs to its work
            observers.append(Pacing(self.realtime, self.late))
        return drivers, observers


NOT_LIVE = Live()


def free_inputs(system: Structure) -> list[str]:
    """Return the inputs of type Real that no connection sets."""
    connected = {f"{c.target}.{c.input}" for c in system.connections}
    return [name for name in system.select(causality=("input",), types=("Real",)) if name not in connected]
