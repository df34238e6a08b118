"""The head and cone of the airlock's pair alone, placed by hand in frame P."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import airlock_pair
from dockfmu.components.physics.mechanics.rotation import from_angles

RECORD = Record(airlock_pair.unit())
LAWS = ("law_head", "law_latch")
# no losses, and no limit of depth
ELASTIC = {f"{law}.{name}": 0.0 for law in LAWS for name in ("damping", "friction")}
ELASTIC |= {f"{law}.penetration_limit": 1.0 for law in LAWS} | {"tilt_limit": 1.5}


class Head:
    """An initialised pair; parameters are named without `airlock_pair.parameters`."""

    def __init__(self, **parameters: Any) -> None:
        block = RECORD.start.copy()
        for name, value in parameters.items():
            for slot, number in RECORD.expand(f"airlock_pair.parameters.{name}", value, "the test"):
                block[RECORD.index[slot]] = number
        self.block = block
        self.u = RECORD.view(block).airlock_pair
        assert airlock_pair.initialize(self.u) == 0

    def place(
        self,
        position: Any,
        angles: Any = (0, 0, 0),
        velocity: Any = (0, 0, 0),
        angular_velocity: Any = (0, 0, 0),
        rotation: Any = None,
    ) -> int:
        """Place the head (hinge, P axes; yaw, pitch, roll or a matrix P -> H) and sum its forces."""
        head = self.u.work.link[0]
        head.position[:] = position
        head.rotation[:] = from_angles(*map(float, angles)) if rotation is None else rotation
        head.velocity[:] = velocity
        head.angular_velocity[:] = angular_velocity
        code = int(airlock_pair.evaluate(self.u))
        airlock_pair.sum_forces(self.u)
        return code

    def contacts(self, *pairs: float) -> list:
        """Contacts of the kinds `pairs`, or all."""
        found = [self.u.tally.contact[k] for k in range(int(self.u.tally.count))]
        return [item for item in found if not pairs or item.pair in pairs]

    @property
    def energy(self) -> float:
        return float(self.u.work.sums.stored_energy)

    @property
    def wrench(self) -> np.ndarray:
        """Force and torque on the head about the hinge, P axes."""
        return np.array([*self.u.work.sums.part[0].force, *self.u.work.sums.part[0].torque])

    @property
    def on_passive(self) -> np.ndarray:
        """Force and torque on the passive unit about the origin of P."""
        return np.array([*self.u.work.sums.passive.force, *self.u.work.sums.passive.torque])
