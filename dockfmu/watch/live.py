"""Live runs: paced to real time, streamed to subscribers, with inputs from the network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from dockfmu.base.messages import shown
from dockfmu.base.numbers import LARGEST_PORT, is_integer, real
from dockfmu.errors import OptionError
from dockfmu.master.drivers.datagrams import Datagrams
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.drivers.operator import LoggedInputs
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.pacing import Late, Pacing
from dockfmu.master.observers.stream import Stream
from dockfmu.master.system import Structure

SPEEDS = (1e-6, 1e6)
"""Slowest and fastest clock: a day of it for a tenth of a second, and the reverse."""


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

    Raises
    ------
    OptionError
        for invalid values
    """

    realtime: float | None = None
    late: Late = "slip"
    stream: int | None = None
    receive: int | None = None
    view: int | None = None
    browser: bool = False
    inputs: Path | None = None

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise OptionError(problems)
        if self.realtime is not None:
            object.__setattr__(self, "realtime", float(self.realtime))

    def _problems(self) -> Iterator[str]:
        low, high = SPEEDS
        if self.realtime is not None and not low <= (real(self.realtime) or 0.0) <= high:
            yield f"realtime must be a multiple of real time from {low:g} to {high:g}, not {shown(self.realtime)}"
        if self.late not in get_args(Late):
            yield f"late must be one of {', '.join(get_args(Late))}, not {shown(self.late)}"
        for name in ("stream", "receive", "view"):
            port = getattr(self, name)
            if port is not None and not (is_integer(port) and 0 <= port <= LARGEST_PORT):
                yield f"{name} must be a port from 0 to {LARGEST_PORT}, 0 for any free one, not {shown(port)}"
        if not isinstance(self.browser, bool):
            yield f"browser must be True or False, not {shown(self.browser)}"
        if self.inputs is not None and not isinstance(self.inputs, str | os.PathLike):
            yield f"inputs must be the path of a log of inputs, not {shown(self.inputs)}"

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
