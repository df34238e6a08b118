"""Sampled control with dead bands, and the pulses of its thrusters.

A step over [t, t + h] measures at t, so this component must step before the craft. Its outputs are means over
[t, t + h], which the craft applies over the same step. So the craft gets the impulse of every pulse exactly, wherever
in a step the pulse begins and ends. A measurement inside a step uses the inputs at the start of the step.
"""

from __future__ import annotations

from math import fabs, isfinite

from dockfmu.components.attitude_control import selection
from dockfmu.components.core import check
from dockfmu.components.core.check import NOT_FINITE, QUATERNION
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.physics.mechanics import vector
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    conjugate,
    from_quaternion,
    from_rotation_vector,
    load_attitude,
    load_quaternion,
    product,
    rotation_vector,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, load, store, subtract

DIRECTION = 11
CANNOT_TURN = 12
PULSE_TOO_LONG = 13
DELAY_TOO_LONG = 14

MESSAGES = {
    NOT_FINITE: Message("body.quaternion or body.angular_velocity is not finite"),
    QUATERNION: Message(
        "body.quaternion has norm {status.value:.6g} and is not a valid attitude: connect it to the craft's body"
    ),
    DIRECTION: Message(
        "parameters.thruster.direction: row {status.index:.0f} has length {status.value:.6g}: give a unit vector; "
        "parameters.thruster.thrust sets the magnitude of the force"
    ),
    CANNOT_TURN: Message(
        "parameters.thruster: these nozzles cannot turn the craft in sense {status.index:.0f} of +x, -x, +y, -y, +z, "
        "-z alone; check position, direction and thrust, which is 0 for nozzles that are ignored"
    ),
    PULSE_TOO_LONG: Message(
        "parameters.least_pulse = {parameters.least_pulse:g} s must not exceed "
        "parameters.sample_time = {parameters.sample_time:g} s"
    ),
    DELAY_TOO_LONG: Message(
        "parameters.delay = {parameters.delay:g} s must not exceed {status.value:g} s, 14 times parameters.sample_time"
    ),
}

# in multiples of sample_time, so that a place in `pending` is free before it is needed again
LONGEST_DELAY = 14.0


@kernel
def _close_valves(m):
    """Close all valves and discard the pending pulses."""
    for k in range(len(m.pending)):
        m.pending[k].open = 0.0
    for e in range(len(m.thruster)):
        m.thruster[e].thrust = 0.0
    store(ZERO, m.control.force)
    store(ZERO, m.control.torque)


@kernel
def initialize(m):
    """Select the thrusters and begin with all valves closed. Returns 0, or the code of a failure."""
    p = m.parameters
    for e in range(len(m.thruster)):
        direction = p.thruster.direction[e]
        if not check.is_unit(direction):
            return fail(m.status, DIRECTION, vector.norm(load(direction)), e + 1)
        m.thruster[e].pulses = 0.0
    if p.least_pulse > p.sample_time:
        return fail(m.status, PULSE_TOO_LONG, p.least_pulse, 0)
    if p.delay > LONGEST_DELAY * p.sample_time:
        return fail(m.status, DELAY_TOO_LONG, LONGEST_DELAY * p.sample_time, 0)
    sense = selection.prepare(p, m.selection)
    if sense != 0:
        return fail(m.status, CANNOT_TURN, 0.0, sense)
    m.work.holding = 0.0
    m.work.slot = 0.0
    m.impulse = 0.0
    store(ZERO, m.error)
    store(ZERO, m.rate_error)
    _close_valves(m)
    return 0


@kernel
def _measure(m):
    """Set the attitude and rate errors at the start of the step."""
    q = load_attitude(m.body.quaternion)
    orbital = load(m.parameters.orbital_rate)
    turned = from_rotation_vector(vector.scale(m.work.elapsed, orbital))
    reference = product(turned, load_quaternion(m.work.reference))
    store(rotation_vector(product(conjugate(reference), q)), m.error)
    reference_rate = apply(from_quaternion(q), orbital)
    store(subtract(load(m.body.angular_velocity), reference_rate), m.rate_error)


@kernel
def _demand(m):
    """Set the on-times that remove a share of each axis's excess over its dead band.

    An axis outside its band gets at least the shortest pulse.
    """
    p, w, s = m.parameters, m.work, m.selection
    for e in range(len(w.on_time)):
        w.on_time[e] = 0.0
    for axis in range(3):
        state = m.error[axis] + p.rate_gain * m.rate_error[axis]
        excess = fabs(state) - p.dead_band[axis]
        if excess > 0.0:
            sense = 2 * axis + (1 if state > 0.0 else 0)
            impulse = p.gain * p.moments_of_inertia[axis] * excess / p.rate_gain
            impulse = max(impulse, s.least_impulse[sense])
            for e in range(len(w.on_time)):
                w.on_time[e] += impulse * s.on_time[sense, e]


@kernel
def _shape_pulses(p, on_time, pulses):
    """Turn on-times into pulses that the valves can deliver. Returns the longest.

    If an on-time exceeds the sample time, all are shortened in the same ratio, so that the direction of the torque does
    not change. On-times below half the shortest pulse are dropped; others below it are raised to it.
    """
    longest = 0.0
    for e in range(len(on_time)):
        longest = max(longest, on_time[e])
    scale = p.sample_time / longest if longest > p.sample_time else 1.0
    longest = 0.0
    for e in range(len(on_time)):
        pulse = scale * on_time[e]
        if pulse < p.least_pulse:
            pulse = p.least_pulse if pulse >= 0.5 * p.least_pulse else 0.0
        pulses[e] = pulse
        longest = max(longest, pulse)
    return longest


@kernel
def _sample(m):
    """Measure, and queue the resulting pulses until the delay has passed."""
    _measure(m)
    _demand(m)
    waiting = m.pending[int(m.work.slot)]
    waiting.longest = _shape_pulses(m.parameters, m.work.on_time, waiting.on_time)
    waiting.begin = m.work.until_sample + m.parameters.delay
    waiting.open = 1.0 if waiting.longest > 0.0 else 0.0
    m.work.slot += 1.0
    if m.work.slot >= len(m.pending):
        m.work.slot = 0.0
    m.work.until_sample += m.parameters.sample_time


@kernel
def _fire(m, h):
    """Set the mean thrusts over the step of h."""
    for k in range(len(m.pending)):
        waiting = m.pending[k]
        if waiting.open == 0.0:
            continue
        begins = -ROUNDING <= waiting.begin < h - ROUNDING
        for e in range(len(m.thruster)):
            pulse = waiting.on_time[e]
            if pulse > 0.0:
                open_for = min(h, waiting.begin + pulse) - max(0.0, waiting.begin)
                m.thruster[e].thrust += m.parameters.thruster.thrust[e] * max(0.0, open_for) / h
                if begins:
                    m.thruster[e].pulses += 1.0
        waiting.begin -= h
        if waiting.begin + waiting.longest <= 0.0:
            waiting.open = 0.0


@kernel
def _sum(m, h):
    """Sum the thrusts over the step of h into control force, torque and impulse."""
    force = ZERO
    torque = ZERO
    for e in range(len(m.thruster)):
        if m.thruster[e].thrust > 0.0:
            share = m.thruster[e].thrust / m.parameters.thruster.thrust[e]
            force = axpy(share, load(m.selection.force[e]), force)
            torque = axpy(share, load(m.selection.torque[e]), torque)
            m.impulse += h * m.thruster[e].thrust
    store(force, m.control.force)
    store(torque, m.control.torque)


@kernel
def _check(m):
    """Return 0, or a code if the measured attitude or rates are invalid."""
    norm = check.norm_of_quaternion(m.body.quaternion)
    total = norm + m.body.angular_velocity[0] + m.body.angular_velocity[1] + m.body.angular_velocity[2]
    if not isfinite(total):
        return fail(m.status, NOT_FINITE, total, 0)
    if not check.is_attitude(norm):
        return fail(m.status, QUATERNION, norm, 0)
    return 0


@kernel
def step(m, t, h):
    """Set the mean thrusts over [t, t + h], s. Returns 0, or the code of a failure."""
    code = _check(m)
    if code != 0:
        return code
    if m.command.attitude_hold == 0.0:
        m.work.holding = 0.0
        _close_valves(m)
        return 0
    w = m.work
    if w.holding == 0.0:
        w.holding = 1.0
        w.elapsed = 0.0
        w.until_sample = 0.0
        store_quaternion(load_attitude(m.body.quaternion), w.reference)
    while w.until_sample < h - ROUNDING:
        _sample(m)
    for e in range(len(m.thruster)):
        m.thruster[e].thrust = 0.0
    _fire(m, h)
    _sum(m, h)
    w.elapsed += h
    w.until_sample -= h
    return 0
