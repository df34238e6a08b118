"""What gives a system inputs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from master.errors import FmuError
from master.result import Result
from master.system import System


class Driver:
    """Override what is needed. `inputs` are the full names of what it sets: inputs that no connection sets, or tunable
    parameters.

    Order of calls: `prepare` when the run is put together; `open` before FMUs are loaded; `begin` after initialisation;
    `values` before every `every` macro steps, counted from the start of the run through all checkpoints; `end` always.
    """

    inputs: Sequence[str] = ()
    every: int = 1

    def prepare(self, system: System) -> None:
        """Look up what is needed of the inputs; all of them are variables of `system` that can be set."""

    def open(self) -> None:
        """Take what one may be refused, such as ports. Raises MasterError."""

    def begin(self, start: float) -> None:
        """All instances are initialised at the time `start`."""

    def values(self, time: float) -> Mapping[str, Any]:
        """New values for the step that begins at `time`, by full names; what is not named keeps its value."""
        return {}

    def discarded(self, name: str, error: FmuError) -> None:
        """Take note that the FMU discards the value for `name` and keeps the one before. Raises to end the run."""
        raise error

    def end(self, result: Result) -> None:
        """The run is over; `result` may be added to."""
