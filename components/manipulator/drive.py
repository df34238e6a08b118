"""The drive of a joint: DC motor, friction and brake, gearbox with backlash, hard stop.

Theory: manipulator 3.3, 3.4, E1 to E9.

Motor and gearbox are each advanced by an implicit Euler step. The gearbox is linearised about its wind-up and enters
the equations of the links as a torque and an armature, so that drive and links form one linearly implicit step.
"""

from __future__ import annotations

from math import copysign, fabs, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import EFFICIENCY, VARIANT
from dockfmu.components.physics.devices.geared_motor import gear_energy, gear_friction, gear_law

SOURCE = EFFICIENCY.codes["SOURCE"]
MASSLESS_LINKS = VARIANT.codes["MASSLESS_LINKS"]


@kernel
def predicted_torque(law, motor_angle, motor_rate, angle, rate, windup, damping, h):
    """Return T^ = T0' + k (phi_m+ - phi - h omega) + c (omega_m+ - omega), with T0' = T - k delta (E6).

    `law` is what `gear_law` returns at the wind-up of the step's start; motor angle and rate are the new ones.
    """
    torque, tangent = law
    return torque + tangent * (motor_angle - angle - h * rate - windup) + damping * (motor_rate - rate)


@kernel
def gear_losses(torque, efficiency, law):
    """Return (load on the motor, friction against its positive motion, friction against its negative motion)."""
    if law == SOURCE:
        return torque / efficiency, 0.0, 0.0
    up, down = gear_friction(torque, efficiency)
    return torque, up, down


@kernel
def _slide(free, reach, dry):
    """Return the rate with dry friction, from the rate `free` without it; zero if friction can stop the motion.

    `dry` is (against positive, against negative motion), `reach` the change of the rate due to a unit torque.
    """
    friction = reach * dry[0] if free > 0.0 else reach * dry[1]
    if fabs(free) <= friction:
        return 0.0
    return free - copysign(friction, free)


@kernel
def step_motor(rate, torque, voltage, load, dry, h, data):
    """Return (rate, torque, at its limit) of a motor after an implicit Euler step of h, (8.2.4) with E3 to E5.

    `dry` is the friction against positive, against negative motion; `data` = (J_m, K_T, K_B, R_L, tau_m, b_v, T_max).
    """
    inertia, torque_constant, voltage_constant, resistance, time_constant, viscous, limit = data
    a = h / inertia
    ahead = h / time_constant * torque_constant / resistance
    c = ahead * voltage_constant
    d = 1.0 + h / time_constant
    b3 = torque + ahead * voltage
    determinant = d * (1.0 + a * viscous) + a * c
    new_rate = _slide(((rate - a * load) * d + b3 * a) / determinant, a * d / determinant, dry)
    new_torque = (b3 - c * new_rate) / d
    if fabs(new_torque) <= limit:
        return new_rate, new_torque, False
    new_torque = copysign(limit, new_torque)
    return coast(rate, load - new_torque, dry, h, inertia, viscous), new_torque, True


@kernel
def coast(rate, load, dry, h, inertia, viscous):
    """Return the rate of a motor shaft after h under an opposing torque `load`, with friction."""
    a = h / inertia
    determinant = 1.0 + a * viscous
    return _slide((rate - a * load) / determinant, a / determinant, dry)


@kernel
def prepare(m):
    """Set the constants of all drives and their state at rest, with zero wind-up of the gears."""
    p = m.parameters
    for k in range(len(m.drive)):
        d = m.drive[k]
        ratio = p.gear.ratio[k]
        d.stiffness = p.gear.stiffness[k] / (ratio * ratio)
        d.play_torque = p.gear.play_torque[k]
        if d.play_torque == 0.0:
            d.play_torque = 0.5 * d.stiffness * p.gear.play[k]
        d.inertia = p.gear.inertia[k]
        if p.variant == MASSLESS_LINKS:
            d.inertia += p.joint.equivalent_inertia[k] / (ratio * ratio)
        d.damping = 2.0 * p.gear.damping_ratio[k] * sqrt(d.stiffness * p.motor.inertia[k])
        d.input_angle = ratio * p.initial.angle[k]
        d.motor_angle = d.input_angle
        d.input_rate = 0.0
        d.motor_rate = 0.0
        d.motor_torque = 0.0
        d.gear_torque = 0.0
        d.voltage = 0.0
        d.reference = 0.0
        d.integral = 0.0
        d.command = 0.0
        d.armature = ratio * ratio * d.inertia
        d.saturated = 0.0
        d.powered = 1.0
        d.braked = 0.0


@kernel
def _advance_motor(m, k, h):
    """Advance the motor of joint k over h, and count its work and losses."""
    motor = m.parameters.motor
    gear = m.parameters.gear
    d = m.drive[k]
    load, up, down = gear_losses(d.gear_torque, gear.efficiency[k], gear.efficiency_law)
    own = motor.friction[k]
    if d.braked != 0.0:
        own += motor.brake[k]
    dry = (own + up, own + down)
    before = d.motor_rate
    if d.powered != 0.0:
        limit = motor.torque_constant[k] * motor.current_limit[k]
        data = (motor.inertia[k], motor.torque_constant[k], motor.voltage_constant[k], motor.resistance[k],
                motor.time_constant[k], motor.damping[k], limit)  # fmt: skip
        d.motor_rate, d.motor_torque, limited = step_motor(before, d.motor_torque, d.voltage, load, dry, h, data)
        d.saturated = 1.0 if limited or fabs(d.voltage) >= motor.voltage_limit[k] else 0.0
    else:
        d.motor_torque = 0.0
        d.motor_rate = coast(before, load, dry, h, motor.inertia[k], motor.damping[k])
        d.saturated = 0.0
    d.motor_angle += h * d.motor_rate
    turned = 0.5 * h * (before + d.motor_rate)
    m.accounting.motors += d.motor_torque * turned
    against = d.motor_torque - load - motor.inertia[k] * (d.motor_rate - before) / h
    gear_loss = up * turned if turned > 0.0 else -down * turned
    m.accounting.friction += against * turned - gear_loss
    m.accounting.gears += gear_loss + (load - d.gear_torque) * turned


@kernel
def _stop(p, k, angle, rate, h):
    """Return (torque on the link, added armature, stored energy, damping) of the hard stop of joint k."""
    limit = p.angle_limit[k]
    over = fabs(angle) - limit
    if over <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    stiffness = p.stop_stiffness[k]
    damping = p.stop_damping[k]
    side = copysign(1.0, angle)
    push = stiffness * (over + side * h * rate) + damping * side * rate
    if push <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    return -side * push, h * (damping + h * stiffness), 0.5 * stiffness * over * over, damping


@kernel
def predict(m, h):
    """Advance all motors over h, and set the torque and armature of each joint in the equations of the links."""
    p = m.parameters
    for k in range(len(m.drive)):
        body = m.arm[k + 1]
        d = m.drive[k]
        if p.joint.locked[k] != 0.0:
            body.drive_torque = 0.0
            d.armature = 0.0
            continue
        ratio = p.gear.ratio[k]
        windup = d.motor_angle - d.input_angle
        law = gear_law(windup, d.stiffness, p.gear.play[k], d.play_torque)
        d.tangent = law[1]
        _advance_motor(m, k, h)
        # the implicit wind-up already damps by h k
        d.added_damping = max(0.0, d.damping - h * d.tangent)
        d.predicted = predicted_torque(
            law, d.motor_angle, d.motor_rate, d.input_angle, d.input_rate, windup, d.added_damping, h
        )
        stop, stiffening, _, damping = _stop(p.joint, k, d.input_angle / ratio, d.input_rate / ratio, h)
        d.stop_damping = damping
        body.drive_torque = ratio * d.predicted + stop
        d.armature = ratio * ratio * (d.inertia + h * (d.added_damping + h * d.tangent)) + stiffening


@kernel
def advance(m, h):
    """Advance all joints over h with the accelerations of the links, and count the losses of gears and stops."""
    p = m.parameters
    for k in range(len(m.drive)):
        if p.joint.locked[k] != 0.0:
            continue
        d = m.drive[k]
        ratio = p.gear.ratio[k]
        change = h * ratio * m.arm[k + 1].qdd
        d.gear_torque = d.predicted - (h * d.tangent + d.added_damping) * change
        before = d.input_rate
        d.input_rate += change
        d.input_angle += h * d.input_rate
        slip = d.motor_rate - d.input_rate
        m.accounting.gears += h * d.damping * slip * slip
        rate = 0.5 * (before + d.input_rate) / ratio
        m.accounting.stops += h * d.stop_damping * rate * rate


@kernel
def follow_commands(m, h):
    """Turn all joints by their commanded rates over h, without drives; motors turn with them."""
    for k in range(len(m.drive)):
        d = m.drive[k]
        d.input_rate = m.parameters.gear.ratio[k] * d.command
        d.input_angle += h * d.input_rate
        d.motor_rate = d.input_rate
        d.motor_angle = d.input_angle


@kernel
def energies(m):
    """Return (kinetic, stored) energy of motors, gears and stops, J."""
    p = m.parameters
    kinetic = 0.0
    stored = 0.0
    for k in range(len(m.drive)):
        if p.joint.locked[k] == 0.0:
            d = m.drive[k]
            ratio = p.gear.ratio[k]
            kinetic += 0.5 * p.motor.inertia[k] * d.motor_rate * d.motor_rate
            kinetic += 0.5 * d.inertia * d.input_rate * d.input_rate
            stored += gear_energy(d.motor_angle - d.input_angle, d.stiffness, p.gear.play[k], d.play_torque)
            stored += _stop(p.joint, k, d.input_angle / ratio, 0.0, 0.0)[2]
    return kinetic, stored
