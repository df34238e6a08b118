"""Trees on a moving base, alone and with dependent chains, against the chain algorithms and against bare geometry."""

import numpy as np
import pytest

from dockfmu.components.core.record import Record
from tests.components.physics.linkage import loop_bodies as row
from tests.components.physics.linkage import loop_chain as dependent
from tests.components.physics.linkage import loop_tree as tree
from tests.components.physics.linkage.linkage_reference import Chain, close, elementary, euler, record_of, skew
from tests.components.physics.linkage.loop_bodies import PRISMATIC_X, REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z
from tests.components.physics.linkage.loop_closure import RUS, SERIAL, UPS

FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])
STEP = 0.02


def derivatives(f, t):
    """First and second derivative by central differences of eighth order; errors ~ 1e-13 and 1e-11 of f."""
    plus = [f(t + k * STEP) for k in range(1, 5)]
    minus = [f(t - k * STEP) for k in range(1, 5)]
    d = sum(w * (a - b) for w, a, b in zip(FIRST, plus, minus, strict=True)) / STEP
    dd = (sum(w * (a + b) for w, a, b in zip(SECOND, plus, minus, strict=True)) - 205 / 72 * f(t)) / STEP**2
    return d, dd


def vee(S):
    return 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])


def mass_of(rng):
    a = rng.normal(size=(3, 3))
    return rng.uniform(0.5, 3), rng.uniform(-0.2, 0.2, 3), 0.02 * (a @ a.T + np.eye(3))


def evaluate(t, parents, joints, q, qd, g, base, node=-1):
    """qdd of the tree record `t`."""
    b = t.bodies
    b.q[:], b.qd[:], t.force[:] = q, qd, g
    row.angles(b, joints)
    row.place(b, parents, joints)
    row.move(b, parents)
    row.weigh(b)
    assert tree.accelerate(t, parents, node, *map(tuple, base)) == 0
    return b.qdd.copy()


@pytest.mark.parametrize("n", range(1, 8))
def test_spec02_oracles_DO4_DO3_articulated_bodies_equal_inertia_matrix_of_a_simple_chain(n):
    """ABA against A^-1 b with A, b by D3, D4 in body axes; 1 to 7 joints of all kinds, moving base."""
    rng = np.random.default_rng(n)
    joints = tuple(int(j) for j in rng.choice([REVOLUTE_X, REVOLUTE_Y, REVOLUTE_Z, PRISMATIC_X], n))
    c = Chain(
        joints,
        l0=rng.normal(size=3),
        lN=np.zeros(3),
        lL=np.zeros(3),
        mass={j: mass_of(rng) for j in range(n)},
        gamma0=euler(*rng.normal(size=3)),
        gamma1=euler(*rng.normal(size=3)),
        offsets={j: rng.normal(size=3) for j in range(1, n)},
    )
    t = Record(tree.tree("tree", n)).memory().tree
    for j in range(n):
        m, d, J = c.mass[j]
        t.bodies.offset[j], t.bodies.mounting[j] = c.l(j), c.gamma(j)
        t.bodies.mass[j], t.bodies.centre[j], t.bodies.inertia[j] = m, d, J - m * skew(d) @ skew(d)
    q, qd, g = rng.normal(size=n), rng.normal(size=n), 10 * rng.normal(size=n)
    base = tuple(rng.normal(size=3) for _ in range(3))
    qdd = evaluate(t, tuple(range(-1, n - 1)), joints, q, qd, g, base)
    A, b = c.inertia(q), c.bias(q, qd, g, *base)[0]
    np.testing.assert_allclose(A @ qdd, b, rtol=1e-10, atol=1e-10 * np.abs(b).max())


class Mechanism:
    """A branched tree of six bodies on a U joint at O_0, whose second body is the node of two UPS and two RUS chains.

    Every body is heavy. What the tests compare with is made of poses alone: `poses` gives mass, centre of mass,
    attitude and inertia of every body for given joint angles, `derivatives` does the rest.
    """

    parents = (-1, 0, 1, 2, 3, 1)
    joints = (REVOLUTE_Y, REVOLUTE_Z, REVOLUTE_Y, REVOLUTE_Z, REVOLUTE_X, PRISMATIC_X)

    def __init__(self, seed, chains=True):
        rng = np.random.default_rng(seed)
        self.offset = np.zeros((6, 3))
        self.offset[2], self.offset[5] = [0.35, 0.02, -0.01], [0.1, 0, 0.05]
        self.mounting = [np.eye(3)] * 5 + [euler(*rng.uniform(-0.3, 0.3, 3))]
        self.mass = [None, *(mass_of(rng) for _ in range(5))]
        self.chains, self.force = [], []
        for a, kind in ((0.0, UPS), (np.pi / 2, UPS), (np.pi / 4, RUS), (3 * np.pi / 4, RUS)) if chains else ():
            e = np.array([0, np.cos(a), np.sin(a)])
            gamma = np.array([[1.0, 0, 0], e, np.cross([1, 0, 0], e)])
            crank = kind is RUS
            self.chains.append(
                Chain(
                    kind,
                    l0=np.array([-0.15, 0, 0]) + (0.05 if crank else 0.1) * e,
                    lN=0.1 * e + rng.uniform(-0.01, 0.01, 3),
                    lL=np.array([0.15, 0, 0]),
                    gamma0=gamma,
                    mass={j: mass_of(rng) for j in range(3)},
                    length=0.05 if crank else 0.15,
                    rod_length=0.15 if crank else 0.0,
                    offsets={1: np.array([0.05, 0, 0])} if crank else {},
                )
            )
            self.force.append(rng.normal(size=3) * (20.0 if crank else 200.0))
        self.t = Record(tree.tree("tree", 6)).memory().tree
        b = self.t.bodies
        for j in range(6):
            b.offset[j], b.mounting[j] = self.offset[j], self.mounting[j]
            if self.mass[j]:
                m, d, J = self.mass[j]
                b.mass[j], b.centre[j], b.inertia[j] = m, d, J - m * skew(d) @ skew(d)
        self.records = [record_of(c, node=3) for c in self.chains]

    def frames(self, q):
        """[(point, rotation)] of the tree's bodies in frame 0."""
        out = []
        for j, p in enumerate(self.parents):
            x, A = (np.zeros(3), np.eye(3)) if p < 0 else out[p]
            theta = self.mounting[j] @ A
            x = x + A.T @ self.offset[j]
            if self.joints[j] == PRISMATIC_X:
                out.append((x + q[j] * theta[0], theta))
            else:
                out.append((x, elementary(self.joints[j], q[j]) @ theta))
        return out

    def coordinates(self, q):
        """Joint coordinates of every chain, by the source's iteration."""
        A = self.frames(q)[1][1]
        out = []
        for c in self.chains:
            start = [0.0, 0.0, 0.0] if c.joints == UPS else [np.pi / 2, -np.pi / 2, 0.0]
            out.append(c.newton(start, np.zeros(3), A))
        return out

    def poses(self, q):
        """[(m, centre of mass, attitude, inertia about it)] of all heavy bodies in frame 0."""
        out = [
            (m[0], x + A.T @ m[1], A, m[2])
            for m, (x, A) in zip(self.mass, self.frames(q), strict=True)
            if m is not None
        ]
        for c, p in zip(self.chains, self.coordinates(q), strict=True):
            for j, (x, A) in enumerate(c.frames(p)[0]):
                m, d, J = c.mass[j]
                out.append((m, x + A.T @ d, A, J))
        return out

    def evaluate(self, q, qd, g, base, damping=0.0):
        """qdd by the kernels; `damping` acts on the stroke or crank of each chain."""
        t = self.t
        evaluate(t, self.parents, self.joints, q, qd, g, base)  # places the tree; its result is not used
        t.node_inertia[:], t.node_torque[:] = 0.0, 0.0
        base = tuple(map(tuple, base))
        A = t.bodies.rotation[1]
        w = t.bodies.velocity[1, :3]
        for m, c, force in zip(self.records, self.chains, self.force, strict=True):
            close(m, c, np.zeros(3), A)
            dependent.follow(m, SERIAL, w)
            m.force[:], m.damping[:] = force, 0.0
            m.damping[2 if c.joints == UPS else 0] = damping
            dependent.reduce(m, *base, t.node_inertia, t.node_torque)
        assert tree.accelerate(t, self.parents, 1, *base) == 0
        ud = np.array(tree.node_acceleration(t, 1, base[0], base[1]))
        for m in self.records:
            dependent.accelerate(m, ud)
            dependent.react(m)
        return t.bodies.qdd.copy()

    def base_wrench(self, base):
        base = tuple(map(tuple, base))
        torque, force = map(np.array, tree.base_wrench(self.t, base[0]))
        for m in self.records:
            lost_torque, lost_force = dependent.inertia_of_motion(m, *base)
            torque, force = torque - lost_torque, force - lost_force
        return torque, force


def motion(rng):
    """Smooth joint angles q(t) and base pose (x(t), A(t))."""
    a, f = rng.uniform(-0.08, 0.08, (2, 6)), rng.uniform(0.7, 1.4, (2, 6))
    b, k = rng.uniform(-0.3, 0.3, (2, 6)), rng.uniform(0.5, 1.2, (2, 6))

    def q(t):
        return a[0] * np.sin(f[0] * t) + a[1] * np.cos(f[1] * t)

    def pose(t):
        s = b[0] * np.sin(k[0] * t) + b[1] * np.cos(k[1] * t)
        return s[:3], euler(*s[3:])

    return q, pose


def expected(mechanism, q, pose, t):
    """Rates at t and what Newton and Euler say of them: (qd, qdd, base motion, generalised inertia forces, wrench).

    The inertia forces are those along the joints, the wrench is minus the rate of the momenta, about O_0 in frame 0;
    all from finite differences of poses.
    """
    _x0, A0 = pose(t)
    A0d, A0dd = derivatives(lambda s: pose(s)[1], t)
    w0 = A0 @ derivatives(lambda s: pose(s)[0], t)[1]
    base = (vee(-A0d @ A0.T), vee(-A0dd @ A0.T - A0d @ A0d.T), w0)

    def inertial(s):
        """Centres of mass and attitudes in inertial axes."""
        x, A = pose(s)
        body = mechanism.poses(q(s))
        return np.array([np.append(x + A.T @ c, (B @ A).ravel()) for _, c, B, _ in body])

    first, second = derivatives(inertial, t)
    here, masses = inertial(t), mechanism.poses(q(t))
    generalised, force, torque = np.zeros(6), np.zeros(3), np.zeros(3)

    def moved(j, s):
        return np.array([np.append(c, B.ravel()) for _, c, B, _ in mechanism.poses(q(t) + s * np.eye(6)[j])])

    slopes = [derivatives(lambda s, j=j: moved(j, s), 0.0)[0] for j in range(6)]
    for i, (m, c, B, J) in enumerate(masses):
        C, Cd, Cdd = (v[i, 3:].reshape(3, 3) for v in (here, first, second))
        w, wd = vee(-Cd @ C.T), vee(-Cdd @ C.T - Cd @ Cd.T)
        f = A0 @ (m * second[i, :3])
        n = B.T @ (J @ wd + np.cross(w, J @ w))
        force -= f
        torque -= n + np.cross(c, f)
        for j in range(6):
            turn = B.T @ vee(-slopes[j][i, 3:].reshape(3, 3) @ B.T)
            generalised[j] += slopes[j][i, :3] @ f + turn @ n
    return *derivatives(q, t), base, generalised, (torque, force)


@pytest.mark.parametrize("chains", [False, True])
def test_spec02_oracles_DO5_DO6_DO8_accelerations_and_base_wrench_against_geometry(chains):
    """Give the joints what Newton and Euler ask for a motion: the kernels must return just that motion and wrench.

    Tolerance from the finite differences: 1e-11 relative in second derivatives times lever arms, below 1e-8.
    """
    mechanism = Mechanism(11, chains)
    q, pose = motion(np.random.default_rng(12))
    t = 0.3
    qd, qdd, base, inertia_force, (torque, force) = expected(mechanism, q, pose, t)
    g = inertia_force.copy()
    for j in range(6):
        slopes = derivatives(
            lambda s, j=j: np.concatenate([*mechanism.coordinates(q(t) + s * np.eye(6)[j]), [0]]), 0.0
        )[0]
        g[j] -= np.concatenate([*mechanism.force, [0]]) @ slopes
    load = np.random.default_rng(13).normal(size=(2, 6)) * 20
    for body, wrench in zip((4, 1), load, strict=True):
        tree.apply_wrench(mechanism.t, body, tuple(wrench[:3]), tuple(wrench[3:]))
        torque, force = torque + wrench[:3], force + wrench[3:]
    row.angles(mechanism.t.bodies, mechanism.joints)
    mechanism.t.bodies.q[:] = q(t)
    row.angles(mechanism.t.bodies, mechanism.joints)
    row.place(mechanism.t.bodies, mechanism.parents, mechanism.joints)
    for j, screw in enumerate(mechanism.t.bodies.screw):
        ancestors = [[0, 1, 2, 3, 4], [0, 1]]
        g[j] -= sum(screw @ wrench for wrench, path in zip(load, ancestors, strict=True) if j in path)
    np.testing.assert_allclose(mechanism.evaluate(q(t), qd, g, base), qdd, atol=1e-8)
    found = mechanism.base_wrench(base)
    np.testing.assert_allclose(found[0], torque, atol=1e-8)
    np.testing.assert_allclose(found[1], force, atol=1e-8)


def test_spec02_oracle_DO9_root_of_the_tree_with_reactions_of_the_chains():
    """Reactions lambda put on the node as loads: the root joint then carries just its own force along its axis.

    It would not if the chains were reduced to the node wrongly, or did not reach the base (errata D9, D10).
    """
    mechanism = Mechanism(21)
    rng = np.random.default_rng(22)
    q, qd, g = rng.uniform(-0.1, 0.1, 6), rng.normal(size=6), rng.normal(size=6) * 30
    base = tuple(rng.normal(size=3) for _ in range(3))
    mechanism.evaluate(q, qd, g, base)
    t = mechanism.t
    total = np.concatenate(mechanism.base_wrench(base))
    chains = np.zeros(6)
    for m in mechanism.records:
        reaction = -m.reaction
        tree.apply_wrench(t, 1, tuple(np.cross(m.end, reaction)), tuple(reaction))
        chains += np.concatenate(dependent.base_wrench(m, *map(tuple, base)))
    root = np.concatenate(tree.base_wrench(t, tuple(base[0])))
    np.testing.assert_allclose(root + chains, total, atol=1e-9)
    assert root @ t.bodies.screw[0] == pytest.approx(-g[0], abs=1e-9)
    assert abs(chains @ t.bodies.screw[0]) > 1.0


def test_linearly_implicit_damping_is_the_force_at_the_end_of_the_step():
    """With damping D on a chain joint the motion is that of the force f - D qdd."""
    mechanism = Mechanism(31)
    rng = np.random.default_rng(32)
    q, qd, g = rng.uniform(-0.1, 0.1, 6), rng.normal(size=6), rng.normal(size=6)
    base = tuple(rng.normal(size=3) for _ in range(3))
    damped = mechanism.evaluate(q, qd, g, base, damping=0.7)
    wrench = mechanism.base_wrench(base)
    for k, m in enumerate(mechanism.records):
        j = 2 if mechanism.chains[k].joints == UPS else 0
        mechanism.force[k][j] -= 0.7 * m.bodies.qdd[j]
    np.testing.assert_allclose(mechanism.evaluate(q, qd, g, base), damped, atol=1e-9)
    np.testing.assert_allclose(mechanism.base_wrench(base), wrench, atol=1e-9)


def test_spec02_oracle_DO10_energy_of_a_free_tree_with_chains():
    """No forces, fixed base: RK4 keeps the kinetic energy to 1e-8 in 0.2 s at 1 ms, and the error falls as h^4."""
    base = (np.zeros(3),) * 3
    mechanism = Mechanism(41)
    mechanism.force = [np.zeros(3)] * 4

    def rate(x):
        return np.append(x[6:], mechanism.evaluate(x[:6], x[6:], np.zeros(6), base))

    def energy(x):
        rate(x)
        zero = (0.0, 0.0, 0.0)
        parts = [mechanism.t.bodies, *(m.bodies for m in mechanism.records)]
        return sum(tree.energy_and_momentum(b, zero, zero)[0] for b in parts)

    start = np.append(np.zeros(6), [0.3, -0.2, 0.8, 0.5, -1.0, 0.3])
    drift = {}
    for n in (50, 100):
        x, h = start, 0.2 / n
        for _ in range(n):
            k1 = rate(x)
            k2 = rate(x + h / 2 * k1)
            k3 = rate(x + h / 2 * k2)
            k4 = rate(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        drift[n] = abs(energy(x) / energy(start) - 1.0)
    assert drift[100] < 1e-8
    assert drift[50] / drift[100] == pytest.approx(16, rel=0.35)


def test_a_joint_without_inertia_is_refused():
    t = Record(tree.tree("tree", 2)).memory().tree
    t.bodies.mass[0] = 1.0
    t.bodies.inertia[0] = np.eye(3)
    assert tree.accelerate(t, (-1, 0), -1, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3) == 2


def test_rotation_of_the_base_alone_gives_centrifugal_force():
    """A locked body on a base that spins about z: m w^2 r outward on the base."""
    t = Record(tree.tree("tree", 1)).memory().tree
    b = t.bodies
    b.mass[0], b.offset[0], b.inertia[0] = 2.0, [0.5, 0, 0], np.eye(3)
    evaluate(t, (-1,), (REVOLUTE_X,), [0.0], [0.0], [0.0], ([0, 0, 3.0], np.zeros(3), np.zeros(3)))
    torque, force = tree.base_wrench(t, (0.0, 0.0, 3.0))
    np.testing.assert_allclose(force, [2.0 * 9.0 * 0.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(torque, 0.0, atol=1e-12)


def test_spec02_oracle_DO15_one_strut_makes_the_body_an_oscillator():
    """A spring at lever a on a pivoted body: omega^2 = k a^2 / I."""
    k, a, inertia = 2e4, 0.1, 2.0
    t = Record(tree.tree("tree", 1)).memory().tree
    t.bodies.mass[0], t.bodies.inertia[0] = 35.0, np.diag([0.2, 2.0, inertia])
    c = Chain(UPS, l0=np.array([-0.15, a, 0]), lN=np.array([0, a, 0]), lL=np.array([0.15, 0, 0]), length=0.15)
    m = record_of(c, node=3)
    zero = np.zeros(3)
    angle = 1e-4

    def acceleration(q):
        t.node_inertia[:], t.node_torque[:] = 0.0, 0.0
        close(m, c, zero, elementary(2, q))
        dependent.follow(m, SERIAL, zero)
        m.force[:] = [0, 0, -k * m.bodies.q[2]]
        dependent.reduce(m, (0.0,) * 3, (0.0,) * 3, (0.0,) * 3, t.node_inertia, t.node_torque)
        return evaluate(t, (-1,), (REVOLUTE_Z,), [q], [0.0], [0.0], (zero,) * 3, node=0)[0]

    assert -(acceleration(angle) - acceleration(-angle)) / (2 * angle) == pytest.approx(k * a * a / inertia, rel=1e-6)
