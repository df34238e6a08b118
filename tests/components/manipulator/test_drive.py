"""Motor, friction, gearbox and servo of one joint: closed forms, and an independent solver with events."""

from math import copysign

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.manipulator import drive, servo
from tests.components.manipulator.arms import instance, run

J, K, R, TAU = 4e-4, 0.2, 2.0, 1e-3
MOTOR = (J, K, K, R, TAU, 0.0, 10.0)
h = 5e-4


def test_spec08_oracle_O15_step_of_the_motor():
    rate, torque, limited = drive.step_motor(10.0, 0.3, 5.0, 0.25, (0.02, 0.02), h, MOTOR)
    assert (rate, torque, limited) == (pytest.approx(10.0371901, abs=1e-7), pytest.approx(0.29975207, abs=1e-7), False)
    assert h * rate == pytest.approx(0.00501860, abs=1e-8)


def test_spec08_oracle_O16_step_of_the_saturated_motor():
    data = (*MOTOR[:-1], 1.0)
    for sign in (1.0, -1.0):
        rate, torque, limited = drive.step_motor(
            sign * 10.0, sign * 0.99, sign * 500.0, sign * 0.25, (0.02, 0.02), h, data
        )
        assert (rate, torque, limited) == (pytest.approx(sign * 10.9125, abs=1e-9), sign * 1.0, True)


def test_spec08_oracle_O17_steady_state_stall_and_time_constant():
    rate, torque = 0.0, 0.0
    for _ in range(4000):
        rate, torque, _ = drive.step_motor(rate, torque, 5.0, 0.25, (0.02, 0.02), h, MOTOR)
    assert rate == pytest.approx((5.0 - R * (0.02 + 0.25) / K) / K, rel=1e-9)
    torque = 0.0
    for _ in range(400):
        _, torque, _ = drive.step_motor(0.0, torque, 5.0, 0.0, (1e9, 1e9), h, MOTOR)
    assert torque == pytest.approx(K * 5.0 / R, rel=1e-9)
    assert pytest.approx(0.020) == J * R / (K * K)


def test_a_motor_that_stands_stays_within_its_friction():
    """Dry friction of any sign holds; beyond it the motor starts against the difference."""
    for load in (-0.7, 0.7):
        assert drive.step_motor(0.0, 0.0, 0.0, load, (0.72, 0.72), h, MOTOR)[0] == 0.0
        slipping = drive.coast(0.0, load, (0.5, 0.5), h, J, 0.0)
        assert slipping == pytest.approx(-copysign(0.2, load) * h / J)
    # it comes to rest and does not go back
    rate = 1e-3
    for _ in range(10):
        rate = drive.coast(rate, 0.0, (0.02, 0.02), h, J, 0.0)
    assert rate == 0.0


RATIO, STIFFNESS, PLAY = 1842.0, 1e6 / 1842.0**2, 0.5


def test_spec08_oracle_O18_step_of_the_gearbox():
    inertia, damping, articulated, load = 2e-6, 0.002, 4000.0, -300.0
    omega, phi, motor_rate = 9.0, 0.0, 9.9
    motor_angle = 1.2 + h * motor_rate
    torque, tangent = drive.gear_law(1.2, STIFFNESS, PLAY, 0.5 * STIFFNESS * PLAY)
    assert torque == pytest.approx(0.2799912, abs=1e-7)
    predicted = drive.predicted_torque((torque, tangent), motor_angle, motor_rate, phi, omega, 1.2, damping, h)
    armature = RATIO**2 * (inertia + h * (damping + h * tangent))
    qdd = (load + RATIO * predicted) / (articulated + armature)
    change = h * RATIO * qdd
    assert qdd == pytest.approx(0.0546833, abs=1e-7)
    assert omega + change == pytest.approx(9.0503634, abs=1e-6)
    assert phi + h * (omega + change) == pytest.approx(0.00452518, abs=1e-8)
    assert predicted - (h * tangent + damping) * change == pytest.approx(0.2818157, abs=1e-7)
    # the motor-side form of the same step: implicit Euler of one body on the linearised gear
    total = inertia + articulated / RATIO**2
    other = h * (load / RATIO + predicted) / (total + h * damping + h * h * tangent)
    assert change == pytest.approx(other, rel=1e-12)


def test_motor_and_joint_turned_by_one_angle_predict_the_same_torque():
    """Only the wind-up between the two sides of the gearbox counts, not where they stand."""
    law = drive.gear_law(1.2, STIFFNESS, PLAY, 0.5 * STIFFNESS * PLAY)
    still, turned = (drive.predicted_torque(law, 1.2 + x, 9.9, x, 9.0, 1.2, 0.002, h) for x in (0.0, 0.75))
    assert turned == pytest.approx(still, rel=1e-12)


@pytest.mark.slow
def test_spec08_oracle_O19_static_windup_of_a_loaded_gearbox():
    """Brakes on, the payload pulled: every gear winds up to the torque that it carries, beyond its backlash."""
    arm = instance(
        **{
            "command.mode": 5,
            "parameters.motor.brake": 100.0,
            "parameters.compliance.decrement": 2.0,
            "parameters.gear.damping_ratio": 0.8,
        }
    )
    pull = np.array([0.0, 60.0, 40.0])
    arm.m.payload.force[:] = pull
    run(arm, 120.0, 4e-3)
    m = arm.m
    assert abs(np.array(m.payload.velocity)).max() < 1e-4
    fixture = np.array(m.sensed.point[7]) + np.array(m.sensed.gripper).T @ np.array(m.tip.deflection)
    force = np.array(m.sensed.gripper).T @ np.array(m.tip.force)
    torque = np.array(m.sensed.gripper).T @ np.array(m.tip.torque)
    for k in range(1, 7):
        lever = fixture - np.array(m.sensed.point[k])
        load = np.array(m.sensed.axis[k]) @ (torque + np.cross(lever, force))
        T = -load / RATIO
        law = drive.gear_law(m.joint[k].windup, STIFFNESS, PLAY, 0.5 * STIFFNESS * PLAY)
        assert law[0] == pytest.approx(T, abs=2e-4)
        if abs(T) > 0.5 * STIFFNESS * PLAY:
            expected = copysign(PLAY + (abs(T) - 0.5 * STIFFNESS * PLAY) / STIFFNESS, T)
            assert m.joint[k].windup == pytest.approx(expected, abs=2e-3)


def test_spec08_oracle_O20_law_of_the_gearbox():
    delta = np.linspace(-2.0, 2.0, 4001)
    play_torque = 0.5 * STIFFNESS * PLAY
    law = np.array([drive.gear_law(d, STIFFNESS, PLAY, play_torque) for d in delta])
    np.testing.assert_allclose(law[:, 0], -law[::-1, 0], atol=1e-12)
    assert (np.diff(law[:, 0]) > -1e-15).all()
    assert drive.gear_law(0.0, STIFFNESS, PLAY, play_torque) == (0.0, 0.0)
    for side in (-1.0, 1.0):
        below = drive.gear_law(side * (PLAY - 1e-13), STIFFNESS, PLAY, play_torque)
        above = drive.gear_law(side * (PLAY + 1e-13), STIFFNESS, PLAY, play_torque)
        np.testing.assert_allclose(below, above, atol=1e-12)
    # torque and tangent are derivatives of the energy
    energy = np.array([drive.gear_energy(d, STIFFNESS, PLAY, play_torque) for d in delta])
    np.testing.assert_allclose(np.gradient(energy, delta)[1:-1], law[1:-1, 0], atol=1e-6)
    np.testing.assert_allclose(np.gradient(law[:, 0], delta)[1:-1], law[1:-1, 1], atol=2e-3)


def test_losses_of_the_gear_oppose_the_flow_of_power():
    """manipulator E9: the printed law gives the motor more than the load puts in."""
    for torque, rate, expected in ((0.5, 1.0, 0.625), (0.5, -1.0, 0.4), (-0.5, 1.0, -0.4), (-0.5, -1.0, -0.625)):
        load, up, down = drive.gear_losses(torque, 0.8, 1)
        assert load + (up if rate > 0 else -down) == pytest.approx(expected)
    assert drive.gear_losses(-0.5, 0.8, 2) == (-0.625, 0.0, 0.0)


def test_a_loaded_motor_stands_between_driving_and_being_driven():
    """Neither the loss of driving nor that of being driven moves it: no creep at the torque limit."""
    load, up, down = drive.gear_losses(0.5, 0.8, 1)
    for torque, moves in ((0.62, 0), (0.63, 1), (0.41, 0), (0.39, -1)):
        rate = drive.coast(0.0, load - torque, (up, down), h, J, 0.0)
        assert np.sign(rate) == moves


def test_codes_are_quantized():
    assert servo.quantized(0.0126, 0.005) == pytest.approx(0.015)
    assert servo.quantized(-0.0126, 0.005) == pytest.approx(-0.015)
    assert servo.quantized(0.0126, 0.0) == 0.0126


class JointReference:
    """One joint with its motor as ordinary differential equations, which switch where the motor stops and starts.

    State: motor angle, motor rate, motor torque, input angle, input rate; a link of constant inertia.
    """

    def __init__(self, m, inertia):
        p = m.parameters
        self.J, self.friction, self.viscous = p.motor.inertia[3], p.motor.friction[3], p.motor.damping[3]
        self.k, self.B, self.T = m.drive[3].stiffness, p.gear.play[3], m.drive[3].play_torque
        self.c, self.inertia = m.drive[3].damping, p.gear.inertia[3] + inertia / p.gear.ratio[3] ** 2

    def gear(self, y):
        delta = y[0] - y[3]
        size = abs(delta)
        T = self.T * (size / self.B) ** 2 if size < self.B else self.k * (size - self.B) + self.T
        return copysign(T, delta) + self.c * (y[1] - y[4])

    def rates(self, t, y, voltage, sense):
        T = self.gear(y)
        motor = 0.0
        if sense:
            motor = (y[2] - T - sense * self.friction - self.viscous * y[1]) / self.J
        return [y[1], motor, (-y[2] + K / R * (voltage - K * y[1])) / TAU, y[4], T / self.inertia]

    def run(self, voltages, period):
        """States at the end of each period of `voltages`: (voltage, number of periods)."""

        def stops(t, y, *_):
            return y[1]

        def starts(t, y, *_):
            return abs(y[2] - self.gear(y)) - self.friction

        stops.terminal = starts.terminal = True
        out, t, y = [], 0.0, np.zeros(5)
        for voltage, count in voltages:
            grid = t + period * np.arange(1, count + 1)
            sense = np.sign(y[1])
            while t < grid[-1]:
                if not sense and starts(t, y) >= -1e-12:
                    sense = np.sign(y[2] - self.gear(y))
                    y[1] = 1e-8 * sense  # off zero, which would count as a stop
                wanted = grid[grid > t + 1e-12]
                found = solve_ivp(
                    self.rates,
                    (t, grid[-1]),
                    y,
                    "Radau",
                    t_eval=wanted,
                    rtol=1e-9,
                    atol=1e-11,
                    events=[stops if sense else starts],
                    args=(voltage, sense),
                    dense_output=True,
                )
                out += list(np.reshape(found.y, (5, -1)).T)
                t = found.t_events[0][0] if found.status == 1 else grid[-1]
                y = found.sol(t)
                if found.status == 1 and sense:
                    y[1], sense = 0.0, 0.0
        return np.array(out)


@pytest.mark.slow
def test_links_get_the_torque_that_the_gear_has_at_the_end_of_the_step():
    """Torque over acceleration of a single free joint is the inertia of what it moves, whatever the step: gear and link
    are one backward Euler step. The gear's stiffness adds h^2 k to the equations, 5e-4 of the inertia at 4 ms."""
    inertia = []
    for step in (1e-6, 4e-3):
        arm = instance(
            "SSRMS",
            "MIM-1",
            **{"parameters.joint.locked": (1, 1, 1, 0, 1, 1, 1), "parameters.micro_step": 4e-3, "command.mode": 7},
        )
        m = arm.m
        m.compliance.stiffness[:] = 0.0
        m.compliance.damping[:] = 0.0
        m.clock.until_inner = 1.0
        m.drive[3].motor_angle += 3.0 * PLAY
        arm.step(0.0, step)
        inertia.append(RATIO * m.drive[3].gear_torque / m.arm[4].qdd)
    assert inertia[1] == pytest.approx(inertia[0], rel=1e-6)
    stiffness = m.drive[3].tangent * RATIO**2
    assert (4e-3) ** 2 * stiffness > 1e-4 * inertia[0]


@pytest.mark.slow
def test_one_joint_against_an_independent_solver_with_events():
    """Motor, friction and backlash of the elbow, all else locked, the payload let go: errors fall with the step.

    The voltage steps up, down and through zero, so that the backlash is crossed and the motor stands for a while.
    """
    voltages = [(volt, 150) for volt in (8.0, -3.0, 0.0, -8.0, 4.0, 0.0)]
    period, errors = 1e-3, []
    for micro in (5e-4, 1.25e-4):
        arm = instance(
            "SSRMS",
            "MIM-1",
            **{
                "parameters.joint.locked": (1, 1, 1, 0, 1, 1, 1),
                "parameters.micro_step": micro,
                "command.mode": 7,
                "parameters.gear.efficiency": 1.0,
                "parameters.servo.outer_period": 1.0,
                "parameters.servo.inner_period": 0.1,
                "parameters.initial.angle": (0, 0.5, -0.6, 0.0, -1.0, -0.4, 0.3),
            },
        )
        m = arm.m
        # the payload hangs on nothing; a constant inertia is left: the links beyond the elbow, locked to each other
        inertia = 0.0
        for k in range(4, 8):
            turn = np.array(m.arm[k].rotation).T
            mass, moment = m.arm[k].mass, turn @ np.array(m.arm[k].moment)
            about = turn @ (np.triu(m.arm[k].inertia) + np.triu(m.arm[k].inertia, 1).T) @ turn.T
            axis = np.array(m.arm[4].rotation)[1]
            arm_ = np.array(m.arm[k].position) - np.array(m.arm[4].position)
            across = np.cross(axis, arm_)
            inertia += axis @ about @ axis + mass * across @ across + 2 * across @ np.cross(axis, moment)
        m.compliance.stiffness[:] = 0.0
        m.compliance.damping[:] = 0.0
        reference = JointReference(m, inertia)
        rows = []
        for k, voltage in enumerate(v for v, count in voltages for _ in range(count)):
            m.clock.until_inner = 1.0
            m.drive[3].voltage = voltage
            arm.step(k * period, period)
            rows.append([m.joint[3].motor_rate, m.joint[3].windup, m.joint[3].rate * RATIO])
        rows = np.array(rows)
        if micro == 5e-4:
            truth = reference.run(voltages, period)
            truth = np.column_stack([truth[:, 1], truth[:, 0] - truth[:, 3], truth[:, 4]])
            assert np.ptp(truth[:, 1]) > 2 * PLAY
        errors.append(np.abs(rows - truth).max(axis=0) / np.ptp(truth, axis=0))
    assert errors[0].max() < 0.03
    assert (errors[1] < 0.4 * errors[0]).all()


def test_brake_holds_a_joint_on_its_gear_alone():
    """Below its torque the brake lets the motor stand; the link moves by the gear's give, not more."""
    arm = instance(**{"command.brake": 1, "command.mode": 6})
    arm.m.payload.force[1] = 20.0
    rows = run(arm, 20.0, 2e-3, lambda m: [d.motor_angle for d in m.drive])
    assert (np.ptp(rows, axis=0) == 0.0).all()
    assert max(abs(j.windup) for j in arm.m.joint) > 0.1


@pytest.mark.slow
def test_limp_arm_follows_the_payload():
    """Without current the joints give way to a thrust on the payload: friction alone resists."""
    pushed = {}
    for mode in (4, 6):
        arm = instance(**{"command.mode": mode})
        arm.m.payload.force[0] = -30.0
        run(arm, 20.0, 2e-3)
        pushed[mode] = np.linalg.norm(
            np.array(arm.m.relative.position) - np.array([16.00556710, 2.12484318, -1.96825072])
        )
        assert all(j.motor_torque == 0.0 for j in arm.m.joint) == (mode == 4)
    assert pushed[4] > 10 * pushed[6]
