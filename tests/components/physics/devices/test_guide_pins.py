"""Guide pins and sockets against closed forms, symmetry and energy (ruling R55)."""

from __future__ import annotations

from math import radians, sqrt

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.ports import status
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import guide_pins
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import from_angles

PLANE = 0.239
RADIUS, LENGTH, CONE, PIN, END, CLEARANCE, STIFFNESS = 0.6, 0.05, 0.04, 0.015, 0.003, 3e-4, 1e6
TAPER = (PIN - END) / CONE
RECORD = Record(
    guide_pins.outputs(),
    guide_pins.state(),
    Group("parameters", guide_pins.parameters()),
    kinematics.placement("relative", "frame 0 relative to PU"),
    status(),
)
VALUES = {
    "radius": RADIUS, "length": LENGTH, "cone_length": CONE, "pin_radius": PIN, "end_radius": END,
    "clearance": CLEARANCE, "law.stiffness": STIFFNESS, "law.slip_velocity": 1e-3, "law.penetration_limit": 5e-3,
}  # fmt: skip
FLIP = np.diag([-1.0, 1.0, -1.0])


class Planes:
    """Two docking planes with pins; `place` gives the wrench on the passive one, about the origin of PU."""

    def __init__(self, **values):
        block = RECORD.start.copy()
        for name, value in (VALUES | values).items():
            block[RECORD.index[f"parameters.guide_pins.{name}"]] = value
        self.m = RECORD.view(block)

    def place(self, gap, y=0.0, z=0.0, rotation=None, angles=(0.0, 0.0, 0.0), velocity=(0, 0, 0), turning=(0, 0, 0)):
        A = np.array(from_angles(*map(float, angles))) if rotation is None else rotation
        # the middle of the active docking plane
        position = np.array([-gap, y, z]) - A.T @ [PLANE, 0.0, 0.0]
        r = self.m.relative
        r.position[:], r.rotation[:], r.velocity[:], r.angular_velocity[:] = position, A, velocity, turning
        guide_pins.evaluate(self.m.parameters.guide_pins, PLANE, r, self.m.guide_pin, self.m.guiding)
        return np.concatenate([self.m.guiding.sums.passive.force, self.m.guiding.sums.passive.torque])


def test_centred_pins_go_in_without_touching():
    planes = Planes()
    for gap in (1.0, 0.06, 0.05, 0.03, 0.001, 0.0, -0.001):
        assert not planes.place(gap).any()
        assert planes.m.guide_pin[0].insertion == pytest.approx(LENGTH - gap)
        assert planes.m.guide_pin[1].insertion == pytest.approx(LENGTH - gap)


@pytest.mark.parametrize("side", [-1, 1])
def test_ruling_R55_roll_beyond_the_clearance_is_turned_back(side):
    """Rolled by twice the clearance both rods bear on their holes: forces cancel, torque k (e - c) times two arms.

    e = 2 R sin(roll / 2) is the offset of each pin; the contact is PIN + CLEARANCE beside the centre of the mouth.
    """
    planes = Planes()
    roll = 2.0 * CLEARANCE / RADIUS
    total = planes.place(0.002, angles=(0.0, 0.0, side * roll))
    depth = 2.0 * RADIUS * np.sin(0.5 * roll) - CLEARANCE
    assert np.allclose(total[:3], 0.0, atol=1e-9)
    assert total[3] * side == pytest.approx(2.0 * RADIUS * STIFFNESS * depth, rel=1e-3)
    assert [pin.depth for pin in planes.m.guide_pin] == pytest.approx([depth, depth], rel=1e-6)
    assert not planes.place(0.002, angles=(0.0, 0.0, 0.49 * side * roll)).any(), "free within the clearance"


def test_the_cone_takes_a_pin_that_is_aside():
    """Its depth at insertion q: (e - clearance - taper (cone - q)) cos a; along the axis it pushes by the taper."""
    planes = Planes()
    gap, aside = 0.02, 0.005
    total = planes.place(gap, y=aside)
    cosine = 1.0 / sqrt(1.0 + TAPER**2)
    depth = (aside - CLEARANCE - TAPER * (CONE - (LENGTH - gap))) * cosine
    assert depth > 0.0
    for pin in planes.m.guide_pin:
        assert pin.depth == pytest.approx(depth, rel=1e-12)
        assert pin.force == pytest.approx(STIFFNESS * depth, rel=1e-12)
    assert total[1] == pytest.approx(2.0 * STIFFNESS * depth * cosine)
    assert total[0] == pytest.approx(2.0 * STIFFNESS * depth * TAPER * cosine)


def test_a_pin_beside_its_socket_is_told():
    planes = Planes()
    planes.place(LENGTH - 1e-4, y=PIN)
    assert planes.m.guiding.missed == 1.0
    planes.place(LENGTH - 1e-4, y=0.9 * (PIN - END))
    assert planes.m.guiding.missed == 0.0
    assert not planes.place(0.1, y=PIN).any()
    planes.place(0.01, y=CLEARANCE + 6e-3)
    code = guide_pins.check_depth(planes.m.parameters.guide_pins, planes.m.guiding, planes.m.status)
    assert (code, planes.m.status.index) == (guide_pins.DEPTH, 1)


def poses(count):
    rng = np.random.default_rng(3)
    for _ in range(count):
        angles = rng.uniform(-1.0, 1.0, 3) * [2e-3, 2e-3, 8e-3]
        yield rng.uniform(0.0, LENGTH), rng.uniform(-4e-3, 4e-3, 2), np.array(from_angles(*map(float, angles)))


def test_units_change_places():
    """Androgynous: with the passive unit for the active one the forces are opposite, and the pins swap."""
    planes = Planes()
    touched = 0
    for gap, (y, z), A in poses(60):
        one = planes.place(gap, y, z, rotation=A)
        depths = [pin.depth for pin in planes.m.guide_pin]
        # PU of the other scene stands in the active docking plane, half a turn about its y; and all moves with it
        there = FLIP @ A
        centre = np.array([-gap, y, z])
        x, y_2, z_2 = -there @ centre
        swapped = planes.place(-x, y_2, z_2, rotation=FLIP @ A.T @ FLIP)
        assert [pin.depth for pin in planes.m.guide_pin] == pytest.approx(depths[::-1], abs=1e-12)
        torque = one[3:] - np.cross(centre, one[:3])
        assert np.allclose(swapped, -np.concatenate([there @ one[:3], there @ torque]), atol=1e-6)
        touched += max(depths) > 0.0
    assert touched > 20


def test_the_wrench_is_the_gradient_of_the_energy():
    """Central differences over 0.02 um; the slide of the mouth along a tilted pin is of second order: 1 %."""
    planes = Planes()
    touched = 0
    for gap, (y, z), A in poses(40):
        force = planes.place(gap, y, z, rotation=A)[:3].copy()
        parts = [pin.depth for pin in planes.m.guide_pin]
        if max(parts) <= 1e-6:
            continue
        h = 1e-8
        for i, step in enumerate(((-h, 0.0, 0.0), (0.0, h, 0.0), (0.0, 0.0, h))):
            energies = []
            for sign in (1.0, -1.0):
                planes.place(gap + sign * step[0], y + sign * step[1], z + sign * step[2], rotation=A)
                energies.append(planes.m.guiding.sums.stored_energy)
            assert (energies[0] - energies[1]) / (2 * h) == pytest.approx(
                force[i], abs=0.01 * np.abs(force).max() + 0.1
            )
        touched += 1
    assert touched > 15


def test_friction_and_damping_take_power():
    planes = Planes(**{"law.friction": 0.1, "law.damping": 2e3})
    rng = np.random.default_rng(4)
    taken = 0
    for gap, (y, z), A in poses(60):
        planes.place(gap, y, z, rotation=A, velocity=rng.normal(size=3) * 0.01, turning=rng.normal(size=3) * 0.01)
        assert planes.m.guiding.power >= -1e-9
        taken += planes.m.guiding.power > 1e-6
    assert taken > 20


def test_a_profile_that_is_none_is_refused():
    planes = Planes(end_radius=0.02)
    assert guide_pins.check_parameters(planes.m.parameters.guide_pins, planes.m.status) == guide_pins.PROFILE
    none = Planes(pin_radius=0.0)
    assert guide_pins.check_parameters(none.m.parameters.guide_pins, none.m.status) == 0
    assert not none.place(0.0, y=0.1, angles=(0.0, 0.0, radians(5))).any()
