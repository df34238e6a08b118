"""Drives and hysteresis in joints: closed forms of run-up, gearbox, brake and loop; balances; an independent solver."""

from math import exp, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.core.component import Component, ComponentError, Instance
from dockfmu.components.manipulator import drive as of_the_arm
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import ModelError, read_text
from dockfmu.components.physics.devices import geared_motor
from tests.components.multibody.random_models import interpreted

WHEEL = """
name = "wheel"
{more}
[bodies.wheel]
mass = 4.0
center = [{arm}, 0, 0]
inertia = [0.2, 0.2, 0.3]
[joints.hinge]
kind = "revolute"
bodies = ["base", "wheel"]
angle = {{ {law} }}
"""
MOTOR = """
[drives.motor]
joint = "hinge"
ratio = 50
inertia = "20 g.m2"
torque_constant = 0.05
resistance = "0.8 Ohm"
voltage_limit = "24 V"
current_limit = "{limit} A"
{more}
"""
STEPS = {"parameters.stepping.micro_tolerance": 0.0}
# 50^2 x 2e-4... of the rotor, at the joint
ROTOR = 50.0**2 * 0.02


def component(text: str) -> Component:
    return interpreted(component_of(read_text(text)))


def wheel(
    motor: str = "", *, law: str = "", more: str = "", arm: float = 0.0, limit: float = 1e3, **values
) -> Instance:
    text = WHEEL.format(more=more, arm=arm, law=law) + MOTOR.format(more=motor, limit=limit)
    return Instance(component(text), **{**STEPS, "parameters.stepping.micro_step": 1e-3, **values})


def run(one: Instance, stop: float, step: float = 0.02, start: float = 0.0) -> None:
    for k in range(round(stop / step)):
        one.step(start + k * step, step)


def balance(one: Instance) -> float:
    audit = one.m.audit
    return float(audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy - audit.work_motors)


def test_run_up_follows_the_characteristic_of_the_motor():
    """J q'' = n K (U - K n q') / R: an exponential with the time constant J R / (n K)^2, J = load + n^2 rotor."""
    one = wheel(**{"drive.motor.command": 24.0})
    tau = (0.3 + ROTOR) * 0.8 / (50 * 0.05) ** 2
    top = 24.0 / (0.05 * 50)
    run(one, 5.0)
    c, d = one.m.coordinate[0], one.m.drive[0]
    assert c.rate == pytest.approx(top * (1.0 - exp(-5.0 / tau)), rel=1e-6)
    assert c.position == pytest.approx(top * (5.0 - tau * (1.0 - exp(-5.0 / tau))), rel=1e-6)
    assert d.motor_rate == pytest.approx(50.0 * c.rate)
    # what the motor gives is kinetic energy; half of what the supply gives is heat at the end of a run-up
    assert balance(one) == pytest.approx(0.0, abs=1e-9 * one.m.audit.work_motors)
    assert one.m.audit.kinetic_energy == pytest.approx(0.5 * (0.3 + ROTOR) * c.rate**2, rel=1e-12)


def test_current_limit_gives_a_constant_acceleration_until_the_characteristic_is_met():
    """With 4 A: n K 4 = 10 N m until U - K w = R 4 A, at w = 416 rad/s of the motor."""
    one = wheel(limit=4.0, **{"drive.motor.command": 24.0, "parameters.stepping.micro_step": 5e-3})
    a = 50 * 0.05 * 4.0 / (0.3 + ROTOR)
    meeting = (24.0 - 0.8 * 4.0) / 0.05 / 50 / a
    run(one, 0.9 * meeting - 0.9 * meeting % 0.02)
    time = 0.9 * meeting - 0.9 * meeting % 0.02
    assert one.m.drive[0].limited == 1.0
    assert one.m.drive[0].current == pytest.approx(4.0)
    assert one.m.coordinate[0].rate == pytest.approx(a * time, rel=1e-9)
    more = 30.0 - 30.0 % 0.02
    run(one, more, start=time)
    left = time + more - meeting
    tau = (0.3 + ROTOR) * 0.8 / (50 * 0.05) ** 2
    top, met = 24.0 / 2.5, a * meeting
    assert one.m.drive[0].limited == 0.0
    # the limit is left within a micro-step
    assert one.m.coordinate[0].rate == pytest.approx(top - (top - met) * exp(-left / tau), rel=1e-4)


def test_reflected_inertia_of_the_gearbox_slows_a_pendulum():
    """m g a q = -(J + n^2 J_m) q'': small swings without current at sqrt(m g a / (J + n^2 J_m))."""
    one = wheel("powered = false", law="start = 1e-4", more="gravity = [9.81, 0, 0]", arm=0.25)
    w = sqrt(4.0 * 9.81 * 0.25 / (0.3 + 4.0 * 0.25**2 + ROTOR))
    run(one, 4.0)
    assert one.m.coordinate[0].position == pytest.approx(1e-4 * np.cos(w * 4.0), abs=1e-9)
    assert balance(one) == pytest.approx(-4.0 * 9.81 * 0.25 * np.cos(1e-4), rel=1e-12)


BRAKED = "braked = true\npowered = false\nbrake_torque = 0.15\nholding_stiffness = 1e3\ndamping = 0.004"


@pytest.mark.parametrize(("load", "holds"), [(3.5, True), (8.0, False)])
def test_brake_holds_to_its_limit_and_slips_beyond(load, holds):
    """0.15 N m x 50 = 7.5 N m at the joint, to which a sudden load may swing; beyond it a constant acceleration.

    Before it slips, the brake gives way by 3 um in 6 ms, in which the joint gains at most 8e-4 rad/s.
    """
    one = wheel(BRAKED.replace("0.004", "0.0"), **{"joint.hinge.angle.drive": load})
    run(one, 2.0)
    c, d = one.m.coordinate[0], one.m.drive[0]
    if holds:
        assert d.held == 1.0
        still = load / (50.0**2 * 1e3)
        assert abs(c.position - still) < 1.001 * still
        assert one.m.audit.dissipated_motors < 1e-3 * load * still
    else:
        assert d.held == 0.0
        assert c.rate == pytest.approx((load - 7.5) / (0.3 + ROTOR) * 2.0, abs=8e-4)
        assert one.m.audit.dissipated_motors == pytest.approx(7.5 * c.position, rel=2e-3)
    assert balance(one) == pytest.approx(one.m.audit.work_drives, rel=1e-9)


def test_brake_stops_a_running_wheel_and_takes_its_energy():
    one = wheel(BRAKED, law="rate = 2.0")
    energy = one.m.audit.kinetic_energy
    # viscous and dry: J q'' = -7.5 - n^2 b q'
    J, viscous = 0.3 + ROTOR, 2500 * 0.004
    stop = J / viscous * np.log(1.0 + viscous * 2.0 / 7.5)
    before = stop - stop % 0.02 - 0.1
    run(one, before)
    dry = 7.5 / viscous
    assert one.m.coordinate[0].rate == pytest.approx((2.0 + dry) * exp(-viscous / J * before) - dry, rel=2e-3)
    run(one, 3.0, start=before)
    assert abs(one.m.coordinate[0].rate) < 1e-3
    assert one.m.audit.dissipated_motors == pytest.approx(energy, rel=1e-3)
    assert balance(one) == pytest.approx(energy, rel=1e-9)


def test_rate_command_is_met_and_position_command_is_reached():
    servo = 'control = "{}"\nrate_gain = 0.5\n{}'
    one = wheel(servo.format("rate", ""), **{"drive.motor.command": 0.4})
    run(one, 2.0)
    # J q'' = n K ((K_B + g) n (0.4 - q')) / R
    tau = (0.3 + ROTOR) * 0.8 / (50**2 * 0.05 * (0.05 + 0.5))
    assert one.m.coordinate[0].rate == pytest.approx(0.4 * (1.0 - exp(-2.0 / tau)), rel=1e-5)
    one = wheel(servo.format("position", 'position_gain = 2.0\nrate_limit = "10 deg/s"\ncommand = "30 deg"'))
    run(one, 2.0)
    # on its way at the limit of the rate
    assert one.m.coordinate[0].rate == pytest.approx(np.radians(10.0) * (1.0 - exp(-2.0 / tau)), rel=1e-4)
    run(one, 8.0, start=2.0)
    # arrived but for what is left of a decay in about half a second
    assert one.m.coordinate[0].position == pytest.approx(np.radians(30.0), rel=1e-3)
    assert balance(one) == pytest.approx(0.0, abs=1e-6 * one.m.audit.work_motors)


def test_elastic_gearbox_equals_an_independent_solver_for_rotor_and_joint():
    """Two equations of motion by an implicit method of high order, a step of voltage: the method is of second order."""
    stiffness, damping = 2000.0, 5.0
    errors = []

    def slopes(t, y):
        q, v, phi, w = y
        tau = stiffness * (phi - q) + damping * (w - v)
        motor = 50 * 0.05 * (12.0 - 0.05 * 50 * w) / 0.8
        return [v, (tau - 30.0 * q) / 0.3, w, (motor - tau - 2500 * 0.001 * w) / ROTOR]

    expected = solve_ivp(slopes, (0, 1.0), [0.1, 0.0, 0.1, 0.0], method="Radau", rtol=1e-10, atol=1e-12).y[:, -1]
    for micro_step in (2e-3, 1e-3):
        one = wheel(
            f"gear_stiffness = {stiffness}\ngear_damping = {damping}\ndamping = 0.001\ncommand = 12",
            law="start = 0.1, stiffness = 30.0",
            **{"parameters.stepping.micro_step": micro_step},
        )
        energy = balance(one)
        run(one, 1.0)
        d, c = one.m.drive[0], one.m.coordinate[0]
        found = [c.position, c.rate, d.angle, d.rate]
        errors.append(np.abs(np.array(found) - expected).max())
        # linear laws at the middle of the micro-step: the balance closes to rounding
        assert balance(one) == pytest.approx(energy, abs=1e-10)
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.3)


def test_a_gearbox_that_is_far_stiffer_than_the_step_is_as_good_as_rigid():
    """1e9 N m/rad on 0.3 kg m2: 6e4 rad/s at a step of 1 ms."""
    rigid = wheel(**{"drive.motor.command": 24.0})
    stiff = wheel("gear_stiffness = 1e9", **{"drive.motor.command": 24.0})
    for one in (rigid, stiff):
        run(one, 1.0)
    assert stiff.m.coordinate[0].rate == pytest.approx(rigid.m.coordinate[0].rate, rel=1e-4)
    assert balance(stiff) == pytest.approx(0.0, abs=1e-6 * stiff.m.audit.work_motors)


def test_a_gearbox_with_play_passes_nothing_within_it_and_its_balance_closes_with_the_step():
    errors = []
    for micro_step in (4e-4, 2e-4):
        one = wheel(
            "gear_stiffness = 2000\nplay = 0.01\ncommand = 12", **{"parameters.stepping.micro_step": micro_step}
        )
        run(one, 0.3)
        errors.append(abs(balance(one)) / one.m.audit.work_motors)
    assert errors[1] < 2e-4
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("torque", [4.0, -4.0])
def test_twin_of_the_arm_losses_of_the_gearbox_are_those_of_the_manipulator(torque):
    """A load that is lifted needs torque / efficiency, one that is lowered gives torque x efficiency (E9)."""
    servo = 'control = "rate"\nrate_gain = 50\nefficiency = 0.7\nholding_stiffness = 1e4\ncommand = {}'
    one = wheel(servo.format(-0.2 if torque > 0 else 0.2), **{"joint.hinge.angle.drive": torque})
    run(one, 1.0)
    lifting = one.m.drive[0].motor_torque * 50
    assert lifting == pytest.approx(-torque / 0.7, rel=1e-3)
    one = wheel(servo.format(0.2 if torque > 0 else -0.2), **{"joint.hinge.angle.drive": torque})
    run(one, 1.0)
    assert one.m.drive[0].motor_torque * 50 == pytest.approx(-torque * 0.7, rel=1e-3)
    load, up, down = of_the_arm.gear_losses(torque / 50, 0.7, 0.0)
    assert (up, down) == geared_motor.gear_friction(torque / 50, 0.7)
    assert load == torque / 50


def test_impulse_of_a_lock_stops_the_rotor_of_a_rigid_gearbox_too():
    lock = '[locks.stop]\njoint = "hinge"\nat = 0.5\n'
    one = wheel("powered = false", law="rate = 1.0", more="")
    text = WHEEL.format(more="", arm=0.0, law="rate = 1.0") + MOTOR.format(more="powered = false", limit=10) + lock
    one = Instance(component(text))
    run(one, 1.0)
    assert one.m.lock[0].closed == 1.0
    assert one.m.lock[0].impulse == pytest.approx(-(0.3 + ROTOR), rel=1e-9)
    assert one.m.lock[0].loss == pytest.approx(0.5 * (0.3 + ROTOR), rel=1e-9)


LOOP = "hysteresis = {{ stiffness = 400.0, range = 0.2, loss = {loss}, ratio = 3.0 }}"


def swung(loss: float, **more) -> Instance:
    """Return a hinge that a motion carries to 0.2 rad and back to zero slowly, held by a stiff servo."""
    text = WHEEL.format(more="", arm=0.0, law=LOOP.format(loss=loss) + ", damping = 4.0")
    return Instance(component(text), **{**STEPS, "parameters.stepping.micro_step": 1e-3, **more})


@pytest.mark.parametrize("loss", [0.1, 0.3])
def test_spec03_area_of_the_hysteresis_loop_of_a_joint(loss):
    """A force that rises and falls slowly: what is lost is `loss` times the work of loading, k X^2 / 2."""
    one = swung(loss)
    c = one.m.coordinate[0]
    top = 400.0 * 0.2
    for k in range(400):
        share = 1.0 - abs(k / 200.0 - 1.0)
        c.drive = top * share
        one.step(0.01 * k, 0.01)
    one.m.coordinate[0].drive = 0.0
    run(one, 1.0, start=4.0)
    assert c.position == pytest.approx(0.0, abs=2e-3)
    assert one.m.audit.dissipated_hysteresis == pytest.approx(loss * 0.5 * 400.0 * 0.2**2, rel=0.03)
    assert balance(one) == pytest.approx(one.m.audit.work_drives, abs=1e-9)


def test_a_loop_without_loss_is_a_spring():
    loop = swung(0.0, **{"parameters.joint.hinge.angle.start_rate": 1.0})
    spring = Instance(
        component(WHEEL.format(more="", arm=0.0, law="stiffness = 400.0, damping = 4.0, rate = 1.0")),
        **{**STEPS, "parameters.stepping.micro_step": 1e-3},
    )
    for one in (loop, spring):
        run(one, 0.2)
    # about a reversal the segment of one micro-step may be that between the branches, three times as steep
    assert loop.m.coordinate[0].position == pytest.approx(spring.m.coordinate[0].position, rel=1e-4)


def test_free_swings_on_a_hysteretic_spring_lose_their_energy_and_the_balance_closes():
    text = WHEEL.format(more="", arm=0.0, law=LOOP.format(loss=0.3) + ", start = 0.15")
    one = Instance(component(text), **STEPS, **{"parameters.stepping.micro_step": 1e-3})
    energy = balance(one)
    # on the loading branch of 400 N m/rad; unloading gives back less
    assert energy < 0.5 * 400.0 * 0.15**2
    run(one, 1.0)
    assert one.m.audit.dissipated_hysteresis > 0.5 * energy
    assert balance(one) == pytest.approx(energy, abs=1e-9)


def test_a_state_saved_with_drives_and_loops_continues_bitwise():
    text = WHEEL.format(more="", arm=0.0, law=LOOP.format(loss=0.3) + ", start = 0.15")
    text += MOTOR.format(more="gear_stiffness = 3000\nfriction = 0.01\nholding_stiffness = 1e3\ncommand = 3", limit=10)
    one, other = Instance(component(text)), Instance(component(text))
    run(one, 0.2)
    other.block[:] = one.block
    for instance in (one, other):
        run(instance, 0.2, start=0.2)
    assert one.m.coordinate[0].position == other.m.coordinate[0].position
    assert one.m.drive[0].angle == other.m.drive[0].angle


def test_what_is_wrong_with_drives_and_loops_is_said_all_at_once():
    text = WHEEL.format(more="", arm=0.0, law="hysteresis = { stiffness = 4, range = 0.2, loss = 0.9, play = 0.3 }")
    text += """
[drives.one]
joint = "hing"
inertia = "3 kg"
efficiency = 1.2
friction = 0.1
rate_gain = 3.0
play = 0.1
[drives.two]
joint = "hinge"
control = "position"
inertia = 1e-4
torque_constant = 0.1
resistance = 1.0
voltage_limit = 24
current_limit = -2.0
"""
    with pytest.raises(ModelError) as error:
        read_text(text)
    said = "\n".join(error.value.problems)
    for what in (
        "joints.hinge.angle.hysteresis.play = 0.3: must be 0 or more, and less than the range, 0.2 rad",
        "joints.hinge.angle.hysteresis.loss = 0.9: must be from 0 to 0.4704, the largest with this ratio and common",
        "drives.one.joint: there is no joint 'hing'; did you mean hinge?",
        "drives.one.inertia = '3 kg': units",
        "drives.one.torque_constant: is missing",
        "drives.one.efficiency = 1.2: must be from 0.01 to 1",
        "drives.one.holding_stiffness: is missing: friction holds on it before it slips, in N.m/rad",
        "drives.one.rate_gain = 3.0: belongs to control = 'rate' or 'position'",
        "drives.one.play = 0.1: belongs to an elastic gearbox",
        "drives.two.rate_gain: is missing: control = 'position' needs it",
        "drives.two.position_gain: is missing: control = 'position' needs it",
        "drives.two.current_limit = -2.0: must be positive",
    ):
        assert what in said, what


def test_the_view_shows_the_torque_of_a_drive_and_whether_its_brake_holds():
    made = component_of(read_text(WHEEL.format(more="", arm=0.0, law="") + MOTOR.format(more=BRAKED, limit=10)))
    (panel,) = (panel for panel in made.scene["devices"] if panel["title"] == "Drives")
    named = {item["variable"] for item in panel["items"]}
    assert named == {"drive.motor.torque", "drive.motor.held"}
    assert named <= {slot.name for slot in made.record.slots if slot.field.public}


def test_a_law_that_a_parameter_makes_impossible_is_refused_by_name():
    with pytest.raises(ComponentError, match=r"hysteresis of joint hinge.angle: "):
        swung(0.1, **{"parameters.joint.hinge.angle.hysteresis_range": -1.0})
    one = wheel()
    one.m.drive[0].command = np.nan
    with pytest.raises(ComponentError, match="drive motor: the input command = nan is not finite"):
        one.step(0.0, 0.01)
