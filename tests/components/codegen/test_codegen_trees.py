"""Trees: articulated bodies, composite bodies, and Kane's form, against that of symbolic 3.2 in full."""

import numpy as np
import pytest
import sympy

from dockfmu.components.codegen import algebra, chain, kane, tree
from dockfmu.components.codegen.catalogue import TREES, KinematicStructure
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, Z

BASE = Motion(np.array([0.3, -0.2, 0.1]), np.array([0.4, 0.2, -0.3]), np.array([0.5, -0.1, 0.7]))


def random_tree(structure, rng, heavy_all=True):
    """Joints of a structure with random bodies, mountings and state."""
    joints = []
    for j, axis in enumerate(structure.axes):
        parent = structure.parents[j]
        turn = np.eye(3)
        for a in range(3):
            angle = rng.uniform(-0.5, 0.5)
            turn = turn @ algebra.rotation(a, np.cos(angle), np.sin(angle)).astype(float)
        body = Body(axis, j in structure.slides, rng.uniform(-0.5, 0.5, 3), turn, parent=parent)
        if heavy_all or j in structure.heavy:
            m, d, a = rng.uniform(1, 5), rng.uniform(-0.2, 0.2, 3), rng.normal(size=(3, 3))
            body.mass, body.moment = m, m * d
            body.inertia = 0.05 * (a @ a.T + np.eye(3)) - m * np.array(algebra.skew(d) @ algebra.skew(d), float)
        q, rate = rng.normal(size=2)
        joints.append(Joint(body, stroke=q, rate=rate) if body.slides else Joint(body, np.cos(q), np.sin(q), rate=rate))
    return joints


def in_full(joints, g):
    """(A, b) by partial velocities in body axes, for any tree, as symbolic 3.2 writes it."""
    n = len(joints)
    T, R, motions = [], [], []
    A, b = np.zeros((n, n)), np.array(g, float)
    for j, joint in enumerate(joints):
        p = joint.body.parent
        t, r, motion = (np.zeros((3, n)), np.zeros((3, n)), BASE) if p is None else (T[p], R[p], motions[p])
        beta = np.array(joint.turn @ joint.body.mounting, float)
        arm = np.array(algebra.skew(joint.arm), float)
        T.append(beta @ (t - arm @ r))
        R.append(beta @ r)
        (T if joint.body.slides else R)[j][joint.body.axis, j] += 1.0
        motions.append(motion.after(joint))
        m, c, inertia = joint.body.mass, np.array(joint.body.moment, float), np.array(joint.body.inertia, float)
        S = np.array(algebra.skew(c), float)
        M = np.block([[m * np.eye(3), S.T], [S, inertia]])
        P = np.vstack([T[j], R[j]])
        w, e, a = (
            np.array(x, float)
            for x in (motions[j].angular_velocity, motions[j].angular_acceleration, motions[j].acceleration)
        )
        force = -m * a - np.cross(e, c) - np.cross(w, np.cross(w, c))
        moment = -np.cross(c, a) - inertia @ e - np.cross(w, inertia @ w)
        A, b = A + P.T @ M @ P, b + P.T @ np.concatenate([force, moment])
    return A, b


def serial(n, rng):
    axes = tuple(rng.integers(0, 3, n))
    slides = tuple(j for j in range(n) if rng.random() < 0.3)
    return KinematicStructure(axes, slides, parents=(None, *range(n - 1)))


@pytest.mark.parametrize("n", range(1, 8))
def test_spec09_oracle_O9_three_algorithms_for_chains(n):
    """CRBA and solution = ABA = Kane = Kane in full, n = 1..7, relative 1e-11."""
    rng = np.random.default_rng(n)
    joints = random_tree(serial(n, rng), rng)
    g = rng.normal(size=n)
    A, b = in_full(joints, g)
    np.testing.assert_allclose(chain.inertia(joints).astype(float), A, rtol=1e-11, atol=1e-12)
    inertial = chain.inertia_forces(joints, BASE, np.zeros(n))
    np.testing.assert_allclose(chain.forces(joints, inertial, g).astype(float), b, rtol=1e-11, atol=1e-11)
    expected = np.linalg.solve(A, b)
    scale = 1e-11 * np.abs(expected).max() * np.linalg.cond(A)
    np.testing.assert_allclose(np.array(tree.accelerate(joints, BASE, g).qdd, float), expected, rtol=0, atol=scale)
    np.testing.assert_allclose(kane.accelerate(joints, BASE, g)[0].astype(float), expected, rtol=0, atol=scale)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("seed", range(3))
def test_spec02_oracle_DO5_trees(name, seed):
    """ABA = Kane = dense solution, for the central mechanism with its branch and the arm."""
    rng = np.random.default_rng(seed)
    joints = random_tree(TREES[name], rng, heavy_all=False)
    g = rng.normal(size=len(joints))
    A, b = in_full(joints, g)
    expected = np.linalg.solve(A, b)
    scale = 1e-12 * np.abs(expected).max() * np.linalg.cond(A)
    found = tree.accelerate(joints, BASE, g)
    np.testing.assert_allclose(np.array(found.qdd, float), expected, rtol=0, atol=scale)
    np.testing.assert_allclose(kane.accelerate(joints, BASE, g)[0].astype(float), expected, rtol=0, atol=scale)


@pytest.mark.parametrize("name", TREES)
def test_base_wrench_is_what_the_bodies_need(name):
    """(2.5.7) with erratum D10 against the sum of inertia wrenches of all bodies; M_A by two accelerations."""
    rng = np.random.default_rng(5)
    joints = random_tree(TREES[name], rng, heavy_all=False)
    g = rng.normal(size=len(joints))
    found = tree.accelerate(joints, BASE, g)
    _, accelerations = kane.accelerate(joints, BASE, g)
    rates = np.array([joint.rate for joint in joints])
    moving = kane.carried(joints, [*BASE.angular_velocity, 0.0, 0.0, 0.0])
    wrenches = {}
    for j, (partial, base) in enumerate(zip(kane.partials(joints), moving, strict=True)):
        body = joints[j].body
        needed = kane.motion_wrench(body, partial @ rates + base) + kane.inertia(body) @ accelerations[j]
        wrenches[j] = -needed
    wrench = kane.total(joints, wrenches)
    size = np.abs(wrench.astype(float)).max()
    np.testing.assert_allclose(found.moment.astype(float), wrench[:3].astype(float), atol=1e-10 * size)
    np.testing.assert_allclose(found.force.astype(float), wrench[3:].astype(float), atol=1e-10 * size)
    pushed = Motion(BASE.angular_velocity, BASE.angular_acceleration, BASE.acceleration + np.array([0.0, 1.0, 0.0]))
    change = tree.accelerate(joints, pushed, g).force - found.force
    np.testing.assert_allclose(-change.astype(float), found.root.tt[:, 1].astype(float), atol=1e-10 * size)


def test_added_inertia_and_loads():
    """Joint inertia and an attached inertia and load on a body, against the dense form."""
    rng = np.random.default_rng(8)
    joints = random_tree(TREES["arm, 7 joints"], rng)
    g = rng.normal(size=7)
    A, b = in_full(joints, g)
    extra = {2: 0.7, 5: 0.2}
    found = tree.accelerate(joints, BASE, g, joint_inertia=extra)
    for j, value in extra.items():
        A[j, j] += value
    np.testing.assert_allclose(np.array(found.qdd, float), np.linalg.solve(A, b), rtol=1e-9, atol=1e-9)


def test_double_pendulum_in_sympy():
    """A second derivation: Lagrange's equations of a planar double pendulum with point masses, as formulas."""
    q1, q2, w1, w2, m1, m2, a, b = sympy.symbols("q1 q2 w1 w2 m1 m2 a b", positive=True)
    zero = np.zeros((3, 3), object)

    def bob(m, length):
        J = zero.copy()
        J[1, 1] = J[2, 2] = m * length**2
        return {"mass": m, "moment": np.array([m * length, 0, 0], object), "inertia": J}

    first = Joint(Body(Z, **bob(m1, a)), sympy.cos(q1), sympy.sin(q1), rate=w1)
    second = Joint(
        Body(Z, offset=np.array([a, 0, 0], object), parent=0, **bob(m2, b)), sympy.cos(q2), sympy.sin(q2), rate=w2
    )
    x = sympy.Matrix([a * sympy.cos(q1), a * sympy.sin(q1)])
    y = x + sympy.Matrix([b * sympy.cos(q1 + q2), b * sympy.sin(q1 + q2)])
    q, w = sympy.Matrix([q1, q2]), sympy.Matrix([w1, w2])
    speed = [point.jacobian(q) * w for point in (x, y)]
    kinetic = (m1 * speed[0].dot(speed[0]) + m2 * speed[1].dot(speed[1])) / 2
    momenta = sympy.Matrix([kinetic]).jacobian(w).T
    A = momenta.jacobian(w)
    rest = sympy.Matrix([kinetic]).jacobian(q).T - momenta.jacobian(q) * w
    found = tree.accelerate([first, second], Motion(), [0.0, 0.0]).qdd
    values = {q1: 0.3, q2: 0.8, w1: 1.1, w2: -0.6, m1: 2.0, m2: 3.0, a: 0.5, b: 0.7}
    expected = A.subs(values).LUsolve(rest.subs(values))
    for one, other in zip(found, expected, strict=True):
        assert float(sympy.sympify(one).subs(values)) == pytest.approx(float(other), rel=1e-12)
