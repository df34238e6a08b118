"""Head of a flexible rod on the cone (docking-formulas 1.3): the probe mechanism with the assumptions of the formula.

A craft that cannot turn meets a fixed cone along its normal. The housing is held, head and nut weigh next to nothing,
nothing has friction, and the axial damper is a linear spring with a damper. So the rod's bending and this absorber are
all that yields. 2 mm/s, so that the cone's curvature and the shortening of the bent rod have no effect.
"""

from __future__ import annotations

from functools import cache
from math import atan2, cos, sin
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.validation.docking import changed
from tests.components.test_published_formulas import restitution

pytestmark = pytest.mark.slow

MASS, SPEED = 1000.0, 2e-3
ROD, LENGTH = 8e3, 0.5454  # N.m/rad at the exit bearing, m from there to the head: PR-3
CONTACT, ABSORBER = 2e7, 2e4  # N/m
NORMAL = atan2(0.348 - 0.047, 0.745)  # DeepCone22: from the cone's normal to the plane across the axis
TOLERANCE = 1e-3

MECHANISM: dict[str, Any] = {
    "micro_step": 1e-5,
    "longest_micro_step": 1e-5,
    "micro_tolerance": 0.0,
    "axial.inertance": 0.5,
    "axial.screw_friction": 0.0,
    "axial.hysteresis_loss": 0.0,
    "axial.train_stiffness": ABSORBER,
    "axial.train_range": [1e9, 1e9],
    "axial.spring_preload": 1e9,
    "axial.spring_end": 1.1e9,
    "axial.brake_compression": 1e9,
    "axial.brake_extension": 1e9,
    "axial.magnetic_force": [0.0] * 4,
    "probe.probe_mass": 0.4,
    "probe.probe_centre": [0.3, 0.0, 0.0],
    "probe.probe_inertia": np.diag([1e-3, 0.04, 0.04]).tolist(),
    "probe.bending_damping": 0.05,
    "probe.hysteresis_loss": 0.0,
    "lateral.spring.first_preload": 1e7,
    "lateral.spring.first_stiffness": 1e7,
    "lateral.spring.second_preload": 2e7,
    "lateral.spring.second_stiffness": 1e7,
    "lateral.spring.stop_stiffness": 2e10,
    "lateral.spring.ramp": 1e-3,
    "lateral.spring.unloading": 0.999,
    "lateral.spring.damping": 1e5,
}
UNIT: dict[str, Any] = {
    "law_head.stiffness": CONTACT,
    "law_head.damping": 2e3,
    "law_head.friction": 0.0,
    "latch.missing": [1, 1, 1, 1],
    "sensor.count": 0,
}
CRAFT: dict[str, Any] = {
    "chaser.parameters.mass": MASS - 35.4,
    "chaser.parameters.inertia": np.diag([1e9] * 3).tolist(),
    "chaser.parameters.port[1].position": [0.0, 0.0, 0.0],
    "chaser.parameters.push_thrust": 0.0,
    "station.parameters.fixed": 1,
    "station.parameters.modes_used": 0,
    "initial_conditions.miss": [0.15, 0.0],
    "initial_conditions.yaw": 0.0,
    "initial_conditions.pitch": 0.0,
    "initial_conditions.roll": 0.0,
    "initial_conditions.velocity": [SPEED * sin(NORMAL), SPEED * cos(NORMAL), 0.0],
    "initial_conditions.angular_velocity": [0.0, 0.0, 0.0],
}


@cache
def formula(damping: float, rod: float, contact: float = CONTACT) -> tuple[float, float, float]:
    """Return restitution, time of contact (s) and largest force (N) at `SPEED`.

    F = (d - s sin b) / (cos^2 b / c_b + 1 / c_contact), c s + k s' = F sin b, m d'' = -F.
    """
    stiffness = 1.0 / (cos(NORMAL) ** 2 * LENGTH**2 / rod + 1.0 / contact)

    def force(y: Any) -> Any:
        return stiffness * (y[0] - y[2] * sin(NORMAL))

    def rates(_: float, y: Any) -> list[float]:
        return [y[1], -force(y) / MASS, (force(y) * sin(NORMAL) - ABSORBER * y[2]) / damping]

    def lost(t: float, y: Any) -> float:
        return force(y) if t > 1e-3 else 1.0

    lost.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(rates, (0.0, 30.0), [0.0, SPEED, 0.0], events=lost, rtol=1e-9, atol=1e-12, max_step=1e-3)
    return -found.y[1, -1] / SPEED, found.t[-1], force(found.y).max()


def impact(damping: float, rod: float) -> tuple[float, float]:
    """Return restitution along the normal, and the largest force (N) once the head's first hit has died out."""
    values = {f"mechanism.parameters.{name}": value for name, value in MECHANISM.items()}
    values |= {f"mechanism.probe_cone.parameters.{name}": value for name, value in UNIT.items()}
    values |= {"mechanism.parameters.axial.train_damping": damping, "mechanism.parameters.probe.bending_stiffness": rod}
    run = changed("atv_probe_cone", values | CRAFT).run(stop=1.2 * formula(damping, rod)[1])
    velocity = [float(run[f"chaser.body.velocity[{i}]"][-1]) for i in (1, 2)]
    loads = (np.array(run[f"mechanism.load.{name}"]) for name in ("compression", "shear"))
    recoil = -(sin(NORMAL) * velocity[0] + cos(NORMAL) * velocity[1]) / SPEED
    return recoil, float(np.hypot(*loads)[run.time > 0.1].max())


@pytest.mark.parametrize("damping", [500.0, 3e3, 2e5])
def test_spec13_1_3_flexible_rod_and_longitudinal_absorber(damping):
    """Restitution and largest force, from a soft to a locked absorber. Most of the energy comes back from the rod."""
    e, _, peak = formula(damping, ROD)
    recoil, force = impact(damping, ROD)
    assert recoil == pytest.approx(e, rel=TOLERANCE)
    assert force == pytest.approx(peak, rel=5e-3)
    assert recoil > 0.85


def test_spec13_1_3_rigid_rod_leaves_the_absorber_alone():
    """A rod that hardly bends: the linear absorber of 1.2 with c / sin^2 b and k / sin^2 b."""
    damping = 2.0 * 0.3 * sin(NORMAL) * (ABSORBER * MASS) ** 0.5
    rod = 400.0 * ROD
    e = formula(damping, rod)[0]
    assert impact(damping, rod)[0] == pytest.approx(e, rel=5e-3)
    assert formula(damping, 1e5 * ROD, 1e12)[0] == pytest.approx(restitution(0.3), rel=TOLERANCE)
    assert e == pytest.approx(restitution(0.3), rel=0.1)


def test_spec13_1_3_locked_absorber_is_a_spring():
    """An absorber that cannot yield leaves the rod's spring: everything comes back."""
    assert formula(1e9, ROD)[0] == pytest.approx(1.0, abs=TOLERANCE)
    assert impact(1e8, ROD)[0] == pytest.approx(1.0, abs=3e-3)
