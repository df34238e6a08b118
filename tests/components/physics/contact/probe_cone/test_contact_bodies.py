"""The unit between bodies: conservation in three dimensions, constraint solution, symmetry, brute force."""

from __future__ import annotations

from math import cos, pi, radians, sin

import numpy as np
import pytest

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.probe_cone.latches import latch_front
from dockfmu.components.physics.contact.profile import segment_profile
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import (
    about_x,
    from_angles,
    from_quaternion,
    from_rotation_vector,
    product,
    quaternion,
)

HEAD = np.array([0.80, 0.0, 0.0])
LOSSLESS = {f"law_{n}.{q}": 0.0 for n in ("head", "bottom", "latch", "limiter") for q in ("damping", "friction")}
# (mass, inertia about the centre of mass, position of the port from it, in body axes = port axes)
ACTIVE = (20.0, np.diag([0.5, 2.0, 1.7]), np.array([0.3, 0.05, -0.02]))
PASSIVE = (60.0, np.diag([3.0, 4.0, 5.0]), np.array([-0.4, 0.1, 0.05]))

PORTS = Record(kinematics.moving("active", ""), kinematics.moving("passive", ""))


def ports_of(state):
    """For each body: rotation I -> body, port position, port twist in port axes."""
    found = []
    for k, (_, _, arm) in enumerate((ACTIVE, PASSIVE)):
        r, q, v, w = np.split(state[13 * k : 13 * k + 13], [3, 7, 10])
        A = np.array(from_quaternion(tuple(q / np.linalg.norm(q))))
        found.append((A, r + A.T @ arm, A @ v + np.cross(w, arm), w))
    return found


def evaluate(unit, state):
    """Contact of a head fixed to body 1 with body 2: [(force, torque about the centre of mass), ...] in body axes."""
    (A1, r1, v1, w1), (A2, r2, v2, w2) = ports_of(state)
    ports = PORTS.memory()
    for port, values in ((ports.active, (r1, A1, v1, w1)), (ports.passive, (r2, A2, v2, w2))):
        port.position[:], port.rotation[:], port.velocity[:], port.angular_velocity[:] = values
    kinematics.relate(unit.u.input.base, ports.active, ports.passive)
    assert unit.head(HEAD) == 0
    f = np.array(unit.output.link[0].force), np.array(unit.output.target.force)
    m = np.array(unit.output.link[0].torque) + np.cross(HEAD, f[0]), np.array(unit.output.target.torque)
    return [(f[k], m[k] + np.cross((ACTIVE, PASSIVE)[k][2], f[k])) for k in range(2)]


def right_side(unit, state):
    rates = np.zeros_like(state)
    for k, (f, m) in enumerate(evaluate(unit, state)):
        mass, inertia, _ = (ACTIVE, PASSIVE)[k]
        q, v, w = state[13 * k + 3 : 13 * k + 7], state[13 * k + 7 : 13 * k + 10], state[13 * k + 10 : 13 * k + 13]
        A = np.array(from_quaternion(tuple(q / np.linalg.norm(q))))
        rates[13 * k : 13 * k + 3] = v
        rates[13 * k + 3 : 13 * k + 7] = 0.5 * np.array(product(tuple(q), (0.0, *w)))
        rates[13 * k + 7 : 13 * k + 10] = A.T @ f / mass
        rates[13 * k + 10 : 13 * k + 13] = np.linalg.solve(inertia, m - np.cross(w, inertia @ w))
    return rates


def invariants(state):
    """Linear momentum, angular momentum about the origin of I, kinetic energy."""
    P, L, T = np.zeros(3), np.zeros(3), 0.0
    for k, (mass, inertia, _) in enumerate((ACTIVE, PASSIVE)):
        r, q, v, w = np.split(state[13 * k : 13 * k + 13], [3, 7, 10])
        A = np.array(from_quaternion(tuple(q / np.linalg.norm(q))))
        P += mass * v
        L += mass * np.cross(r, v) + A.T @ inertia @ w
        T += 0.5 * mass * v @ v + 0.5 * w @ inertia @ w
    return P, L, T


def impact_of_two_bodies(unit, h=1e-4, steps=300):
    """Off-axis, misaligned, both turning: states before and after, by RK4."""
    A = from_angles(0.02, -0.03, 0.05)
    port_1 = np.array([0.0, 0.02, 0.10])
    q1 = np.array(quaternion(A))
    # the head 3 mm before the outer frustum, off the axis
    r2 = port_1 + np.array(A).T @ HEAD - np.array([0.0104, 0.24, 0.05]) - PASSIVE[2]
    one = np.concatenate([port_1 - np.array(A).T @ ACTIVE[2], q1, [0.3, 0.02, -0.01], [0.01, 0.02, -0.03]])
    two = np.concatenate([r2, [1.0, 0.0, 0.0, 0.0], [0.0, 0.01, 0.0], [0.02, -0.01, 0.01]])
    state = np.concatenate([one, two])
    start = state.copy()
    touched, energies = 0.0, []
    for _ in range(steps):
        k1 = right_side(unit, state)
        touched = max(touched, float(np.abs(unit.output.target.force).max()))
        energies.append(invariants(state)[2] + unit.output.stored_energy)
        k2 = right_side(unit, state + 0.5 * h * k1)
        k3 = right_side(unit, state + 0.5 * h * k2)
        k4 = right_side(unit, state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    assert touched > 100.0
    evaluate(unit, state)
    return start, state, np.array(energies)


def relative_drift(start, end):
    (P0, L0, _), (P1, L1, _) = invariants(start), invariants(end)
    return np.abs(P1 - P0).max() / np.abs(P0).max(), np.abs(L1 - L0).max() / np.abs(L0).max()


def test_spec04_oracle_S08_momentum_and_energy_of_two_free_bodies(make_unit):
    """Without losses: momenta to the integrator, energy of bodies and contact spring conserved."""
    start, end, energies = impact_of_two_bodies(make_unit(**LOSSLESS))
    linear, angular = relative_drift(start, end)
    # P follows from action and reaction at every stage; L from the fourth-order error of the attitudes
    assert linear < 1e-12
    assert angular < 1e-9
    # entering and leaving contact kink the force within a step of RK4: at most k (v h)^2 / 2 each, 7e-4 of the energy
    assert np.abs(energies - energies[0]).max() / energies[0] < 7e-4
    # between them the force is smooth: (omega h)^5 = 6e-8 per step
    assert np.median(np.abs(np.diff(energies))) / energies[0] < 6e-8


def test_spec04_oracle_S08_with_friction_energy_falls(make_unit):
    start, end, energies = impact_of_two_bodies(make_unit())
    linear, angular = relative_drift(start, end)
    assert linear < 1e-12
    assert angular < 1e-9
    assert np.diff(energies).max() <= 1e-6 * energies[0]
    assert energies[-1] < 0.999 * energies[0]


def test_spec04_oracle_S07_pressing_force_against_the_constraint(make_unit):
    """A head pressed on a frustum slides as the constraint says, the reaction is its multiplier, depth force / k."""
    laws = {**LOSSLESS, "law_head.damping": 2.0 * np.sqrt(2e6 * 4.0)}
    unit = make_unit(**laws)
    s, c = sin(np.arctan2(0.14, 0.080829)), cos(np.arctan2(0.14, 0.080829))
    n, along = np.array([s, c, 0.0]), np.array([c, -s, 0.0])
    foot = np.array([0.02, 0.36 - 0.02 * s / c, 0.0])
    load = np.array([30.0, 12.0, 0.0])
    rest = load @ n / 2e6
    start = foot - (0.045 - rest) * n
    mass, h = 4.0, 1e-5
    x, v = start.copy(), np.zeros(3)
    for _ in range(4000):
        assert unit.head(x, velocity=v) == 0
        v = v + h / mass * (load + np.array(unit.output.link[0].force))
        x = x + h * v
    t = 4000 * h
    assert unit.output.target.force @ n == pytest.approx(load @ n, rel=1e-6)
    expected = start + 0.5 * (load @ along) / mass * t * t * along
    # semi-implicit Euler is ahead by h t a / 2
    assert x == pytest.approx(expected, abs=2.0 * h * t * np.linalg.norm(load) / mass)
    assert unit.contacts()[0].penetration == pytest.approx(rest, rel=1e-6)


def moved(position, A, v, w, t):
    """Pose of a link after the time t at velocity v and angular velocity w, both in PU axes."""
    turn = np.array(from_quaternion(from_rotation_vector(tuple(float(x) for x in t * (A @ w)))))
    return position + t * v, turn @ A


def power_and_rate(unit, k, position, A, v, w):
    """(power of the contact forces on link k, rate of the stored energy by central differences)."""
    link = unit.u.input.link[k]
    energies = []
    for t in (-1e-7, 1e-7, 0.0):
        r, B = moved(position, A, v, w, t)
        link.position[:], link.rotation[:] = r, B
        link.velocity[:], link.angular_velocity[:] = v, w
        if probe_cone.evaluate(unit.u) != 0:
            return None
        energies.append(unit.output.stored_energy)
    out = unit.output.link[k]
    power = np.dot(out.force, A @ v) + np.dot(out.torque, A @ w)
    return power, (energies[1] - energies[0]) / 2e-7


@pytest.mark.parametrize(("name", "allowed"), [("head", 1e-5), ("roller", 1e-5), ("slot", 1e-5), ("pad", 1e-5)])
def test_spec05_oracle_21_forces_are_the_gradient_of_the_energy(make_unit, name, allowed):
    """Translation and rotation, every class-1 pair without losses, to the central difference of the energy."""
    unit = make_unit(**LOSSLESS, **{"sensor.friction": 0.0})
    rng = np.random.default_rng(9)
    if name == "slot":
        for x in np.linspace(0.27, 0.33, 100):
            assert unit.head((x, 0.0, 0.0)) == 0
            unit.accept()
        assert unit.output.capture == 1.0
    else:
        unit.head((-1.0, 0.0, 0.0))
    touching = 0
    for _ in range(300 if name == "slot" else 3000):
        A = np.array(from_angles(*(float(a) for a in rng.uniform(-0.03, 0.03, 3))))
        v, w = rng.uniform(-0.1, 0.1, (2, 3))
        if name == "head":
            position, k = np.array([rng.uniform(0.0, 0.2), rng.uniform(0.1, 0.3), 0.02]), 0
        elif name == "slot":
            position, k = np.array([rng.uniform(0.3055, 0.312), *rng.uniform(-0.001, 0.001, 2)]), 0
        elif name == "pad":
            position, k = np.array([rng.uniform(-0.15, -0.10), *rng.uniform(-0.06, 0.06, 2)]), 1
        else:
            position, k = np.array([-0.3, *rng.uniform(-0.02, 0.02, 2)]), 1
            unit.u.input.roller[0].position[:] = rng.uniform(0.3, 0.5), rng.uniform(0.1, 0.3), 0.0
        found = power_and_rate(unit, k, position, A, v, w)
        if found is None or unit.output.stored_energy < 1e-4:
            continue
        touching += 1
        power, rate = found
        largest = np.linalg.norm(unit.output.link[k].force) * 0.1
        assert power == pytest.approx(-rate, abs=allowed * largest + 1e-6)
    assert touching > 10


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_spec05_oracle_21_the_unit_has_fourfold_symmetry(make_unit, quarter):
    """A quarter turn of everything active about x turns the wrench: latches, slots, pads and cone repeat."""
    turn = about_x(-quarter * pi / 2)
    T = np.array(turn)
    rng = np.random.default_rng(21)
    one, other = make_unit(**{"sensor.count": 0}), make_unit(**{"sensor.count": 0})
    compared = 0
    for x in np.linspace(0.26, 0.331, 40):
        position = np.array([x, *rng.uniform(-0.0008, 0.0008, 2)])
        A = np.array(from_angles(*(float(a) for a in rng.uniform(-0.01, 0.01, 3))))
        v, w = rng.uniform(-0.05, 0.05, (2, 3))
        for unit, Q in ((one, np.eye(3)), (other, T)):
            link = unit.u.input.link[0]
            link.position[:], link.velocity[:], link.angular_velocity[:] = Q @ position, Q @ v, Q @ w
            # the link's axes stay; latch k of the turned scene stands where latch k + quarter stood
            link.rotation[:] = Q @ A @ Q.T
            assert probe_cone.evaluate(unit.u) == 0
            unit.accept()
        f, g = np.array(one.output.target.force), np.array(other.output.target.force)
        compared += np.abs(f).max() > 0.0
        assert g == pytest.approx(T @ f, abs=1e-7 * (1.0 + np.abs(f).max()))
        m, k = np.array(one.output.target.torque), np.array(other.output.target.torque)
        assert k == pytest.approx(T @ m, abs=1e-7 * (1.0 + np.abs(f).max()))
        assert other.output.stored_energy == pytest.approx(one.output.stored_energy, rel=1e-7, abs=1e-12)
    assert compared > 20


def inside(point):
    """Is a point in the material of RefCone? Straight from the polyline."""
    x = [0.0, 0.0808290, 0.2870023, 0.3770023]
    r = [0.360, 0.220, 0.047, 0.047]
    d = np.hypot(point[1], point[2])
    return point[0] > 0.0 and d > np.interp(point[0], x, r)


@pytest.mark.slow
def test_segments_touch_exactly_where_some_point_of_them_is_inside(make_unit):
    """Brute force over points of pads and latch fronts, any attitude: ends and edge crossings miss nothing."""
    unit = make_unit()
    unit.head((0.27, 0.0, 0.0))
    face = unit.u.geometry.face
    rng = np.random.default_rng(30)
    shares = np.linspace(0.0, 1.0, 201)
    touching = 0
    for _ in range(3000):
        x = rng.uniform(0.0, 0.33)
        d = np.interp(x, [0.0, 0.0808290, 0.2870023, 0.3770023], [0.360, 0.220, 0.047, 0.047]) + rng.uniform(
            -0.02, 0.002
        )
        a = rng.uniform(0.0, 2.0 * pi)
        middle = np.array([x, d * cos(a), d * sin(a)])
        along = rng.normal(size=3)
        along *= rng.uniform(0.01, 0.05) / np.linalg.norm(along)
        start = middle - 0.5 * along
        depth, n, _, point = segment_profile(face, 4, tuple(start), tuple(along))
        sampled = any(inside(start + s * along) for s in shares)
        touching += sampled
        if sampled:
            assert depth > 0.0
        if depth > 1e-6:
            assert inside(np.array(point) + 1e-9 * np.array(n))
    assert touching > 500


def test_latch_front_touches_exactly_where_some_point_of_it_is_inside(make_unit):
    unit = make_unit()
    rng = np.random.default_rng(31)
    both = np.zeros(2, int)
    for _ in range(150):
        angles = rng.uniform(-radians(4.0), radians(4.0), 3)
        if unit.head((rng.uniform(0.25, 0.31), *rng.uniform(-0.002, 0.002, 2)), angles) != 0:
            continue
        for k in range(4):
            angle = rng.uniform(0.0, 0.5)
            frame, figure = unit.u.work.latch[k], unit.u.parameters.latch
            depth, _, _, _ = latch_front(frame, figure, unit.u.geometry, cos(angle), sin(angle))
            c, s = cos(angle), sin(angle)
            ends = [
                frame.pivot + (c * p[0] - s * p[1]) * frame.xi + (s * p[0] + c * p[1]) * frame.eta
                for p in (figure.root, figure.tip)
            ]
            sampled = any(inside(ends[0] + t * (ends[1] - ends[0])) for t in np.linspace(0.0, 1.0, 201))
            both[int(sampled)] += 1
            if sampled:
                assert depth > 0.0
            elif depth > 0.0:
                # between two samples
                assert depth < 1e-4
    assert both.min() > 50
