"""Laws of the legs against closed forms and equations written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.record import Record
from dockfmu.components.physics.ring_on_legs import train
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import force_controlled, hydraulic
from tests.components.peripheral_mechanism.platforms import Platform, machine

pytestmark = pytest.mark.slow

AT_IP = {"parameters.initial_stroke": 0.14, "parameters.legs.initial_stroke": 0.14}


@pytest.fixture(scope="module")
def oil():
    return Record(hydraulic.PARAMETERS).memory().attenuators


def test_orifice_law(oil):
    """f = (rho/2) A^3 / (C_d a)^2 v |v|: in compression by the metered area, in extension by the other."""
    constant = 0.5 * 870.0 * 2e-4**3 / 0.7**2
    assert hydraulic.orifice(oil, 0.06, -0.1) == pytest.approx(constant / 4.2e-7**2 * 0.01, rel=1e-12)
    assert hydraulic.orifice(oil, 0.09, -0.2) == pytest.approx(constant / (0.5 * (4.2e-7 + 3.7e-7)) ** 2 * 0.04)
    assert hydraulic.orifice(oil, 0.09, 0.2) == pytest.approx(-constant / 2e-6**2 * 0.04)
    assert hydraulic.orifice(oil, 0.5, -0.1) == hydraulic.orifice(oil, 0.24, -0.1)


def test_one_strut_stops_a_mass_as_the_closed_form(oil):
    """m v' = -K v^2 from v_0: v = v_0 / (1 + K v_0 t / m), integrated with the kernel's force."""
    mass, v0 = 900.0, 0.1
    K = hydraulic.orifice(oil, 0.0, -1.0)
    ends = solve_ivp(
        lambda _, v: -hydraulic.orifice(oil, 0.0, -v[0]) / mass, (0.0, 2.0), [v0], rtol=1e-10, atol=1e-14
    ).y[0, -1]
    assert ends == pytest.approx(v0 / (1.0 + K * v0 * 2.0 / mass), rel=1e-7)


def test_train_laws():
    assert train.friction(20.0, 5e-3, 1.0) == pytest.approx(-20.0, rel=1e-4)
    assert train.friction(20.0, 5e-3, -5e-3) == pytest.approx(20.0 / np.sqrt(2.0))
    assert train.stop(1e5, 500.0, 0.0, 1.0) == 0.0
    assert train.stop(1e5, 500.0, 1e-3, 0.1) == pytest.approx(150.0)
    assert train.stop(1e5, 500.0, 1e-3, -1.0) == 0.0
    assert train.stop_loss(1e5, 1e-3, 150.0, 0.1) == pytest.approx(5.0)


def test_ring_on_attenuators_against_an_independent_integrator():
    """Oil and springs alone, thrown inward with a twist: multipliers in maximal coordinates, by DOP853.

    The forces of the legs are written here once more from the parameters.
    """
    area = 3e-7
    values = {
        **AT_IP, "parameters.attenuators.seal_friction": 0.0, "parameters.attenuators.preload": 60.0,
        "parameters.attenuators.metered_area": np.full(5, area), "parameters.attenuators.return_area": 2 * area,
    }  # fmt: skip
    start = np.array([0.4344657138, 0, 0, 1, 0, 0, 0, -0.3, 0.1, -0.05, 0.2, 0.3, -0.2])
    reference = machine(Platform(nut_inertia=0.0).p)
    for leg in reference.legs:
        leg.ratio = 1e6  # a rod that slides freely: its torque is a millionth of its force

    def slope(_, y):
        w, v, spin, zero = y[3], y[4:7], y[10:], np.zeros(3)
        A = Rotation.from_quat([*v, w]).as_matrix()
        turn = A @ spin
        force = []
        for leg in reference.legs:
            s = y[:3] + A @ leg.upper - leg.lower
            length = np.linalg.norm(s)
            rate = s @ (y[7:10] + np.cross(turn, A @ leg.upper)) / length
            opening = 2 * area if rate > 0 else area
            oil = -0.5 * 870.0 * 2e-4 * (2e-4 / (0.7 * opening)) ** 2 * rate * abs(rate)
            force.append(60.0 + 150.0 * (0.24 - (length - 0.4)) + oil)
        a, _, _ = reference.accelerate(y[:3], A, y[7:10], turn, zero, zero, np.array(force) / 1e6)
        return np.concatenate(
            [y[7:10], 0.5 * np.array([-v @ spin, *(w * spin + np.cross(v, spin))]), a[:3], A.T @ a[3:]]
        )

    found = solve_ivp(slope, (0.0, 0.3), start, method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]

    poses, _ = reference.bodies(start[:3], np.eye(3))
    v = reference.twists(poses, start[7:10], start[10:])
    energy = 0.5 * v @ reference.mass(poses) @ v + 6 * (60.0 * 0.1 + 0.5 * 150.0 * 0.1**2)

    def error(micro):
        sizes = {"parameters.micro_step": micro, "parameters.longest_micro_step": micro}
        i = Instance(component("hydraulic"), **values, **sizes)
        m, s = i.m, i.m.ring_state
        s.velocity[:], s.angular_velocity[:] = start[7:10], start[10:]
        for k in range(300):
            i.step(k * 1e-3, 1e-3)
        balance = m.audit.kinetic_energy + m.audit.stored_energy + m.audit.dissipated_energy
        ring = np.concatenate([m.hexapod.ring.position, s.quaternion, s.velocity, s.angular_velocity])
        return np.abs(ring - found).max(), balance, m.audit.dissipated_orifices

    (coarse, _, _), (fine, balance, lost) = error(2.5e-4), error(6.25e-5)
    assert fine < 5e-6
    assert coarse / fine > 8.0
    assert lost > 1.0
    # what the craft's ring had at first it has lost in the oil, or has in springs and motion
    assert abs(balance - energy) < 5e-3 * lost


def test_the_ring_stays_where_its_springs_hold_it():
    """At the forward position the stops carry the preload: nothing moves, and nothing is lost."""
    i = Instance(component("hydraulic"))
    for k in range(200):
        i.step(k * 1e-3, 1e-3)
    assert i.m.leg[0].stroke == pytest.approx(0.24, abs=1e-9)
    assert i.m.audit.dissipated_energy == pytest.approx(0.0, abs=1e-12)
    i = Instance(component("geared"))
    for k in range(200):
        i.step(k * 1e-3, 1e-3)
    assert i.m.leg[0].stroke == pytest.approx(0.19, abs=1e-9)
    assert np.abs([shaft.angle for shaft in i.m.shaft]).max() < 1e-6


def test_the_rigid_spring_bears_beyond_its_compression():
    """Force and energy of a leg 60 mm deep, 40 mm of them in the rigid spring; the balance closes while it extends."""
    values = {"parameters.attenuators.rigid_stiffness": 2e4, "parameters.attenuators.rigid_compression": 0.02}
    i = Instance(component("hydraulic"), **values, **{"parameters.initial_stroke": 0.18})
    stored = 6 * (60.0 * 0.06 + 0.5 * 150.0 * 0.06**2 + 0.5 * 2e4 * 0.04**2)
    assert i.m.audit.stored_energy == pytest.approx(stored, rel=1e-12)
    i.step(0.0, 1e-6)
    assert i.m.leg[0].force == pytest.approx(60.0 + 150.0 * 0.06 + 2e4 * 0.04, rel=1e-3)
    for k in range(100):
        i.step(1e-6 + k * 1e-3, 1e-3)
    balance = i.m.audit.kinetic_energy + i.m.audit.stored_energy + i.m.audit.dissipated_energy
    assert i.m.audit.dissipated_orifices > 1.0
    assert balance == pytest.approx(stored, rel=5e-3)


def thrown(gain, duration, speed=-0.2, **motors):
    """A ring thrown along its axis against a soft spring of its legs: [position, velocity, sensed force] in time."""
    values = {
        "parameters.control.gain": gain, "parameters.control.capture_stiffness": 300.0,
        "parameters.control.capture_damping": 150.0, "parameters.control.capture_force": 1e3,
        "parameters.control.lunge_speed": 0.0, "parameters.motors.stall_force": 1e5,
        "parameters.motors.free_speed": 1e3, "parameters.longest_micro_step": 2.5e-4, **motors,
    }  # fmt: skip
    i = Instance(component("force_controlled"), **values)
    i.m.ring_state.velocity[0] = speed
    for e in i.m.servo.leg:
        e.rate = speed * 0.4344657138 / 0.54
    rows = []
    for n in range(round(duration * 1e3)):
        i.step(n * 1e-3, 1e-3)
        rows.append([i.m.link[0].position[0], i.m.link[0].velocity[0], i.m.leg[0].sensed_force])
    return np.array(rows).T, i.m


def test_force_loop_against_equations_of_one_leg():
    """Legs of an aligned ring move alike: M x'' = sum of their forces along the axis, with the sensors' filters.

    M without the nuts is that of the ring at its start; it changes by a percent over the way.
    """
    gain, duration = 3.0, 0.3
    (x, v, sensed), m = thrown(gain, duration)
    mass = float(
        Instance(component("force_controlled"), **{"parameters.legs.nut_inertia": 0.0}).m.hexapod.inertia[0, 0]
    )
    nut = 2e-4 * (2 * np.pi / 0.02) ** 2
    across = 2 * 0.6 * np.sin(np.radians(31.0) / 2)

    def slope(_, y):
        length = np.hypot(y[0], across)
        lean = y[0] / length
        rate = lean * y[1]
        want = -300.0 * (length - 0.54) - 150.0 * rate
        total = want + gain * (want - y[2]) - 40.0 * rate / np.hypot(rate, 5e-3)
        turning = (1 - lean**2) * y[1] ** 2 / length  # of the stroke without acceleration of the ring
        a = 6 * lean * (total - nut * turning) / (mass + 6 * nut * lean**2)
        return [y[1], a, (total - nut * (lean * a + turning) - y[2]) / 5e-3]

    t = 1e-3 * np.arange(1, len(x) + 1)
    known = solve_ivp(slope, (0.0, duration), [0.4344657138, -0.2, 0.0], t_eval=t, rtol=1e-9, atol=1e-12).y
    assert np.abs(x - known[0]).max() < 0.01 * np.ptp(known[0])
    assert np.abs(v - known[1]).max() < 0.01 * np.ptp(known[1])
    assert np.abs(sensed - known[2])[20:].max() < 0.03 * np.ptp(known[2])
    assert m.audit.dissipated_friction > 0.1


def test_the_loop_adds_its_gain_times_the_error_of_the_force():
    """Motor = demand + gain (demand - sensed): no time passes here, and each leg has a reading of its own."""
    i = Instance(component("force_controlled"), **{"parameters.control.gain": 2.5})
    i.m.ring_state.velocity[0] = -0.2
    for k, e in enumerate(i.m.servo.leg):
        e.sensed = 3.0 + k
        e.rate = -0.2 * 0.4344657138 / 0.54
    i.step(0.0, 1e-9)
    demand = 200.0 * 0.2 * 0.4344657138 / 0.54
    for k, leg in enumerate(i.m.leg):
        assert leg.motor_force == pytest.approx(demand + 2.5 * (demand - 3.0 - k), rel=1e-6)


def test_cables_pull_with_the_drums_of_the_middle_of_a_micro_step():
    """Drums that turn for half a micro-step pull as those that stand where these get to."""
    m = Instance(component("hydraulic")).m
    ratio, h = m.parameters.drive.nut_ratio, 1e-3
    m.motor.angle, m.motor.rate = 6.0 * ratio, 2.0 * ratio
    hydraulic.drive(m, h, 0.0)
    turning = [float(cable.tension) for cable in m.cable]
    m.motor.angle += 0.5 * h * m.motor.rate
    hydraulic.drive(m, 0.0, 0.0)
    assert turning == pytest.approx([cable.tension for cable in m.cable], rel=1e-12)
    assert min(turning) > 1.5 * m.parameters.cables.spring_tension


def test_force_loop_makes_friction_and_nuts_smaller():
    """With a large gain the ring moves more like one without friction and nuts, as far as the filter lets it."""
    free, _ = thrown(0.0, 0.3, **{"parameters.motors.friction": 0.0, "parameters.legs.nut_inertia": 0.0})
    looped, _ = thrown(9.0, 0.3, **{"parameters.control.sensor_time": 4e-3})
    plain, _ = thrown(0.0, 0.3)
    assert np.abs(looped[0] - free[0]).max() < 0.5 * np.abs(plain[0] - free[0]).max()


def test_force_limits_and_modes():
    """Soft before capture and firm after it, each within its limit; a motor gives less the faster it runs."""
    p = Record(*force_controlled.PARAMETERS).memory()
    assert force_controlled.wanted(p.control, 0.0, 0.01, 0.0) == pytest.approx(-20.0)
    assert force_controlled.wanted(p.control, 0.0, 0.0, -10.0) == 150.0
    assert force_controlled.wanted(p.control, 1.0, 0.0, -0.1) == pytest.approx(500.0)
    assert force_controlled.wanted(p.control, 1.0, 0.0, -1.0) == 600.0
    assert force_controlled.motor(p.motors, 1e4, 0.2) == pytest.approx(750.0)
    assert force_controlled.motor(p.motors, 1e4, -0.2) == 1500.0
    assert force_controlled.motor(p.motors, 1e4, 0.5) == 0.0


@pytest.mark.parametrize(
    ("legs", "values", "words"),
    [
        ("hydraulic", {"parameters.attenuators.metered_compression[3]": 0.05}, r"metered_compression\[3\] = 0.05 m"),
        ("hydraulic", {"parameters.legs.retracted_length": 0.3}, "parameters.legs.retracted_length"),
        ("hydraulic", {"parameters.initial_stroke": 0.3}, "parameters.legs.stroke"),
        ("geared", {"parameters.shafts.lower_stop[2]": 1.0}, r"shafts.lower_stop\[2\]"),
        ("geared", {"parameters.legs.hand[2]": 0.5}, r"hand\[2\]"),
        (
            "geared",
            {"parameters.shafts.retraction": 59.0},
            "shafts.retraction = 59 rad is less than the rotation 59.69 rad",
        ),
        ("force_controlled", {"parameters.legs.initial_stroke": 0.3}, r"parameters.legs.initial_stroke\) = 0.3 m"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(legs, values, words):
    with pytest.raises(ComponentError, match=words):
        Instance(component(legs), **values)


def test_inputs_that_are_not_valid_are_refused():
    i = Instance(component("hydraulic"))
    i.m.base.velocity[1] = np.nan
    with pytest.raises(ComponentError, match="port 1"):
        i.step(0.0, 1e-3)
    i = Instance(component("hydraulic"))
    with pytest.raises(ComponentError, match="step_limit"):
        i.step(0.0, 0.1)


def test_an_unknown_law_is_refused():
    with pytest.raises(ValueError, match="hydraulic"):
        component("magnetic")
