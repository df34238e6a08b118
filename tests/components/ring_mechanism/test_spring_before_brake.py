"""A stiff spring between the first shaft of a geared ring and its brake: closed forms 1.4, 1.5 of docking-formulas.

The ring has the mass of the craft and flies at the base, which stands: with legs and shaft without mass, its motion has
one coordinate. Forces and lengths along the axis follow from torques and angles by the rotation of the shaft per
metre, which changes by 2e-4 over the travel. Tolerance 1e-3.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.ring_mechanism import component

MASS, SPEED = 4600.0, 0.1
SPRING, LEVEL = 4e8, 6e4
"""Stiffness of the spring and slip force of the brake along the axis, N/m and N."""
STEP = 1e-5
TOLERANCE = 1e-3
ZEROS = np.zeros(6)
NO_MASS = {"housing_mass": 1e-3, "housing_inertia": [1e-6, 1e-5], "screw_mass": 1e-3, "screw_inertia": [1e-7, 1e-5],
           "nut_inertia": 1e-9}  # fmt: skip


def first(value):
    """Return the values of six shafts of which only the first has one."""
    return np.array([value, *ZEROS[1:]])


def thrown(mass, stiffness=SPRING, level=LEVEL, **shafts):
    """Return the mechanism whose ring flies at the base, and the rotation of its first shaft, rad/m.

    `mass` (kg) of the brake, `stiffness` and `level` are along the axis.
    """
    free = dict.fromkeys(("inertia", "preload", "stiffness", "damping", "friction"), ZEROS)
    stops = {"lower_stop": np.full(6, -200.0), "upper_stop": np.full(6, 200.0)}

    def make(ratio):
        brake = {
            "brake_stiffness": first(stiffness / ratio**2),
            "brake_inertia": first(mass / ratio**2),
            "friction": first(level / ratio),
        }
        values = {f"parameters.shafts.{name}": value for name, value in (free | stops | brake | shafts).items()}
        values |= {f"parameters.legs.{name}": value for name, value in NO_MASS.items()}
        steps = {"parameters.micro_step": STEP, "parameters.longest_micro_step": STEP}
        i = Instance(component("geared"), **values, **steps, **{"parameters.ring.mass": MASS})
        i.m.ring_state.velocity[0] = -SPEED
        return i

    ahead = make(263.7)
    ahead.step(0.0, 1e-6)
    ratio = ahead.m.shaft[0].rate / -SPEED
    return make(ratio), ratio


def motion(i, ratio, duration):
    """Return times, forces on the ring along the axis (N), travels (m) and energies (J), row by row."""
    rows = []
    for k in range(round(duration / STEP)):
        i.step(k * STEP, STEP)
        m = i.m
        energy = m.audit.kinetic_energy + m.audit.stored_energy + m.audit.dissipated_energy
        rows.append(((k + 1) * STEP, m.shaft[0].torque * ratio, -m.shaft[0].angle / ratio, energy))
    return np.array(rows).T


@pytest.mark.parametrize("mass", [80.0, 150.0, 600.0])
def test_spec13_1_5_peak_of_a_spring_before_a_brake_with_inertia(mass):
    """F = F_m + sqrt((F_T - F_m)^2 + c m_r v_1^2), once the spring has come to the slip force F_T of the brake."""
    slipping = sqrt(SPEED**2 - LEVEL**2 / (SPRING * MASS))
    reduced, mean = MASS * mass / (MASS + mass), LEVEL * MASS / (MASS + mass)
    peak = mean + sqrt((LEVEL - mean) ** 2 + SPRING * reduced * slipping**2)
    _, force, _, energy = motion(*thrown(mass), 7e-3)
    assert force.max() == pytest.approx(peak, rel=TOLERANCE)
    assert np.abs(energy - 0.5 * MASS * SPEED**2).max() < TOLERANCE * energy[0]


def test_spec13_1_4_brake_without_inertia_slips_at_its_level_and_recoils_by_its_spring():
    """Slip (m v^2 - F_T^2 / c) / (2 F_T), then the spring throws the mass back at F_T / sqrt(c m)."""
    i, ratio = thrown(0.0)
    _, force, travel, energy = motion(i, ratio, 18e-3)
    wound = 0.5 * LEVEL**2 / SPRING
    assert force.max() == pytest.approx(LEVEL, rel=TOLERANCE)
    slip = (0.5 * MASS * SPEED**2 - wound) / LEVEL
    assert travel.max() == pytest.approx(slip + LEVEL / SPRING, rel=TOLERANCE)
    assert i.m.audit.dissipated_brakes == pytest.approx(slip * LEVEL, rel=TOLERANCE)
    passing = int(np.argmax((force < 0.0) & (travel < travel.max())))
    recoil = (travel[passing - 1] - travel[passing]) / STEP
    assert recoil == pytest.approx(LEVEL / sqrt(SPRING * MASS), rel=TOLERANCE)
    assert np.abs(energy - energy[0]).max() < TOLERANCE * energy[0]


def test_below_the_level_of_its_brake_a_spring_gives_all_back():
    """v sqrt(c m) is less than the brake holds: the brake stands, and nothing is lost."""
    i, ratio = thrown(150.0, level=2e5)
    _, force, _, _ = motion(i, ratio, 12e-3)
    assert force.max() == pytest.approx(SPEED * sqrt(SPRING * MASS), rel=TOLERANCE)
    assert i.m.audit.dissipated_brakes < 1e-9


def test_a_brake_without_a_spring_is_one_with_its_shaft():
    """Its inertia is as good as that of the shaft, bit for bit."""
    found = []
    for inertia, brake in ((2e-3, 0.0), (1e-3, 1e-3)):
        values = {"parameters.shafts.inertia": first(inertia), "parameters.shafts.brake_inertia": first(brake)}
        i = Instance(component("geared"), **values)
        i.m.ring_state.velocity[0] = -SPEED
        for k in range(20):
            i.step(k * 1e-3, 1e-3)
        found.append(np.array(i.block))
    slots = component("geared").record.index
    same = np.ones(len(found[0]), bool)
    for name in ("inertia", "brake_inertia"):
        same[slots[f"parameters.shafts.{name}[1]"]] = False
    assert np.array_equal(found[0][same], found[1][same])


def test_the_drive_takes_the_brake_along_and_the_energy_closes():
    """Retraction turns shaft, spring and brake with the carrier."""
    spring = {"parameters.shafts.brake_stiffness": first(20.0), "parameters.shafts.brake_inertia": first(2e-3)}
    i = Instance(component("geared"), **spring)
    m = i.m
    start = m.audit.stored_energy
    m.command.motor_voltage[:] = 27.0, 27.0
    for k in range(5000):
        i.step(k * 1e-3, 1e-3)
    assert m.gearbox.brake_angle[0] == pytest.approx(m.shaft[0].angle, abs=0.1)
    assert m.shaft[0].angle < -0.5
    lost = m.audit.dissipated_energy
    balance = m.audit.kinetic_energy + m.audit.stored_energy + lost - m.audit.work_drive
    assert balance == pytest.approx(start, abs=1e-4)  # the moving brake has 5e-4 J
