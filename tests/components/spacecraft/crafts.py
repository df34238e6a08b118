"""Crafts that the tests of the spacecraft share.

Run as a program it prints a digest of three crafts after many steps: the same with and without compilation.
"""

import hashlib

import numpy as np

from benchmarks.coupling.hub_and_beam import hub_and_beam
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.spacecraft.modes import Modes

ATV = {
    "parameters.mass": 2e4,
    "parameters.inertia": np.diag([0.5e5, 1.9e5, 1.9e5]),
    "parameters.port[1].position": [5.0, 0.0, 0.0],
}
STATION = {
    "parameters.mass": 4e5,
    "parameters.inertia": np.diag([1.2e8, 1.0e8, 2.0e8]),
    "parameters.port[1].position": [-20.0, 0.0, 0.0],
}


def random_modes(count=6, ports=2, thrusters=1, seed=3, size=2e-3, highest=60.0, decrement=0.05):
    rng = np.random.default_rng(seed)
    return Modes(
        frequency=np.sort(rng.uniform(2.0, highest, count)),
        decrement=np.full(count, decrement),
        port=size * rng.normal(size=(ports, 6, count)),
        thruster=size * rng.normal(size=(thrusters, 3, count)),
        control=size * rng.normal(size=(6, count)),
    )


def craft(modes=None, base=None, **values):
    return Instance(spacecraft.component(modes), **{**(base or ATV), **values})


def rotation(q):
    """A of a quaternion, the formula of conventions section 2."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turned(q, phi):
    """q after a turn by the rotation vector phi in child axes."""
    angle = np.linalg.norm(phi)
    s = 0.5 if angle == 0.0 else np.sin(0.5 * angle) / angle
    a, b = np.cos(0.5 * angle), s * np.asarray(phi)
    w, v = q[0], np.asarray(q[1:])
    return np.concatenate([[w * a - v @ b], w * b + a * v + np.cross(v, b)])


if __name__ == "__main__":
    total = hashlib.sha256()
    spin = {"parameters.initial.angular_velocity": [0.05, -0.02, 0.03], "parameters.axes": [0.1, 0.2, -0.3]}
    affine = {"parameters.port[2].base_motion": 3}
    crafts = (craft(**spin), craft(random_modes(), **spin, **affine), hub_and_beam().craft(**spin, **affine))
    for one in crafts:
        one.m.port[1].affine_mass[:] = [
            40, 0, 0, 0, 1, 0, 40, 0, -1, 0, 2, 40, 0, -2, 0, 3, 0.1, 0.2, 4, 0.1, 5,
        ]  # fmt: skip
        for k in range(200):
            one.m.port[0].force[:] = [-100 * np.sin(0.1 * k), 30.0, 5.0]
            one.m.port[1].torque[:] = [3.0, 10 * np.cos(0.2 * k), -7.0]
            one.m.thruster[0].thrust = 50.0 * (k % 7 == 0)
            one.m.command.push = float(k % 3 - 1)
            one.m.command.attitude_hold = float(k > 100)
            one.step(k * 0.01, 0.01)
        total.update(one.block.tobytes())
    print(total.hexdigest())
