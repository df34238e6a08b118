"""Observers and drivers of a run: what they request of the loop, and their life beside it."""

from __future__ import annotations

from collections.abc import Sequence

from dockfmu.base.errors import DockfmuError
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.result import Result
from dockfmu.master.run.failures import fail
from dockfmu.master.run.interruption import uninterrupted
from dockfmu.master.run.settable import check_settable
from dockfmu.master.system import Structure

LONGEST_CHUNK = 1 << 16
"""Largest number of macro steps between two returns to Python."""


class Participants:
    """Observers and drivers of a run, with the variables that they request and set.

    Raises StructureError for variables that do not exist or cannot be set.
    """

    def __init__(self, system: Structure, observers: Sequence[Observer], drivers: Sequence[Driver] = ()) -> None:
        self.observers = [member for observer in observers for member in (observer, *observer.companions)]
        self.drivers = list(drivers)
        self.triggers: list[Trigger] = []
        self.owners: list[tuple[Observer, int]] = []
        """The observer that each trigger belongs to, and its number there."""
        self.samplings: list[Sampling] = []
        self.samplers: list[tuple[Observer, int]] = []
        """The observers of rows, each with the number of its sampling; equal samplings are taken once."""
        for observer in self.observers:
            triggers = observer.triggers(system)
            self.owners += [(observer, k) for k in range(len(triggers))]
            self.triggers += triggers
            sampling = observer.sampling(system)
            if sampling is not None:
                if sampling not in self.samplings:
                    self.samplings.append(sampling)
                self.samplers.append((observer, self.samplings.index(sampling)))
        check_settable(system, [name for driver in drivers for name in driver.inputs])
        for driver in drivers:
            driver.prepare(system)
        periods = [*(sampling.every for sampling in self.samplings), *(driver.every for driver in drivers)]
        if periods and min(periods) < 1:
            raise StructureError([f"every = {min(periods)}: must be at least 1 macro step"])
        self._all: list[Observer | Driver] = [*self.observers, *self.drivers]
        # few have one, and it is read for each chunk
        self._chunked = [observer for observer in self.observers if observer.chunk is not None]

    @property
    def longest_chunk(self) -> int:
        """The largest number of macro steps until observers are called again."""
        return min([LONGEST_CHUNK, *(observer.chunk or LONGEST_CHUNK for observer in self._chunked)])

    def open(self) -> None:
        """Let all acquire what may be unavailable, such as ports. Raises MasterError."""
        for participant in self._all:
            participant.open()

    def reset(self) -> None:
        """Let all forget a run before another one. Raises MasterError for one that takes part in one run only."""
        for participant in self._all:
            participant.reset()

    def end(self, result: Result) -> None:
        """End all, whatever happens to one of them, and complete the result."""
        fault: BaseException | None = None
        with uninterrupted():
            for participant in self._all:
                try:
                    participant.end(result)
                except DockfmuError as error:
                    if result.status != "failed":
                        fail(result, error)
                    else:
                        result.warnings.append(str(error))
                except BaseException as error:
                    fault = fault or error
            if fault is not None:
                raise fault
