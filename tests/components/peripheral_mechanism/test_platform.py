"""Ring and legs: oracles T1 to T10 of peripheral-docking, and the mechanism in maximal coordinates."""

import numpy as np
import pytest

from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.codegen.test_hexapod import symbolic
from tests.components.peripheral_mechanism.constrained import turned
from tests.components.peripheral_mechanism.platforms import REST, T4, Platform, about_x, machine, random_state

pytestmark = pytest.mark.slow

JOINTS = """-0.05747601  0.08385544  0.13031695  0.06415340    -1.06180151 -0.46018299  0.09586509  0.36991146
 -0.04785517 -0.00803393  0.18027182  0.01244495     0.99173992  0.21501857  0.23551912  0.76529105
 -0.05314892 -0.02208247  0.17338553  0.07584379    -0.57794525  0.57072506 -0.36667172  0.03670522
  0.05905236  0.08352459  0.15784954  0.05332074    -0.23901496 -0.42865260  0.41919934  0.35753830
 -0.08326251 -0.01695732  0.08440152  0.01134598    -0.63660621  0.28186833  0.52886282  0.76154053
  0.10196105 -0.01528595  0.17253994  0.07949121    -0.61578933  0.59041525  0.48683220 -0.06407760"""
INERTIA = """95.121082  1.810589 -1.264314  0.423850  0.569434 -0.131583
 1.810589 63.442475 -0.200591  0.530126 -0.416640 -2.355448
 -1.264314 -0.200591 64.232081 -0.746360  2.419388 -0.323803
 0.423850  0.530126 -0.746360 26.251849 -0.327391 -0.037226
 0.569434 -0.416640  2.419388 -0.327391 16.939803 -0.037232
 -0.131583 -2.355448 -0.323803 -0.037226 -0.037232 17.557431"""
SCREW = 0.02 / (2.0 * np.pi)
LEAN = np.cos(np.radians(36.43))


def table(text):
    return np.array([row.split() for row in text.splitlines()], float)


def test_spec07_oracle_T4_regression():
    """Printed digits of joints, rates, inertia, force, accelerations and base wrench, with and without nut inertia."""
    p = Platform().put(**T4)
    acceleration = p.solve()
    values = table(JOINTS)
    np.testing.assert_allclose(p.joints, values[:, :4], atol=1e-8)
    np.testing.assert_allclose(p.rates, values[:, 4:], atol=1e-8)
    np.testing.assert_allclose(p.inertia, table(INERTIA), atol=1e-6)
    force = [1789.875891, 193.400576, -93.124490, 118.828422, -79.486169, 36.526325]
    np.testing.assert_allclose(p.force, force, rtol=1e-6)
    found = [18.77318706, 2.53714087, -0.82147103, 4.08930196, -5.05898450, 2.54425262]
    np.testing.assert_allclose(acceleration, found, rtol=1e-8)
    np.testing.assert_allclose(p.x.base_force, [-1608.687564, -53.615262, 98.406024], rtol=1e-7)
    np.testing.assert_allclose(p.x.base_torque, [-64.834857, 13.387624, 12.674864], rtol=1e-6)
    p = Platform(nut_inertia=0.0).put(**T4)
    found = [32.14394068, 3.50610809, -1.61311188, 5.90985074, -7.90254765, 3.52055653]
    np.testing.assert_allclose(p.solve(), found, rtol=1e-8)
    np.testing.assert_allclose(p.x.base_force, [-2399.227377, -111.785626, 145.447947], rtol=1e-7)
    np.testing.assert_allclose(p.x.base_torque, [-102.644507, 41.065000, 3.561329], rtol=1e-6)


def initial(**parameters):
    """The ring at rest at IP, 510 N on each rod, solved."""
    p = Platform(**parameters)
    p.put(np.array(p.x.ring.position), (0.0, 0.0, 0.0), legs=(510.0,) * 6).solve()
    return p


def test_spec07_oracle_T5_symmetric_initial_position():
    p = initial()
    np.testing.assert_allclose(p.force, [2461.97, 0, 0, 0, 0, 0], rtol=1e-5, atol=1e-9)
    A = p.inertia
    np.testing.assert_allclose(np.diag(A), [94.4972, 64.1544, 64.1544, 26.5005, 17.1625, 17.1625], rtol=1e-5)
    off = A - np.diag(np.diag(A))
    assert (A[1, 5], A[2, 4]) == (pytest.approx(-2.46781, rel=1e-5), pytest.approx(2.46781, rel=1e-5))
    off[1, 5] = off[5, 1] = off[2, 4] = off[4, 2] = 0.0
    assert np.abs(off).max() < 1e-12
    assert p.x.ring.acceleration[0] == pytest.approx(26.0534, rel=1e-5)
    assert p.x.base_force[0] == pytest.approx(-1541.72, rel=1e-5)
    assert [p.x.ring.position[0], *p.joints.ravel()] == pytest.approx([0.43447, *[0, 0, 0.14, 0] * 6], abs=5e-6)


def test_spec07_oracle_T6_screw_hands():
    """Pairs of opposite hands cancel the spring's torque on the ring; with equal hands it stays."""
    assert abs(initial().force[3]) < 1e-10
    p = initial(hand=(1.0,) * 6)
    assert p.force[3] == pytest.approx(7.8367, rel=1e-5)
    assert p.force[3] == pytest.approx(6.0 * 510.0 * SCREW * LEAN, rel=1e-4)


def test_spec07_oracle_T7_statics():
    """At rest the ring feels the rods' forces along the legs and the torques of the screws about the cut joints."""
    rng = np.random.default_rng(1)
    p = Platform()
    m = machine(p.p)
    for _ in range(20):
        s = random_state(rng) | {
            "velocity": np.zeros(3),
            "spin": np.zeros(3),
            "force": np.zeros(3),
            "torque": np.zeros(3),
        }
        p.put(**s).solve()
        A = np.array(from_angles(*s["angles"])).T
        poses, _ = m.bodies(s["position"], A)
        force, torque = np.zeros(3), np.zeros(3)
        for k, (leg, f) in enumerate(zip(m.legs, s["legs"], strict=True)):
            rod = poses[2 + 2 * k][1]
            u, n_R = rod[:, 0], np.cross(rod[:, 1], A @ leg.axes[2])
            end = s["position"] + A @ leg.upper
            # what turns the rod about its axis, and what its lower joint cannot bear, the ring bears
            twist = f / leg.ratio / (n_R @ u)
            length = np.linalg.norm(end - leg.lower)
            first, second = leg.axes[1], poses[1 + 2 * k][1][:, 2]
            lines = np.array([np.cross(first, length * u), np.cross(second, length * u), u])
            end_force = np.linalg.solve(lines, [-twist * n_R @ first, -twist * n_R @ second, f])
            force += end_force
            torque += A.T @ (np.cross(A @ leg.upper, end_force) + twist * n_R)
        np.testing.assert_allclose(p.force, [*force, *torque], rtol=0, atol=1e-9)


def test_spec07_oracle_T1_rates_and_accelerations_by_differences():
    """Joint rates and accelerations along a prescribed motion with all components, differences of the closed form."""
    rng = np.random.default_rng(2)
    r, w, a = rng.uniform(-1, 1, (3, 2, 3)) * [[[0.05]], [[0.1]], [[0.7]]]
    p = Platform()

    def pose(t):
        position = np.array([0.44, 0, 0]) + r[0] * np.sin(a[0] * 5 * t) + r[1] * np.cos(a[1] * 4 * t)
        angles = w[0] * np.sin(a[1] * 6 * t) + w[1] * np.cos(a[0] * 3 * t)
        return position, np.array(from_angles(*angles))

    def joints(t):
        return p.put(*pose(t)).joints

    def motion(t, h=1e-3):
        at = [pose(t + i * h) for i in (-2, -1, 0, 1, 2)]
        first, second = np.array([1, -8, 0, 8, -1]) / 12 / h, np.array([-1, 16, -30, 16, -1]) / 12 / h**2
        v, dv = (np.tensordot(c, [x for x, _ in at], 1) for c in (first, second))
        A = at[2][1]
        dA, ddA = (np.tensordot(c, [R for _, R in at], 1) for c in (first, second))
        W = -dA @ A.T
        dW = -ddA @ A.T - dA @ dA.T
        spin, dspin = (np.array([S[2, 1], S[0, 2], S[1, 0]]) for S in (W, dW))
        return v, dv, spin, dspin

    t, h = 0.3, 1e-3
    v, dv, spin, dspin = motion(t)
    at = [joints(t + i * h) for i in (-2, -1, 0, 1, 2)]
    p.put(*pose(t), v, spin)
    np.testing.assert_allclose(p.rates, (at[0] - 8 * at[1] + 8 * at[3] - at[4]) / 12 / h, atol=1e-8)
    p.solve()
    for i in range(6):
        p.x.ring.acceleration[i] = [*dv, *dspin][i]
    hexapod.react(p.x)
    second = (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / 12 / h**2
    np.testing.assert_allclose(p.accelerations, second, atol=2e-7)


def lagrange(p, m, s, base):
    """Acceleration of the ring (frame 0, ring axes) and wrench on the base, by Lagrange multipliers."""
    A = np.array(from_angles(*s["angles"])).T
    a, force, torque = m.accelerate(
        s["position"],
        A,
        s["velocity"],
        A @ s["spin"],
        s["force"],
        A @ s["torque"],
        np.array([f / leg.ratio for f, leg in zip(s["legs"], m.legs, strict=True)]),
        base,
    )
    return np.concatenate([a[:3], A.T @ a[3:]]), force, torque


def test_moving_ring_against_lagrange_multipliers():
    """50 random states on a moving base: accelerations and base wrench of 13 bodies with 72 constraints, 1e-9."""
    rng = np.random.default_rng(5)
    p = Platform()
    m = machine(p.p)
    for _ in range(50):
        s = random_state(rng)
        base = rng.uniform(-0.3, 0.3, (3, 3))
        found = p.put(**s).solve(tuple(map(tuple, base)))
        acceleration, force, torque = lagrange(p, m, s, base)
        np.testing.assert_allclose(found, acceleration, rtol=0, atol=1e-9 * np.abs(acceleration).max())
        np.testing.assert_allclose(p.x.base_force, force, rtol=0, atol=1e-9 * np.abs(force).max())
        np.testing.assert_allclose(p.x.base_torque, torque, rtol=0, atol=1e-9 * np.abs(force).max())


def test_momentum_and_energy_against_maximal_coordinates():
    """Kinetic energy on a base at rest; momentum of all bodies, moved and turned by the base."""
    rng = np.random.default_rng(6)
    p = Platform()
    m = machine(p.p)
    for _ in range(10):
        s = random_state(rng)
        p.put(**s)
        A = np.array(from_angles(*s["angles"])).T
        hexapod.momentum(p.x, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        energy = m.energy(s["position"], A, s["velocity"], A @ s["spin"])
        assert p.x.kinetic_energy == pytest.approx(energy, rel=1e-12)
        v0, w0 = rng.uniform(-1, 1, (2, 3))
        hexapod.momentum(p.x, tuple(v0), tuple(w0))
        poses, _ = m.bodies(s["position"], A)
        twists = m.twists(poses, s["velocity"], A @ s["spin"])
        M, nuts = m.mass(poses), m.nuts(poses) @ twists
        linear, angular = np.zeros(3), np.zeros(3)
        for b, (x, _) in enumerate(poses):
            v = twists[6 * b : 6 * b + 3] + v0 + np.cross(w0, x)
            mv = M[6 * b, 6 * b] * v
            linear += mv
            angular += np.cross(x, mv) + M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] @ (
                twists[6 * b + 3 : 6 * b + 6] + w0
            )
        angular += sum(m.nut * n * poses[1 + 2 * k][1][:, 0] for k, n in enumerate(nuts))
        np.testing.assert_allclose(p.x.momentum, linear, rtol=0, atol=1e-11)
        np.testing.assert_allclose(p.x.angular_momentum, angular, rtol=0, atol=1e-11)
        masses = np.array([M[6 * b, 6 * b] for b in range(len(poses))])
        assert p.x.mass == pytest.approx(masses.sum(), rel=1e-12)
        moment = sum(m_b * np.asarray(x) for m_b, (x, _) in zip(masses, poses, strict=True))
        np.testing.assert_allclose(p.x.static_moment, moment, rtol=0, atol=1e-11)


def test_spec07_oracle_T3_wrench_on_the_base_is_the_change_of_momentum():
    """Force and moment to 1e-9 of the force, but for the gyroscopic couple of the nuts, which R14 leaves out."""
    for nut in (0.0, 1e-4):
        p = Platform(nut_inertia=nut)
        m = machine(p.p)
        acceleration = p.put(**T4).solve()
        base_force, base_torque = np.array(p.x.base_force), np.array(p.x.base_torque)
        A = np.array(from_angles(*T4["angles"]))
        h = 1e-4
        momenta, directions = [], []
        spun = nut * np.array([p.legs("rate", 3) * p.legs("nut_ratio") + p.legs("rate", 2)])
        for i in (-2, -1, 1, 2):
            # the ring's motion to the second order; momentum needs the first
            t = i * h
            v = np.array(T4["velocity"]) + t * acceleration[:3]
            w = np.array(T4["spin"]) + t * acceleration[3:]
            phi = t * (np.array(T4["spin"]) + 0.5 * t * acceleration[3:])
            position = np.array(T4["position"]) + t * np.array(T4["velocity"]) + 0.5 * t * t * acceleration[:3]
            p.put(position, turned(phi).T @ A, v, w)
            hexapod.momentum(p.x, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            momenta.append([*p.x.momentum, *p.x.angular_momentum])
            poses, _ = m.bodies(position, A.T @ turned(phi))
            directions.append([R[:, 0] for _, R in poses[1::2]])
        rate = np.array([1, -8, 8, -1]) / 12 / h
        change = rate @ np.array(momenta)
        couple = (spun @ np.tensordot(rate, directions, 1))[0]
        assert (np.abs(couple).max() > 0.01) == (nut > 0.0)
        on_ring = np.array(T4["force"])
        torque = A.T @ np.array(T4["torque"]) + np.cross(T4["position"], on_ring)
        np.testing.assert_allclose(base_force, on_ring - change[:3], rtol=0, atol=2e-6)
        np.testing.assert_allclose(base_torque, torque - change[3:] + couple, rtol=0, atol=2e-6)


def test_spec07_oracle_T8_symmetry():
    """A turn of all by 120 deg moves each pair into the next; the mirror in x y swaps legs with hands swapped."""
    rng = np.random.default_rng(8)
    p = Platform()
    s = random_state(rng)
    found, force, torque = p.put(**s).solve(), np.array(p.x.base_force), np.array(p.x.base_torque)
    R = about_x(120.0)
    A = np.array(from_angles(*s["angles"]))
    q = Platform().put(
        R @ s["position"],
        R @ A @ R.T,
        R @ s["velocity"],
        R @ s["spin"],
        R @ s["force"],
        R @ s["torque"],
        np.roll(s["legs"], 2),
    )
    turned_back = q.solve()
    np.testing.assert_allclose([R.T @ turned_back[:3], R.T @ turned_back[3:]], [found[:3], found[3:]], atol=1e-10)
    np.testing.assert_allclose([R.T @ q.x.base_force, R.T @ q.x.base_torque], [force, torque], atol=1e-10)
    S = np.diag([1.0, 1.0, -1.0])
    q = Platform(hand=(1.0, -1.0) * 3).put(
        S @ s["position"],
        S @ A @ S,
        S @ s["velocity"],
        -S @ s["spin"],
        S @ s["force"],
        -S @ s["torque"],
        np.array(s["legs"])[[1, 0, 5, 4, 3, 2]],
    )
    mirrored = q.solve()
    np.testing.assert_allclose([S @ mirrored[:3], -S @ mirrored[3:]], [found[:3], found[3:]], atol=1e-9)
    np.testing.assert_allclose([S @ q.x.base_force, -S @ q.x.base_torque], [force, torque], atol=1e-9)


def test_spec07_oracle_T9_heavy_nuts_hold_the_effective_strokes():
    """With I_Nut large the nuts do not turn; on an aligned ring each counts as I_Nut i_N^2 along its leg."""
    p = Platform(nut_inertia=1e3).put(**T4)
    p.solve()
    spun = p.accelerations[:, 2] + p.accelerations[:, 3] / p.legs("nut_ratio")
    free = Platform(nut_inertia=0.0).put(**T4)
    free.solve()
    reference = free.accelerations[:, 2] + free.accelerations[:, 3] / free.legs("nut_ratio")
    assert np.abs(spun).max() < 1e-5 * np.abs(reference).max()
    mass = 1e-4 / SCREW**2
    assert initial().inertia[0, 0] - initial(nut_inertia=0.0).inertia[0, 0] == pytest.approx(
        6.0 * mass * LEAN**2, rel=1e-3
    )


def test_spec07_oracle_T10_element_count():
    """36 elements of the ring's inertia and 16 of each leg's: rings cut; 276 if the base joints were cut."""
    assert 36 + 6 * 4**2 == 132
    assert 36 + 6 * (6 * 4 + 4**2) == 276
    count = symbolic(False)
    assert count["reciprocal"] == 13, "six of Cd, six of the L D L^T of the ring, one of its angles"


def test_spec07_oracle_T2_energy_with_conservative_springs():
    """f = 300 - 3000 (p_eff - 0.14), 0.2 s from an offset start: Runge-Kutta 4 of 0.1 ms, energy to 1e-12."""
    p = Platform()
    y = np.array([p.x.ring.position[0], 0.01, -0.01, 1, 0, 0, 0, 0.2, -0.1, 0.15, 0.3, -0.2, 0.1])

    def place(y):
        q = y[3:7] / np.linalg.norm(y[3:7])
        w, a, b, c = q
        A = np.array(
            [
                [1 - 2 * (b * b + c * c), 2 * (a * b + w * c), 2 * (a * c - w * b)],
                [2 * (a * b - w * c), 1 - 2 * (a * a + c * c), 2 * (b * c + w * a)],
                [2 * (a * c + w * b), 2 * (b * c - w * a), 1 - 2 * (a * a + b * b)],
            ]
        )
        p.put(y[:3], A, y[7:10], y[10:])
        stroke = p.joints[:, 2] + p.joints[:, 3] / p.legs("nut_ratio")
        force = 300.0 - 3000.0 * (stroke - 0.14)
        for k, f in enumerate(force):
            p.x.strut[k].nut_torque = f / p.x.strut[k].nut_ratio
        return q, np.sum(1500.0 * (stroke - 0.14) ** 2 - 300.0 * (stroke - 0.14))

    def slope(_, y):
        place(y)
        hexapod.accelerate(p.x, *REST)
        w, v = y[3], y[4:7]
        spin = y[10:]
        dq = 0.5 * np.array([-v @ spin, *(w * spin + np.cross(v, spin))])
        return np.concatenate([y[7:10], dq, np.array(p.x.ring.acceleration)])

    def energy(y):
        _, potential = place(y)
        hexapod.momentum(p.x, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        return p.x.kinetic_energy + potential, p.x.kinetic_energy

    start, kinetic = energy(y)
    h = 1e-4
    for _ in range(2000):
        k1 = slope(0, y)
        k2 = slope(0, y + 0.5 * h * k1)
        k3 = slope(0, y + 0.5 * h * k2)
        k4 = slope(0, y + h * k3)
        y = y + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    end, moving = energy(y)
    assert abs(end - start) < 1e-10 * max(kinetic, moving)
    assert abs(moving - kinetic) > 1.0, "the springs have done work"


def test_affine_response_is_the_change_by_an_acceleration_of_the_base():
    """Wrench and acceleration of the ring are affine in the base's acceleration (dynamics section 11).

    M_A is symmetric but for the nuts, whose inertia counts for the legs' joints and not for a turn of the base.
    """
    rng = np.random.default_rng(9)
    state = random_state(rng)
    omega = tuple(rng.uniform(-0.3, 0.3, 3))
    bare = Platform(nut_inertia=0.0).put(**state)
    hexapod.affine(bare.x, omega)
    np.testing.assert_allclose(bare.x.affine_mass, np.array(bare.x.affine_mass).T, atol=1e-10)
    p = Platform().put(**state)
    hexapod.affine(p.x, omega)
    M, L = np.array(p.x.affine_mass), np.array(p.x.response)
    np.testing.assert_allclose(M, M.T, atol=2e-4 * M.max())
    found = p.solve((omega, (0.0,) * 3, (0.0,) * 3))
    wrench = np.array([*p.x.base_force, *p.x.base_torque])
    change = rng.uniform(-1, 1, 6)
    moved = p.solve((omega, tuple(change[3:]), tuple(change[:3])))
    np.testing.assert_allclose(moved - found, L @ change, atol=1e-11)
    np.testing.assert_allclose([*p.x.base_force, *p.x.base_torque] - wrench, -M @ change, atol=1e-9)
