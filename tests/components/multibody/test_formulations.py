"""Formulations against each other at random states, invariance, reactions: oracles of multibody-formulations 6."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.algebra import cross, quaternion_of, rotation, rotation_of
from dockfmu.components.multibody.reference.articulated import articulated, closed_by_recursion
from dockfmu.components.multibody.reference.cartesian import (
    body_states,
    joint_states,
    relative_motion,
    with_joint_forces,
)
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.constraints import joint_constraints, rows_across
from dockfmu.components.multibody.reference.graph_method import equations, force_elements, loads, reactions, solve
from dockfmu.components.multibody.reference.impulse import closed_rates
from dockfmu.components.multibody.reference.joints import AxisMotion, JointState
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import closed, cut_loads, cut_rows, loop_rank
from dockfmu.components.multibody.reference.system import JointArc, JointSide, RigidSystem
from tests.components.multibody import random_systems

pytestmark = pytest.mark.quick

SEEDS = range(30)


def loaded(system, rng):
    return loads(system, rng.normal(size=3), *rng.normal(size=(2, system.n, 3)), rng.normal(size=system.rates))


def agree(found, expected, tolerance=1e-10):
    """Assert that accelerations of bodies agree relative to the largest."""
    size = max(1.0, *(np.abs(part).max() for part in expected))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * size)


def witt(motion, given):
    found = equations(motion, given)
    return found.accelerations(solve(found.A, found.B)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_spec10_oracle_2_trees(seed):
    """CART by both solutions, WITT and ABA on trees of all kinds of joints, arcs in any direction, moving base.

    Tolerance 1e-10 as asked; most agree to 1e-13.
    """
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 7)
    motion = follow(system, *random_systems.state(system, rng), base=random_systems.moving_base(rng))
    given = loaded(system, rng)
    expected = witt(motion, given)
    agree(articulated(motion, given)[1:], expected)
    for dense in (False, True):
        found = cartesian(motion, given, dense=dense)
        agree((found.a, found.e), expected)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.lists(st.sampled_from(random_systems.KINDS), min_size=1, max_size=4, unique=True),
)
def test_spec10_oracle_2_any_tree(seed, bodies, kinds):
    """The same for trees of few kinds of joints, which hypothesis makes smaller where they disagree."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, bodies, kinds)
    motion = follow(system, *random_systems.state(system, rng), base=random_systems.moving_base(rng))
    given_loads = loaded(system, rng)
    expected = witt(motion, given_loads)
    agree(articulated(motion, given_loads)[1:], expected)
    found = cartesian(motion, given_loads)
    agree((found.a, found.e), expected)


def condition_of_loops(motion, given):
    """Return the condition of the independent constraints of the loops, H A^-1 H^T with rows of length 1."""
    tree = equations(motion, given)
    rows = cut_rows(motion, tree)
    H = rows.H[loop_rank(motion, tree.A, rows, []).kept]
    across = np.linalg.solve(np.linalg.cholesky(tree.A), H.T)
    values = np.linalg.svd(across / np.linalg.norm(across, axis=0), compute_uv=False)
    return (values[0] / values[-1]) ** 2 if len(values) else 1.0


@pytest.mark.parametrize("kind", random_systems.KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_spec10_oracle_2_loops(kind, seed):
    """LOOP and CART (both solutions) of closed systems, with all kinds of cut joints.

    Relative to the condition of the constraints: 1e-10 up to 1e4, and in proportion above; some random loops are close
    to a singular pose.
    """
    rng = np.random.default_rng(100 * seed + random_systems.KINDS.index(kind))
    system, q = random_systems.closed(rng, kind)
    u = closed_rates(system, q, rng.normal(size=system.rates))
    motion, given = follow(system, q, u), loaded(system, rng)
    expected = closed(motion, given)
    tolerance = 1e-10 * max(1.0, condition_of_loops(motion, given) / 1e4)
    for dense in (False, True):
        found = cartesian(motion, given, dense=dense)
        agree((found.a, found.e), (expected.a, expected.e), tolerance)
        assert found.rank.redundant == expected.rank.redundant
        np.testing.assert_array_equal(np.isnan(found.X[-1]), np.isnan(expected.X[0]))
        if not expected.rank.redundant:
            agree((found.X[-1:], found.Y[-1:]), (expected.X, expected.Y), tolerance)


@pytest.mark.parametrize("kind", [kind for kind in random_systems.KINDS if kind != "free"])
def test_loops_by_recursions_alone(kind):
    """The response of ABA to the rows of the cut joint: the multipliers of LOOP, on a base that turns."""
    rng = np.random.default_rng(random_systems.KINDS.index(kind))
    redundant = 1
    while redundant:
        # until no joint next to the cut leaves a redundant constraint
        system, q = random_systems.closed(rng, kind, 6, ("free", "spherical", "gimbal"))
        base = replace(random_systems.moving_base(rng), r=np.zeros(3), A=np.eye(3))
        u = closed_rates(system, q, rng.normal(size=system.rates), base=base)
        motion, given = follow(system, q, u, base=base), loaded(system, rng)
        expected = closed(motion, given)
        redundant = expected.rank.redundant
    udot, values = closed_by_recursion(motion, given)
    size = max(1.0, np.abs(expected.udot).max())
    np.testing.assert_allclose(udot, expected.udot, rtol=0, atol=1e-10 * size)
    size = max(1.0, np.abs(expected.multipliers).max())
    np.testing.assert_allclose(values, expected.multipliers, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("seed", SEEDS[:12])
def test_spec10_oracle_6_reactions(seed):
    """X = T (m r'' - F) (3.6) and the same of moments equal the multipliers of CART."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 6)
    motion = follow(system, *random_systems.state(system, rng), base=random_systems.moving_base(rng))
    # joint forces as wrenches on bodies: what is left in the joints is the reaction
    given = with_joint_forces(motion, loaded(system, rng))
    found = equations(motion, given)
    expected = cartesian(motion, given)
    agree(reactions(motion, found, solve(found.A, found.B)[0]), (expected.X, expected.Y))


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_spec10_oracle_6_reactions_of_a_closed_system(seed):
    """With the reactions of the cut joint as loads (3.201), those of the tree are those of CART."""
    rng = np.random.default_rng(seed)
    system, q = random_systems.closed(rng, "cylindrical", kinds=("free", "spherical", "gimbal"))
    u = closed_rates(system, q, rng.normal(size=system.rates))
    motion = follow(system, q, u)
    given = with_joint_forces(motion, loaded(system, rng))
    loop, expected = closed(motion, given), cartesian(motion, given)
    with_cut = cut_loads(motion, given, loop.X, loop.Y)
    found = equations(motion, with_cut)
    udot, _ = solve(found.A, found.B)
    np.testing.assert_allclose(udot, loop.udot, rtol=0, atol=1e-10 * np.abs(udot).max())
    X, Y = reactions(motion, found, udot)
    agree((X, Y), (expected.X[:-1], expected.Y[:-1]))


def test_reactions_do_no_work_in_ideal_joints():
    """Power of all reactions on their bodies, with a base at rest: 0 to rounding."""
    rng = np.random.default_rng(7)
    system = random_systems.tree(rng, 6)
    motion = follow(system, *random_systems.state(system, rng))
    found = cartesian(motion, loaded(system, rng))
    power = 0.0
    for a, arc in enumerate(motion.arcs):
        power += found.X[a] @ arc.zd + found.Y[a] @ arc.Omega
    assert abs(power) < 1e-12 * np.abs(found.X).max()


@pytest.mark.parametrize("seed", SEEDS[:8])
def test_forces_of_elements_in_joints(seed):
    """-k.X - p.Y along the rates is what X, Y do as forces on the bodies."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 5)
    motion = follow(system, *random_systems.state(system, rng))
    X, Y = rng.normal(size=(2, system.n, 3))
    F, L = np.zeros((2, system.n, 3))
    for a, (joint, arc) in enumerate(zip(system.joints, motion.arcs, strict=True)):
        if joint.leaves:
            F[joint.leaves - 1] += X[a]
            L[joint.leaves - 1] += Y[a] + cross(arc.c_plus + arc.z, X[a])
        if joint.enters:
            F[joint.enters - 1] -= X[a]
            L[joint.enters - 1] -= Y[a] + cross(arc.c_minus, X[a])
    on_bodies = equations(motion, loads(system, F=F, L=L)).B
    along = equations(motion, loads(system, tau=force_elements(motion, X, Y))).B
    np.testing.assert_allclose(on_bodies, along, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_spec10_oracle_5_direction_of_arcs(seed):
    """A joint taken the other way round, with its coordinates those of the inverse motion."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 5, ("revolute", "prismatic", "screw", "spherical", "fixed", "cylindrical"))
    q, u = random_systems.state(system, rng)
    given = loads(system, rng.normal(size=3), *rng.normal(size=(2, system.n, 3)))
    expected = witt(follow(system, q, u), given)
    turned, q_turned, u_turned = [], q.copy(), u.copy()
    for joint, here, rates in zip(system.joints, system.position_slices, system.rate_slices, strict=True):
        turned.append(replace(joint, leaves=joint.enters, enters=joint.leaves, plus=joint.minus, minus=joint.plus))
        if isinstance(joint.motion, AxisMotion):
            q_turned[here], u_turned[rates] = -q[here], -u[rates]
        else:
            q_turned[here] = q[here] * [1.0, -1.0, -1.0, -1.0]
            u_turned[rates] = -rotation_of(q[here]) @ u[rates]
    # displacements are along axes of the side that was i-; axes of one-axis joints are fixed in both sides
    found = witt(follow(RigidSystem(system.bodies, tuple(turned)), q_turned, u_turned), given)
    agree(found, expected)


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_spec10_oracle_5_numbering(seed):
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 6)
    q, u = random_systems.state(system, rng)
    given = loads(system, rng.normal(size=3), *rng.normal(size=(2, system.n, 3)))
    expected = witt(follow(system, q, u), given)
    bodies, arcs = [0, *(1 + rng.permutation(6)).tolist()], rng.permutation(6).tolist()
    other = system.renumbered(bodies, arcs)
    order = np.argsort(arcs)
    q = np.concatenate([q[system.position_slices[old]] for old in order])
    u = np.concatenate([u[system.rate_slices[old]] for old in order])
    back = np.array(bodies[1:]) - 1
    F, L = np.zeros((2, 6, 3))
    F[back], L[back] = given.F, given.L
    a, e = witt(follow(other, q, u), loads(other, F=F, L=L))
    agree((a[back], e[back]), expected)


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_spec10_oracle_5_root_of_a_free_system(seed):
    """The free joint moves to another body: the chain from there to the first is walked the other way."""
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 4, ("revolute", "universal", "spherical", "cylindrical", "planar"))
    free = JointArc("free", 0, 1, joints.free(), JointSide(), JointSide())
    arcs = tuple(
        free if joint is system.joints[0] else replace(joint, leaves=joint.leaves or 1, enters=joint.enters or 1)
        for joint in system.joints
    )
    system = RigidSystem(system.bodies, arcs)
    q, u = random_systems.state(system, rng)
    given = loads(system, F=rng.normal(size=(4, 3)), L=rng.normal(size=(4, 3)))
    motion = follow(system, q, u)
    expected = witt(motion, given)
    for root in (2, 3, 4):
        other = RigidSystem(system.bodies, (replace(free, enters=root), *system.joints[1:]))
        A = motion.A[root]
        start = np.concatenate((motion.r[root], quaternion_of(A)))
        rates = np.concatenate((motion.v[root], A.T @ motion.w[root]))
        found = follow(other, np.concatenate((start, q[7:])), np.concatenate((rates, u[6:])))
        np.testing.assert_allclose(found.r, motion.r, atol=1e-13)
        agree(witt(found, given), expected)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_spec10_oracle_5_joint_point_along_the_axis(kind):
    rng = np.random.default_rng(2)
    system = random_systems.tree(rng, 5, (kind,))
    q, u = random_systems.state(system, rng)
    given = loads(system, rng.normal(size=3))
    expected = witt(follow(system, q, u), given)
    arcs = []
    for joint in system.joints:
        axis, shift = np.array(joint.motion.rotations[0]), rng.normal()
        plus = replace(joint.plus, point=joint.plus.point + shift * joint.plus.R @ axis)
        minus = replace(joint.minus, point=joint.minus.point + shift * joint.minus.R @ axis)
        arcs.append(replace(joint, plus=plus, minus=minus))
    agree(witt(follow(RigidSystem(system.bodies, tuple(arcs)), q, u), given), expected)


class Slide:
    """A kind of one's own: a point on a plane curve of i+, with rotation about its tangent: figure 1.4."""

    positions = rates = 2

    def moved(self, q, change):
        return q + change

    def coordinate_rates(self, q, u):
        return u

    def evaluate(self, q, u, t):
        x, turn = q
        slope = 0.6 * np.cos(2.0 * x)
        angle, d1 = np.arctan(slope), -1.2 * np.sin(2.0 * x) / (1.0 + slope**2)
        d2 = (-2.4 * np.cos(2.0 * x) - 2.0 * slope * d1**2 * (1.0 + slope**2)) / (1.0 + slope**2)
        z_axis, tangent = np.array([0.0, 0.0, 1.0]), np.array([np.cos(angle), np.sin(angle), 0.0])
        k = np.array([[1.0, slope, 0.0], [0.0, 0.0, 0.0]])
        p = np.array([d1 * z_axis, tangent])
        sigma = d2 * z_axis * u[0] ** 2 + cross(p[0], p[1]) * u[0] * u[1]
        R = rotation(z_axis, angle) @ rotation(np.array([1.0, 0.0, 0.0]), turn)
        none, s = np.zeros(3), np.array([0.0, -1.2 * np.sin(2.0 * x) * u[0] ** 2, 0.0])
        return JointState(R, np.array([x, 0.3 * np.sin(2.0 * x), 0.0]), k, s, p, sigma, none, none)


class Driven:
    """A rheonomic kind: the displacement of a cylindrical joint along z is 0.2 sin 3 t, its angle free."""

    positions = rates = 1

    def moved(self, q, change):
        return q + change

    def coordinate_rates(self, q, u):
        return u

    def evaluate(self, q, u, t):
        z_axis, none = np.array([0.0, 0.0, 1.0]), np.zeros(3)
        z, zd, zdd = 0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)
        return JointState(
            rotation(z_axis, q[0]), z * z_axis, np.zeros((1, 3)), zdd * z_axis, z_axis[None], none, zd * z_axis, none
        )


def with_kind(system, place, motion):
    arcs = list(system.joints)
    arcs[place] = replace(arcs[place], motion=motion)
    return RigidSystem(system.bodies, tuple(arcs))


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_spec10_3_4_slide_on_a_curve(seed):
    """CART takes rows across the partial velocities of the joint."""
    rng = np.random.default_rng(seed)
    system = with_kind(random_systems.tree(rng, 5), 2, Slide())
    motion, given = follow(system, *random_systems.state(system, rng)), loaded(system, rng)
    expected = witt(motion, given)
    agree(articulated(motion, given)[1:], expected)
    found = cartesian(motion, given)
    agree((found.a, found.e), expected)


@pytest.mark.parametrize("seed", SEEDS[:6])
def test_spec10_3_4_rheonomic_joint_is_a_prescribed_coordinate(seed):
    """(3.92) to (3.94) with the coordinate in the joint, and the joint with explicit time, (3.103) and (3.107).

    The drive force is the reaction of the rheonomic joint along the displacement.
    """
    rng, t = np.random.default_rng(seed), 0.4
    tree = random_systems.tree(rng, 5)
    rheonomic = with_kind(tree, 2, Driven())
    q, u = random_systems.state(rheonomic, rng)
    given = loads(rheonomic, rng.normal(size=3), *rng.normal(size=(2, 5, 3)))
    motion = follow(rheonomic, q, u, t)
    found = equations(motion, given)
    udot, _ = solve(found.A, found.B)

    driven = with_kind(tree, 2, joints.cylindrical((0.0, 0.0, 1.0)))
    at, rate = rheonomic.position_slices[2].stop, rheonomic.rate_slices[2].stop
    q, u = np.insert(q, at, 0.2 * np.sin(3 * t)), np.insert(u, rate, 0.6 * np.cos(3 * t))
    other = follow(driven, q, u, t)
    np.testing.assert_allclose(other.v, motion.v, atol=1e-13)
    tree_equations = equations(other, loads(driven, F=given.F, L=given.L))
    with_drive, drives = solve(tree_equations.A, tree_equations.B, {rate: -1.8 * np.sin(3 * t)})
    np.testing.assert_allclose(np.delete(with_drive, rate), udot, rtol=0, atol=1e-11 * max(1.0, np.abs(udot).max()))
    X, _ = reactions(motion, found, udot)
    axis = motion.A[rheonomic.joints[2].leaves] @ rheonomic.joints[2].plus.R[:, 2]
    # + on i+ of both
    assert X[2] @ axis == pytest.approx(drives[rate], abs=1e-10 * max(1.0, np.abs(X).max()))
    # and the multiplier of the row of the drive in CART
    from_cart = cartesian(other, loads(driven, F=given.F, L=given.L), {rate: -1.8 * np.sin(3 * t)})
    assert -from_cart.multipliers[2][-1] == pytest.approx(drives[rate], abs=1e-10 * max(1.0, np.abs(X).max()))
    agree((from_cart.a, from_cart.e), found.accelerations(udot))


@pytest.mark.parametrize("kind", [*random_systems.KINDS, "slide", "driven"])
def test_spec10_3_4_accelerations_are_derivatives_of_velocities(kind):
    """Central differences of v and w along a motion with constant u': errors of order h^4 and 1e-16 / h."""
    rng, h = np.random.default_rng(11), 1e-3
    system = random_systems.tree(rng, 4, (kind,) if kind in random_systems.KINDS else ("revolute",))
    if kind == "slide":
        system = with_kind(with_kind(system, 1, Slide()), 2, Slide())
    if kind == "driven":
        system = with_kind(with_kind(system, 1, Driven()), 2, Driven())
    q, u = random_systems.state(system, rng)
    udot = rng.normal(size=system.rates)

    def velocities(t):
        run = solve_ivp(
            lambda s, y: system.coordinate_rates(y, u + udot * s), (0.0, t), q, "DOP853", rtol=1e-13, atol=1e-14
        )
        end = follow(system, run.y[:, -1], u + udot * t, t)
        return np.concatenate((end.v[1:], end.w[1:]))

    slope = (-velocities(2 * h) + 8 * velocities(h) - 8 * velocities(-h) + velocities(-2 * h)) / 12 / h
    found = equations(follow(system, q, u), loads(system)).accelerations(udot)
    np.testing.assert_allclose(np.concatenate(found), slope, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", random_systems.KINDS)
def test_rows_of_the_library_span_those_across_the_coordinates(kind):
    """Both sets leave the same relative motions free, with the same accelerations."""
    rng = np.random.default_rng(5)
    system = random_systems.tree(rng, 3, (kind,))
    motion = follow(system, *random_systems.state(system, rng))
    states = body_states(motion)
    for joint, state in zip(system.joints, joint_states(motion), strict=True):
        relative = relative_motion(joint, states)
        rows, across = joint_constraints(joint.motion, relative), rows_across(state)
        np.testing.assert_allclose(rows.g, 0.0, atol=1e-14)
        np.testing.assert_allclose(rows.rate(relative), 0.0, atol=1e-13)
        assert len(rows) == len(across) == 6 - joint.motion.rates
        N, M = np.hstack((rows.nw, rows.nz)), np.hstack((across.nw, across.nz))
        # N = C M, and the right-hand sides transform alike
        C = N @ M.T
        np.testing.assert_allclose(C @ M, N, atol=1e-13)
        right = rows.rhs - rows.dnz @ relative.zd - rows.dnw @ relative.Omega
        np.testing.assert_allclose(C @ across.rhs, right, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_spec10_3_6_partials_of_the_cut_joint_are_derivatives(seed):
    """H u is the rate of closure of any rates, and H u' + gamma its derivative, by differences."""
    rng, h = np.random.default_rng(seed), 1e-4
    system, q = random_systems.closed(rng, "fixed")
    u, udot = rng.normal(size=(2, system.rates))

    def rate(t):
        run = solve_ivp(
            lambda s, y: system.coordinate_rates(y, u + udot * s), (0.0, t), q, "DOP853", rtol=1e-13, atol=1e-14
        )
        motion = follow(system, run.y[:, -1], u + udot * t)
        return cut_rows(motion, equations(motion, loads(system)))

    now = rate(0.0)
    np.testing.assert_allclose(now.H @ u, now.gd, atol=1e-12)
    # at closure the rows of a fixed joint are the derivatives of its positions
    np.testing.assert_allclose((rate(h).g - rate(-h).g) / (2 * h), now.gd, atol=1e-6)
    slope = (rate(h).gd - rate(-h).gd) / (2 * h)
    np.testing.assert_allclose(now.H @ udot + now.gamma, slope, atol=1e-5)
