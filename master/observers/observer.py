"""The interface of observers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.master.checkpoint import Checkpoint
from dockfmu.master.fmi.description import Description
from dockfmu.master.requests import NO_END, EndRequest, Sampling, Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure


@dataclass(frozen=True)
class RunContext:
    """The run that an observer belongs to, passed to `Observer.begin`.

    Attributes
    ----------
    system : Structure
        Elements and connections.
    descriptions : mapping of str to Description
        Model descriptions by element.
    start, stop, step : float
        Start and end of the run, and its macro step, s.
    algorithm : str
        Name of the coupling algorithm.
    read : callable
        Returns the present values of variables, given by their full names.
    snapshot : callable
        Returns a checkpoint of the run at its present time.
    macro_steps : int
        Macro steps before the start, of a run that is resumed.
    """

    system: Structure
    descriptions: Mapping[str, Description]
    start: float
    stop: float
    step: float
    algorithm: str
    read: Callable[[Sequence[str]], list[Any]]
    snapshot: Callable[[], Checkpoint]
    macro_steps: int = 0


class Observer:
    """Base of all observers, which see the values of a run and do not change it; override the methods that are needed.

    Order of calls: `sampling` and `triggers` when the run is set up; `open` before FMUs are loaded; `begin` after
    initialisation; then `sample`, `event` and `progress` between chunks of steps; `last` after the last step; `end`
    always, also after a failure of the run or of another observer. If the simulation is reset, `reset` is called next,
    and then the same methods again from `open` on.
    """

    chunk: int | None = None
    """Largest number of macro steps between two calls of `progress`, which may change during the run; None for any."""
    end_request: EndRequest = NO_END
    """Request to complete the run at a time that `begin`, or `event` of a prompt trigger, has set."""

    @property
    def companions(self) -> Sequence[Observer]:
        """Observers that belong to this one: they take part in the run, and are called after it each time."""
        return ()

    def sampling(self, system: Structure) -> Sampling | None:
        """Return the variables whose values are passed to `sample`."""
        return None

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        """Return the triggers that are reported to `event`."""
        return ()

    def open(self) -> None:
        """Acquire resources that may be unavailable, such as ports and files. Raises MasterError."""

    def begin(self, run: RunContext) -> None:
        """Start observing; all instances are initialised."""

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        """Process rows of the sampled variables: time, shape (n,), and values, shape (n, variables).

        The arrays are read-only by convention and valid during this call only: copy what is kept.
        """

    def event(self, trigger: int, time: float, old: float, new: float) -> None:
        """Handle the firing of trigger number `trigger` in the step that ended at `time`."""

    def progress(self, time: float, wall: float) -> str | None:
        """Handle the arrival at `time` after `wall` seconds of stepping; return a reason to end the run, or None."""
        return None

    def last(self) -> None:
        """Read final values while the instances still exist; not called after a failure."""

    def end(self, result: Result) -> None:
        """Release what `open` acquired, and add to `result`."""

    def reset(self) -> None:
        """Forget what was observed, before another run of the same simulation.

        Raises MasterError if this observer cannot observe a second run.
        """
