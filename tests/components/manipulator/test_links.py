"""Kinematics and dynamics of the links: chains of numpy, tables of Denavit and Hartenberg, inertias."""

import numpy as np
import pytest

from components.manipulator import links
from components.mechanics import rotation
from tests.components.manipulator.arms import ARMS, REF, axis_turn, forward, instance, load_links, place, reaches


def end(m):
    turn, place, _, _ = links.gripper(m)
    return np.array(place), np.array(turn)


@pytest.fixture(scope="module")
def arms():
    return {name: instance(name).m for name in ARMS}


def test_spec08_oracle_O1_gripper_at_zero_angles(arms):
    for name, expected in (("SSRMS", (16.9378, -1.6134, 0.0)), ("ERA", (11.28, 0.0, 0.0))):
        place(arms[name], np.zeros(7))
        np.testing.assert_allclose(end(arms[name])[0], expected, atol=1e-9)


def test_spec08_oracle_O2_gripper_of_the_reference_pose(arms):
    for name, expected in (("SSRMS", (12.005567, 3.374843, -1.968251)), ("ERA", (7.92675, 3.114632, -1.127246))):
        place(arms[name], REF)
        np.testing.assert_allclose(end(arms[name])[0], expected, atol=1e-5 if name == "ERA" else 1e-6)


DH = {
    "SSRMS": [(1.3589, 0, -90, 0), (0.7026, 0, -90, -90), (-0.5692, 7.11, 0, 0), (-0.475, 7.11, 0, 0),
              (-0.5692, 0, 90, 0), (-0.7026, 0, 90, 90), (1.3589, 0, 0, 0)],
    "ERA": [(1.228, 0, -90, 0), (0, 0.340, -90, -90), (0, 4.072, 0, 0), (0, 4.072, 0, 0), (0, 0.340, 90, 0),
            (0, 0, 90, 90), (1.228, 0, 0, 0)],
}  # fmt: skip


@pytest.mark.parametrize("name", DH)
def test_spec08_oracle_O3_tables_of_denavit_and_hartenberg(arms, name):
    """Classical tables, with x0, y0, z0 along y, z, x of R, for random angles."""
    rng = np.random.default_rng(3)
    for q in rng.uniform(-2.0, 2.0, (20, 7)):
        T = np.eye(4)
        for (d, a, alpha, offset), angle in zip(DH[name], q, strict=True):
            t, r = angle + np.deg2rad(offset), np.deg2rad(alpha)
            ct, st, ca, sa = np.cos(t), np.sin(t), np.cos(r), np.sin(r)
            T = T @ np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d],
                              [0, 0, 0, 1.0]])  # fmt: skip
        place(arms[name], q)
        np.testing.assert_allclose(end(arms[name])[0], T[[2, 0, 1], 3], atol=1e-12)


def test_spec08_oracle_O4_ssrms_is_symmetric(arms):
    """The chain read from its tip, angles in reverse order and those about z reversed, turned by 180 deg about z.

    The offset of the elbow slides along its axis: it stands in one boom here, in the other there.
    """
    m = arms["SSRMS"]
    axes, l = np.asarray(m.parameters.link.axis), reaches(m)  # noqa: E741
    q = np.random.default_rng(4).uniform(-2.0, 2.0, 7)
    mirrored = np.where(axes == 3.0, -1.0, 1.0) * q[::-1]
    flip = np.diag([-1.0, -1.0, 1.0])
    # walk from the tip to the root of the original: vectors and turns reversed
    turn, place_ = np.eye(3), np.zeros(3)
    for k in range(7, -1, -1):
        place_ = place_ - turn.T @ l[k]
        if k > 0:
            turn = axis_turn(axes[k - 1], q[k - 1]).T @ turn
    at, other = forward(m, mirrored)
    np.testing.assert_allclose(flip @ place_, at, atol=1e-12)
    np.testing.assert_allclose(flip @ turn @ flip, other, atol=1e-12)


def test_spec08_oracle_O5_attitude_from_three_angles():
    """The printed matrix of the payload's attitude, and its angular velocity, against differences of the matrix."""
    yaw, pitch, roll = 0.3, -0.2, 0.5
    cp, sp, ct, st, cf, sf = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    printed = np.array([
        [cp * ct, st, -sp * ct],
        [sf * sp - cf * st * cp, cf * ct, cf * st * sp + sf * cp],
        [sf * st * cp + cf * sp, -sf * ct, cf * cp - sf * st * sp],
    ])  # fmt: skip
    A = np.array(rotation.from_angles(yaw, pitch, roll))
    np.testing.assert_allclose(A, printed, atol=1e-15)
    rates, h = np.array([0.1, -0.3, 0.2]), 1e-6
    after = np.array(rotation.from_angles(*(np.array([yaw, pitch, roll]) + h * rates)))
    before = np.array(rotation.from_angles(*(np.array([yaw, pitch, roll]) - h * rates)))
    spin = -((after - before) / (2 * h)) @ A.T
    D = np.array([[st, 0.0, 1.0], [cf * ct, sf, 0.0], [-sf * ct, cf, 0.0]])
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], D @ rates, atol=1e-9)


def test_spec08_oracle_O7_articulated_inertias(arms):
    m = arms["SSRMS"]
    m.parameters.joint.locked[0] = 1
    place(m, REF)
    load_links(m, np.zeros(6), np.zeros(7), np.zeros(7))
    links.accelerate(m)
    found = [m.arm[k].rr[int(m.arm[k].axis) - 1, int(m.arm[k].axis) - 1] for k in range(1, 8)]
    np.testing.assert_allclose(found, (4912.4, 50202.8, 42665.2, 16547.1, 268.83, 159.96, 9.336), rtol=1e-4)
    m.parameters.joint.locked[0] = 0


def test_forward_of_the_tests_is_that_of_the_links(arms):
    q = np.linspace(-1.0, 1.0, 7)
    place(arms["SSRMS"], q)
    for one, other in zip(end(arms["SSRMS"]), forward(arms["SSRMS"], q), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
