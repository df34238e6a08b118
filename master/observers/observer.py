"""What watches a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from master.checkpoint import Checkpoint
from master.fmi.description import Description
from master.fmi.instance import Instance
from master.requests import Sampling, Watch
from master.result import Result
from master.system import System


@dataclass(frozen=True)
class Run:
    """What observers are told at the start. Instances are for reading only; `snapshot` gives the present state."""

    system: System
    instances: Mapping[str, Instance]
    descriptions: Mapping[str, Description]
    start: float
    stop: float
    step: float
    algorithm: str
    snapshot: Callable[[], Checkpoint]


class Observer:
    """Override what is needed. Observers see values; they cannot change a run.

    Order of calls: `sampling` and `watches` when the run is put together; `open` before FMUs are loaded; `begin` after
    initialisation; then `sample`, `event` and
    `progress` between chunks of steps; `end` always, also after a failure of the run or of another observer.
    """

    chunk: int | None = None
    """the most macro steps between two calls of `progress`, where that matters"""

    def sampling(self, system: System) -> Sampling | None:
        """The variables whose values `sample` is to get."""
        return None

    def watches(self, system: System) -> Sequence[Watch]:
        """The variables whose changes `event` is to get."""
        return ()

    def open(self) -> None:
        """Take what one may be refused, such as ports. Raises MasterError."""

    def begin(self, run: Run) -> None:
        """All instances are initialised."""

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        """Rows of the sampled variables: time, shape (n,), and values, shape (n, variables).

        The arrays are for reading, and good for this call only: copy what is kept.
        """

    def event(self, watch: int, time: float, old: float, new: float) -> None:
        """Number `watch` of `watches` changed in the step that ended at `time`."""

    def progress(self, time: float, wall: float) -> str | None:
        """The run has come to `time` after `wall` seconds of stepping. A text that is returned ends it here: why."""
        return None

    def last(self) -> None:
        """All steps are done, and the instances still there; not called after a failure."""

    def end(self, result: Result) -> None:
        """The run is over; `result` may be added to."""
