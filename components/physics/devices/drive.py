"""Electric drive: two motors with stop clutches, differential, two planetary stages. central-docking section 5.4.

Motors -> stop clutches -> differential wheels a, b -> carrier -> planetary stages -> output shaft -> axial damper.
Angles and torques > 0 retract.
"""

from __future__ import annotations

from math import copysign, isfinite
from pathlib import Path

from dockfmu.components.core import check
from dockfmu.components.core.component import fail
from dockfmu.components.core.field import Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.parameters import read_parameter_set

DRAWS_RING_IN = read_parameter_set(Path(__file__).parent / "parameters" / "DR-R.toml")
"""The drive of the mechanisms with a ring, without its ratio."""


def parameters() -> Group:
    """Return the group `drive` of parameters; the start values are set DR-1 (central-docking section 8.3)."""
    return Group(
        "drive",
        parameter("torque_constant", "N.m/V", "motor torque per volt, stalled", 0.08 / 27.0, minimum=0.0),
        parameter("speed_constant", "N.m.s", "motor torque lost to the back EMF per motor speed", 1.4e-4, minimum=0.0),
        parameter("motor_damping", "N.m.s", "viscous friction of the motor", 0.0921e-4, minimum=0.0),
        parameter("motor_friction", "N.m", "dry friction of the motor", 0.005, minimum=0.0),
        parameter("motor_ratio", "1", "motor speed over speed of its differential wheel", 10.0, minimum=1e-6),
        parameter("wheel_radius", "m", "radii of the differential's main wheels", (0.02, 0.02), shape=2, minimum=1e-6),
        parameter(
            "wheel_inertia",
            "kg.m2",
            "main wheels with rotor, clutch and gears",
            (1.001e-3, 1.001e-3),
            shape=2,
            minimum=1e-12,
        ),
        parameter("carrier_radius", "m", "of the differential's carrier", 0.02, minimum=1e-6),
        parameter(
            "carrier_inertia", "kg.m2", "of the differential's carrier with the mass of its planets", 2e-5, minimum=0.0
        ),
        parameter("planet_radius", "m", "of the differential's planets", 0.01, minimum=1e-6),
        parameter("planet_inertia", "kg.m2", "of one planet about its own axis", 2e-6, minimum=0.0),
        parameter("planet_count", "1", "planets of the differential and of each planetary stage", 3.0, minimum=0.0),
        parameter("stage_ratio", "1", "speed of a planetary stage's carrier over that of its sun", 0.25, minimum=1e-6),
        parameter(
            "stage_planet_ratio", "1", "radius of a stage's sun over the diameter of its planets", 0.5, minimum=0.0
        ),
        parameter("stage_sun_inertia", "kg.m2", "sun of one planetary stage", 0.0, minimum=0.0),
        parameter("stage_carrier_inertia", "kg.m2", "carrier of one planetary stage", 0.0, minimum=0.0),
        parameter("stage_planet_inertia", "kg.m2", "planet of one planetary stage", 0.0, minimum=0.0),
        parameter("nut_ratio", "1", "angle of the drive's output shaft over the nut's", 10.0, minimum=1e-6),
        parameter(
            "efficiency", "1", "of the gears between output shaft and axial damper", 0.8, minimum=0.01, maximum=1.0
        ),
        description="electric drive: two motors, differential, two planetary stages",
    )


def state() -> Group:
    """Return the group `drive`: angles and rates, memory and energies."""
    return Group(
        "drive",
        output("angle", "rad", "output shaft, positive retracts the probe"),
        output("rate", "rad/s", "output shaft, positive retracts the probe"),
        private("wheel_angle", "rad", "main wheels of the differential", shape=2),
        private("wheel_rate", "rad/s", "main wheels of the differential", shape=2),
        private("direction", "1", "of the stop clutches: 0 locked, else the sense in which the wheel runs", shape=2),
        private("inertia", "kg.m2", "of the differential reduced to its wheels", shape=(2, 2)),
        private("gain", "1", "rate of the output shaft per rate of each wheel", shape=2),
        private("work", "J", "done by the motors"),
        private("dissipated", "J", "in motors, clutches and gears"),
    )


@kernel
def check_voltage(voltage, status):
    """Return 0 if the two motor voltages are finite, else a code."""
    volts = voltage[0] + voltage[1]
    return 0 if isfinite(volts) else fail(status, check.NOT_FINITE, volts, 3)


@kernel
def stage_inertia(sun, carrier, planet, count, ratio, planet_ratio):
    """Return the inertia that two planetary stages in series add to the differential's carrier (erratum E-8), kg m^2.

    `sun`, `carrier`, `planet`: inertias of one stage; `ratio` = R_a / 2 R_H of the stage, its speed ratio, and
    `planet_ratio` = R_a / 2 R_g.
    """
    reduced = sun + ratio * ratio * carrier + count * planet_ratio * planet_ratio * planet
    return (1.0 + ratio * ratio) * reduced


@kernel
def initialize(p, d):
    """Set the inertia matrix of the differential reduced to its wheels (S 6.1.3); wheels locked and at rest."""
    carrier = p.carrier_inertia + stage_inertia(
        p.stage_sun_inertia,
        p.stage_carrier_inertia,
        p.stage_planet_inertia,
        p.planet_count,
        p.stage_ratio,
        p.stage_planet_ratio,
    )
    carrier /= p.carrier_radius * p.carrier_radius
    planets = p.planet_count * p.planet_inertia / (p.planet_radius * p.planet_radius)
    for s in range(2):
        r = p.wheel_radius[s]
        d.inertia[s, s] = p.wheel_inertia[s] + 0.25 * r * r * (carrier + planets)
        d.gain[s] = p.stage_ratio * p.stage_ratio * r / (2.0 * p.carrier_radius)
        d.wheel_angle[s] = 0.0
        d.wheel_rate[s] = 0.0
        d.direction[s] = 0.0
    cross = 0.25 * p.wheel_radius[0] * p.wheel_radius[1] * (carrier - planets)
    d.inertia[0, 1] = cross
    d.inertia[1, 0] = cross
    d.angle = 0.0
    d.rate = 0.0
    d.work = 0.0
    d.dissipated = 0.0


@kernel
def _release(p, d, voltage, load):
    """Release and lock the stop clutches.

    A locked wheel starts when its motor overcomes friction and load; a running one locks when its motor is reversed.
    Without voltage a running wheel coasts to rest.
    """
    for s in range(2):
        v = voltage[s]
        if v != 0.0 and d.direction[s] == 0.0:
            sense = copysign(1.0, v)
            ahead = sense * (p.motor_ratio * p.torque_constant * v + d.gain[s] * load)
            if ahead > p.motor_ratio * p.motor_friction:
                d.direction[s] = sense
        elif v * d.direction[s] < 0.0:
            d.direction[s] = 0.0
            d.wheel_rate[s] = 0.0


@kernel
def _gear_load(p, rate, train_torque):
    """Return the torque of the axial damper on the output shaft (errata E-9, E-10).

    The gear loss raises it where it opposes the motion, and reduces it where it drives.
    """
    load = train_torque / p.nut_ratio
    if load * rate < 0.0:
        return load / p.efficiency
    return load * p.efficiency


@kernel
def kinetic_energy(d):
    """Return the kinetic energy of the drive, J."""
    a = d.wheel_rate[0]
    b = d.wheel_rate[1]
    return 0.5 * (d.inertia[0, 0] * a * a + d.inertia[1, 1] * b * b) + d.inertia[0, 1] * a * b


@kernel
def _kick(d, q_0, q_1, viscous, h):
    """Advance the rates of the running wheels by h under the torques q."""
    a11 = d.inertia[0, 0] + 0.5 * h * viscous
    a22 = d.inertia[1, 1] + 0.5 * h * viscous
    a12 = d.inertia[0, 1]
    if d.direction[0] != 0.0 and d.direction[1] != 0.0:
        determinant = a11 * a22 - a12 * a12
        d.wheel_rate[0] += h * (a22 * q_0 - a12 * q_1) / determinant
        d.wheel_rate[1] += h * (a11 * q_1 - a12 * q_0) / determinant
    elif d.direction[0] != 0.0:
        d.wheel_rate[0] += h * q_0 / a11
    elif d.direction[1] != 0.0:
        d.wheel_rate[1] += h * q_1 / a22


@kernel
def _turn(d, s, before, h):
    """Return the angle by which wheel s turns in h; a wheel that comes to rest within h is locked there."""
    after = d.wheel_rate[s]
    if after * d.direction[s] > 0.0:
        step = 0.5 * h * (before + after)
    else:
        step = 0.0
        if before != after:
            step = 0.5 * h * before * before / (before - after)
        d.wheel_rate[s] = 0.0
        d.direction[s] = 0.0
    d.wheel_angle[s] += step
    return step


@kernel
def advance(p, d, voltage, train_torque, h):
    """Advance the wheels by one micro-step h.

    `voltage` (2) in V; `train_torque` m_FR on the nut, N m, at the step's middle.

    Torques proportional to speed enter linearly implicitly at the middle of the step. Friction of a running motor
    always opposes the direction in which its clutch lets it run, so it needs no regularisation.
    """
    energy = kinetic_energy(d)
    sense = d.rate
    if sense == 0.0:
        sense = voltage[0] + voltage[1]
    load = _gear_load(p, sense, train_torque)
    _release(p, d, voltage, load)
    viscous = p.motor_ratio * p.motor_ratio * (p.speed_constant + p.motor_damping)
    friction = p.motor_ratio * p.motor_friction
    before_0 = d.wheel_rate[0]
    before_1 = d.wheel_rate[1]
    motor_0 = p.motor_ratio * p.torque_constant * voltage[0]
    motor_1 = p.motor_ratio * p.torque_constant * voltage[1]
    friction_0 = friction * d.direction[0]
    friction_1 = friction * d.direction[1]
    _kick(
        d,
        motor_0 + d.gain[0] * load - viscous * before_0 - friction_0,
        motor_1 + d.gain[1] * load - viscous * before_1 - friction_1,
        viscous,
        h,
    )
    step_0 = _turn(d, 0, before_0, h)
    step_1 = _turn(d, 1, before_1, h)
    step = d.gain[0] * step_0 + d.gain[1] * step_1
    d.angle += step
    d.rate = d.gain[0] * d.wheel_rate[0] + d.gain[1] * d.wheel_rate[1]
    work = motor_0 * step_0 + motor_1 * step_1
    lost = viscous * (step_0 * step_0 + step_1 * step_1) / h + friction_0 * step_0 + friction_1 * step_1
    lost += (train_torque / p.nut_ratio - load) * step
    d.work += work
    if d.wheel_rate[0] * d.wheel_rate[1] == 0.0:
        # a wheel may have come to rest within the step, or its clutch may have locked it: take the loss from the
        # balance
        lost = work + train_torque / p.nut_ratio * step - (kinetic_energy(d) - energy)
    d.dissipated += lost


@kernel
def advance_self_locking(p, d, voltage, load, h):
    """Advance the wheels by h against `load` (N m) behind self-locking gears, positive against retracting.

    No load can drive the shaft through such gears: where it would, the motors run unloaded. Returns the energy that the
    gears then absorb from the load, J.
    """
    sense = d.rate
    if sense == 0.0:
        sense = voltage[0] + voltage[1]
    driven = load * sense <= 0.0
    before = d.angle
    advance(p, d, voltage, 0.0 if driven else -load, h)
    return load * (before - d.angle) / p.nut_ratio if driven else 0.0
