"""Drives of joints: DC motor, controller, friction and brake, gearbox. Laws of `physics.devices.geared_motor`.

Angles, rates and torques of a rotor are in units of the coordinate: with the ratio n (rad of the motor a rad or m of
the coordinate) its inertia is n^2 J, its torque n T. Without `gear_stiffness` the rotor turns with the joint and its
inertia adds to what the joint feels. With it the rotor has a coordinate of its own,

    I phi'' = tau_motor - tau_friction - tau,    tau = k (phi - q) + c (phi' - q'),

taken at the middle of a micro-step like all laws of coordinates (`forces`): with A = k h^2/4 + c h/2, D = I + A + (what
motor and friction add), phi'' = (E - tau_0 + A q'')/D is eliminated, and the joint gets tau_0 + A (E - tau_0)/D and the
armature A (1 - A/D). The step is stable for any stiffness and gain. Which limits act is decided with the accelerations
of the last micro-step.
"""

from __future__ import annotations

from math import copysign, fabs

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices.geared_motor import current, gear_energy, gear_friction, gear_law

VOLTAGE, RATE, POSITION = 1.0, 2.0, 3.0
"""What a command is."""


@kernel
def start(link, drive, data, run):
    """Set all drives to their state at the start: rotors turn with their joints, gears without torque."""
    run.motors = 0.0
    run.motors_lost = 0.0
    for k in range(len(link)):
        link[k].rotor = 0.0
    for k in range(int(run.drive_count)):
        d = drive[k]
        p = data[k]
        b = link[int(d.link)]
        d.angle = b.q
        d.rate = b.rate
        d.deflection = 0.0
        d.predicted = 0.0
        d.torque = 0.0
        d.motor_torque = 0.0
        d.current = 0.0
        d.voltage = 0.0
        d.losses = 0.0
        d.heat = 0.0
        d.limited = 0.0
        d.held = 0.0
        d.motor_rate = p.ratio * b.rate
        if p.gear_stiffness == 0.0:
            b.rotor += p.ratio * p.ratio * p.inertia


@kernel
def _voltage(d, p, angle, rate):
    """Return (voltage, its slopes by rate and by angle) that the controller sets, in units of the coordinate."""
    voltage = d.command
    by_rate = 0.0
    by_angle = 0.0
    if p.control != VOLTAGE:
        wanted = d.command
        if p.control == POSITION:
            wanted = p.position_gain * (d.command - angle)
            by_angle = -p.position_gain
            if fabs(wanted) > p.rate_limit:
                wanted = copysign(p.rate_limit, wanted)
                by_angle = 0.0
        voltage = p.ratio * (p.voltage_constant * wanted + p.rate_gain * (wanted - rate))
        by_rate = -p.ratio * p.rate_gain
        by_angle *= p.ratio * (p.voltage_constant + p.rate_gain)
    if fabs(voltage) > p.voltage_limit:
        return copysign(p.voltage_limit, voltage), 0.0, 0.0
    return voltage, by_rate, by_angle


@kernel
def _motor(d, p, angle, rate, h, acceleration):
    """Return (explicit torque on the coordinate, implicit inertia, is the current limited) at mid-step."""
    if d.powered == 0.0:
        return 0.0, 0.0, False
    quarter = 0.25 * h * h
    later = rate + 0.5 * h * acceleration
    voltage, by_rate, by_angle = _voltage(d, p, angle + quarter * acceleration, later)
    gain = p.ratio * p.torque_constant
    amperes, limited = current(voltage, p.ratio * later, (p.voltage_constant, p.resistance, p.current_limit))
    if limited:
        return gain * amperes, 0.0, True
    steep = by_rate - p.voltage_constant * p.ratio
    inertia = -gain / p.resistance * (0.5 * h * steep + quarter * by_angle)
    return gain * amperes + inertia * acceleration, inertia, False


@kernel
def _limits(d, p):
    """Return the limits of friction, brake and losses of the gearbox against positive and negative motion."""
    dry = p.friction
    if d.brake != 0.0:
        dry += p.brake_torque
    up, down = gear_friction(d.torque / p.ratio, p.efficiency)
    return p.ratio * (dry + up), p.ratio * (dry + down)


@kernel
def _friction(d, p, rate, h, acceleration, limits):
    """Return (explicit torque, implicit inertia) of dry friction with an elastic presliding deflection."""
    stiffness = p.ratio * p.ratio * p.holding_stiffness
    up, down = limits
    torque = -stiffness * (d.deflection + 0.5 * h * rate)
    implicit = 0.25 * h * h * stiffness
    predicted = torque - implicit * acceleration
    if predicted > down:
        return down, 0.0
    if predicted < -up:
        return -up, 0.0
    return torque, implicit


@kernel
def _gear(p, windup, slip, h):
    """Return (explicit torque on the joint, implicit inertia) of an elastic gearbox, for a wind-up and its rate."""
    n = p.ratio
    stiffness = p.gear_stiffness / (n * n)
    play = n * p.play
    torque, tangent = gear_law(n * windup, stiffness, play, 0.5 * stiffness * play)
    return n * torque + p.gear_damping * slip, 0.25 * h * h * n * n * tangent + 0.5 * h * p.gear_damping


@kernel
def drive(link, drive, data, run, h):
    """Add torques and armatures of all drives to their coordinates, placed in the middle of a micro-step h.

    With h = 0 they are those of the present state.
    """
    for k in range(int(run.drive_count)):
        d = drive[k]
        p = data[k]
        b = link[int(d.link)]
        inertia = p.ratio * p.ratio * p.inertia
        viscous = p.ratio * p.ratio * p.damping
        if p.gear_stiffness == 0.0:
            motor, by_motor, _ = _motor(d, p, b.q, b.last_rate, h, b.predicted)
            friction, by_friction = _friction(d, p, b.last_rate, h, b.predicted, _limits(d, p))
            b.drive += motor + friction - viscous * b.last_rate
            b.armature += inertia + by_motor + by_friction + 0.5 * h * viscous
            continue
        angle = d.angle + 0.5 * h * d.rate
        motor, by_motor, _ = _motor(d, p, angle, d.rate, h, d.predicted)
        friction, by_friction = _friction(d, p, d.rate, h, d.predicted, _limits(d, p))
        own = inertia + by_motor + by_friction + 0.5 * h * viscous
        effort = motor + friction - viscous * d.rate
        torque, by_gear = _gear(p, angle - b.q, d.rate - b.last_rate, h)
        felt = own + by_gear
        b.drive += torque + by_gear * (effort - torque) / felt
        b.armature += by_gear * own / felt
        if h == 0.0:
            d.predicted = (effort - torque) / felt


@kernel
def account(link, drive, data, run, h):
    """Advance all rotors over a micro-step h, after the kick, and add up works and losses.

    `b.q` is still the coordinate in the middle, as for `drive`.
    """
    for k in range(int(run.drive_count)):
        d = drive[k]
        p = data[k]
        b = link[int(d.link)]
        inertia = p.ratio * p.ratio * p.inertia
        viscous = p.ratio * p.ratio * p.damping
        rigid = p.gear_stiffness == 0.0
        joint = (b.rate - b.last_rate) / h
        angle = b.q if rigid else d.angle + 0.5 * h * d.rate
        before = b.last_rate if rigid else d.rate
        guess = b.predicted if rigid else d.predicted
        limits = _limits(d, p)
        motor, by_motor, limited = _motor(d, p, angle, before, h, guess)
        friction, by_friction = _friction(d, p, before, h, guess, limits)
        torque, by_gear = 0.0, 0.0
        acceleration = joint
        if not rigid:
            torque, by_gear = _gear(p, angle - b.q, before - b.last_rate, h)
            own = inertia + by_motor + by_friction + 0.5 * h * viscous
            effort = motor + friction - viscous * before
            acceleration = (effort - torque + by_gear * joint) / (own + by_gear)
            torque += by_gear * (acceleration - joint)
        d.predicted = acceleration
        d.rate = before + h * acceleration
        mean = 0.5 * (before + d.rate)
        moved = h * mean
        d.angle += moved
        motor -= by_motor * acceleration
        friction -= by_friction * acceleration
        lost = viscous * mean * moved + _deflect(d, p, friction, moved, limits)
        if rigid:
            torque = motor + friction - viscous * mean - inertia * acceleration
        else:
            slip = mean - 0.5 * (b.last_rate + b.rate)
            lost += h * p.gear_damping * slip * slip
        amperes = motor / (p.ratio * p.torque_constant)
        run.motors += motor * moved
        run.motors_lost += lost
        d.losses += lost
        d.heat += h * p.resistance * amperes * amperes
        d.torque = torque
        d.motor_torque = motor / p.ratio
        d.current = amperes
        d.voltage = p.resistance * amperes + p.voltage_constant * p.ratio * mean if d.powered != 0.0 else 0.0
        d.motor_rate = p.ratio * d.rate
        d.limited = 1.0 if limited else 0.0
        d.held = 1.0 if d.brake != 0.0 and by_friction > 0.0 else 0.0


@kernel
def _deflect(d, p, friction, moved, limits):
    """Advance the presliding deflection. Returns what friction has lost, J."""
    stiffness = p.ratio * p.ratio * p.holding_stiffness
    if stiffness == 0.0:
        return -friction * moved
    before = d.deflection
    d.deflection = min(max(before + moved, -limits[1] / stiffness), limits[0] / stiffness)
    return -friction * moved - 0.5 * stiffness * (d.deflection * d.deflection - before * before)


@kernel
def stored_energy(link, drive, data, run):
    """Return the energy stored in gears, and in friction and brakes that hold, J."""
    energy = 0.0
    for k in range(int(run.drive_count)):
        d = drive[k]
        p = data[k]
        n = p.ratio
        energy += 0.5 * n * n * p.holding_stiffness * d.deflection * d.deflection
        if p.gear_stiffness > 0.0:
            stiffness = p.gear_stiffness / (n * n)
            play = n * p.play
            windup = n * (d.angle - link[int(d.link)].q)
            energy += gear_energy(windup, stiffness, play, 0.5 * stiffness * play)
    return energy


@kernel
def kinetic_energy(drive, data, run):
    """Return the kinetic energy of the rotors behind elastic gears, J; that of the others is one of their links."""
    energy = 0.0
    for k in range(int(run.drive_count)):
        p = data[k]
        if p.gear_stiffness > 0.0:
            rate = p.ratio * drive[k].rate
            energy += 0.5 * p.inertia * rate * rate
    return energy
