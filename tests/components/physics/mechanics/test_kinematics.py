"""Relative motion of units and links, against finite differences of poses."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact.force import motion
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import from_angles

pytestmark = pytest.mark.quick

RECORD = Record(
    Group(
        "test",
        kinematics.moving("port_1", ""),
        kinematics.moving("port_2", ""),
        kinematics.placement("base", ""),
        kinematics.placement("link", ""),
        motion("motion"),
    )
)
H = 1e-6


def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rate(pose, t):
    """(velocity in reference axes, angular velocity in child axes) of `pose(t) -> (r, A)` by central differences."""
    (r1, A1), (r2, A2), (_, A) = pose(t - H), pose(t + H), pose(t)
    W = -((A2 - A1) / (2 * H)) @ A.T
    return (r2 - r1) / (2 * H), np.array([W[2, 1], W[0, 2], W[1, 0]])


def smooth_pose(seed):
    """A smooth pose of a frame in its reference, as a function of time."""
    rng = np.random.default_rng(seed)
    p, q, a, b = rng.uniform(-1.0, 1.0, (4, 3))

    def pose(t):
        return p * sin(t) + q * cos(1.3 * t), np.array(from_angles(*(float(v) for v in a * sin(0.7 * t) + b * t)))

    return pose


@pytest.mark.parametrize("seed", range(5))
def test_spec05_oracle_22_relative_motion_of_ports_and_links(seed):
    """Two turning craft and a link: pose and twist relative to PU, as seen from PU."""
    port_1, port_2, link = smooth_pose(seed), smooth_pose(seed + 50), smooth_pose(seed + 100)
    t = 0.8
    m = RECORD.memory().test

    for port, pose in ((m.port_1, port_1), (m.port_2, port_2)):
        r, A = pose(t)
        v, w = rate(pose, t)
        port.position[:], port.rotation[:], port.velocity[:], port.angular_velocity[:] = r, A, A @ v, w
    kinematics.relate(m.base, m.port_1, m.port_2)
    r, A = link(t)
    v, w = rate(link, t)
    m.link.position[:], m.link.rotation[:], m.link.velocity[:], m.link.angular_velocity[:] = r, A, v, A.T @ w
    kinematics.place_link(m.base, m.link, m.motion)

    def base_in_pu(t):
        (r1, A1), (r2, A2) = port_1(t), port_2(t)
        return A2 @ (r1 - r2), A1 @ A2.T

    def link_in_pu(t):
        (r0, A0), (rl, Al) = base_in_pu(t), link(t)
        return r0 + A0.T @ rl, Al @ A0

    for found, pose in ((m.base, base_in_pu), (m.motion, link_in_pu)):
        r, A = pose(t)
        v, w = rate(pose, t)
        np.testing.assert_allclose(found.position, r, atol=1e-14)
        np.testing.assert_allclose(found.rotation, A, atol=1e-14)
        # central differences: H^2 and rounding 1e-16 / H
        np.testing.assert_allclose(found.velocity, v, atol=1e-8)
        np.testing.assert_allclose(found.angular_velocity, A.T @ w, atol=1e-8)


def test_the_base_moves_sideways_as_seen_from_a_turning_passive_unit():
    m = RECORD.memory().test
    for port in (m.port_1, m.port_2):
        port.rotation[:] = np.eye(3)
    m.port_1.position[:], m.port_1.velocity[:] = (1.0, 2.0, 3.0), (0.1, 0.0, 0.0)
    m.port_2.position[:], m.port_2.angular_velocity[:] = (1.5, 2.0, 3.0), (0.0, 0.0, 0.2)
    kinematics.relate(m.base, m.port_1, m.port_2)
    assert tuple(m.base.position) == (-0.5, 0.0, 0.0)
    assert tuple(m.base.velocity) == pytest.approx((0.1, 0.1, 0.0))
    assert tuple(m.base.angular_velocity) == pytest.approx((0.0, 0.0, -0.2))
