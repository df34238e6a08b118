"""The worked examples of multibody-formulations section 5, as planar bars and as systems in space."""

import numpy as np

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.planar import planar_hinge, planar_no_rotation, point_line, turn
from dockfmu.components.multibody.reference.system import JointArc, JointSide, ReferenceBody, RigidSystem

Z = (0.0, 0.0, 1.0)


def bar(mass, length, name="bar"):
    """Return a thin uniform bar along x."""
    J = mass * length**2 / 12.0
    return ReferenceBody(name, mass, np.diag([1e-3 * J, J, J]))


def at(*point):
    return JointSide(np.array([*point, 0.0, 0.0, 0.0][:3], dtype=float))


def double_pendulum(J, alpha, rate):
    """Return (M, F, rows) of E5, l = m = weight = 1."""
    x, xd = np.zeros((3, 3)), np.zeros((3, 3))
    point, velocity = np.zeros(2), np.zeros(2)
    for k in (1, 2):
        along = turn(alpha[k - 1])[:, 0]
        across = rate[k - 1] * turn(alpha[k - 1])[:, 1]
        x[k], xd[k] = (*(point + along), alpha[k - 1]), (*(velocity + across), rate[k - 1])
        point, velocity = point + 2.0 * along, velocity + 2.0 * across
    ends = np.array([-1.0, 0.0])
    rows = planar_hinge(0, 1, ends, x, xd) + planar_hinge(1, 2, ends, x, xd)
    M = np.array([[1.0, 1.0, J]] * 2)
    F = np.array([[0.0, -1.0, 0.0]] * 2)
    return M, F, rows


E6_POSE = np.array([1.3962634016, -1.0471975512, 2.7158115802, 0.4704663241])
E6_RATES = np.array([0.2, -0.3, 0.4475907976, 0.3749990937])
E6_MASSES, E6_LENGTHS = np.array([12.0, 10.0, 2.0, 2.0]), np.array([1.0, 1.0, 0.8, 0.9])
E6_HINGE = np.array([0.3, -0.1])


def solar_array(phi, rate):
    """Return (M, F, rows, x, xd) of E6."""
    x, xd = np.zeros((5, 3)), np.zeros((5, 3))
    starts = {1: np.zeros(2), 3: E6_HINGE}
    moving = {1: np.zeros(2), 3: np.zeros(2)}
    for k in range(1, 5):
        along, across = turn(phi[k - 1])[:, 0], rate[k - 1] * turn(phi[k - 1])[:, 1]
        length = E6_LENGTHS[k - 1]
        x[k] = (*(starts[k] + 0.5 * length * along), phi[k - 1])
        xd[k] = (*(moving[k] + 0.5 * length * across), rate[k - 1])
        if k + 1 not in starts:
            starts[k + 1], moving[k + 1] = starts[k] + length * along, moving[k] + length * across
    half = 0.5 * E6_LENGTHS
    M = np.column_stack((E6_MASSES, E6_MASSES, E6_MASSES * E6_LENGTHS**2 / 12.0))
    F = np.zeros((4, 3))
    fold = -12.0 * (phi[1] - phi[0])
    F[0, 2], F[1, 2] = -20.0 * phi[0] - fold, fold
    rows = [
        *planar_hinge(0, 1, np.array([-half[0], 0.0]), x, xd),
        *planar_hinge(1, 2, np.array([-half[1], 0.0]), x, xd),
        *planar_hinge(0, 3, np.array([-half[2], 0.0]), x, xd),
        *planar_hinge(3, 4, np.array([-half[3], 0.0]), x, xd),
        *planar_hinge(4, 2, np.array([0.4 - half[1], 0.0]), x, xd),
    ]
    return M, F, rows, x, xd


def slider_crank(phi, rate):
    """Return (M, F, rows, x, xd) of E8: crank, rod, slider."""
    r, rod = 0.1, 0.3
    beta = np.arcsin(-r * np.sin(phi) / rod)
    beta_rate = -r * np.cos(phi) * rate / (rod * np.cos(beta))
    pin, pin_rate = r * turn(phi)[:, 0], r * rate * turn(phi)[:, 1]
    along, across = rod * turn(beta)[:, 0], rod * beta_rate * turn(beta)[:, 1]
    x, xd = np.zeros((4, 3)), np.zeros((4, 3))
    x[1], xd[1] = (*(0.5 * pin), phi), (*(0.5 * pin_rate), rate)
    x[2], xd[2] = (*(pin + 0.5 * along), beta), (*(pin_rate + 0.5 * across), beta_rate)
    x[3, :2], xd[3, :2] = pin + along, pin_rate + across
    m = np.array([1.0, 2.0, 3.0])
    J = np.array([1.0 * r**2, 2.0 * rod**2, 0.0]) / 12.0 + [0.0, 0.0, 0.01]
    F = np.zeros((3, 3))
    F[:, 1] = -9.81 * m
    rows = [
        *planar_hinge(0, 1, np.array([-0.5 * r, 0.0]), x, xd),
        *planar_hinge(1, 2, np.array([-0.5 * rod, 0.0]), x, xd),
        *planar_hinge(2, 3, np.zeros(2), x, xd),
        point_line(np.array([0.0, 1.0]), 0, 3, np.zeros(2), x, xd),
        planar_no_rotation(0, 3),
    ]
    return np.column_stack((m, m, J)), F, rows, x, xd


def spatial_slider_crank(phi, rate, pin="revolute", tilt=0.0, slider="prismatic"):
    """Return (system, q, u) of E8 in space; crank and rod in the tree, the slider hung on the rod by a cut joint.

    `tilt` turns the axis of the joint of crank and rod out of the normal of the plane.
    """
    r, rod = 0.1, 0.3
    beta = np.arcsin(-r * np.sin(phi) / rod)
    beta_rate = -r * np.cos(phi) * rate / (rod * np.cos(beta))
    x = r * np.cos(phi) + rod * np.cos(beta)
    xd = -r * np.sin(phi) * rate - rod * np.sin(beta) * beta_rate
    axis = (0.0, np.sin(tilt), np.cos(tilt))
    motions = {
        "revolute": (joints.revolute(axis), [beta - phi], [beta_rate - rate]),
        "spherical": (
            joints.spherical(),
            [np.cos(0.5 * (beta - phi)), 0.0, 0.0, np.sin(0.5 * (beta - phi))],
            [0.0, 0.0, beta_rate - rate],
        ),
    }
    motion, angle, angle_rate = motions[pin]
    bodies = (bar(1.0, r, "crank"), bar(2.0, rod, "rod"), ReferenceBody("slider", 3.0, 0.01 * np.eye(3)))
    arcs = (
        JointArc("ground", 0, 1, joints.revolute(Z), at(), at(-0.5 * r)),
        JointArc("pin", 1, 2, motion, at(0.5 * r), at(-0.5 * rod)),
        JointArc("guide", 0, 3, getattr(joints, slider)((1.0, 0.0, 0.0)), at(), at()),
    )
    if tilt:
        # the pose of the rod is kept: the angle in the joint moves to the mounting
        c, s = np.cos(beta - phi), np.sin(beta - phi)
        side = JointSide(np.array([0.5 * r, 0.0, 0.0]), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
        arcs = (arcs[0], JointArc("pin", 1, 2, motion, side, at(-0.5 * rod)), arcs[2])
        angle = [0.0]
    cut = JointArc("wrist", 2, 3, joints.revolute(Z), at(0.5 * rod), at())
    return RigidSystem(bodies, arcs, (cut,)), np.array([phi, *angle, x]), np.array([rate, *angle_rate, xd])


def spatial_solar_array():
    """Return (system, q, u, tau) of E6 in space: relative angles, hinges about z."""
    half = 0.5 * E6_LENGTHS
    bodies = tuple(bar(mass, length, name) for mass, length, name in zip(E6_MASSES, E6_LENGTHS, "1234", strict=True))
    hinge = joints.revolute(Z)
    arcs = (
        JointArc("A", 0, 1, hinge, at(), at(-half[0])),
        JointArc("B", 1, 2, hinge, at(half[0]), at(-half[1])),
        JointArc("D", 0, 3, hinge, at(*E6_HINGE), at(-half[2])),
        JointArc("E", 3, 4, hinge, at(half[2]), at(-half[3])),
    )
    cut = JointArc("F", 4, 2, hinge, at(half[3]), at(0.4 - half[1]))
    phi, rate = E6_POSE, E6_RATES
    q = np.array([phi[0], phi[1] - phi[0], phi[2], phi[3] - phi[2]])
    u = np.array([rate[0], rate[1] - rate[0], rate[2], rate[3] - rate[2]])
    return RigidSystem(bodies, arcs, (cut,)), q, u, np.array([-20.0 * q[0], -12.0 * q[1], 0.0, 0.0])
