"""An impact on the cone in the plane of yaw, against Lagrange's equations of three coordinates written out by hand.

Nothing is shared with the mechanism's code: no tree, no chains, no contact kernels, another integrator. Devices that
have no closed form in the plane are switched off by parameters (hysteresis, latches, sensors, lateral brakes).
"""

from __future__ import annotations

from math import tan

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.probe_mechanism import component

VELOCITY = np.array([0.30, 0.12])
START = np.array([0.10, 0.10])
"""Velocity of the base, and place of the head's centre at the start, along x and z of PU; 17 mm from the cone."""
DURATION = 0.25

PLAIN = {
    "parameters.probe.hysteresis_loss": 1e-6,
    "parameters.axial.hysteresis_loss": 0.0,
    "parameters.lateral.spring.unloading": 0.99999,
    "parameters.lateral.brake.torque": 0.0,
    "parameters.lateral.brake.stop_low": 0.2,
    "parameters.lateral.brake.stop_high": 2.9,
    "probe_cone.parameters.sensor.count": 0,
    "command.latches_armed": 0.0,
}

HINGE_TO_BEARING, FREE_LENGTH, SHORTEST = 0.35, 0.45, 0.09
HOUSING_INERTIA, PROBE_MASS, PROBE_CENTRE, PROBE_INERTIA = 2.0, 8.0, 0.309375, 0.945
BENDING, BENDING_DAMPING = 8e3, 3.5
INERTANCE, TRAIN, TRAIN_DAMPING, SCREW = 25.0, 1e6, 2e3, 0.1
MAGNETIC = {"spring_and_brake": 1e3 / 0.15, "two_brakes": 0.0}
"""Of the axial magnetic brakes, which V2 does not have, N s/m. Springs and brakes of both trains stay at rest."""
STIFFNESS, DAMPING, RADIUS = 2e6, 570.0, 0.045
FRICTION, SLIP_VELOCITY = 0.10, 1e-3
CONE_START, CONE_RADIUS, CONE_ANGLE = 0.0808290, 0.220, np.radians(40.0)


def spring(stroke):
    """Lateral spring mechanism below its second stage: preload over 0.1 mm, then the soft spring."""
    size = abs(stroke)
    return np.sign(stroke) * (690.0 * size / 1e-4 if size < 1e-4 else 600.0 + 9e5 * size)


def axis(angle):
    """Direction (x, z) at a yaw, and its derivative."""
    return np.array([np.cos(angle), -np.sin(angle)]), np.array([-np.sin(angle), -np.cos(angle)])


NORMAL = np.array([np.sin(CONE_ANGLE), np.cos(CONE_ANGLE)])
SWING = RADIUS * np.array([NORMAL[1], -NORMAL[0]])
"""Velocity of the point of the head that touches, for a yaw rate of 1 rad/s, from its centre's."""


def contact(head, velocity, spin):
    """Force on the head of the frustum next to the socket on the side z > 0, and if the point lies on it.

    Friction is regularised at 1 mm/s of sliding.
    """
    normal = NORMAL
    wall = CONE_RADIUS - (head[0] - CONE_START) * tan(CONE_ANGLE)
    depth = (head[1] - wall) * np.cos(CONE_ANGLE) + RADIUS
    on_it = CONE_START < (head + RADIUS * normal)[0] < 0.287
    if depth <= 0.0:
        return np.zeros(2), on_it
    closing = velocity @ normal
    slip = velocity + spin * SWING - closing * normal
    pressure = max(0.0, STIFFNESS * depth + DAMPING * closing)
    return -pressure * (normal + FRICTION * slip / np.sqrt(slip @ slip + SLIP_VELOCITY**2)), on_it


def derivative(t, y, magnetic):
    """Rates of (housing yaw q, bending a, travel s and their rates) from Lagrange's equations."""
    q, a, s, qd, ad, sd = y
    length = FREE_LENGTH - s
    (u, e), (v, f) = axis(q), axis(q + a)
    spin = qd + ad
    base = START - np.array([HINGE_TO_BEARING + FREE_LENGTH, 0.0]) + VELOCITY * t
    head = base + HINGE_TO_BEARING * u + length * v
    velocity = VELOCITY + HINGE_TO_BEARING * qd * e + length * spin * f - sd * v
    force, on_it = contact(head, velocity, spin)
    if not on_it and force.any():
        raise AssertionError("the head left the frustum that this reference knows")
    coupling = PROBE_MASS * HINGE_TO_BEARING * PROBE_CENTRE
    m11 = HOUSING_INERTIA + PROBE_MASS * HINGE_TO_BEARING**2 + PROBE_INERTIA + 2.0 * coupling * np.cos(a)
    m12 = PROBE_INERTIA + coupling * np.cos(a)
    joint = np.array([0.15 + 0.1 * np.sin(q), 0.1 * np.cos(q) - 0.1])
    size = np.hypot(*joint)
    gain = joint @ [0.1 * np.cos(q), -0.1 * np.sin(q)] / size
    lateral = -gain * (spring(size - 0.15) + 500.0 * gain * qd)
    stiffer = FREE_LENGTH / max(length, SHORTEST)
    bending = -stiffer * (BENDING * a + BENDING_DAMPING * ad)
    turn = coupling * np.sin(a)
    right_q = force @ (HINGE_TO_BEARING * e + length * f + SWING) + lateral + turn * (2.0 * qd + ad) * ad
    right_a = force @ (length * f + SWING) + bending - turn * qd * qd
    qdd, add = np.linalg.solve([[m11, m12], [m12, PROBE_INERTIA]], [right_q, right_a])
    along = force @ v
    # minus the derivative of the bending energy k(L) a^2 / 2 by the travel (ruling R42)
    stiffening = 0.5 * BENDING * a * a * stiffer / length if length > SHORTEST else 0.0
    free = -along - stiffening - TRAIN * s - (TRAIN_DAMPING + magnetic) * sd
    sdd = (free - SCREW * abs(along) * np.tanh(sd / 1e-6)) / INERTANCE
    return np.array([qd, ad, sd, qdd, add, sdd])


@pytest.fixture(scope="module", params=list(MAGNETIC))
def reference(request):
    """Return the axial device, and rows of the coordinates every ms: classical Runge-Kutta with 20 us."""
    magnetic = MAGNETIC[request.param]
    h, y, rows = 2e-5, np.zeros(6), []
    for k in range(round(DURATION / h)):
        t = k * h
        k1 = derivative(t, y, magnetic)
        k2 = derivative(t + h / 2, y + h / 2 * k1, magnetic)
        k3 = derivative(t + h / 2, y + h / 2 * k2, magnetic)
        k4 = derivative(t + h, y + h * k3, magnetic)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (k + 1) % 50 == 0:
            rows.append(y[:3])
    return request.param, np.array(rows)


def mechanism(axial, micro_step):
    """The same rows of the real mechanism, and the largest of what must stay zero out of the plane."""
    base = (START[0] - HINGE_TO_BEARING - FREE_LENGTH, 0.0, START[1])
    steps = {"parameters.micro_step": micro_step, "parameters.micro_tolerance": 0.0}
    m = Instance(
        component(axial=axial), **PLAIN, **steps, **{"target.position": (0.0, 0.0, 0.0), "base.position": base}
    )
    m.m.base.velocity[:] = VELOCITY[0], 0.0, VELOCITY[1]
    rows = []
    for k in range(round(DURATION / 1e-3)):
        m.m.base.position[:] = base + k * 1e-3 * m.m.base.velocity
        m.step(k * 1e-3, 1e-3)
        rows.append([m.m.joint.angle[0], m.m.joint.angle[2], m.m.axial.travel, *m.m.joint.angle[[1, 3, 4]]])
    rows = np.array(rows)
    return rows[:, :3], np.abs(rows[:, 3:]).max()


@pytest.mark.slow
def test_mechanism_follows_the_hand_written_equations(reference):
    """housing 2.3 deg, bending 1.7 deg, travel 0.4 mm over the first impacts; errors relative to the largest values.

    The mechanism's step is of first order where the contact opens and closes; at 10 us the integration of the
    reference (20 us) and the rest of the hysteresis count as well.
    """
    axial, reference = reference
    largest = np.abs(reference).max(axis=0)
    assert (largest > [0.03, 0.02, 3e-4]).all()
    coarse, _ = mechanism(axial, 1e-4)
    fine, across = mechanism(axial, 1e-5)
    assert (np.abs(coarse - reference).max(axis=0) < largest * [3e-4, 1e-3, 3e-3]).all()
    assert (np.abs(fine - reference).max(axis=0) < largest * [1e-4, 3e-4, 1e-3]).all()
    assert across < 1e-12
