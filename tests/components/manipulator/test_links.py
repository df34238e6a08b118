"""Kinematics and dynamics of the links: chains of numpy, tables of Denavit and Hartenberg, inertias."""

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError
from dockfmu.components.manipulator import links
from dockfmu.components.physics.mechanics import rotation
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
            T = T @ np.array(
                [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1.0]]
            )
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
    printed = np.array(
        [
            [cp * ct, st, -sp * ct],
            [sf * sp - cf * st * cp, cf * ct, cf * st * sp + sf * cp],
            [sf * st * cp + cf * sp, -sf * ct, cf * cp - sf * st * sp],
        ]
    )
    A = np.array(rotation.from_angles(yaw, pitch, roll))
    np.testing.assert_allclose(A, printed, atol=1e-15)
    rates, h = np.array([0.1, -0.3, 0.2]), 1e-6
    after = np.array(rotation.from_angles(*(np.array([yaw, pitch, roll]) + h * rates)))
    before = np.array(rotation.from_angles(*(np.array([yaw, pitch, roll]) - h * rates)))
    spin = -((after - before) / (2 * h)) @ A.T
    D = np.array([[st, 0.0, 1.0], [cf * ct, sf, 0.0], [-sf * ct, cf, 0.0]])
    np.testing.assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], D @ rates, atol=1e-9)


# manipulator 9.2 as it stands, with which O7 was computed: the public values read as central, centres at half the link
PUBLIC = {
    "parameters.link.center_of_mass": [(0, 0, 0.3513), (0, -0.2846, 0), (3.555, -0.2375, 0), (3.555, 0, 0),
                                       (0, -0.2846, 0), (0, 0, -0.3513), (0.67945, 0, 0)],
    "parameters.link.inertia": [
        [[xx, xy, 0], [xy, yy, 0], [0, 0, zz]] for xx, yy, zz, xy in (
            (12.19, 12.13, 3.061, 0), (8.088, 3.061, 8.446, 0), (15.41, 2094.71, 2103.19, 49.52),
            (9.522, 1966.28, 1966.28, -39.95), (8.305, 3.061, 8.0386, 0), (12.13, 12.13, 3.061, 0),
            (9.336, 44.41, 44.41, 0))
    ],
}  # fmt: skip


def test_spec08_oracle_O7_articulated_inertias():
    m = instance("SSRMS", **PUBLIC).m
    m.parameters.joint.locked[0] = 1
    place(m, REF)
    load_links(m, np.zeros(6), np.zeros(7), np.zeros(7))
    links.accelerate(m)
    found = [m.arm[k].rr[int(m.arm[k].axis) - 1, int(m.arm[k].axis) - 1] for k in range(1, 8)]
    np.testing.assert_allclose(found, (4912.4, 50202.8, 42665.2, 16547.1, 268.83, 159.96, 9.336), rtol=1e-4)


def test_forward_of_the_tests_is_that_of_the_links(arms):
    q = np.linspace(-1.0, 1.0, 7)
    place(arms["SSRMS"], q)
    for one, other in zip(end(arms["SSRMS"]), forward(arms["SSRMS"], q), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


@pytest.mark.parametrize("name", ARMS)
def test_ruling_R59_links_are_bodies_of_their_length(arms, name):
    """Mass, centre and inertia are those of a body in the box of the segments: variances within (b - c)(c - a).

    Those of SSRMS are the tubes that their source names, each computed anew here.
    """
    p = arms[name].parameters
    for k in range(7):
        used = np.asarray(p.segment.kind[k + 1]) != 1.0
        parts = np.asarray(p.segment.length[k + 1])[used]
        parts = parts[np.linalg.norm(parts, axis=1) > 0.0]
        ends = np.cumsum(np.vstack([np.zeros(3), parts]), axis=0)
        mass, centre, inertia = float(p.link.mass[k]), np.array(p.link.center_of_mass[k]), np.array(p.link.inertia[k])
        second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        assert np.linalg.eigvalsh(second).min() >= 0.0
        low, high = ends.min(axis=0) - 0.2, ends.max(axis=0) + 0.2
        assert np.all(np.diag(second) <= mass * (high - centre) * (centre - low))
        if name == "SSRMS":
            lengths = np.linalg.norm(parts, axis=1)
            masses, middles = mass * lengths / lengths.sum(), ends[:-1] + parts / 2
            mean = masses @ middles / mass
            tubes = np.zeros((3, 3))
            for m, l, e, d in zip(masses, lengths, parts / lengths[:, None], middles - mean, strict=True):  # noqa: E741
                across = np.eye(3) - np.outer(e, e)
                tubes += m * 0.175**2 * np.outer(e, e) + m * (0.175**2 / 2 + l**2 / 12) * across
                tubes += m * (d @ d * np.eye(3) - np.outer(d, d))
            np.testing.assert_allclose(centre, mean, atol=1e-6)
            np.testing.assert_allclose(inertia, tubes, atol=1e-5)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        # the public model as it is: centres in the joints
        ({**PUBLIC, "parameters.link.center_of_mass": np.zeros((7, 3))},
         r"link.inertia of link 3 does not fit its mass, .* 2.577 m from its centre"),
        # inertias about the joint given as central
        ({"parameters.link.inertia[4,2,2]": 5900.0, "parameters.link.inertia[4,3,3]": 5900.0},
         r"link.inertia of link 4 does not fit .* is it given about the joint"),
        ({"parameters.link.center_of_mass[3,1]": 7.5}, r"center_of_mass of link 3 lies 0.19 m outside the link"),
        ({"parameters.link.inertia[5,1,2]": 1.0}, r"inertia of link 5 is not symmetric or physically impossible"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["SSRMS"])
def test_ruling_R59_inertias_that_fit_no_link_are_refused_by_name(name, values, said):
    with pytest.raises(ComponentError, match=said):
        instance(name, **values)
