"""A cyclogram with a clock, whose sensors a test sets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dockfmu.components.core.component import Component, Instance

H = 0.1


class CyclogramRig:
    """The cyclogram with a clock; `run(until, **sensors)` holds the sensors and steps until then from the start."""

    groups: ClassVar[dict[str, str]]
    """Groups of the inputs that are no `sensor`, by their names."""
    phases: Any
    outcomes: Any

    def __init__(self, component: Component, start_time: float = 0.0, **parameters: Any) -> None:
        values = {f"parameters.{k}": v for k, v in parameters.items()}
        self.instance = Instance(component, start_time=start_time, **values)
        self.m = self.instance.m
        self.start_time = start_time
        self.k = 0

    def run(self, until, **sensors):
        for name, value in sensors.items():
            group = getattr(self.m, self.groups.get(name, "sensor"))
            if np.ndim(value):
                getattr(group, name)[:] = value
            else:
                setattr(group, name, float(value))
        while self.k * H <= until + 1e-9:
            self.instance.step(self.start_time + self.k * H, H)
            self.k += 1
        return self

    @property
    def phase(self) -> str:
        return next(name for name, code in self.phases.codes.items() if code == self.m.phase)

    @property
    def outcome(self) -> str:
        return next(name for name, code in self.outcomes.codes.items() if code == self.m.outcome)


DOCKING = dict.fromkeys(("plane_gap", "velocity", "angular_velocity"), "docking")
