"""A pair of rings that tests can place directly, active ring in PU."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.mechanics.rotation import from_angles

RECORD = Record(ring_pair.unit())
LAWS = ("petal", "side", "plane", "front", "rear", "sensor")
# no losses, and no limits of penetration
ELASTIC = {f"law_{law}.{name}": 0.0 for law in LAWS for name in ("damping", "friction")} | {
    f"law_{law}.penetration_limit": 10.0 for law in LAWS
}


class Rings:
    """An initialised pair of rings; parameters are named without `ring_pair.parameters`."""

    def __init__(self, **parameters: Any) -> None:
        block = RECORD.start.copy()
        for name, value in parameters.items():
            for slot, number in RECORD.expand(f"ring_pair.parameters.{name}", value, "the test"):
                block[RECORD.index[slot]] = number
        self.block = block
        self.u = RECORD.view(block).ring_pair
        self.u.input.link.rotation[:] = np.eye(3)
        assert ring_pair.initialize(self.u) == 0

    def place(
        self,
        position: Any,
        angles: Any = (0, 0, 0),
        velocity: Any = (0, 0, 0),
        angular_velocity: Any = (0, 0, 0),
        rotation: Any = None,
    ) -> int:
        """Place the active ring (yaw, pitch, roll or a matrix; velocities in PU axes) and evaluate."""
        base = self.u.input.base
        base.position[:] = position
        base.rotation[:] = from_angles(*map(float, angles)) if rotation is None else rotation
        base.velocity[:] = velocity
        base.angular_velocity[:] = angular_velocity
        return int(ring_pair.evaluate(self.u))

    def accept(self, h: float) -> None:
        assert ring_pair.accept(self.u, h) == 0

    def contacts(self, *pairs: float) -> list:
        """Contacts of the kinds `pairs`, or all."""
        found = [self.u.tally.contact[k] for k in range(int(self.u.tally.count))]
        return [item for item in found if not pairs or item.pair in pairs]

    @property
    def output(self) -> Any:
        return self.u.output
