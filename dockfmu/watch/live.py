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
        Speed at which the run is held, as a multiple of real time; None for as fast as possible.
    late : {"slip", "skip", "stop"}
        What to do about a late step; see `Pacing`.
    stream : int, optional
        TCP port that sends rows to subscribers; see `Stream`.
    receive : int, optional
        UDP port that takes values of inputs that no connection sets; see `Datagrams`.
    view : int, optional
        Port of the browser page that shows the run live, 0 for any free port; with `realtime` the run can be operated
        there. It needs a folder of results (`System.record`).
    browser : bool
        Whether to open that page in the browser.
    inputs : Path, optional
        Log of an operator's session, `inputs.jsonl`, whose inputs are replayed.
    """

    realtime: float | None = None
    late: Literal["slip", "skip", "stop"] = "slip"
    stream: int | None = None
    receive: int | None = None
    view: int | None = None
    browser: bool = False
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
            # last, so that the work of the other observers counts as part of the step
            observers.append(Pacing(self.realtime, self.late))
        return drivers, observers


NOT_LIVE = Live()


def free_inputs(system: Structure) -> list[str]:
    """Return the inputs of type Real that no connection sets."""
    connected = {f"{c.target}.{c.input}" for c in system.connections}
    return [name for name in system.select(causality=("input",), types=("Real",)) if name not in connected]
