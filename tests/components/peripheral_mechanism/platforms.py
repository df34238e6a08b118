"""The ring on its legs of PM-1 as a record of its own, and its state of oracle T4."""

import numpy as np
from scipy.spatial.transform import Rotation

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.physics.ring_on_legs import platform
from tests.components.peripheral_mechanism.constrained import Leg, Machine

RECORD = Record(Group("parameters", *platform.parameters()), hexapod.hexapod(), platform.state())
REST = (ZERO, ZERO, ZERO)
RATIO = 2.0 * np.pi / 0.02

T4 = {
    "position": [0.4444657138, 0.03, -0.02], "angles": (0.05, -0.04, 0.06), "velocity": [0.3, -0.2, 0.25],
    "spin": [0.5, -0.6, 0.4], "force": [-500.0, 100.0, 50.0], "torque": [20.0, -30.0, 10.0],
    "legs": [500.0, 450.0, 400.0, 520.0, 480.0, 510.0],
}  # fmt: skip


class Platform:
    """Ring and legs. Forces of legs along their effective strokes, positive outward; ring force in 0, torque in R."""

    def __init__(self, **legs):
        self.m = RECORD.memory()
        self.p, self.x = self.m.parameters, self.m.hexapod
        for name, value in legs.items():
            setattr(self.p.legs, name, value)
        platform.initialize(self.p, self.x, self.m.ring_state, 0.14)

    def put(self, position, angles, velocity=(0, 0, 0), spin=(0, 0, 0), force=(0, 0, 0), torque=(0, 0, 0), legs=None):
        n = self.x.ring
        n.position, n.velocity, n.angular_velocity = position, velocity, spin
        n.rotation = angles if np.ndim(angles) == 2 else np.array(from_angles(*angles))
        n.force, n.torque = force, torque
        assert hexapod.follow(self.x) == 0
        for k, f in enumerate(np.zeros(6) if legs is None else legs):
            self.x.strut[k].nut_torque = f / self.x.strut[k].nut_ratio
        return self

    def solve(self, base=REST):
        hexapod.accelerate(self.x, *base)
        hexapod.react(self.x)
        return np.array(self.x.ring.acceleration)

    @property
    def inertia(self):
        upper = np.triu(np.array(self.x.inertia))
        return upper + np.triu(upper, 1).T

    @property
    def force(self):
        return np.array(self.x.force)

    def legs(self, name, index=None):
        return np.array([getattr(c, name) if index is None else getattr(c, name)[index] for c in self.x.strut])

    @property
    def joints(self):
        """(6, 4): angles y and z, stroke, roll, in the order of the source."""
        c, s = self.legs("cosine"), self.legs("sine")
        angles = np.arctan2(s, c)
        return np.column_stack([angles[:, 0], angles[:, 1], self.legs("stroke"), angles[:, 2]])

    @property
    def rates(self):
        return self.legs("rate")[:, [0, 1, 3, 2]]

    @property
    def accelerations(self):
        return self.legs("acceleration")[:, [0, 1, 3, 2]]


def machine(p):
    """The same mechanism in maximal coordinates, from the numbers of PM-1 alone."""
    legs = []
    height = np.sqrt(0.54**2 - (2 * 0.6 * np.sin(np.radians(31.0) / 2)) ** 2)
    for k in range(6):
        side = -1.0 if k % 2 == 0 else 1.0
        a, b = (np.radians(120.0 * (k // 2) + side * half) for half in (14.0, 45.0))
        lower, upper = 0.6 * np.array([0, np.cos(a), np.sin(a)]), 0.6 * np.array([0, np.cos(b), np.sin(b)])
        u = np.array([height, 0, 0]) + upper - lower
        u /= np.linalg.norm(u)
        y = np.cross([1.0, 0, 0], u)
        y /= np.linalg.norm(y)
        legs.append(Leg(lower, upper, np.array([u, y, np.cross(u, y)]), p.legs.hand[k] * RATIO))
    return Machine(
        legs,
        ring=(40.0, (14.4, 7.3, 7.3)),
        housing=(6.0, (0.006, 0.08, 0.08)),
        screw=(3.0, (0.0008, 0.06, 0.06)),
        nut=float(p.legs.nut_inertia),
        housing_centre=0.15,
        screw_centre=-0.2,
    )


def random_state(rng):
    """A pose of the ring within the workspace, and motion of ring and base."""
    return {
        "position": np.array([0.4345, 0, 0]) + rng.uniform(-0.05, 0.05, 3),
        "angles": tuple(rng.uniform(-0.1, 0.1, 3)),
        "velocity": rng.uniform(-0.5, 0.5, 3), "spin": rng.uniform(-0.5, 0.5, 3),
        "force": rng.uniform(-500, 500, 3), "torque": rng.uniform(-50, 50, 3), "legs": rng.uniform(-500, 900, 6),
    }  # fmt: skip


def about_x(degrees):
    """Active rotation about x."""
    return Rotation.from_rotvec([np.radians(degrees), 0, 0]).as_matrix()
