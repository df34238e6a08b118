"""Closed forms of published docking dynamics (docking-formulas 1.1 to 1.9) against craft, contact law and axial damper.

All parameters but those that a formula has are set so that they do not act. The formulas are written here once more.
Tolerance 1e-3 where not said: steps are a thousandth of the shortest time of each case, and the coupling of the craft
is of first order in them.
"""

from __future__ import annotations

from math import atan2, cos, exp, pi, radians, sin, sqrt, tan

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import force as contact
from dockfmu.components.probe_mechanism.axial import axial_train
from tests.components.probe_mechanism.one_dimensional import RECORD
from tests.components.spacecraft.crafts import craft, rotation

pytestmark = pytest.mark.slow

TOLERANCE = 1e-3
BENCHMARK_1_2 = {
    # damping ratio: restitution, largest deformation, largest force, time of contact, in v0 / w0, v0 sqrt(c m), 1 / w0
    0.1: (0.74408, 0.8626, 0.8801, 2.9561),
    0.3: (0.45098, 0.6715, 0.8134, 2.6545),
    0.5: (0.29844, 0.5463, 1.0000, 2.4184),
    1.0: (0.13534, 0.3679, 2.0000, 2.0000),
}


def restitution(z: float) -> float:
    """Return the recoil of a linear spring and damper that push only, docking-formulas 1.2, for z <= 1."""
    if z == 1.0:
        return exp(-2.0)
    root = sqrt(1.0 - z * z)
    return exp(-z / root * (pi - atan2(2.0 * z * root, 1.0 - 2.0 * z * z)))


# ------------------------------------------------------------------------------------------------------- free bodies


class Body:
    """A free rigid craft and what the formulas need of it."""

    def __init__(self, mass, inertia, arm, velocity=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0)):
        self.mass, self.inertia, self.arm = mass, np.asarray(inertia, float), np.asarray(arm, float)
        self.velocity, self.rate = np.asarray(velocity, float), np.asarray(rate, float)
        values = {"mass": mass, "inertia": self.inertia, "port[1].position": arm}
        values |= {"initial.position": -self.arm, "initial.velocity": velocity, "initial.angular_velocity": rate}
        self.craft: Instance = craft(base={f"parameters.{name}": value for name, value in values.items()})
        self.start = self.twist()

    def axes(self) -> np.ndarray:
        return rotation(self.craft.m.port[0].quaternion)

    def point(self):
        """Position and velocity of the port, I."""
        port = self.craft.m.port[0]
        return np.array(port.position), self.axes().T @ port.velocity

    def twist(self):
        body = self.craft.m.body
        return rotation(body.quaternion).T @ body.velocity, np.array(body.angular_velocity)

    def step(self, t, h, force, torque=(0.0, 0.0, 0.0)):
        """Move under a force at the port and a torque, both in I."""
        A = self.axes()
        self.craft.m.port[0].force[:] = A @ force
        self.craft.m.port[0].torque[:] = A @ torque
        self.craft.step(t, h)

    def mobility(self) -> np.ndarray:
        cross = np.array([np.cross(self.arm, axis) for axis in np.eye(3)]).T
        return np.eye(3) / self.mass - cross @ np.linalg.solve(self.inertia, cross)

    def energy(self, twist) -> float:
        v, w = twist
        return 0.5 * self.mass * v @ v + 0.5 * w @ self.inertia @ w

    def gain(self):
        """Change of velocity and rate since the start."""
        return [after - before for after, before in zip(self.twist(), self.start, strict=True)]


def two_bodies():
    """Bodies of the masses of the Apollo-Soyuz flight with full random inertia tensors, as 13-check-formulas.py."""
    random = np.random.default_rng(1)

    def inertia(size):
        root = random.normal(size=(3, 3))
        return size * (root @ root.T + 3.0 * np.eye(3))

    return (
        Body(6790.0, inertia(4e3), (3.5, 0.2, -0.1), (0.2, 0.02, 0.01), (0.003, -0.002, 0.004)),
        Body(14768.0, inertia(2e4), (-6.0, -0.3, 0.1), rate=(-0.001, 0.002, 0.0)),
    )


@pytest.mark.parametrize("z", [0.0, 0.3, 1.0])
def test_spec13_1_1_impact_of_two_free_bodies_is_that_of_the_equivalent_mass(z):
    """A point contact along a fixed normal, so stiff that nothing turns in it: restitution, impulse, jump, energy."""
    one, two = two_bodies()
    n = np.array([-0.8, 0.5, 0.33])
    n /= np.linalg.norm(n)
    K = one.mobility() + two.mobility()
    mass = 1.0 / (n @ K @ n)
    before = one.point()[1] - two.point()[1]
    closing = -(n @ before)
    law = Record(contact.law("law", "of the test")).memory().law
    w0 = 1e3
    law.stiffness, law.damping = mass * w0**2, 2.0 * z * mass * w0
    h, impulse = 1e-3 / w0, 0.0
    for k in range(4000):
        (r1, v1), (r2, v2) = one.point(), two.point()
        rate = -(n @ (v1 - v2))
        depth = -(n @ (r1 - r2)) + 0.5 * h * rate
        if k > 10 and depth < 0.0:
            break
        push = contact.normal_force(law, rate, 1.0, depth)
        one.step(k * h, h, push * n)
        two.step(k * h, h, -push * n)
        impulse += push * h
    e = restitution(z)
    jump = one.point()[1] - two.point()[1] - before
    assert n @ jump == pytest.approx((1.0 + e) * closing, rel=TOLERANCE)
    assert n @ jump - closing == pytest.approx(e * closing, rel=TOLERANCE)
    assert impulse == pytest.approx(mass * (1.0 + e) * closing, rel=TOLERANCE)
    assert jump == pytest.approx(K @ n * impulse, abs=TOLERANCE * np.linalg.norm(jump))
    for body, sign in ((one, 1.0), (two, -1.0)):
        v, w = body.gain()
        turn = np.linalg.solve(body.inertia, np.cross(body.arm, n)) * sign * impulse
        assert v == pytest.approx(sign * impulse * n / body.mass, abs=TOLERANCE * np.linalg.norm(v))
        assert w == pytest.approx(turn, abs=TOLERANCE * np.linalg.norm(turn))
    lost = sum(body.energy(body.start) - body.energy(body.twist()) for body in (one, two))
    kinetic = 0.5 * mass * closing**2
    assert lost == pytest.approx(kinetic * (1.0 - e * e), abs=TOLERANCE * kinetic)


def test_spec13_1_7_roll_on_frictionless_guides_has_the_reduced_inertia():
    """Three flanks at 45 deg on a radius of 0.6 m: the benchmark, J = 996.15 kg m2, from the change of the roll."""
    r, g, v, w = 0.6, radians(45.0), 0.1, 0.02
    turned = np.diag([5000.0, 2e4, 2e4])
    one = Body(9200.0, turned, (2.0, 0.0, 0.0), (v, 0.0, 0.0), (w, 0.0, 0.0))
    two = Body(9200.0, turned, (-2.0, 0.0, 0.0))
    law = Record(contact.law("law", "of the test")).memory().law
    law.stiffness = 1e8
    w0 = sqrt(3.0 * law.stiffness * (r * cos(g)) ** 2 / 996.15)
    h, angle = 1e-3 / w0, 0.0
    for k in range(4000):
        (r1, v1), (r2, v2) = one.point(), two.point()
        roll = one.twist()[1][0] - two.twist()[1][0]
        rate = sin(g) * (v1[0] - v2[0]) + cos(g) * r * roll
        depth = sin(g) * (r1[0] - r2[0]) + cos(g) * r * angle + 0.5 * h * rate
        if k > 10 and depth < 0.0:
            break
        push = 3.0 * contact.normal_force(law, rate, 1.0, depth)
        force, torque = np.array([-push * sin(g), 0.0, 0.0]), np.array([-push * cos(g) * r, 0.0, 0.0])
        one.step(k * h, h, force, torque)
        two.step(k * h, h, -force, -torque)
        after = one.twist()[1][0] - two.twist()[1][0]
        angle += 0.5 * h * (roll + after)
    reduced = 1.0 / (1.0 / 2500.0 + tan(g) ** 2 / (4600.0 * r * r))
    assert reduced == pytest.approx(996.15, abs=5e-3)
    impulse = -5000.0 * one.gain()[1][0]
    assert impulse / (2.0 * (w + v * tan(g) / r)) == pytest.approx(reduced, rel=TOLERANCE)


class Pin:
    """A joint between two ports, or a port and a point of rest: stiff, critically damped, free to turn."""

    def __init__(self, one, two, mass, w0):
        self.one, self.two, self.stiffness, self.damping = one, two, mass * w0**2, 2.0 * mass * w0

    def step(self, t, h, torque=(0.0, 0.0, 0.0)):
        (r1, v1), (r2, v2) = self.one.point(), self.two.point() if self.two else np.zeros((2, 3))
        force = -self.stiffness * (r1 - r2 + 0.5 * h * (v1 - v2)) - self.damping * (v1 - v2)
        self.one.step(t, h, force, np.asarray(torque))
        if self.two:
            self.two.step(t, h, -force, -np.asarray(torque))


def test_spec13_1_8_plastic_capture_of_two_free_bodies():
    """Impulse -K^-1 v_rel at the point of linkage, rates of both craft, energy lost 1/2 v_rel' K^-1 v_rel."""
    one, two = two_bodies()
    K = one.mobility() + two.mobility()
    relative = one.point()[1] - two.point()[1]
    # the stiffest direction has w0, the softest a fraction: both have come to rest after 40 / w0 of the softest
    values = np.linalg.eigvalsh(K)
    pin = Pin(one, two, 1.0 / values[-1], w0 := 2e3)
    slowest = w0 * sqrt(values[0] / values[-1])
    h = 0.02 / w0
    for k in range(round(25.0 / slowest / h)):
        pin.step(k * h, h)
    impulse = -np.linalg.solve(K, relative)
    for body, sign in ((one, 1.0), (two, -1.0)):
        v, w = body.gain()
        turn = np.linalg.solve(body.inertia, np.cross(body.arm, impulse)) * sign
        assert v == pytest.approx(sign * impulse / body.mass, abs=TOLERANCE * np.linalg.norm(v))
        assert w == pytest.approx(turn, abs=TOLERANCE * np.linalg.norm(turn))
    lost = sum(body.energy(body.start) - body.energy(body.twist()) for body in (one, two))
    assert lost == pytest.approx(0.5 * relative @ np.linalg.solve(K, relative), rel=TOLERANCE)


def swing(pin, torsion, h, steps):
    """Return the period of the relative rotation about y under an angular spring, from its zeros."""
    angle, zeros = 0.0, []
    rate = pin.one.twist()[1][1] - (pin.two.twist()[1][1] if pin.two else 0.0)
    for k in range(steps):
        pin.step(k * h, h, (0.0, -torsion * (angle + 0.5 * h * rate), 0.0))
        after = pin.one.twist()[1][1] - (pin.two.twist()[1][1] if pin.two else 0.0)
        new = angle + 0.5 * h * (rate + after)
        if k > 0 and angle * new < 0.0:
            zeros.append((k + angle / (angle - new)) * h)
        angle, rate = new, after
    return 2.0 * (zeros[1] - zeros[0])


def test_spec13_1_8_and_1_10_rotation_after_capture_and_the_rig_of_the_limiter():
    """Planar rotation of linked craft: I0 = 24813.90 kg m2; a lever of this inertia on a fixed pivot swings alike."""
    m1, m2, i1, i2, l1, l2 = 6790.0, 14768.0, 3e4, 9e4, 3.5, 5.0
    m = m1 * m2 / (m1 + m2)
    inertia = (i1 * i2 + m * (i1 * l2**2 + i2 * l1**2)) / (i1 + i2 + m * (l1 + l2) ** 2)
    assert inertia == pytest.approx(24813.90, abs=5e-3)
    torsion = inertia * 9.0
    # rates that leave the point of linkage at rest relative to the other craft
    rate, other = 1e-3, -0.4e-3
    one = Body(m1, np.diag([i1] * 3), (l1, 0.0, 0.0), (0.0, 0.0, l1 * rate + l2 * other), (0.0, rate, 0.0))
    two = Body(m2, np.diag([i2] * 3), (-l2, 0.0, 0.0), rate=(0.0, other, 0.0))
    assert one.point()[1] == pytest.approx(two.point()[1], abs=1e-12)
    period = swing(Pin(one, two, 1e3, 300.0), torsion, 3e-4, 8000)
    assert period == pytest.approx(2.0 * pi * sqrt(inertia / torsion), rel=TOLERANCE)
    lever = Body(inertia / 4.0 / 2.0, np.diag([inertia / 2.0] * 3), (2.0, 0.0, 0.0), (0.0, 0.0, 2e-3), (0.0, 1e-3, 0.0))
    assert swing(Pin(lever, None, 1e3, 300.0), torsion, 3e-4, 8000) == pytest.approx(period, rel=TOLERANCE)


# ------------------------------------------------------------------------------------------------- the axial damper


def damper(inertance, stiffness, **parameters):
    """Return the record of the axial damper with an elastic train, no spring, no brake, no loss but what is given."""
    m = RECORD.memory()
    p = m.parameters.axial
    p.inertance, p.train_stiffness = inertance, stiffness
    p.train_range[:] = 1e9
    p.hysteresis_loss = p.screw_friction = p.train_damping = 0.0
    p.magnetic_force[:] = 0.0
    p.spring_preload, p.spring_end = 1e9, 1.1e9
    p.brake_compression = p.brake_extension = 1e9
    for name, value in parameters.items():
        if np.ndim(value):
            getattr(p, name)[:] = value
        else:
            setattr(p, name, value)
    assert axial_train.initialize(p, m.axial, 0.0) == 0
    return p, m.axial, m.axial_load


@pytest.mark.parametrize("z", BENCHMARK_1_2)
@pytest.mark.parametrize("speed", [0.05, 0.3])
def test_spec13_1_2_restitution_of_a_linear_absorber(z, speed):
    """The benchmark, at two speeds: restitution, deformation, force and time of contact of the damper's train."""
    mass, stiffness = 4600.0, 1e5
    w0 = sqrt(stiffness / mass)
    p, a, load = damper(mass, stiffness, train_damping=2.0 * z * sqrt(stiffness * mass))
    a.rate, h, deepest, strongest, k = speed, 5e-4 / w0, 0.0, 0.0, 0
    while k == 0 or a.train_force > 0.0:
        axial_train.advance(p, a, load, h)
        k += 1
        deepest, strongest = max(deepest, a.travel), max(strongest, a.train_force)
    e, depth, force, time = BENCHMARK_1_2[z]
    assert e == pytest.approx(restitution(z), abs=5e-6)
    assert -a.rate / speed == pytest.approx(e, rel=TOLERANCE)
    assert deepest == pytest.approx(depth * speed / w0, rel=TOLERANCE)
    assert strongest == pytest.approx(force * speed * sqrt(stiffness * mass), rel=TOLERANCE)
    assert k * h == pytest.approx(time / w0, rel=TOLERANCE)


def central_impact(inertance, stiffness, speed):
    """Return the largest force on 4600 kg at `speed` on a contact, moving parts of `inertance` held by a brake of 4 kN.

    The train that holds the brake is so stiff (1e11 N/m) that it swings by some 50 N before the brake slips.
    """
    mass = 4600.0
    p, a, load = damper(inertance, 1e11, brake_compression=4000.0, brake_extension=4000.0)
    position, velocity, strongest, h = 0.0, speed, 0.0, 0.5 * sqrt(inertance / 1e11)
    while velocity > a.rate:
        depth = position - a.travel + 0.5 * h * (velocity - a.rate)
        force = stiffness * max(depth, 0.0)
        load.head_force = -force
        axial_train.advance(p, a, load, h)
        position += h * (velocity - 0.5 * h * force / mass)
        velocity -= h * force / mass
        strongest = max(strongest, force)
    return strongest


@pytest.mark.parametrize(
    ("inertance", "stiffness", "peak"),
    [(150.0, 4e6, 11071.28), (80.0, 4e6, 9226.80), (150.0, 5e5, 6332.86), (150.0, 2e4, 2877.50)],
)
def test_spec13_1_5_central_impact_through_inertia_and_friction_brake(inertance, stiffness, peak):
    """The benchmark, at 0.3 m/s."""
    assert central_impact(inertance, stiffness, 0.3) == pytest.approx(peak, rel=TOLERANCE)


def test_spec13_1_5_a_spring_before_the_brake_keeps_the_dynamic_part_within_a_tenth():
    """The brake slips with either; on the contact alone inertia makes more than the brake, with 20 kN/m 9 % of it."""
    rigid, sprung = (central_impact(150.0, stiffness, 0.5) / 4000.0 - 1.0 for stiffness in (4e6, 2e4))
    assert rigid > 1.0
    assert 0.0 < sprung < 0.1


def reaches(speed, thrust, damping, delay):
    """Return whether 500 kg at `speed` align against 50 N + 5 kN/m within 0.15 m, pushed by `thrust` after `delay`."""
    p, a, load = damper(
        500.0,
        1e7,
        spring_preload=50.0,
        spring_end=50.0 + 5000.0 * 0.2,
        spring_stroke=0.2,
        magnetic_force=damping * np.array([0.0, 0.15, 0.3, 0.6]),
    )
    a.rate, h, t = speed, 1e-3, 0.0
    while a.rate > 0.0 and a.travel < 0.15 and t < 10.0:
        load.extra_force = thrust if t + 0.5 * h > delay else 0.0
        axial_train.advance(p, a, load, h)
        t += h
    return a.travel >= 0.15


@pytest.mark.parametrize(
    ("thrust", "damping", "delay", "needed"),
    [
        (200.0, 0.0, 0.0, 0.36742),
        (200.0, 300.0, 0.0, 0.44464),
        (200.0, 300.0, 0.5, 0.57551),
        (0.0, 300.0, 0.0, 0.57551),
    ],
)
def test_spec13_1_6_speed_that_alignment_needs(thrust, damping, delay, needed):
    """The benchmark, with spring mechanism and magnetic brakes of the axial damper as spring and damper of the lift."""
    assert reaches(needed * (1.0 + TOLERANCE), thrust, damping, delay)
    assert not reaches(needed * (1.0 - TOLERANCE), thrust, damping, delay)


def test_spec13_1_6_alignment_at_any_speed_needs_a_thrust_above_the_largest_force():
    """800 N at the end of the 0.15 m: damped, 810 N align from nearly no speed, 790 N do not."""
    assert reaches(1e-3, 810.0, 5e3, 0.0)
    assert not reaches(1e-3, 790.0, 5e3, 0.0)


def test_spec13_1_9_speed_of_a_magnetic_brake_after_a_step_of_force():
    """v = F / k (1 - exp(-t / tau)), tau = inertance / k: 10 N on 25 kg and 6667 N s/m of set AX-1, 3.75 ms."""
    rates = np.array([0.0, 0.15, 0.3, 0.6])
    p, a, load = damper(25.0, 1.0, magnetic_force=rates / 0.15 * 1e3)
    slope = 1e3 / 0.15
    tau, force = 25.0 / slope, 10.0
    h = 1e-3 * tau
    load.extra_force = force
    for k in range(1, 5001):
        axial_train.advance(p, a, load, h)
        if k % 500 == 0:
            assert a.rate == pytest.approx(force / slope * (1.0 - exp(-k * h / tau)), rel=TOLERANCE)
