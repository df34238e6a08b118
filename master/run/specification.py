"""What a run is made of, as one frozen value: system, schedule, algorithm, observers, drivers, a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dockfmu.master.algorithms import Algorithm, GaussSeidel, described
from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.checkpoint import Checkpoint
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.checks import check_run, check_scheme, make_scheme
from dockfmu.master.run.participants import Participants
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule, end_of_steps
from dockfmu.master.run.stepping import origin_of
from dockfmu.master.step_control import Retry, StepControl
from dockfmu.master.system import Structure


@dataclass(frozen=True)
class Specification:
    """The specification of a run: a system, how it is stepped, and who observes and drives it.

    Attributes
    ----------
    system : Structure
        Elements, connections and start values.
    schedule : Schedule
        When the run begins, steps and ends; a run that is resumed begins at the time of its checkpoint.
    algorithm : Algorithm
        How a macro step is taken.
    observers, drivers : sequence
        What sees the values of the run, and what sets inputs that no connection sets. They have a state: of several
        runs of one specification, one begins after the end of the one before.
    resume : Resumption, optional
        A checkpoint to continue from.
    threads : int
        Instances that do not need each other's newest values step in parallel; the results are bitwise equal. This pays
        if a step takes at least some microseconds and as many cores are free. Implicit algorithms use one thread.
    notes : sequence of str
        Sentences that become warnings of the result.
    scheme, participants
        What follows from these.

    Raises
    ------
    StructureError, DescriptionError, ArchiveError, CheckpointError
        for what cannot be run, before any FMU is loaded
    """

    system: Structure
    schedule: Schedule
    algorithm: Algorithm = field(default_factory=GaussSeidel)
    observers: Sequence[Observer] = ()
    drivers: Sequence[Driver] = ()
    resume: Resumption | None = None
    threads: int = 1
    notes: Sequence[str] = ()
    scheme: Scheme = field(init=False)
    participants: Participants = field(init=False)

    def __post_init__(self) -> None:
        if self.resume is not None:
            self.resume.check(self.system)
            object.__setattr__(self, "schedule", replace(self.schedule, start=self.resume.checkpoint.time))
        check_run(self.system, self.schedule)
        if self.schedule.control is not None:
            self.schedule.control.check(self.system)
        object.__setattr__(self, "scheme", make_scheme(self.system, self.algorithm, self.threads))
        check_scheme(self.system, self.scheme)
        object.__setattr__(self, "participants", Participants(self.system, self.observers, self.drivers))

    @property
    def stepping(self) -> str:
        """Name of the algorithm with its options, and of what varies the steps: checkpoints hold it."""
        kind = {type(None): "", Retry: " with retries"}.get(type(self.schedule.control), " with step control")
        return described(self.algorithm) + kind

    def continues(self, checkpoint: Checkpoint) -> bool:
        """Return whether the steps continue the grid of a checkpoint instead of beginning a new one."""
        return (checkpoint.step, checkpoint.stepping) == (self.schedule.step, self.stepping)

    @property
    def first(self) -> float:
        """Start of the run before all checkpoints, s."""
        return self.schedule.start if self.resume is None else self.resume.checkpoint.start

    @property
    def loop_state(self) -> Mapping[str, np.ndarray] | None:
        """The state of the loop in the checkpoint, None if a new grid of steps begins."""
        if self.resume is None or not self.continues(self.resume.checkpoint):
            return None
        return self.resume.checkpoint.memory

    def stops(self) -> dict[str, float]:
        """Return the stop time that each element is told, s."""
        schedule, memory = self.schedule, self.loop_state
        if isinstance(schedule.control, StepControl):
            return dict.fromkeys(self.system.elements, schedule.stop)
        origin = schedule.start if memory is None else origin_of(memory.get("grid"))
        return {
            name: end_of_steps(origin, schedule.step, schedule.stop, element)
            for name, element in self.system.elements.items()
        }
