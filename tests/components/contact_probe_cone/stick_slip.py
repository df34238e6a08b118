"""Impacts with friction in the plane of yaw: Lagrange's equations of three coordinates, written out by hand.

Nothing is shared with the product: no tree, no chains, no contact kernels; an implicit integrator of variable order and
of tight tolerances, which resolves friction of 1 mm/s without any rule of its own. Devices without a closed form in the
plane are switched off by parameters (hysteresis, latches, sensors, brakes, friction of the screw).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

MECHANISM = {
    "parameters.probe.hysteresis_loss": 1e-6,
    "parameters.lateral.spring.unloading": 0.99999,
    "parameters.lateral.brake.torque": 0.0,
    "parameters.lateral.brake.stop_low": 0.2,
    "parameters.lateral.brake.stop_high": 2.9,
    "parameters.axial.screw_friction": 0.0,
    "parameters.axial.spring_preload": 1e6,
    "parameters.axial.spring_end": 1.1e6,
    "parameters.axial.brake_compression": 1e7,
    "parameters.axial.brake_extension": 1e7,
}
CONTACT = {"probe_cone.parameters.sensor.count": 0}

HINGE_TO_BEARING, FREE_LENGTH, SHORTEST = 0.35, 0.45, 0.09
HOUSING_INERTIA, PROBE_MASS, PROBE_CENTRE, PROBE_INERTIA = 2.0, 8.0, 0.309375, 0.945
BENDING, BENDING_DAMPING = 8e3, 3.5
INERTANCE, TRAIN, TRAIN_DAMPING, MAGNETIC = 25.0, 1e6, 2e3, 1e3 / 0.15
RADIUS, FRICTION, SLIP_VELOCITY = 0.045, 0.10, 1e-3


@dataclass(frozen=True)
class Case:
    """A head that flies against one plane of the unit.

    Attributes
    ----------
    normal, level : the plane n . (x, z) = level, n into the material
    stiffness, damping : of its force law
    start : of the head's centre (x, z), PU, m
    velocity : of the base, m/s
    duration : s
    """

    normal: tuple[float, float]
    level: float
    stiffness: float
    damping: float
    start: tuple[float, float]
    velocity: tuple[float, float]
    duration: float

    @property
    def base(self) -> tuple[float, float, float]:
        """Origin of frame 0 at the start."""
        return self.start[0] - HINGE_TO_BEARING - FREE_LENGTH, 0.0, self.start[1]


# the head strikes the bottom of the socket at 0.15 m/s while it drifts aside: sticks and slips with every rebound
BOTTOM = Case((1.0, 0.0), 0.3770023, 1e7, 5e3, (0.3770023 - RADIUS - 1e-4, 0.0), (0.15, 0.03), 0.020)
# the head is pushed against the bottom ever harder, to 5.7 kN, while the base drifts aside: friction holds it
PUSH = Case((1.0, 0.0), 0.3770023, 1e7, 5e3, (0.3770023 - RADIUS - 1e-5, 0.0), (0.02, 0.01), 0.3)
# the head strikes the frustum of 40 deg and slides along it
_S, _C = np.sin(np.radians(40.0)), np.cos(np.radians(40.0))
CONE = Case((_S, _C), _S * 0.0808290 + _C * 0.220, 2e6, 570.0, (0.13, 0.1165), (0.10, 0.12), 0.020)


def _spring(stroke: float) -> float:
    """Lateral spring mechanism below its second stage: preload over 0.1 mm, then the soft spring."""
    size = abs(stroke)
    return float(np.sign(stroke) * (690.0 * size / 1e-4 if size < 1e-4 else 600.0 + 9e5 * size))


def _axis(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Direction (x, z) at a yaw, and its derivative."""
    return np.array([np.cos(angle), -np.sin(angle)]), np.array([-np.sin(angle), -np.cos(angle)])


def head(case: Case, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place of the head's centre, and place and velocity of its point nearest to the plane."""
    q, a, s, qd, ad, sd = y
    (u, e), (v, f) = _axis(q), _axis(q + a)
    velocity = np.array(case.velocity)
    length = FREE_LENGTH - s
    centre = np.array([case.base[0], case.base[2]]) + velocity * t + HINGE_TO_BEARING * u + length * v
    speed = velocity + HINGE_TO_BEARING * qd * e + length * (qd + ad) * f - sd * v
    arm = RADIUS * np.array(case.normal)
    return centre, centre + arm, speed + (qd + ad) * np.array([arm[1], -arm[0]])


def force_on_head(case: Case, point: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Spring, damper that never pulls, and friction regularised at 1 mm/s."""
    n = np.array(case.normal)
    depth = float(point @ n) - case.level
    if depth <= 0.0:
        return np.zeros(2)
    rate = velocity @ n
    slip = velocity - rate * n
    pressure = max(0.0, case.stiffness * depth + case.damping * rate)
    return -pressure * (n + FRICTION * slip / np.sqrt(slip @ slip + SLIP_VELOCITY**2))


def derivative(t: float, y: np.ndarray, case: Case) -> np.ndarray:
    """Rates of (housing yaw q, bending a, travel s and their rates) from Lagrange's equations."""
    q, a, s, qd, ad, sd = y
    length = FREE_LENGTH - s
    (_, e), (v, f) = _axis(q), _axis(q + a)
    _, point, velocity = head(case, t, y)
    force = force_on_head(case, point, velocity)
    arm = RADIUS * np.array(case.normal)
    swing = np.array([arm[1], -arm[0]])
    coupling = PROBE_MASS * HINGE_TO_BEARING * PROBE_CENTRE
    m11 = HOUSING_INERTIA + PROBE_MASS * HINGE_TO_BEARING**2 + PROBE_INERTIA + 2.0 * coupling * np.cos(a)
    m12 = PROBE_INERTIA + coupling * np.cos(a)
    joint = np.array([0.15 + 0.1 * np.sin(q), 0.1 * np.cos(q) - 0.1])
    size = np.hypot(*joint)
    gain = joint @ [0.1 * np.cos(q), -0.1 * np.sin(q)] / size
    lateral = -gain * (_spring(size - 0.15) + 500.0 * gain * qd)
    stiffer = FREE_LENGTH / max(length, SHORTEST)
    bending = -stiffer * (BENDING * a + BENDING_DAMPING * ad)
    turn = coupling * np.sin(a)
    right_q = force @ (HINGE_TO_BEARING * e + length * f + swing) + lateral + turn * (2.0 * qd + ad) * ad
    right_a = force @ (length * f + swing) + bending - turn * qd * qd
    qdd, add = np.linalg.solve([[m11, m12], [m12, PROBE_INERTIA]], [right_q, right_a])
    sdd = (-(force @ v) - TRAIN * s - (TRAIN_DAMPING + MAGNETIC) * sd) / INERTANCE
    return np.array([qd, ad, sd, qdd, add, sdd])


def solve(case: Case, times: np.ndarray) -> np.ndarray:
    """Rows (q, a, s, qd, ad, sd) at the times: a backward differentiation formula, relative tolerance 1e-9."""
    found = solve_ivp(
        derivative, (0.0, times[-1]), np.zeros(6), "BDF", times, args=(case,), rtol=1e-9, atol=1e-12, max_step=2e-4
    )
    assert found.success
    return found.y.T
