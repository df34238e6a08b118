"""Electric drive against its closed forms, central-docking sections 9.1 and 9.2."""

from math import copysign, log, pi

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import drive
from dockfmu.components.probe_mechanism.axial import axial_train
from dockfmu.components.probe_mechanism.axial.ports import SPRING_AND_BRAKE

RECORD = Record(
    SPRING_AND_BRAKE.state,
    axial_train.load(),
    drive.state(),
    Group("parameters", SPRING_AND_BRAKE.parameters, drive.parameters()),
)
NUT_PER_METRE = 2.0 * pi / 0.02
VOLTAGE = 27.0


def machine():
    m = RECORD.memory()
    drive.initialize(m.parameters.drive, m.drive)
    return m, m.parameters.drive, m.drive


def run(d, p, voltage, pull, duration, h=1e-3):
    """Rates of the output shaft under a constant pull (N at the probe) that opposes retraction."""
    rates = []
    for _ in range(round(duration / h)):
        drive.advance(p, d, voltage, -pull / NUT_PER_METRE, h)
        rates.append(d.rate)
    return np.array(rates)


def speed(rate):
    """Retraction in m/s of an output shaft's rate."""
    return rate / 10.0 / NUT_PER_METRE


def test_spec06_oracle_03_inertia_and_power():
    """A is the Hessian of the sum of wheel energies; power into the wheels is the rate of kinetic energy."""
    _, _, d = machine()
    assert d.inertia[0, 0] == pytest.approx(1.012e-3, rel=1e-12)
    assert d.inertia[0, 1] == pytest.approx(-1e-6, rel=1e-12)
    for a, b in np.random.default_rng(3).normal(size=(5, 2)):
        d.wheel_rate[:] = a, b
        carrier = 0.5 * (a + b) * 0.02 / 0.02
        planet = 0.5 * (b - a) * 0.02 / 0.01
        energy = 0.5 * (1.001e-3 * (a * a + b * b) + 2e-5 * carrier**2 + 3 * 2e-6 * planet**2)
        assert drive.kinetic_energy(d) == pytest.approx(energy, rel=1e-13)


def test_wheels_of_different_size_start_as_the_differential_lets_them():
    """Euler-Lagrange with the masses of wheels, carrier and planets of radii that differ: A a = q."""
    m = RECORD.memory()
    p, d = m.parameters.drive, m.drive
    p.wheel_radius[:] = 0.02, 0.03
    p.planet_inertia *= 100.0  # for a coupling of the wheels that shows
    p.stage_sun_inertia = p.stage_carrier_inertia = p.stage_planet_inertia = 0.0
    drive.initialize(p, d)
    carrier = np.array([0.02, 0.03]) / (2.0 * p.carrier_radius)
    planets = np.array([-0.02, 0.03]) / (2.0 * p.planet_radius)
    A = np.diag(p.wheel_inertia) + p.carrier_inertia * np.outer(carrier, carrier)
    A += p.planet_count * p.planet_inertia * np.outer(planets, planets)
    drive.advance(p, d, (VOLTAGE, 0.7 * VOLTAGE), 0.0, 1e-9)
    q = p.motor_ratio * (p.torque_constant * VOLTAGE * np.array([1.0, 0.7]) - p.motor_friction)
    assert d.wheel_rate / 1e-9 == pytest.approx(np.linalg.solve(A, q), rel=1e-6)
    assert abs(A[0, 1]) > 0.05 * A[0, 0]


def test_spec06_oracle_04_planetary_stages():
    inertia = drive.stage_inertia(1e-6, 5e-6, 2e-7, 3.0, 0.25, 0.5)
    assert inertia == pytest.approx(1.0625 * 1.4625e-6, rel=1e-12)
    assert inertia == pytest.approx(1.5539e-6, rel=1e-4)


@pytest.mark.parametrize(
    ("voltage", "pull", "expected"),
    [
        ((VOLTAGE, VOLTAGE), 0.0, 1.000e-3),
        ((VOLTAGE, 0.0), 0.0, 0.500e-3),
        ((0.0, VOLTAGE), 0.0, 0.500e-3),
        ((VOLTAGE, VOLTAGE), 1.1e3, 0.982e-3),  # 1 kN at the head, through the screw's friction
        ((VOLTAGE, VOLTAGE), 18e3, 0.702e-3),
        ((-VOLTAGE, -VOLTAGE), 0.0, -1.000e-3),
    ],
)
def test_spec06_oracle_06_drive_speed(voltage, pull, expected):
    _, p, d = machine()
    rates = run(d, p, voltage, pull, 1.5)
    assert speed(rates[-1]) == pytest.approx(expected, rel=1e-3)
    k = p.speed_constant + p.motor_damping
    torque = 0.08 - 0.005 - 0.5 * (1 / 16) / 10.0 * pull / NUT_PER_METRE / (0.8 * 10.0)
    motors = sum(v != 0.0 for v in voltage)
    closed = np.sign(expected) * torque / k / 10.0 * motors / 2 / 16
    assert rates[-1] == pytest.approx(closed, rel=1e-6)


def test_spec06_oracle_06_rise_time():
    """tau = (A11 + A12) / (i^2 (k_w + c_d)) = 0.0678 s"""
    _, p, d = machine()
    rates = run(d, p, (VOLTAGE, VOLTAGE), 0.0, 1.5)
    tau = -0.05 / log(1.0 - rates[49] / rates[-1])
    assert tau == pytest.approx(0.0678, rel=2e-3)
    assert tau == pytest.approx((1.012e-3 - 1e-6) / (100 * (1.4e-4 + 0.0921e-4)), rel=1e-4)


def test_spec06_oracle_07_motors_off_hold_any_load():
    _, p, d = machine()
    for pull in np.random.default_rng(7).uniform(-18e3, 18e3, 200):
        drive.advance(p, d, (0.0, 0.0), -pull / NUT_PER_METRE, 1e-3)
        assert (d.rate, d.angle) == (0.0, 0.0)


def test_stop_clutches_coast_then_lock_and_reverse():
    """Without voltage a wheel coasts, exponentially towards -m_Fr/(k_w + c_d), and locks at rest."""
    _, p, d = machine()
    run(d, p, (VOLTAGE, VOLTAGE), 0.0, 1.5)
    coast = run(d, p, (0.0, 0.0), 0.0, 0.5, h=1e-4)
    stop = 0.0678 * log(1.0 + 0.075 / 0.005)
    assert np.argmax(coast == 0.0) * 1e-4 == pytest.approx(stop, rel=0.01)
    assert (coast[-1], *d.direction) == (0.0, 0.0, 0.0)
    assert speed(run(d, p, (-VOLTAGE, -VOLTAGE), 0.0, 1.0)[-1]) == pytest.approx(-1e-3, rel=1e-3)
    assert run(d, p, (VOLTAGE, VOLTAGE), 0.0, 1e-3)[0] >= 0.0


def test_a_weak_motor_stays_locked_under_load():
    _, p, d = machine()
    assert run(d, p, (1.0, 1.0), 0.0, 0.1)[-1] == 0.0, "1 V gives 0.003 N m, friction is 0.005 N m"
    assert run(d, p, (2.0, 2.0), 0.0, 0.1)[-1] > 0.0


@pytest.mark.parametrize("pull", [0.0, 5e3, -5e3])
def test_energy_of_the_drive_closes(pull):
    """Motor work = kinetic energy + losses + work on the load, to rounding; losses never shrink."""
    _, p, d = machine()
    output = last = 0.0
    for k in range(3000):
        voltage = (VOLTAGE, VOLTAGE) if k < 1000 else ((VOLTAGE, 0.0) if k < 2000 else (0.0, 0.0))
        before = d.angle
        drive.advance(p, d, voltage, -pull / NUT_PER_METRE, 1e-3)
        output += pull / NUT_PER_METRE / p.nut_ratio * (d.angle - before)
        assert d.dissipated >= last - 1e-15
        last = d.dissipated
    assert d.work == pytest.approx(drive.kinetic_energy(d) + d.dissipated + output, rel=1e-10)


def test_self_locking_gears_let_no_load_drive():
    """With a load that would drive it the shaft turns as without one; the gears take what that load does."""
    for volts in (VOLTAGE, -VOLTAGE):
        load = -copysign(30.0, volts)
        (_, p, d), (_, _, free), (_, _, loaded) = machine(), machine(), machine()
        lost = 0.0
        for k in range(2000):
            voltage = (volts, volts) if k < 1000 else (0.0, 0.0)
            lost += drive.advance_self_locking(p, d, voltage, load, 1e-3)
            drive.advance(p, free, voltage, 0.0, 1e-3)
            assert drive.advance_self_locking(p, loaded, voltage, -load, 1e-3) == 0.0
        assert d.angle == free.angle != 0.0
        assert abs(loaded.angle) < abs(free.angle)
        assert lost == pytest.approx(-load * d.angle / p.nut_ratio, rel=1e-9)
        assert lost > 0.0


def test_drive_slips_the_brake_against_a_held_probe():
    """At the brake's extension limit the nut stands still and the motors keep running (overload protection)."""
    m, p, d = machine()
    assert axial_train.initialize(m.parameters.axial, m.axial, 0.0) == 0
    h = 1e-3
    for _ in range(40_000):
        m.axial_load.head_force = 18e3
        m.axial_load.drive_travel = (d.angle + 0.5 * h * d.rate) / p.nut_ratio / NUT_PER_METRE
        m.axial_load.drive_rate = d.rate / p.nut_ratio / NUT_PER_METRE
        axial_train.advance(m.parameters.axial, m.axial, m.axial_load, h)
        drive.advance(p, d, (VOLTAGE, VOLTAGE), m.axial.train_force / NUT_PER_METRE, h)
    assert m.axial.rate == 0.0
    assert m.axial.slip < -0.01
    assert speed(d.rate) == pytest.approx(0.702e-3, rel=1e-3)
