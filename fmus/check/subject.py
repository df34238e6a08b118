"""The FMU under test, and the runs that several checks compare."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dockfmu.base.platforms import this_platform
from dockfmu.fmus.check.importer.experiment import excitation
from dockfmu.master.fmi.instance import Fmu, FmuInstance

BEFORE, STEPS = 100, 1000
"""Steps before the state is saved, and steps that are compared afterwards, of an FMU that does not end before."""

FEWEST = 6
"""Steps without which an FMU cannot be checked."""

Value = Any


class Subject:
    """A loaded FMU, with its variables, default step, and the excitation of its inputs."""

    def __init__(self, fmu: Fmu) -> None:
        self.fmu = fmu
        description = fmu.description
        self.version = description.fmi_version.partition(".")[0]
        self.file = f"binaries/{this_platform(description.fmi_version)}/{description.identifier}"
        self.inputs = [v for v in description.select("input") if v.type != "String"]
        self.outputs = [v.name for v in description.select("output") if v.type != "String"]
        self.step = description.experiment.step or 1e-3
        self.start = description.experiment.start or 0.0
        self.amplitude = 0.0
        self.before, self.steps = BEFORE, STEPS

    @property
    def most(self) -> int:
        """Number of steps that the FMU takes from its start on, as far as is checked."""
        return self.before + self.steps

    def ends_after(self, steps: int) -> None:
        """Let checks take no more than `steps` steps, after which the FMU asks to end the simulation."""
        self.before = min(BEFORE, (steps - 1) // 2)
        self.steps = min(STEPS, steps - self.before)

    def instance(self) -> FmuInstance:
        """Return a new instance, not initialised."""
        return self.fmu.instantiate("validated")

    def running(self) -> FmuInstance:
        """Return a new instance, initialised with the start values of the library."""
        made = self.instance()
        made.initialize(self.start)
        return made

    def drop(self, instance: FmuInstance) -> None:
        """Free an instance."""
        instance.free()
        self.fmu.instances.remove(instance)

    def excitation(self, k: int) -> dict[str, Value]:
        """Return the inputs for step `k`."""
        return excitation(self.inputs, self.amplitude, k)

    def run(self, instance: FmuInstance, first: int, last: int, trace: bool = True) -> list[list[Value]]:
        """Run steps `first` to `last` - 1 with the excitation; return the outputs after each, if `trace`."""
        found = []
        for k in range(first, last):
            if inputs := self.excitation(k):
                instance.set(inputs)
            instance.step(self.start + k * self.step, self.step)
            if trace:
                found.append(instance.get(self.outputs))
        return found


def same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    """Return whether values are bitwise equal: two NaN are, two zeros of different sign are not."""
    with suppress(struct.error):  # a string among them
        if struct.pack(f"{len(a)}d", *a) == struct.pack(f"{len(b)}d", *b):
            return True
    return list(map(_bits, a)) == list(map(_bits, b))


def _bits(value: Value) -> str:
    return value if isinstance(value, str) else float(value).hex()


def first_difference(names: Sequence[str], a: Sequence[Value], b: Sequence[Value]) -> str:
    """Return a text that names the first variable whose two values differ bitwise."""
    for name, x, y in zip(names, a, b, strict=True):
        if _bits(x) != _bits(y):
            return f"{name} = {x!r} and {y!r}"
    return "nothing"
