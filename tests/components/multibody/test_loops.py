"""LOOP: closed systems.

Theory: multibody-formulations 3.6. Examples in space, rank, closure, stabilisation (multibody-formulations 3.7),
impulses.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.constraints import constraint_rows
from dockfmu.components.multibody.reference.graph_method import equations, loads
from dockfmu.components.multibody.reference.impulse import (
    ClosureError,
    closed_positions,
    closed_rates,
    plastic_impact,
    stabilisation,
    state_rows,
    tangent,
)
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import closed
from dockfmu.components.multibody.reference.system import JointArc, ReferenceBody, RigidSystem
from tests.components.multibody import random_systems
from tests.components.multibody.examples import (
    E6_RATES,
    Z,
    at,
    bar,
    spatial_slider_crank,
    spatial_solar_array,
)

pytestmark = pytest.mark.quick

WEIGHT = (0.0, -9.81, 0.0)


def test_spec10_E06_solar_array_in_space():
    system, q, u, tau = spatial_solar_array()
    # the pose has ten digits
    q = closed_positions(system, q, fixed=[0, 1])
    u = closed_rates(system, q, u, fixed=[0, 1])
    np.testing.assert_allclose(np.cumsum(u[2:]), E6_RATES[2:], rtol=0, atol=1e-9)
    motion, given = follow(system, q, u), loads(system, tau=tau)
    loop, expected = closed(motion, given), cartesian(motion, given)
    assert loop.rank.freedoms == 2
    phi = [loop.udot[0], loop.udot[:2].sum(), loop.udot[2], loop.udot[2:].sum()]
    np.testing.assert_allclose(phi, (-2.0386001745, 4.9971859082, -5.8029095816, -4.3218173457), rtol=0, atol=2e-8)
    np.testing.assert_allclose(loop.a, expected.a, atol=1e-10)
    np.testing.assert_allclose(loop.e, expected.e, atol=1e-10)


def test_spec10_E06_reaction_without_redundant_constraints():
    """The last hinge as a point in two planes leaves one row a direction: the force is determined, and that of E6."""
    system, q, u, tau = spatial_solar_array()
    cut = system.cuts[0]

    def in_plane(relative, t):
        normals = np.eye(3)[:2]
        return constraint_rows(normals, np.zeros((2, 3)), g=relative.z[:2])

    system = RigidSystem(
        system.bodies, system.joints, (JointArc("F", 4, 2, joints.free(), cut.plus, cut.minus, in_plane),)
    )
    q = closed_positions(system, q, fixed=[0, 1])
    u = closed_rates(system, q, u, fixed=[0, 1])
    loop = closed(follow(system, q, u), loads(system, tau=tau))
    assert (loop.rank.freedoms, loop.rank.redundant) == (2, 0)
    np.testing.assert_allclose(loop.X[0], (11.0324739758, 5.8137491275, 0.0), rtol=0, atol=2e-8)


@pytest.mark.parametrize(
    ("phi", "rate", "expected", "slider"),
    [(np.pi / 3, 10.0, -41.76775407, 0.90851655), (2.0, -5.0, 31.01117726, -0.81273581)],
)
@pytest.mark.parametrize("pin", ["revolute", "spherical"])
def test_spec10_E08_slider_crank_in_space(phi, rate, expected, slider, pin):
    """LOOP and CART with redundant constraints told, by the joints that hold them."""
    system, q, u = spatial_slider_crank(phi, rate, pin)
    motion, given = follow(system, q, u), loads(system, WEIGHT)
    loop, other = closed(motion, given), cartesian(motion, given)
    assert loop.udot[0] == pytest.approx(expected, abs=1e-8)
    assert loop.udot[-1] == pytest.approx(slider, abs=1e-8)
    np.testing.assert_allclose(loop.a, other.a, rtol=0, atol=1e-10 * np.abs(loop.a).max())
    np.testing.assert_allclose(loop.e, other.e, rtol=0, atol=1e-10 * np.abs(loop.e).max())
    assert set(other.rank.names) <= set(loop.rank.joints) == {"ground", "pin", "guide", "wrist"}
    assert loop.rank.redundant == other.rank.redundant == {"revolute": 3, "spherical": 1}[pin]
    assert np.isnan(loop.X).all()


def test_spec10_section_8_redundant_constraints_are_told():
    system, q, u = spatial_slider_crank(1.0, 0.0)
    loop = closed(follow(system, q, u), loads(system))
    said = "3 constraints of loops are redundant: the reactions of ground, pin, guide, wrist are not determined"
    assert str(loop.rank) == f"1 degrees of freedom; {said}"


def test_reactions_where_a_loop_is_free_of_redundancy():
    """With a ball at the pin and a universal joint at the wrist all rows are needed; reactions equal those of CART."""
    system, q, u = spatial_slider_crank(1.0, 2.0, "spherical")
    cut = system.cuts[0]
    system = RigidSystem(
        system.bodies, system.joints, (JointArc("wrist", 2, 3, joints.universal((0, 1, 0), Z), cut.plus, cut.minus),)
    )
    motion, given = follow(system, q, u), loads(system, WEIGHT)
    loop, other = closed(motion, given), cartesian(motion, given)
    assert (loop.rank.freedoms, loop.rank.redundant, other.rank.redundant) == (1, 0, 0)
    np.testing.assert_allclose(loop.X[0], other.X[-1], rtol=0, atol=1e-10 * np.abs(other.X).max())
    np.testing.assert_allclose(loop.Y[0], other.Y[-1], rtol=0, atol=1e-10 * np.abs(other.X).max())


def four_bar(lengths=(0.2, 0.5, 0.4)):
    """Return an open four-bar linkage on a ground of 0.6 m; its first angle is free to choose."""
    crank, coupler, rocker = lengths
    hinge = joints.revolute(Z)
    arcs = (
        JointArc("A", 0, 1, hinge, at(), at(-0.5 * crank)),
        JointArc("B", 1, 2, hinge, at(0.5 * crank), at(-0.5 * coupler)),
        JointArc("D", 0, 3, hinge, at(0.6, 0.0), at(-0.5 * rocker)),
    )
    cut = JointArc("C", 2, 3, hinge, at(0.5 * coupler), at(0.5 * rocker))
    return RigidSystem((bar(1.0, crank), bar(2.0, coupler), bar(1.5, rocker)), arcs, (cut,))


def test_positions_are_closed_from_a_rough_guess():
    system = four_bar()
    q = closed_positions(system, [0.9, -0.6, 2.0], fixed=[0])
    assert q[0] == 0.9
    B = 0.2 * np.array([np.cos(0.9), np.sin(0.9)])
    C = B + 0.5 * np.array([np.cos(q[:2].sum()), np.sin(q[:2].sum())])
    np.testing.assert_allclose(C, [0.6 + 0.4 * np.cos(q[2]), 0.4 * np.sin(q[2])], atol=1e-9)
    u = closed_rates(system, q, [1.0, 0.0, 0.0], fixed=[0])
    # the rates keep the loop closed: one step along them opens it in second order
    _, _, rows = state_rows(system, q + 1e-5 * u, u)
    assert np.abs(rows.g).max() < 1e-9


def test_a_loop_that_cannot_be_closed_names_its_joint():
    with pytest.raises(ClosureError, match=r"joint C stays open by .* m after 50 iterations"):
        closed_positions(four_bar((0.2, 0.1, 0.1)), [0.9, -0.6, 2.0])


def test_rates_that_contradict_the_loop_are_refused():
    system = four_bar()
    q = closed_positions(system, [0.9, -0.6, 2.0], fixed=[0])
    with pytest.raises(ClosureError, match="joint C opens at"):
        closed_rates(system, q, [1.0, 0.0, 0.0], fixed=[0, 1])


def motion_of_loop(system, q, u, given, duration, factors, h):
    """Return states by RK4 with a fixed step: (q, u) and the worst closure."""

    def rates(y):
        q, u = y[: len(q0)], y[len(q0) :]
        found = closed(follow(system, q, u), given, stabilisation=factors)
        return np.concatenate((system.coordinate_rates(q, u), found.udot))

    q0, y, worst = q, np.concatenate((q, u)), 0.0
    for _ in range(round(duration / h)):
        k1 = rates(y)
        k2 = rates(y + 0.5 * h * k1)
        k3 = rates(y + 0.5 * h * k2)
        k4 = rates(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        _, _, rows = state_rows(system, y[: len(q)], y[len(q) :])
        worst = max(worst, float(np.abs(rows.g).max()))
    return y, worst, rows


def test_spec11_3_7_stabilisation_removes_a_violation():
    """A joint opened by 1 mm closes as the critically damped oscillator of period T_s; without, it stays open."""
    system = four_bar()
    q = closed_positions(system, [0.9, -0.6, 2.0], fixed=[0])
    u = closed_rates(system, q, [1.0, 0.0, 0.0], fixed=[0])
    opened = q + np.array([0.0, 1e-3, 0.0])
    period, duration = 0.1, 0.1
    _, _, start = state_rows(system, opened, u)
    _, _, rows = motion_of_loop(system, opened, u, loads(system), duration, stabilisation(period), 0.005)
    w = 2.0 * np.pi / period
    decay = (1.0 + w * duration) * np.exp(-w * duration)
    assert np.abs(rows.g).max() < 2.0 * decay * np.abs(start.g).max() + 1e-7
    _, _, rows = motion_of_loop(system, opened, u, loads(system), duration, (0.0, 0.0), 0.005)
    assert np.abs(rows.g).max() > 0.3 * np.abs(start.g).max()


def test_spec11_3_7_signs_as_printed_with_dg_plus_g_diverge():
    system = four_bar()
    q = closed_positions(system, [0.9, -0.6, 2.0], fixed=[0])
    u = np.zeros(3)
    opened = q + np.array([0.0, 1e-6, 0.0])
    _, _, start = state_rows(system, opened, u)
    k0, k1 = stabilisation(0.1)
    _, _, rows = motion_of_loop(system, opened, u, loads(system), 0.1, (-k0, -k1), 0.002)
    assert np.abs(rows.g).max() > 100.0 * np.abs(start.g).max()


def test_spec10_oracle_3_closed_loop_keeps_its_energy():
    """The four-bar linkage turns for 0.3 s: energy and closure to 1e-9, with DOP853 at rtol 1e-10."""
    system = four_bar()
    q = closed_positions(system, [0.9, -0.6, 2.0], fixed=[0])
    u = closed_rates(system, q, [6.0, 0.0, 0.0], fixed=[0])
    given, factors = loads(system), stabilisation(1.0)

    def rates(t, y):
        return np.concatenate((y[3:], closed(follow(system, y[:3], y[3:]), given, stabilisation=factors).udot))

    run = solve_ivp(rates, (0.0, 0.3), np.concatenate((q, u)), "DOP853", rtol=1e-10, atol=1e-11)
    start, end = follow(system, q, u).energy(), follow(system, run.y[:3, -1], run.y[3:, -1]).energy()
    assert end == pytest.approx(start, rel=1e-9)
    _, _, rows = state_rows(system, run.y[:3, -1], run.y[3:, -1])
    assert np.abs(rows.g).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_spec10_oracle_3_free_system_keeps_momentum_and_energy(seed):
    """Momenta and energy of a free tree without forces over 2 s, at 1e-9 of their size."""
    rng = np.random.default_rng(seed)
    tree = random_systems.tree(rng, 3, ("revolute", "universal", "spherical", "cylindrical", "screw"))
    free = JointArc("free", 0, 1, joints.free())
    arcs = (free, *(JointArc(j.name, j.leaves or 1, j.enters or 1, j.motion, j.plus, j.minus) for j in tree.joints[1:]))
    system = RigidSystem(tree.bodies, arcs)
    q, u = random_systems.state(system, rng)
    given = loads(system)
    size = len(q)

    def rates(t, y):
        found = equations(follow(system, y[:size], y[size:]), given)
        return np.concatenate((system.coordinate_rates(y[:size], y[size:]), np.linalg.solve(found.A, found.B)))

    run = solve_ivp(rates, (0.0, 1.0), np.concatenate((q, u)), "DOP853", rtol=1e-11, atol=1e-12)
    start, end = follow(system, q, u), follow(system, run.y[:size, -1], run.y[size:, -1])
    assert end.energy() == pytest.approx(start.energy(), rel=1e-9)
    for before, after in zip(start.momentum(), end.momentum(), strict=True):
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-9 * max(1.0, np.linalg.norm(before)))


def test_spec10_4_1_latch_of_a_hinge_is_a_plastic_impact():
    """Two bars on one hinge lock: angular momentum stays, the energy of the relative motion goes.

    In closed form: with inertias I_1, I_2 about the pin, a lock leaves (I_1 w_1 + I_2 w_2) / (I_1 + I_2) and takes
    I_1 I_2 / (I_1 + I_2) (w_1 - w_2)^2 / 2.
    """
    hinge = joints.revolute(Z)
    # both bars hang on the pin at the base; the second angle is relative to the first
    system = RigidSystem(
        (bar(3.0, 1.0), bar(2.0, 0.8)),
        (JointArc("pin", 0, 1, hinge, at(), at(-0.5)), JointArc("lock", 1, 2, hinge, at(-0.5), at(-0.4))),
    )
    w1, w2 = 2.0, -1.0
    u = np.array([w1, w2 - w1])
    A = equations(follow(system, [0.3, 0.9], u), loads(system)).A
    I1, I2 = 3.0 / 3.0, 2.0 * 0.64 / 3.0
    hit = plastic_impact(A, np.array([[0.0, 1.0]]), u)
    np.testing.assert_allclose(hit.u, [(I1 * w1 + I2 * w2) / (I1 + I2), 0.0], atol=1e-14)
    assert hit.lost == pytest.approx(0.5 * I1 * I2 / (I1 + I2) * (w1 - w2) ** 2, rel=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_plastic_impact_loses_the_energy_of_the_change(seed):
    """The lost energy is du A du / 2 (Carnot), rows hold afterwards, and redundant rows change nothing."""
    rng = np.random.default_rng(seed)
    system, q = random_systems.closed(rng, "revolute")
    _, A, rows = state_rows(system, q, np.zeros(system.rates))
    u = rng.normal(size=system.rates)
    hit = plastic_impact(A, rows.H, u)
    change = hit.u - u
    assert hit.lost == pytest.approx(0.5 * change @ A @ change, rel=1e-10)
    np.testing.assert_allclose(rows.H @ hit.u, 0.0, atol=1e-10)
    again = plastic_impact(A, np.vstack((rows.H, rows.H[:2] - rows.H[1:3])), u)
    np.testing.assert_allclose(again.u, hit.u, atol=1e-9)


def test_freedoms_of_a_loop_are_as_many_as_its_tangents():
    system, q, u = spatial_slider_crank(1.0, 1.0)
    _, A, rows = state_rows(system, q, u)
    basis = tangent(A, rows.H)
    assert basis.shape == (3, 1)
    np.testing.assert_allclose(basis.T @ A @ basis, np.eye(1), atol=1e-13)
    np.testing.assert_allclose(np.cross(basis[:, 0], u), 0.0, atol=1e-12)


def test_non_holonomic_constraint_of_a_sleigh():
    """Chaplygin's sleigh on a plane: with the blade a behind the centre, v' = a w^2, w' = -m a v w / (J + m a^2)."""
    m, J, a = 2.0, 0.3, 0.4

    def blade(relative, t):
        # the blade is on i-: its axis y turns with it
        n, dn = relative.R[:, 1], np.cross(relative.Omega, relative.R[:, 1])
        return constraint_rows(n[None], np.zeros((1, 3)), dnz=dn[None], holonomic=False)

    body = ReferenceBody("sleigh", m, np.diag([1.0, 1.0, J]))
    system = RigidSystem(
        (body,),
        (JointArc("plane", 0, 1, joints.planar(Z), at(), at()),),
        (JointArc("blade", 0, 1, joints.free(), at(), at(-a), blade),),
    )
    turn, v, w = 0.7, 1.3, 0.9
    e1, e2 = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    # velocity of the centre: v along the blade, and the blade's point has none across
    velocity = v * e1 + a * w * e2
    motion = system.joints[0].motion
    axes = np.array(motion.displacements)[:, :2]
    q, u = np.array([0.0, 0.0, turn]), np.array([*(axes @ velocity), w])
    loop = closed(follow(system, q, u), loads(system))
    assert loop.rank.freedoms == 2
    np.testing.assert_allclose(state_rows(system, q, u)[2].gd, 0.0, atol=1e-14)
    along = loop.a[0, :2] @ e1
    # a_centre = (v' - a w^2) e1 + ... : the force is across the blade, so that the centre has no acceleration along it
    assert along == pytest.approx(0.0, abs=1e-13)
    assert loop.e[0, 2] == pytest.approx(-m * a * v * w / (J + m * a**2), abs=1e-12)


def test_ball_that_rolls_down_a_slope():
    """A ball on a plane, the point of contact without velocity: 5/7 of g sin(slope), with J = 2/5 m r^2."""
    m, r = 2.0, 0.3

    def rolling(relative, t):
        # z' + Omega x (-r n) = 0 along both axes of the plane
        normals = np.eye(3)[:2]
        arm = np.array([0.0, 0.0, -r])
        return constraint_rows(normals, np.cross(arm, normals), holonomic=False)

    body = ReferenceBody("ball", m, 0.4 * m * r**2 * np.eye(3))

    def height(relative, t):
        return constraint_rows(np.eye(3)[2:], np.zeros((1, 3)), g=relative.z[2] - r)

    free = joints.free()
    cuts = (JointArc("contact", 0, 1, free, rows=rolling), JointArc("plane", 0, 1, free, rows=height))
    ball = RigidSystem((body,), (JointArc("free", 0, 1, free),), cuts)
    slope = 0.3
    gravity = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    w = np.array([0.4, 1.1, -0.6])
    v = np.array([r * w[1], -r * w[0], 0.0])
    q = np.array([0.0, 0.0, r, 1.0, 0.0, 0.0, 0.0])
    loop = closed(follow(ball, q, [*v, *w]), loads(ball, gravity))
    np.testing.assert_allclose(loop.a[0], [5.0 / 7.0 * gravity[0], 0.0, 0.0], atol=1e-13)
    assert loop.rank.freedoms == 3
