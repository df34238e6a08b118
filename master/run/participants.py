"""Observers and drivers of a run: what they request of the loop, and which variables may be set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.system import Structure, check_value

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
        self.check_settable(system, [name for driver in drivers for name in driver.inputs])
        for driver in drivers:
            driver.prepare(system)
        periods = [*(sampling.every for sampling in self.samplings), *(driver.every for driver in drivers)]
        if periods and min(periods) < 1:
            raise StructureError([f"every = {min(periods)}: must be at least 1 macro step"])
        # few have one, and it is read for each chunk
        self._chunked = [observer for observer in self.observers if observer.chunk is not None]

    @property
    def longest_chunk(self) -> int:
        """The largest number of macro steps until observers are called again."""
        return min([LONGEST_CHUNK, *(observer.chunk or LONGEST_CHUNK for observer in self._chunked)])

    @staticmethod
    def check_settable(system: Structure, names: Iterable[str]) -> None:
        """Raise StructureError that names all variables that cannot be set between two steps."""
        problems = [problem for name in names if (problem := Participants.unsettable(system, name))]
        if problems:
            raise StructureError(problems)

    @staticmethod
    def check_values(system: Structure, values: Mapping[str, Any]) -> None:
        """Raise StructureError that names all variables that cannot be set to these values between two steps."""
        Participants.check_settable(system, values)
        problems = [
            f"{name} = {shown(value)}: {problem}"
            for name, value in values.items()
            if (problem := check_value(system.resolve(name)[1], value))
        ]
        if problems:
            raise StructureError(problems)

    @staticmethod
    def unsettable(system: Structure, name: str) -> str:
        """Return why a variable cannot be set from outside between two steps, or an empty string if it can."""
        _, variable = system.resolve(name)
        source = next((c for c in system.connections if f"{c.target}.{c.input}" == name), None)
        if source is not None:
            return f"{name} cannot be set from outside: it is connected to {source.source}.{source.output}"
        if variable.causality != "input" and (variable.causality, variable.variability) != ("parameter", "tunable"):
            return f"{name} cannot be set during a run: it is a {variable.variability} {variable.causality}"
        return ""
