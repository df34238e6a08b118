"""State machine of central-docking section 6.2.

A step over [t, t + h] reads the sensors at t and gives the commands for [t, t + h]; it must come before the step of the
mechanism. Times of events are those of the communication points at which the sensors were read.
"""

from math import fabs, isfinite

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.physics.devices import separation
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.probe_cyclogram.ports import CAPTURE, FIRST_CONTACT, OUTCOME, PHASE, SENSOR_FAULT, SOCKET_BOTTOM

NOT_FINITE = 1
ROLL = 2
INITIAL_PHASE = 3

MESSAGES = {
    NOT_FINITE: Message("docking.plane_gap = {docking.plane_gap:g} m is not finite"),
    ROLL: Message("docking.angles[3] = {docking.angles[3]:g} rad is not finite"),
    INITIAL_PHASE: Message("parameters.initial_phase = {parameters.initial_phase:g} must be 1 (PREPARE) or 10 (MATED)"),
}

PREPARE = PHASE.codes["PREPARE"]
READY = PHASE.codes["READY"]
PUSH = PHASE.codes["PUSH"]
RETREAT = PHASE.codes["RETREAT"]
CAPTURED = PHASE.codes["CAPTURED"]
START = PHASE.codes["START"]
DAMP = PHASE.codes["DAMP"]
RETRACT = PHASE.codes["RETRACT"]
END = PHASE.codes["END"]
MATED = PHASE.codes["MATED"]
RELEASE = PHASE.codes["RELEASE"]
SEPARATE = PHASE.codes["SEPARATE"]

MISSING = SENSOR_FAULT.codes["MISSING"]
STUCK = SENSOR_FAULT.codes["STUCK"]
LATE = SENSOR_FAULT.codes["LATE"]

NONE = OUTCOME.codes["NONE"]
DOCKED = OUTCOME.codes["DOCKED"]
RETREATED = OUTCOME.codes["RETREATED"]
TIMED_OUT = OUTCOME.codes["TIMED_OUT"]
ABORTED = OUTCOME.codes["ABORTED"]
MISALIGNED = OUTCOME.codes["MISALIGNED"]
SEPARATED = OUTCOME.codes["SEPARATED"]


@kernel
def _read(m, k, sensed, t):
    """Set what the sequence reads of sensor k, which may have a fault, where it senses `sensed` at t, s."""
    fault = m.parameters.fault
    kind = fault.sensor[k]
    reading = m.work.reading[k]
    reading.value = sensed
    if kind == MISSING:
        reading.value = 0.0
    elif kind == STUCK:
        reading.value = fault.stuck_at[k]
    elif kind == LATE:
        if sensed != 0.0 and reading.pending == 0.0:
            reading.pending = 1.0
            reading.sensed = t
        reading.value = 0.0
        if reading.pending != 0.0 and t >= reading.sensed + fault.delay[k] - ROUNDING:
            reading.value = 1.0
            reading.pending = sensed


@kernel
def _reads(m, k):
    """Return whether the sequence reads sensor k as true."""
    return m.work.reading[k].value != 0.0


@kernel
def _slowness(m):
    """Return the time that the drive needs over that with both motors: twice with one, as the differential has it."""
    dead = m.parameters.fault.motor
    alive = 2.0 - dead[0] - dead[1]
    return 2.0 / alive if alive > 0.0 else 1.0


@kernel
def _enter(m, phase, t):
    m.phase = phase
    m.work.entered = t
    m.overdue = 0.0


@kernel
def _end(m, outcome, t):
    """End the sequence with an outcome (ruling R41)."""
    _enter(m, END, t)
    m.event.end = t
    m.happened.end = 1.0
    m.finished = 1.0
    m.outcome = outcome


@kernel
def _dock(m, t):
    """End the retraction: docked, unless the latches have not turned the craft into the narrow parts of their slots.

    The sequence has ended, unless it goes on to undock after `undocking_delay`.
    """
    aligned = fabs(m.docking.angles[2]) <= m.parameters.docked_roll
    _end(m, DOCKED if aligned else MISALIGNED, t)
    if m.parameters.undocking_delay >= 0.0:
        m.phase = MATED
        m.finished = 0.0


@kernel
def _limit(m, t, limit):
    """Supervise the time: after `limit` in this phase the sequence waits; the operator's start renews the limit."""
    if m.overdue != 0.0 and m.operator.start != 0.0:
        m.overdue = 0.0
        m.work.entered = t
    elif t >= m.work.entered + limit - ROUNDING:
        m.overdue = 1.0


@kernel
def _on_the_frame(m):
    """Return whether the head touches the docking frame instead of the cone: DK2 of the frame."""
    radius, reach = m.parameters.frame_radius, m.parameters.head_distance
    axis = from_angles(m.docking.angles[0], m.docking.angles[1], m.docking.angles[2])[0]
    y, z = m.docking.position[1] + reach * axis[1], m.docking.position[2] + reach * axis[2]
    return radius > 0.0 and _reads(m, FIRST_CONTACT) and y * y + z * z > radius * radius


@kernel
def _before_capture(m, t):
    """Make one transition out of PREPARE, READY, PUSH or RETREAT, if one is due."""
    p = m.parameters
    if m.phase == PREPARE:
        if m.sensor.extended != 0.0:
            _enter(m, READY, t)
        else:
            _limit(m, t, p.extension_limit * _slowness(m))
    elif m.phase == READY:
        # a centred head may meet the socket's bottom, or its latches may close, before it touches the cone (R41)
        if _reads(m, FIRST_CONTACT) or _reads(m, CAPTURE) or _reads(m, SOCKET_BOTTOM):
            m.event.first_contact = t
            m.happened.first_contact = 1.0
            _enter(m, PUSH, t)
        else:
            _limit(m, t, p.contact_limit)
    elif m.phase == PUSH:
        if _reads(m, CAPTURE):
            m.event.capture = t
            m.happened.capture = 1.0
            m.work.captured = 1.0
            _enter(m, CAPTURED, t)
        elif _on_the_frame(m) or t >= m.event.first_contact + p.push_limit - ROUNDING:
            _enter(m, RETREAT, t)
    elif t >= m.work.entered + p.retreat_time - ROUNDING:
        if m.work.aborted != 0.0:
            _end(m, ABORTED, t)
        else:
            _end(m, RETREATED, t)


@kernel
def _after_capture(m, t):
    """Make one transition out of CAPTURED, START, DAMP or RETRACT, if one is due."""
    p = m.parameters
    since_start = t - m.event.start + ROUNDING
    if m.phase == CAPTURED:
        waited = m.overdue != 0.0 and m.operator.start != 0.0
        if _reads(m, SOCKET_BOTTOM) or waited:
            m.event.start = t
            m.happened.start = 1.0
            _enter(m, START, t)
        else:
            _limit(m, t, p.bottom_limit)
    elif m.phase == START:
        if since_start >= p.brakes_delay:
            _enter(m, DAMP, t)
    elif m.phase == DAMP:
        if since_start >= p.drive_delay:
            _enter(m, RETRACT, t)
    elif m.docking.plane_gap <= p.end_gap:
        _dock(m, t)
    elif m.sensor.retracted != 0.0:
        if m.docking.plane_gap <= p.docked_gap:
            _dock(m, t)
        else:
            _end(m, ABORTED, t)
    else:
        _limit(m, t, p.retraction_limit * _slowness(m))


@kernel
def _undock(m, t):
    """Begin to undock, if that is due."""
    delay = m.parameters.undocking_delay
    if m.operator.undock != 0.0 or 0.0 <= delay <= t - m.work.entered + ROUNDING:
        m.finished = 0.0
        m.work.undocking = 1.0
        m.event.release = t
        m.happened.release = 1.0
        _enter(m, RELEASE, t)


@kernel
def _part(m, t):
    """Make one transition out of MATED, RELEASE or SEPARATE, if one is due."""
    p = m.parameters
    if m.phase == MATED:
        _undock(m, t)
    elif m.phase == RELEASE:
        # the latches are told to let go in the step that begins now: they cannot have done so yet
        if not _reads(m, CAPTURE) and t > m.work.entered:
            m.event.separation = t
            m.happened.separation = 1.0
            _enter(m, SEPARATE, t)
        else:
            _limit(m, t, p.release_limit)
    elif m.docking.plane_gap >= p.separated_gap:
        _end(m, SEPARATED, t)
    else:
        _limit(m, t, p.separation_limit)


@kernel
def _transitions(m, t):
    """Make all transitions that are due at t."""
    if m.phase == END and (m.outcome == DOCKED or m.outcome == MISALIGNED) and m.operator.undock != 0.0:
        _undock(m, t)
    if m.phase == RELEASE or m.phase == SEPARATE:
        separation.measure(m.docking, m.separation)
    before = 0.0
    while m.phase != before and m.phase != END:
        before = m.phase
        if m.operator.abort != 0.0 and m.phase != RETREAT:
            if m.phase < RETREAT:
                m.work.aborted = 1.0
                _enter(m, RETREAT, t)
            else:
                _end(m, ABORTED, t)
        elif m.phase < CAPTURED:
            _before_capture(m, t)
        elif m.phase < END:
            _after_capture(m, t)
        else:
            _part(m, t)
    if m.phase != END and m.phase != MATED:
        m.outcome = NONE
        if m.overdue != 0.0:
            m.outcome = TIMED_OUT


@kernel
def _commands(m, t):
    """Set the commands that belong to the phase."""
    p = m.parameters
    if _reads(m, SOCKET_BOTTOM) and m.phase >= PUSH:
        m.work.bottom_reached = 1.0
    voltage = 0.0
    if m.overdue == 0.0:
        if m.phase == PREPARE:
            voltage = -p.voltage
        elif m.phase == RETRACT:
            voltage = p.voltage
    for s in range(2):
        m.command.motor_voltage[s] = voltage * (1.0 - p.fault.motor[s])
    m.command.push = 0.0
    if m.phase < PUSH or m.overdue != 0.0:
        m.command.push = m.operator.push
    if m.phase == RETREAT:
        m.command.push = -1.0
    elif m.phase == PUSH or m.phase == CAPTURED:
        in_time = t < m.event.first_contact + p.push_limit - ROUNDING
        if in_time and m.work.bottom_reached == 0.0 and p.fault.push == 0.0:
            m.command.push = 1.0
    since_start = t - m.event.start + ROUNDING
    m.command.lateral_brakes = 0.0
    if m.phase == DAMP and since_start < p.brakes_delay + p.brakes_time and p.fault.lateral_brakes == 0.0:
        m.command.lateral_brakes = 1.0
    if m.phase == RETREAT:
        m.command.latches_armed = 0.0
    elif m.work.undocking != 0.0:
        m.command.latches_armed = p.fault.latch_drive
    due = m.work.captured != 0.0 and t >= m.event.capture + p.limiter_delay - ROUNDING
    m.command.limiter_release = 1.0 if due or p.limiter_held == 0.0 else 0.0
    held = m.work.captured == 0.0 or p.fault.attitude_hold != 0.0
    for s in range(2):
        m.command.attitude_hold[s] = 0.0
        if held:
            m.command.attitude_hold[s] = p.attitude_control[s]


@kernel
def initialize(m):
    """Set the sequence to its start. Returns 0, or the code of a failure."""
    mated = m.parameters.initial_phase == MATED
    if not mated and m.parameters.initial_phase != PREPARE:
        return fail(m.status, INITIAL_PHASE, m.parameters.initial_phase, 0)
    m.phase = m.parameters.initial_phase
    m.finished = 0.0
    m.outcome = NONE
    m.overdue = 0.0
    m.event.first_contact = -1.0
    m.happened.first_contact = 0.0
    m.event.capture = -1.0
    m.happened.capture = 0.0
    m.event.start = -1.0
    m.happened.start = 0.0
    m.event.release = -1.0
    m.happened.release = 0.0
    m.event.separation = -1.0
    m.happened.separation = 0.0
    m.event.end = -1.0
    m.happened.end = 0.0
    m.separation.speed = 0.0
    m.separation.lateral_speed = 0.0
    m.separation.tip_off_rate = 0.0
    m.separation.roll_rate = 0.0
    m.work.undocking = 0.0
    m.work.entered = m.start_time
    m.work.bottom_reached = 0.0
    m.work.captured = 1.0 if mated else 0.0
    m.work.aborted = 0.0
    for k in range(len(m.work.reading)):
        m.work.reading[k].pending = 0.0
    m.command.latches_armed = 1.0
    return step(m, m.start_time, 0.0)


@kernel
def step(m, t, h):
    """Make the transitions that are due at t, s, and set the commands. Returns 0, or the code of a failure."""
    if not isfinite(m.docking.plane_gap):
        return fail(m.status, NOT_FINITE, m.docking.plane_gap, 0)
    if not isfinite(m.docking.angles[2]):
        return fail(m.status, ROLL, m.docking.angles[2], 0)
    _read(m, FIRST_CONTACT, m.sensor.first_contact, t)
    _read(m, SOCKET_BOTTOM, m.sensor.socket_bottom, t)
    _read(m, CAPTURE, m.sensor.capture, t)
    _transitions(m, t)
    _commands(m, t)
    return 0
