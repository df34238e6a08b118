"""Retraction device: oracles T19 to T23 and T27 of peripheral-docking."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.core.component import Instance
from dockfmu.components.peripheral_mechanism import component
from dockfmu.components.physics.devices import drive
from dockfmu.components.physics.ring_on_legs import platform, retraction
from tests.components.peripheral_mechanism.retraction_rig import (
    HEIGHT,
    JOINED,
    LENGTH,
    RATE,
    TENSION,
    TILT,
    TIME,
    retract,
)

pytestmark = pytest.mark.slow

RADIUS, CAM, FREE = 0.07, np.radians(15.0), 0.23908
SETTLED = 10.0
"""Time after which legs that began 50 mm too long have settled, s."""


class Cables:
    """The cables of PM-1 on a ring that is put anywhere."""

    def __init__(self, **parameters):
        c = component("external")
        self.m = c.record.view(c.start(**{f"parameters.cables.{k}": v for k, v in parameters.items()}))
        self.p, self.x = self.m.parameters.cables, self.m.hexapod
        platform.initialize(self.m.parameters, self.x, self.m.ring_state, 0.14)
        retraction.initialize(self.p, self.m.cable)

    def put(self, position, turn=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), angle=0.0, rate=0.0):
        n = self.x.ring
        n.position, n.velocity, n.angular_velocity = position, velocity, spin
        n.rotation = Rotation.from_rotvec(turn).as_matrix().T
        retraction.place(self.p, self.x, self.m.cable, angle, rate)
        return self

    def all(self, name):
        return np.array([getattr(c, name) for c in self.m.cable])


def lengths(position, turn):
    """Distances of the attachments from their drums, from numbers alone."""
    R = Rotation.from_rotvec(turn).as_matrix()
    a = np.radians([0.0, 120.0, 240.0])
    points = 0.58 * np.column_stack([0 * a, np.cos(a), np.sin(a)])
    return np.linalg.norm(position + points @ R.T - points, axis=1)


def test_spec07_oracle_T19_closed_form_and_incremental_deformation():
    """Sums from the instant at which the cams meet (7.5.2 to 7.5.4) against the closed form, in both directions."""
    cables = Cables()
    t = np.linspace(0.0, 20.0, 20001)
    angle = 3.4 + 0.35 * np.cos(0.9 * t)
    position = np.column_stack([0.43 + 0.02 * np.sin(0.5 * t), 0.02 * np.cos(0.3 * t), 0.01 * np.sin(0.7 * t)])
    turns = np.column_stack([0.03 * np.sin(0.4 * t), 0.02 * np.cos(0.6 * t), -0.03 * np.sin(0.2 * t)])
    sums, joined = np.zeros(3), np.zeros(3, bool)
    before, last = lengths(position[0], turns[0]), angle[0]
    meetings = 0
    slip = RADIUS * np.abs(np.diff(angle)).max() + np.abs(np.diff(position, axis=0)).sum(1).max() + 1e-4
    for p, turn, a in zip(position[1:], turns[1:], angle[1:], strict=True):
        now = lengths(p, turn)
        meet = a < (now - FREE) / RADIUS + 2.0 * CAM
        meetings += np.count_nonzero(meet & ~joined)
        sums = np.where(meet & joined, sums + (now - before) - RADIUS * (a - last), 0.0)
        joined, before, last = meet, now, a
        cables.put(p, turn, angle=a)
        assert np.array_equal(cables.all("joined") == 1.0, meet)
        np.testing.assert_allclose(cables.all("length"), now, atol=1e-14)
        assert np.all(np.abs(cables.all("deformation") - sums)[meet] < slip)
    assert meetings > 5


def test_spec07_oracle_T20_the_longest_cable_engages_first():
    cables = Cables()
    rng = np.random.default_rng(1)
    for _ in range(20):
        position, turn = np.array([0.45, *rng.uniform(-0.08, 0.08, 2)]), rng.uniform(-0.07, 0.07, 3)
        order = []
        for angle in np.linspace(5.2, 1.0, 2000):
            cables.put(position, turn, angle=angle)
            order += [i for i in np.flatnonzero(cables.all("joined")) if i not in order]
        assert order == list(np.argsort(-lengths(position, turn)))
    angles = [a for a in np.linspace(5.2, 1.0, 2000) if cables.put((0.4, 0.0, 0.0), angle=a).all("joined").any()]
    assert cables.put((0.4, 0.0, 0.0), angle=angles[0]).all("joined").all(), "equal lengths: all at once"


def test_spec07_oracle_T21_forces_balance_and_power_goes_into_energy():
    """No moment on an aligned ring; ring and base in balance; power of ring and drums into energy and damping."""
    cables = Cables()
    angle = 2.0 * CAM + (0.4 - 2e-3 - FREE) / RADIUS
    x, m = cables.x, cables.m
    tilted = ((0.41, 0.03, -0.02), (0.004, -0.006, 0.008), np.array([0.01, -0.02, 0.015]))
    for position, turn, spin in (((0.4, 0.0, 0.0), (0.0, 0.0, 0.0), np.zeros(3)), tilted):
        cables.put(position, turn, (0.01, 0.02, -0.01), spin, angle, -0.01)
        assert cables.all("joined").all()
        x.ring.force[:], x.ring.torque[:] = 0.0, 0.0
        force, torque = np.zeros(3), np.zeros(3)
        retraction.load_ring(x, m.cable)
        retraction.load_base(m.cable, force, torque)
        R = Rotation.from_rotvec(turn).as_matrix()
        about = R @ x.ring.torque + np.cross(x.ring.position, x.ring.force)
        np.testing.assert_allclose([np.array(x.ring.force) + force, about + torque], 0.0, atol=1e-9)
        if not np.any(turn):
            np.testing.assert_allclose(x.ring.torque, 0.0, atol=1e-10)
        power = np.array(x.ring.force) @ x.ring.velocity + np.array(x.ring.torque) @ x.ring.angular_velocity
        gears = RADIUS * cables.all("tension").sum() * -0.01
        before = np.array([c.dissipated for c in m.cable])
        retraction.dissipate(cables.p, m.cable, -0.01, 1.0)
        lost = sum(c.dissipated for c in m.cable) - before.sum()
        h = 1e-6
        energies = []
        for s in (-h, h):
            n = x.ring
            moved = np.array(position) + s * np.array([0.01, 0.02, -0.01])
            spun = (Rotation.from_matrix(R) * Rotation.from_rotvec(s * spin)).as_rotvec()
            cables.put(moved, spun, n.velocity, n.angular_velocity, angle - 0.01 * s, -0.01)
            energies.append(retraction.stored_energy(cables.p, m.cable))
        rise = (energies[1] - energies[0]) / (2.0 * h)
        assert -power - gears == pytest.approx(rise + lost, rel=1e-6)
        assert lost > 0.0


def test_a_flexible_shaft_is_in_series_with_its_cable():
    soft = Cables(shaft_compliance=1e-4)
    stiff = Cables()
    angle = 2.0 * CAM + (0.4 - 2e-3 - FREE) / RADIUS
    pull = [c.put((0.4, 0.0, 0.0), angle=angle).all("tension")[0] - 10.0 for c in (soft, stiff)]
    assert pull[1] == pytest.approx(2000.0)
    # the shaft's twist by the tension lets the drum follow (E-P10): cable and twist share the 2 mm
    twist = 1e-4 * pull[0] * RADIUS
    assert pull[0] == pytest.approx(1e6 * (2e-3 - RADIUS * twist))


def test_a_cable_is_damped_by_the_rate_of_its_own_stretch():
    """A ring that follows the drums is held by springs alone; a ring at rest feels the drums wind, at c r w."""
    cables = Cables()
    angle = 2.0 * CAM + (0.4 - 2e-3 - FREE) / RADIUS
    following = cables.put((0.4, 0.0, 0.0), velocity=(-0.01, 0.0, 0.0), angle=angle, rate=-0.01 / RADIUS).all("tension")
    assert following == pytest.approx(np.full(3, 2010.0))
    wound = cables.put((0.4, 0.0, 0.0), angle=angle, rate=-0.01 / RADIUS).all("tension")
    assert wound == pytest.approx(np.full(3, 2010.0 + cables.p.damping * 0.01))


def test_a_cable_never_pushes():
    cables = Cables(spring_tension=0.0)
    angle = 2.0 * CAM + (0.4 - 1e-4 - FREE) / RADIUS
    cables.put((0.4, 0.0, 0.0), velocity=(-1.0, 0.0, 0.0), angle=angle)
    assert cables.all("joined").all()
    assert np.all(cables.all("tension") == 0.0)


def test_spec07_oracle_T22_rotation_of_the_drive_to_the_retracted_position():
    """At no load 487 s from all cable paid out to the retracted position, whatever the ring does meanwhile."""
    c = component("external")
    m = c.record.view(c.start())
    drive.initialize(m.parameters.drive, m.motor)
    turns = 300.0 * (2.0 * np.pi - 6.0 * CAM)
    t = 0.0
    while m.motor.angle < turns:
        drive.advance(m.parameters.drive, m.motor, (27.0, 27.0), 0.0, 0.01)
        t += 0.01
    assert t == pytest.approx(487.0, rel=2e-3)
    assert m.motor.rate == pytest.approx(2.9, rel=1e-3)


def test_spec07_oracle_T23_one_motor_and_none():
    """One motor off: half the speed. Without voltage the shaft stands under any load of the cables."""
    c = component("external")
    rates = {}
    for volts in ((27.0, 27.0), (27.0, 0.0), (0.0, 0.0)):
        m = c.record.view(c.start())
        drive.initialize(m.parameters.drive, m.motor)
        for _ in range(2000):
            drive.advance(m.parameters.drive, m.motor, volts, 0.0 if any(volts) else -500.0, 1e-3)
        rates[volts] = m.motor.rate
    assert rates[27.0, 0.0] == pytest.approx(0.5 * rates[27.0, 27.0], rel=1e-6)
    assert rates[0.0, 0.0] == 0.0


def test_the_drive_stalls_at_14_newton_metres():
    """Stall torque and inertia on the output shaft of PM-1, by its acceleration from rest under a load."""
    c = component("external")
    for load, moves in ((13.9, True), (14.1, False)):
        m = c.record.view(c.start())
        p = m.parameters.drive
        drive.initialize(p, m.motor)
        # the efficiency of 0.5 doubles what the cables ask for
        for _ in range(100):
            drive.advance(p, m.motor, (27.0, 27.0), -0.5 * load * p.nut_ratio, 1e-4)
        assert (m.motor.rate > 0.0) == moves
    m = c.record.view(c.start())
    drive.initialize(m.parameters.drive, m.motor)
    drive.advance(m.parameters.drive, m.motor, (27.0, 27.0), 0.0, 1e-6)
    assert 14.0 * 1e-6 / m.motor.rate == pytest.approx(0.05, rel=0.01)


def test_cables_paid_out_do_not_drive_the_shaft():
    """Self-locking gears: what the cables do on drums that pay out is lost in the gears; the drive runs free."""
    c = component("external")
    i = Instance(c, **{"parameters.initial_stroke": 0.1, "parameters.initial_gear_angle": 3.1})
    m = i.m
    m.command.motor_voltage[:] = -27.0
    for k in range(2000):
        i.step(k * 1e-3, 1e-3)
    a = m.audit
    pulled = sum(cable.tension for cable in m.cable)
    assert m.drive.rate == pytest.approx(2.9, rel=2e-3)
    assert m.cable[0].gear_angle == pytest.approx(3.1 + m.drive.angle / 300.0 - 3.1, rel=1e-9)
    assert pulled >= 30.0
    start = Instance(c, **{"parameters.initial_stroke": 0.1, "parameters.initial_gear_angle": 3.1}).m.audit
    supplied = a.work_drive + a.work_base + a.work_target
    kept = a.kinetic_energy + a.stored_energy + a.dissipated_energy - start.kinetic_energy - start.stored_energy
    assert kept == pytest.approx(supplied, abs=2e-3)


@pytest.fixture(scope="module")
def drawn():
    """A tilted, shifted ring, both ways round."""
    axis = 4.0 * np.array([0.0, np.cos(0.5), np.sin(0.5)])
    return [retract(sign * axis) for sign in (-1.0, 1.0)]


def test_spec07_oracle_T27_retraction_of_5_t(drawn):
    """Times, tensions and rates of the aligned craft, 5 %; the start is not that of the oracle.

    At its start legs are 50 mm longer than at FP; how its prototype took them is not said, and so neither the first
    settling nor the times of engagement that follow from it are compared. Tensions are means of the three cables, which
    differ by up to 5 % from it while the craft is not yet aligned to a few hundredths of a degree.
    """
    for history in drawn:
        t = history[:, TIME]
        at = {s: history[np.searchsorted(t, s)] for s in (200.0, 400.0, 510.0)}
        assert t[-1] == pytest.approx(531.0, rel=0.01)
        for s, tension in {200.0: 810.0, 400.0: 1050.0, 510.0: 1600.0}.items():
            assert at[s][TENSION].mean() == pytest.approx(tension, rel=0.05)
            assert np.ptp(at[s][TENSION]) < 0.1 * tension
        assert at[510.0][RATE] == pytest.approx(-2.44, rel=0.02)
        assert history[:, RATE].min() == pytest.approx(-2.9, rel=0.02)
        assert history[-1, HEIGHT] == pytest.approx(0.239, abs=2e-3)


def test_the_retraction_aligns_the_craft_with_the_longest_cable_first(drawn):
    for history in drawn:
        t = history[:, TIME]
        settled = np.searchsorted(t, 5.0)
        assert history[settled, TILT] > 0.5
        first = [t[settled:][np.argmax(history[settled:, c] > 0.0)] for c in range(JOINED.start, JOINED.stop)]
        assert len(set(first)) == 3, "one after the other"
        assert np.all(history[t > max(first) + 60.0, TILT] < 0.12)
        interrupted = np.diff(history[settled:, JOINED], axis=0).min(0)
        assert np.count_nonzero(interrupted < 0.0) >= 2, "cables go slack while the craft turns (event 5 of 7.6)"


@pytest.mark.parametrize("height", [0.545, 0.550, 0.553])
def test_spec07_oracle_T31_craft_askew_by_4_degrees_are_aligned_about_100_s_after_the_drive_is_on(height):
    """Longest cable first, aligned within 70 to 130 s, and the flags of two drums drop out and return meanwhile.

    The angle is that of the published run (7.6), in one direction: tilted the opposite way, the craft take longer than
    160 s. At three heights the longest cable is taut 7 to 32 s after the drive is on. Below 0.1 deg the craft are
    aligned; the third cable is taut by then, and no flag drops out any more.
    """
    history = retract(np.array([0.0, -4.0 * np.cos(0.5), -4.0 * np.sin(0.5)]), height=height, stop=140.0, every=10)
    history = history[history[:, TIME] > SETTLED]
    t, joined = history[:, TIME], history[:, JOINED]
    taut = [t[np.argmax(joined[:, c] > 0.0)] for c in range(3)]
    longest = np.argmax(history[0, LENGTH])
    assert taut[longest] == min(taut)
    assert taut[longest] < 40.0
    aligned = t[history[:, TILT] > 0.1].max()
    assert aligned == pytest.approx(100.0, rel=0.3)
    interrupted = [t[1:][np.diff(joined[:, c]) < 0.0] for c in range(3)]
    assert sum(len(moments) >= 5 for moments in interrupted) == 2, "of two drums, several times"
    assert max(moments.max() for moments in interrupted if len(moments)) < aligned
    assert (joined[t > aligned + 5.0] > 0.0).all()
