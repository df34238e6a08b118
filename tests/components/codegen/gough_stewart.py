"""The six-chain platform of symbolic O7: geometry, masses, state and loads, all ASSUMED there."""

from types import SimpleNamespace

import numpy as np

from dockfmu.components.codegen.algebra import array, cross, rotation, snapped, solve_symmetric
from dockfmu.components.codegen.legs import Leg, Nut, Ring
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, X, Y, Z

LENGTH = 0.6378954989
LEAD = 0.02


def euler(yaw, pitch, roll):
    """alpha_N of kinematics section 2, from (cosine, sine) of the three angles."""
    return rotation(X, *roll) @ rotation(Z, *pitch) @ rotation(Y, *yaw)


def geometry(k):
    """(gamma_0 = gamma_N, l_0, l_N) of chain k = 0..5."""
    sign = -1.0 if k % 2 == 0 else 1.0
    a, b = np.radians(120.0 * (k // 2) + sign * 10.0), np.radians(120.0 * (k // 2) + sign * 50.0)
    l0, lN = 0.6 * np.array([0, np.cos(a), np.sin(a)]), 0.55 * np.array([0, np.cos(b), np.sin(b)])
    x = np.array([0.5, 0, 0]) + lN - l0
    x /= np.linalg.norm(x)
    y = np.array([0, -np.sin(a), np.cos(a)])
    y -= (y @ x) * x
    y /= np.linalg.norm(y)
    return np.array([x, y, np.cross(x, y)]), l0, lN


def link(mass, centre, Jx, Jt):
    """Mass properties of an axisymmetric link about its joint; transverse Jt about the centre of mass."""
    transverse = Jt + mass * centre**2
    return {"mass": mass, "moment": np.array([mass * centre, 0, 0]), "inertia": np.diag([Jx, transverse, transverse])}


HOUSING = link(1.5, 0.12, 2e-3, 1.2e-2)
SCREW = link(1.2, -0.15, 5e-4, 1e-2)
RING = Body(X, mass=20.0, inertia=np.diag([5.0, 2.6, 2.6]))


def leg(k, coordinates, nut_torque):
    """Leg k with joints y, z, stroke, roll; `coordinates` (c1, s1, c2, s2, stroke, c4, s4)."""
    gamma, l0, lN = geometry(k)
    gamma, l0, lN = (snapped(value) for value in (gamma, l0, lN))
    c1, s1, c2, s2, stroke, c4, s4 = coordinates
    bodies = [Body(Y), Body(Z, **HOUSING), Body(X, slides=True, offset=np.array([LENGTH, 0, 0])), Body(X, **SCREW)]
    joints = [Joint(bodies[0], c1, s1), Joint(bodies[1], c2, s2), Joint(bodies[2], stroke=stroke),
              Joint(bodies[3], c4, s4)]  # fmt: skip
    hand = 1.0 if k % 2 == 0 else -1.0
    nut = Nut(np.array([0, 0, hand * 2 * np.pi / LEAD, 1.0]), 2e-4, nut_torque)
    return Leg(joints, gamma, l0, np.zeros(3), lN, np.array([0.0, 1.0, 0.0]), gamma[2], nut)


def right_hand_side(s, moving_base=True, recursion=False):
    """Everything of symbolic O7 from a namespace `s` of scalars of any kind.

    The base wrench from Newton's law of the whole mechanism or, equal, by the `recursion` of the source's 2.4.
    """
    alpha = euler(s.yaw, s.pitch, s.roll)
    base = Motion(s.omega0, s.epsilon0, s.acceleration0) if moving_base else Motion()
    ring = Ring(RING, s.position, alpha, s.velocity, s.spin, base)
    load = ring.force + np.concatenate([s.force, s.moment])
    A, b = ring.inertia, load
    legs = [leg(k, s.coordinates[k], s.nut_torque[k]) for k in range(6)]
    for k, one in enumerate(legs):
        one.follow(alpha, s.velocity, s.spin)
        share_A, share_b = one.reduce(base, array([0.0, 0.0, s.strut_force[k], s.roll_moment[k]]))
        A, b = A + share_A, b + share_b
    acceleration = solve_symmetric(A, b)
    zero = array(np.zeros(3))
    force, moment = (zero, zero) if recursion else ring.passes_on(load, acceleration)
    for one in legs:
        f, m = one.react(acceleration) if recursion else one.lose(acceleration)
        force, moment = force + f, moment + m
    psi_rate = (1.0 / s.pitch[0]) * (s.roll[0] * s.spin[1] - s.roll[1] * s.spin[2])
    rates = array([psi_rate, s.roll[1] * s.spin[1] + s.roll[0] * s.spin[2], s.spin[0] - psi_rate * s.pitch[1]])
    return SimpleNamespace(
        A=A, b=b, acceleration=acceleration, force=force, moment=moment, legs=legs, alpha=alpha, angle_rates=rates
    )


__all__ = ["cross", "euler", "geometry", "leg", "link", "right_hand_side"]
