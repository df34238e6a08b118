"""Housing, flexible probe and lateral damper together: kinematics, balances, oracles of central-docking section 9."""

import re
import subprocess
import sys
from math import asin, cos, pi, radians, sin
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core import ports
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Group
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.parameters import read_parameter_set
from dockfmu.components.core.record import Record
from dockfmu.components.probe_mechanism import tree
from dockfmu.components.probe_mechanism.lateral import chains, lateral_damper

RECORD = Record(
    Group("parameters", tree.parameters(), lateral_damper.parameters()),
    tree.outputs(),
    lateral_damper.outputs(),
    ports.status(),
    tree.state(),
    lateral_damper.state(),
)
ZERO = (0.0, 0.0, 0.0)


def mechanism(heavy=False, **parameters):
    """A record at its start; with `heavy` links, and parameters by structured name below `parameters.`."""
    block = RECORD.start.copy()
    if heavy:
        parameters |= {"lateral.spring.link_mass": 1.5, "lateral.brake.link_mass": 0.8}
        parameters |= {"lateral.spring.link_inertia": 0.02, "lateral.brake.link_inertia": 0.01}
    for name, value in parameters.items():
        for slot, number in RECORD.expand(f"parameters.{name}", value, "the test"):
            block[RECORD.index[slot]] = number
    m = RECORD.view(block)
    assert tree.initialize(m.parameters.probe, m.tree, m.parameters.lateral, m.damper, m.status) == 0
    return m


def place(m, length=0.45, rate=0.0):
    return tree.place(m.parameters.probe, m.tree, m.damper, length, rate, m.status)


def evaluate(m, h=0.0, brakes=0.0, base=(ZERO, ZERO, ZERO)):
    """Accelerations, and the wrench on the base."""
    base = tuple(tuple(map(float, x)) for x in base)
    tree.set_forces(m.parameters.probe, m.tree, m.parameters.lateral, m.damper, brakes, h)
    code = tree.evaluate(m.parameters.probe, m.tree, m.damper, *base, m.status)
    tree.react(m.parameters.probe, m.tree, m.damper)
    return code


@kernel
def run(m, steps, h, brakes):
    p, t, pl, d = m.parameters.probe, m.tree, m.parameters.lateral, m.damper
    for _ in range(steps):
        tree.drift(t, 0.5 * h)
        code = tree.place(p, t, d, p.free_length, 0.0, m.status)
        if code == 0:
            code = tree.select(t, d, m.status)
        if code == 0:
            tree.set_forces(p, t, pl, d, brakes, h)
            code = tree.evaluate(p, t, d, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), m.status)
        if code != 0:
            return code
        tree.kick(t, d, h)
        tree.drift(t, 0.5 * h)
    tree.react(p, t, d)
    code = tree.place(p, t, d, p.free_length, 0.0, m.status)
    tree.report(t, pl, d, m.joint, m.lateral)
    tree.momentum(p, t, d, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    return code


def gain(m, c):
    """Rate of the active joint of a chain per angular velocity of the housing, frame 0."""
    node = RECORD.memory().tree.link[1]
    node.rotation[:] = m.tree.link[1].rotation
    follow = chains.place_strut if "stroke" in c.dtype.names else chains.place_crank
    rates = []
    for unit in np.eye(3):
        node.angular_velocity[:] = unit
        assert follow(c, node)
        rates.append(c.rate)
    assert follow(c, m.tree.link[1])
    return np.array(rates)


def energies(m):
    t, d = m.tree, m.damper
    kept = t.kinetic_energy + t.stored_energy + d.stored_energy
    lost = np.array([t.dissipated_probe, d.dissipated_springs, d.dissipated_brakes, d.dissipated_stops])
    return kept, lost


# kinematics


def test_spec06_oracle_01_links_against_the_formulas_of_section_2_and_finite_differences():
    m = mechanism()
    rng = np.random.default_rng(1)
    t = m.tree
    for _ in range(10):
        q, qd = rng.uniform(-0.3, 0.3, 5), rng.normal(size=5)
        L, Ld = rng.uniform(0.1, 0.45), 0.2

        def links(s, q=q, qd=qd, L=L, Ld=Ld):
            t.q[:], t.qd[:] = q + s * qd, qd
            assert place(m, L + s * Ld, Ld) == 0
            return [(link.position.copy(), link.rotation.copy()) for link in t.link]

        h = 1e-3
        rows = [(1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)]
        difference = [
            [sum(w * (links(k * h)[j][i] - links(-k * h)[j][i]) for k, w in rows) / h for i in range(2)]
            for j in range(2)
        ]
        links(0.0)
        (c1, c2, c3, c4, c5), (s1, s2, s3, s4, s5) = np.cos(q), np.sin(q)
        housing = np.array([[c1 * c2, s2, -s1 * c2], [-c1 * s2, c2, s1 * s2], [s1, 0, c1]])
        A3, A4 = np.array([[c3, 0, -s3], [0, 1, 0], [s3, 0, c3]]), np.array([[c4, s4, 0], [-s4, c4, 0], [0, 0, 1]])
        probe = np.array([[1, 0, 0], [0, c5, s5], [0, -s5, c5]]) @ A4 @ A3 @ housing
        np.testing.assert_allclose(t.link[1].rotation, housing, atol=1e-15)
        np.testing.assert_allclose(t.link[0].rotation, probe, atol=1e-15)
        np.testing.assert_allclose(probe @ probe.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(t.link[1].angular_velocity, [s1 * qd[1], qd[0], c1 * qd[1]], atol=1e-14)
        np.testing.assert_allclose(t.link[0].position, 0.35 * housing[0] + L * probe[0], atol=1e-15)
        for j in range(2):
            spin = -difference[j][1] @ t.link[j].rotation.T
            w = t.link[j].rotation.T @ [spin[2, 1], spin[0, 2], spin[1, 0]]
            np.testing.assert_allclose(t.link[j].velocity, difference[j][0], atol=1e-11)
            np.testing.assert_allclose(t.link[j].angular_velocity, w, atol=1e-11)


def test_spec06_oracles_01_05_slope_of_the_tip():
    """End load on a cantilever: slope 3/2 of deflection over length."""
    m = mechanism()
    m.tree.q[2:4] = 0.06, -0.04
    assert place(m) == 0
    assert m.tree.tip_slope == pytest.approx([1.5 * sin(0.06) - 0.06, 1.5 * sin(-0.04) + 0.04], abs=1e-16)
    E, load, length = 1.0, 1e-4, 1.0
    deflection, slope = load * length**3 / (3 * E), load * length**2 / (2 * E)
    hinge = asin(deflection / length)
    assert hinge + (1.5 * sin(hinge) - hinge) == pytest.approx(slope, rel=1e-12)


def tilt(m, angle, direction):
    """Housing tilted so that its axis leans by `angle` toward the azimuth `direction`."""
    x = np.array([cos(angle), sin(angle) * cos(direction), sin(angle) * sin(direction)])
    m.tree.q[:2] = np.arctan2(-x[2], x[0]), asin(x[1])
    m.tree.qd[:] = 0.0
    assert place(m) == 0


def test_spec00_section_7_gains_of_LD_1():
    """0.100 m of spring and 2.000 rad of crank per rad of housing, at rest."""
    m = mechanism()
    for k, azimuth in enumerate((0.0, pi / 2)):
        spin = np.array([0.0, -sin(azimuth), cos(azimuth)])
        assert abs(gain(m, m.damper.spring[k]) @ spin) == pytest.approx(0.100, abs=1e-12)
    for k, azimuth in enumerate((pi / 4, 3 * pi / 4)):
        spin = np.array([0.0, -sin(azimuth), cos(azimuth)])
        assert abs(gain(m, m.damper.brake[k]) @ spin) == pytest.approx(2.000, abs=1e-12)
        across = np.array([0.0, cos(azimuth), sin(azimuth)])
        assert abs(gain(m, m.damper.brake[k]) @ across) < 1e-12


def ld_2():
    """The mechanism with the lateral damper of V2."""
    chosen = read_parameter_set(Path(lateral_damper.__file__).parents[1] / "parameters" / "LD-2.toml")
    return mechanism(**{name.removeprefix("parameters."): value for name, value in chosen.values.items()})


def test_LD_2_gains_and_brakes():
    """The gains of LD-1, at links turned by 45 deg; no switchable brakes."""
    m = ld_2()
    for k, azimuth in enumerate((0.0, pi / 2)):
        spin = np.array([0.0, -sin(azimuth), cos(azimuth)])
        assert abs(gain(m, m.damper.spring[k]) @ spin) == pytest.approx(0.100, abs=1e-9)
    for k, azimuth in enumerate((pi / 4, 3 * pi / 4)):
        spin = np.array([0.0, -sin(azimuth), cos(azimuth)])
        assert abs(gain(m, m.damper.brake[k]) @ spin) == pytest.approx(2.000, abs=1e-9)
    tilt(m, 0.03, 0.4)
    m.tree.qd[:2] = 0.1, -0.2
    assert place(m) == 0
    assert evaluate(m) == 0
    off = m.tree.base_torque.copy()
    assert evaluate(m, brakes=1.0) == 0
    assert np.array_equal(off, m.tree.base_torque)


def test_links_of_LD_2_are_turned_towards_the_line_of_the_limiters_force():
    """From 65 deg between the links of LD-1, along the axis, and the normal of a cone of 25 deg to 20 deg."""
    force = np.array([sin(np.radians(25.0)), cos(np.radians(25.0))])
    for m, apart in ((mechanism(), 65.0), (ld_2(), 20.0)):
        p = m.parameters.lateral.spring
        link = (p.node_point[0] - p.base_point[0])[:2]
        assert np.degrees(np.arccos(link @ force / np.linalg.norm(link))) == pytest.approx(apart, abs=1e-6)


def test_spec06_oracle_10_octagon_of_the_stops_of_LD_2():
    """Facets within 5 %, alternately of springs and brakes, at 5.6 to 5.8 deg as those of LD-1."""
    facets = [envelope(a, ld_2(), crank_end=11.5) for a in np.arange(8) * pi / 4]
    assert [kind for _, kind in facets] == ["spring", "brake"] * 4
    assert [angle for angle, _ in facets] == pytest.approx(np.full(8, 5.67), rel=0.02)


def envelope(direction, m=None, stroke_end=9.9e-3, crank_end=11.3):
    """Tilt at which the first stop is reached, and which one: spring mechanisms or magnetic brakes."""
    m = m or mechanism()

    def margins(angle):
        tilt(m, angle, direction)
        stroke = max(abs(c.stroke) for c in m.damper.spring)
        angle = max(abs(c.angle - pi / 2) for c in m.damper.brake)
        return stroke_end - stroke, radians(crank_end) - angle

    low, high = 0.0, 0.2
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if min(margins(middle)) > 0 else (low, middle)
    springs, brakes = margins(low)
    return np.degrees(low), "spring" if springs < brakes else "brake"


def test_spec00_section_7_and_spec06_oracle_10_octagon_of_the_stops():
    """Facets 5.68 (springs) and 5.62 deg (brakes); four-fold symmetric, eight-fold within 5 %.

    The corners of an octagon with these facets lie at 6.11 deg; the 6.05 deg of conventions is found 20 deg off a
    facet.
    """
    facets = [envelope(a) for a in np.arange(8) * pi / 4]
    assert [kind for _, kind in facets] == ["spring", "brake"] * 4
    springs, brakes = [a for a, _ in facets[::2]], [a for a, _ in facets[1::2]]
    assert np.mean(springs) == pytest.approx(5.68, abs=0.02)
    assert np.mean(brakes) == pytest.approx(5.62, abs=0.02)
    around = np.array([envelope(a)[0] for a in np.linspace(0, pi / 2, 91)])
    assert around.max() == pytest.approx(6.115, abs=0.005)
    assert envelope(radians(20.0))[0] == pytest.approx(6.05, abs=0.01)
    turned = np.array([envelope(a + pi / 2)[0] for a in np.linspace(0, pi / 2, 10)])
    np.testing.assert_allclose(turned, around[::10], atol=0.01)
    np.testing.assert_allclose(springs + brakes, np.mean(springs + brakes), rtol=0.05)


# dynamics


def with_motion(m, seed=3):
    rng = np.random.default_rng(seed)
    m.tree.q[:] = rng.uniform(-0.04, 0.04, 5)
    m.tree.qd[:] = rng.normal(size=5) * [0.2, 0.2, 0.5, 0.5, 0.5]
    base = tuple(rng.normal(size=3) * 0.3 for _ in range(3))
    for load in m.tree.load:
        load.force[:], load.torque[:] = rng.normal(size=3) * 100, rng.normal(size=3) * 10
    assert place(m) == 0
    assert tree.select(m.tree, m.damper, m.status) == 0
    return base


def test_spec06_oracle_12_base_wrench_against_the_rate_of_momentum():
    """Contact less base wrench = d/dt of the momenta of housing, probe and links, on a base that moves.

    The momenta are differentiated along q + qd s + qdd s^2/2 with the base's velocities likewise; eighth-order
    differences with a step of 1 ms: rounding 1e-15 / 1e-3 of the momenta, truncation below.
    """
    m = mechanism(heavy=True)
    base = with_motion(m)
    omega0, epsilon0, w0 = base
    assert evaluate(m, base=base) == 0
    t = m.tree
    force, torque = t.base_force.copy(), t.base_torque.copy()
    q, qd, qdd = t.q.copy(), t.qd.copy(), t.qdd.copy()
    loads = np.zeros(6)
    for link, load in zip(t.link, t.load, strict=True):
        f = link.rotation.T @ load.force
        loads += np.concatenate([f, link.rotation.T @ load.torque + np.cross(link.position, f)])
    v0 = np.array([0.3, -0.1, 0.2])
    v0d = w0 - np.cross(omega0, v0)  # of the components in frame 0

    def momenta(s):
        t.q[:], t.qd[:] = q + s * qd + s * s / 2 * qdd, qd + s * qdd
        assert place(m) == 0
        tree.momentum(m.parameters.probe, t, m.damper, tuple(v0 + s * v0d), tuple(omega0 + s * epsilon0))
        return np.concatenate([t.momentum, t.angular_momentum])

    h = 1e-3
    rows = [(1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280)]
    rate = sum(w * (momenta(k * h) - momenta(-k * h)) for k, w in rows) / h
    P, L = np.split(momenta(0.0), 2)
    dP = rate[:3] + np.cross(omega0, P)
    dL = rate[3:] + np.cross(omega0, L) + np.cross(v0, P)
    np.testing.assert_allclose(force, loads[:3] - dP, atol=1e-7)
    np.testing.assert_allclose(torque, loads[3:] - dL, atol=1e-7)


def test_spec02_oracles_DO17_affine_response_is_exact_symmetric_and_small():
    """W - M_A a_0 is the wrench for any a_0; 0 <= M_A <= the frozen mechanism's inertia."""
    m = mechanism(heavy=True)
    omega0, epsilon0, w0 = with_motion(m)
    assert evaluate(m, base=(omega0, epsilon0, w0)) == 0
    t = m.tree
    exact = np.concatenate([t.base_force, t.base_torque])
    assert evaluate(m, base=(omega0, ZERO, ZERO)) == 0
    assert tree.affine(m.parameters.probe, t, m.damper, tuple(omega0)) == 0
    W, M = np.concatenate([t.base_force, t.base_torque]), t.affine_mass.copy()
    np.testing.assert_allclose(W - M @ np.concatenate([w0, epsilon0]), exact, atol=1e-10)
    np.testing.assert_allclose(M, M.T, atol=1e-11)
    assert np.linalg.eigvalsh(M).min() > -1e-10
    t.qd[:] = 0.0
    assert place(m) == 0
    frozen = np.zeros((6, 6))
    for k, (v, w) in enumerate(zip(np.eye(6)[:, :3], np.eye(6)[:, 3:], strict=True)):
        tree.momentum(m.parameters.probe, t, m.damper, tuple(v), tuple(w))
        frozen[:, k] = np.concatenate([t.momentum, t.angular_momentum])
    assert np.linalg.eigvalsh(frozen - M).min() > -1e-9


def test_spec02_oracle_DO11_free_craft_with_affine_coupling_keeps_momentum():
    """Hull accelerations from M_A: total linear and angular momentum then do not change, whatever moves inside."""
    m = mechanism(heavy=True)
    with_motion(m)
    for load in m.tree.load:
        load.force[:] = load.torque[:] = 0.0
    omega0 = np.array([0.02, -0.03, 0.01])
    assert evaluate(m, base=(omega0, ZERO, ZERO)) == 0
    assert tree.affine(m.parameters.probe, m.tree, m.damper, tuple(omega0)) == 0
    t = m.tree
    W, M = np.concatenate([t.base_force, t.base_torque]), t.affine_mass.copy()
    mass, inertia, arm = 7000.0, np.diag([6400.0, 32000.0, 32000.0]), np.array([3.0, 0, 0])
    centrifugal = np.cross(omega0, np.cross(omega0, arm))
    s = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    X = np.block([[np.eye(3), -s], [np.zeros((3, 3)), np.eye(3)]])  # of the centre of mass -> of O_0
    hull = np.block([[mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]])
    gyroscopic = np.concatenate([np.zeros(3), -np.cross(omega0, inertia @ omega0)])
    right = X.T @ (W - M @ np.concatenate([centrifugal, np.zeros(3)])) + gyroscopic
    a = np.linalg.solve(hull + X.T @ M @ X, right)
    base = X @ a + np.concatenate([centrifugal, np.zeros(3)])
    assert evaluate(m, base=(omega0, base[3:], base[:3])) == 0
    np.testing.assert_allclose(mass * a[:3], t.base_force, atol=1e-9)
    moment = t.base_torque + np.cross(arm, t.base_force)
    np.testing.assert_allclose(inertia @ a[3:] + np.cross(omega0, inertia @ omega0), moment, atol=1e-9)


def test_spec02_oracle_DO16_locked_joints_pass_the_contact_wrench_to_the_base():
    """Damping so high that nothing moves within the step."""
    huge = {"probe.bending_damping": 1e12, "probe.torsion_damping": 1e12, "lateral.spring.damping": 1e15}
    m = mechanism(**huge)
    m.tree.load[0].force[:], m.tree.load[0].torque[:] = [-900.0, 120.0, -60.0], [3.0, -5.0, 8.0]
    assert evaluate(m, h=1e-3) == 0
    np.testing.assert_allclose(m.tree.base_force, [-900.0, 120.0, -60.0], rtol=1e-6)
    arm = np.cross([0.8, 0, 0], [-900.0, 120.0, -60.0])
    np.testing.assert_allclose(m.tree.base_torque, arm + np.array([3.0, -5.0, 8.0]), rtol=1e-6)


def test_spec06_oracle_16_central_load_moves_nothing_sideways():
    """An axial force on the head goes through to the base; all five angles stay exactly zero."""
    m = mechanism(heavy=True)
    m.tree.load[0].force[0] = -8500.0
    assert run(m, 2000, 2e-4, 1.0) == 0
    assert not m.tree.q.any()
    assert not m.lateral.stroke.any()
    np.testing.assert_allclose(m.tree.base_force, [-8500.0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(m.tree.base_torque, 0.0, atol=1e-9)


def test_spec06_oracle_15_energy_closes_at_second_order():
    """Free motion with springs, probe, brakes and stops: kinetic + stored + lost = initial; nothing is gained.

    The residual of the drift-kick-drift step falls as h^2 while the brakes' table is smooth; its kinks and those of
    the hysteresis make single steps of first order, so a factor of 3 per halving is asked for on the whole.
    """
    residual = []
    for h in (4e-4, 2e-4, 1e-4, 5e-5):
        m = mechanism(heavy=True)
        m.tree.qd[:] = [6.5, -6.0, 0.5, 0.3, 0.4]
        run(m, 0, h, 0.0)
        start = m.tree.kinetic_energy
        before = np.zeros(4)
        worst = 0.0
        for _ in range(20):
            assert run(m, round(0.01 / h), h, 0.0) == 0
            kept, lost = energies(m)
            assert (lost >= before - 1e-12).all()
            before = lost
            worst = max(worst, abs(kept + lost.sum() - start) / start)
        residual.append(worst)
        assert (lost > 0.0).all()
    assert residual[-1] < 1e-4
    assert residual[0] / residual[-1] > 27.0


def test_spec06_section_13_brakes_are_stable_at_the_long_step():
    """5 kN m s/rad twice on 2 kg m^2 against h = 0.5 ms: explicit damping has h c / I = 2.5 and diverges."""
    m = mechanism()
    m.tree.qd[:2] = 0.02, 0.01
    rates = []
    for _ in range(60):
        assert run(m, 1, 5e-4, 1.0) == 0
        rates.append(np.abs(m.tree.qd[:2]).max())
    assert max(rates) < 0.03
    assert m.damper.dissipated_brakes > 0.0


def test_switchable_brakes_double_the_torque():
    m = mechanism()
    torque = []
    for brakes in (0.0, 1.0):
        m.tree.qd[:2] = 0.03, 0.03
        place(m)
        assert evaluate(m, brakes=brakes) == 0
        torque.append(np.array([c.force for c in m.damper.brake]))
    np.testing.assert_allclose(torque[1], 2.0 * torque[0], rtol=1e-12)
    rate = m.damper.brake[0].rate
    speed, table = m.parameters.lateral.brake.speed[0], m.parameters.lateral.brake.torque[0]
    assert abs(torque[0][0]) == pytest.approx(np.interp(abs(rate), speed, table), rel=1e-12)


def test_spec06_section_8_stiffness_of_the_head():
    """8 kN m/rad at the exit bearing is 40 kN/m at the head; halving the free length doubles it, torsion stays."""
    m = mechanism()
    p = m.parameters.probe
    assert p.bending_stiffness / p.free_length**2 == pytest.approx(40e3, rel=0.02)
    for length, gain in ((0.45, 1.0), (0.225, 2.0), (0.01, 5.0)):
        m = mechanism()
        m.tree.q[2:] = 2e-3
        assert place(m, length) == 0
        assert tree.select(m.tree, m.damper, m.status) == 0
        assert evaluate(m) == 0
        np.testing.assert_allclose(m.tree.force, [-16 * gain, -16 * gain, -10.0], rtol=1e-9)


def test_shortening_a_bent_probe_takes_work():
    """The stored energy grows with the stiffness, and `gain_work` says from where."""
    m = mechanism()
    m.tree.q[2] = 2e-3
    for length in (0.45, 0.3):
        assert place(m, length) == 0
        assert tree.select(m.tree, m.damper, m.status) == 0
    tree.report(m.tree, m.parameters.lateral, m.damper, m.joint, m.lateral)
    stored = 0.5 * 8e3 * 4e-6
    assert m.tree.stored_energy == pytest.approx(1.5 * stored, rel=1e-9)
    assert m.tree.gain_work == pytest.approx(0.5 * stored, rel=1e-9)


def test_spec00_ruling_42_the_bent_probe_resists_shortening():
    """The axial force is minus the derivative of the stored energy by the travel: central differences over 0.1 mm."""

    def bent(length):
        m = mechanism()
        m.tree.q[2:4] = 2e-3, -1.5e-3
        assert place(m, length) == 0
        assert tree.select(m.tree, m.damper, m.status) == 0
        tree.report(m.tree, m.parameters.lateral, m.damper, m.joint, m.lateral)
        return tree.axial_force(m.parameters.probe, m.tree), m.tree.stored_energy

    step = 1e-4
    force, _ = bent(0.3)
    assert force < 0.0, "against shortening"
    assert force == pytest.approx((bent(0.3 + step)[1] - bent(0.3 - step)[1]) / (2 * step), rel=1e-6)
    assert bent(0.08)[0] == 0.0, "the stiffness is held below the shortest length"


def test_spec00_ruling_42_latches_bend_the_tip_that_turns_with_them():
    """Virtual work: a torque on the tip, against turns of A_HS by each bending angle, central differences."""

    def tip(y, z):
        (cy, cz), (sy, sz) = np.cos((y, z)), np.sin((y, z))
        return np.array([[cz, sz, 0], [-sz, cz, 0], [0, 0, 1]]) @ np.array([[cy, 0, -sy], [0, 1, 0], [sy, 0, cy]])

    def slope(q):
        return 1.5 * np.sin(q) - q

    m = mechanism()
    q, torque, step = np.array([0.06, -0.09]), np.array([30.0, -20.0, 50.0]), 1e-6
    m.tree.q[2:4] = q
    assert place(m) == 0
    np.testing.assert_allclose(m.tree.tip_slope, slope(q), atol=1e-15)
    tree.turn_tip(m.tree, tuple(torque))
    for k in range(2):
        ahead, behind = (tip(*slope(q + s * step * np.eye(2)[k])) for s in (1.0, -1.0))
        turn = (behind.T - ahead.T) @ tip(*slope(q)) / (2 * step)
        work = torque @ [turn[1, 2], turn[2, 0], turn[0, 1]]
        assert m.tree.tip_force[k] == pytest.approx(work, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda m: m.tree.q.__setitem__(3, 0.6), tree.ANGLE, r"joint.angle\[4\] = 0.6 rad exceeds .* = 0.5 rad"),
        (lambda m: m.tree.q.__setitem__(0, float("nan")), tree.ANGLE, r"joint.angle\[1\] = nan"),
        (lambda m: m.parameters.probe.__setattr__("angle_limit", 3.0) or m.tree.q.__setitem__(1, 1.6),
         lateral_damper.BRAKE_OUT_OF_REACH, "brake 1 cannot reach"),
    ],
)  # fmt: skip
def test_bounds_are_messages(change, code, words):
    m = mechanism()
    change(m)
    assert place(m) == code
    component = Component(
        "ProbeMechanism", "", RECORD, place, place, {**tree.MESSAGES, **lateral_damper.MESSAGES}, Path(__file__)
    )
    assert re.search(words, component.explain(code, np.frombuffer(np.void.tobytes(m))))


def test_a_load_that_is_no_number_stops_the_run():
    m = mechanism()
    m.tree.load[0].force[1] = float("nan")
    assert evaluate(m) == tree.NOT_FINITE


def swung():
    """Coordinates and base wrench of the heavy mechanism after 40 steps."""
    m = mechanism(heavy=True)
    m.tree.qd[:] = [0.8, -0.6, 0.5, 0.3, 0.4]
    assert run(m, 40, 2e-4, 1.0) == 0
    return np.concatenate([m.tree.q, m.tree.base_force, m.tree.base_torque])


@pytest.mark.slow
def test_interpreter_equals_compiled():
    """40 steps in an interpreter without numba's compiler; libm and contraction may differ in the last bits."""
    script = f"from {swung.__module__} import swung; print(*swung())"
    environment = {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ":".join(sys.path)}
    plain = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(np.array(plain.stdout.split(), float), swung(), rtol=1e-11, atol=1e-13)


def history(mode, steps=400, h=1e-3):
    """Base wrench of the mechanism on a free hull of 7 t under half a sine on the head, per mode of dynamics 4.3."""
    m = mechanism()
    t, arm = m.tree, np.array([3.0, 0, 0])
    mass, inertia = 7000.0, np.diag([6400.0, 32000.0, 32000.0])
    if mode == "SOURCE":  # the hull carries the mechanism's mass, frozen at its place
        p = m.parameters.probe
        bearing = np.array([p.bearing_distance, 0.0, 0.0])
        for part, centre in ((p.housing_mass, p.housing_centre), (p.probe_mass, bearing + p.probe_centre)):
            x = arm + centre
            mass += part
            inertia = inertia + part * (x @ x * np.eye(3) - np.outer(x, x))
    omega, lagged, out = np.zeros(3), np.zeros(6), []
    for k in range(steps):
        time = (k + 0.5) * h
        t.load[0].force[:] = np.array([-2000.0, 300.0, 200.0]) * (np.sin(np.pi * time / 0.2) if time < 0.2 else 0.0)
        tree.drift(t, 0.5 * h)
        assert place(m) == 0
        assert tree.select(t, m.damper, m.status) == 0
        centrifugal = np.append(np.cross(omega, np.cross(omega, arm)), np.zeros(3))
        base = lagged if mode == "LAGGED" else centrifugal
        if mode == "AFFINE":
            assert evaluate(m, h, base=(omega, ZERO, ZERO)) == 0
            assert tree.affine(m.parameters.probe, t, m.damper, tuple(omega)) == 0
            s = np.array([[0, 0, 0], [0, 0, -arm[0]], [0, arm[0], 0]])
            X = np.block([[np.eye(3), -s], [np.zeros((3, 3)), np.eye(3)]])
            hull = np.block([[mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]])
            W = np.append(t.base_force, t.base_torque) - t.affine_mass @ centrifugal
            right = X.T @ W - np.append(np.zeros(3), np.cross(omega, inertia @ omega))
            base = X @ np.linalg.solve(hull + X.T @ t.affine_mass @ X, right) + centrifugal
        assert evaluate(m, h, base=(omega, base[3:], base[:3])) == 0
        force, torque = t.base_force.copy(), t.base_torque.copy()
        tree.kick(t, m.damper, h)
        tree.drift(t, 0.5 * h)
        spin = np.linalg.solve(inertia, torque + np.cross(arm, force) - np.cross(omega, inertia @ omega))
        lagged = np.append(force / mass + np.cross(spin, arm) + centrifugal[:3], spin)
        omega = omega + h * spin
        out.append(np.append(force, torque))
    return np.array(out)


def test_spec02_oracle_DO12_modes_of_base_motion():
    """SOURCE errs by about the mass ratio (0.6 %), LAGGED by 0.01 %, against AFFINE; within a factor of 2.

    Of LAGGED the spec quotes 0.01 % for a ring that floats on struts. Here the axial force reaches the hull at once
    and its rate, not the mechanism's, sets the error of one step: m_mech / m_craft x h / rise time = 0.6 % x 1.6 %.
    """
    exact = history("AFFINE")
    error = {
        mode: np.abs(history(mode) - exact)[:, :3].max() / np.abs(exact[:, :3]).max() for mode in ("SOURCE", "LAGGED")
    }
    assert 0.003 < error["SOURCE"] < 0.012
    assert error["LAGGED"] < 2e-4
