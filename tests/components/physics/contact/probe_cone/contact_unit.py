"""A probe-cone unit that tests can place by its links."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.pairs import first_slots
from dockfmu.components.physics.mechanics.rotation import from_angles

RECORD = Record(probe_cone.unit())


def bit(pair: float, index: float) -> int:
    """Return the bit of a contact in the sets of the unit."""
    return int(first_slots(probe_cone.PAIRS)[int(pair) - 1]) + max(int(index) - 1, 0)


class Unit:
    """An initialised unit whose base stands at the origin of PU; links are placed in PU directly."""

    def __init__(self, **parameters: Any) -> None:
        block = RECORD.start.copy()
        for name, value in parameters.items():
            for slot, number in RECORD.expand(f"probe_cone.parameters.{name}", value, "the test"):
                block[RECORD.index[slot]] = number
        self.block = block
        self.u = RECORD.view(block).probe_cone
        assert probe_cone.initialize(self.u) == 0

    def link(
        self,
        k: int,
        position: Any,
        angles: Any = (0, 0, 0),
        velocity: Any = (0, 0, 0),
        angular_velocity: Any = (0, 0, 0),
    ) -> None:
        """Place head (0) or limiter (1): yaw, pitch, roll; velocities in PU axes."""
        link = self.u.input.link[k]
        link.position[:] = position
        link.rotation[:] = np.array(from_angles(*map(float, angles)))
        link.velocity[:] = velocity
        link.angular_velocity[:] = angular_velocity

    def head(self, position: Any, *args: Any, **kwargs: Any) -> int:
        """Place the head, keep limiter and rollers out of the way unless they were placed, and evaluate."""
        self.link(0, position, *args, **kwargs)
        return probe_cone.evaluate(self.u)

    def accept(self) -> None:
        assert probe_cone.accept(self.u) == 0

    def contacts(self) -> list:
        return [self.u.tally.contact[k] for k in range(int(self.u.tally.count))]

    @property
    def output(self) -> Any:
        return self.u.output
