"""State machine of peripheral-docking section 9.

A step over [t, t + h] reads the sensors at t and gives the commands for [t, t + h], so it must precede the mechanism's
step. Times of events are those of the communication points at which the sensors were read.
"""

from math import isfinite

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.peripheral_cyclogram.ports import LEGS, PERIPHERAL_OUTCOME, PERIPHERAL_PHASE
from dockfmu.components.physics.devices import separation

NOT_FINITE = 1
INITIAL_PHASE = 2

MESSAGES = {
    NOT_FINITE: Message("docking.plane_gap = {docking.plane_gap:g} m is not finite"),
    INITIAL_PHASE: Message(
        "parameters.initial_phase = {parameters.initial_phase:g} must be 1 (STOWED), 4 (READY) or 8 (MATED)"
    ),
}

STOWED = PERIPHERAL_PHASE.codes["STOWED"]
EXTEND = PERIPHERAL_PHASE.codes["EXTEND"]
SLACK = PERIPHERAL_PHASE.codes["SLACK"]
READY = PERIPHERAL_PHASE.codes["READY"]
ADAPT = PERIPHERAL_PHASE.codes["ADAPT"]
ABSORB = PERIPHERAL_PHASE.codes["ABSORB"]
RETRACT = PERIPHERAL_PHASE.codes["RETRACT"]
MATED = PERIPHERAL_PHASE.codes["MATED"]
DEPART = PERIPHERAL_PHASE.codes["DEPART"]
FAULT = PERIPHERAL_PHASE.codes["FAULT"]
END = PERIPHERAL_PHASE.codes["END"]
RECOVER = PERIPHERAL_PHASE.codes["RECOVER"]
RELEASE = PERIPHERAL_PHASE.codes["RELEASE"]
SEPARATE = PERIPHERAL_PHASE.codes["SEPARATE"]

NONE = PERIPHERAL_OUTCOME.codes["NONE"]
DOCKED = PERIPHERAL_OUTCOME.codes["DOCKED"]
RETREATED = PERIPHERAL_OUTCOME.codes["RETREATED"]
TIMED_OUT = PERIPHERAL_OUTCOME.codes["TIMED_OUT"]
ABORTED = PERIPHERAL_OUTCOME.codes["ABORTED"]
SEPARATED = PERIPHERAL_OUTCOME.codes["SEPARATED"]
LATCHED = PERIPHERAL_OUTCOME.codes["LATCHED"]


@kernel
def _enter(m, phase, t):
    m.phase = phase
    m.work.entered = t


@kernel
def _end(m, phase, outcome, t):
    """End the sequence in a phase with an outcome (ruling R41)."""
    _enter(m, phase, t)
    m.event.end = t
    m.happened.end = 1.0
    m.finished = 1.0
    m.outcome = outcome


@kernel
def _limit(m, t, limit):
    """Apply the time limit of the phase: after `limit` the sequence waits for the operator in FAULT."""
    if t >= m.work.entered + limit - ROUNDING:
        m.work.interrupted = m.phase
        m.outcome = TIMED_OUT
        _enter(m, FAULT, t)


@kernel
def _latches(m):
    """Return how many latches are behind their stops."""
    held = 0.0
    for k in range(LEGS):
        held += m.sensor.latched[k]
    return held


@kernel
def _leave(m, t):
    """Depart without capture, unless latches hold: thrust against them would only load both units (ruling R53)."""
    if _latches(m) > 0.0:
        _end(m, END, LATCHED, t)
    else:
        _enter(m, DEPART, t)


@kernel
def _capture(m, t):
    m.event.capture = t
    m.happened.capture = 1.0
    m.captured = 1.0
    _enter(m, ABSORB, t)


@kernel
def _before_contact(m, t):
    """Make one transition out of STOWED, EXTEND or SLACK, if one is due."""
    p = m.parameters
    if m.phase == STOWED:
        if m.operator.extend != 0.0:
            _enter(m, EXTEND, t)
    elif m.phase == EXTEND:
        arrived = 1.0
        for k in range(LEGS):
            m.work.at_initial_position[k] = max(m.work.at_initial_position[k], m.sensor.initial_position[k])
            arrived *= m.work.at_initial_position[k]
        if arrived != 0.0:
            _enter(m, SLACK, t)
        else:
            _limit(m, t, p.extension_limit)
    elif m.sensor.drive_limit != 0.0:
        _enter(m, READY, t)
    else:
        _limit(m, t, p.slack_limit)


@kernel
def _before_capture(m, t):
    """Make one transition out of READY or ADAPT, if one is due."""
    p = m.parameters
    if m.sensor.capture != 0.0:
        _capture(m, t)
    elif m.phase == READY and m.sensor.initial_position_lost != 0.0:
        m.event.initial_position_lost = t
        m.happened.initial_position_lost = 1.0
        _enter(m, ADAPT, t)
    else:
        spent = m.phase == ADAPT and t >= m.work.entered + p.adaptation_limit - ROUNDING
        waited = m.happened.first_contact != 0.0 and t >= m.event.first_contact + p.contact_limit - ROUNDING
        if spent or waited:
            _leave(m, t)


@kernel
def _dock(m, t):
    """End the docking in MATED. The sequence has ended, unless it goes on to undock after `undocking_delay`."""
    _end(m, MATED, DOCKED, t)
    if m.parameters.undocking_delay >= 0.0:
        m.finished = 0.0


@kernel
def _undock(m, t):
    """Begin to undock from MATED, if that is due."""
    delay = m.parameters.undocking_delay
    if m.operator.undock != 0.0 or 0.0 <= delay <= t - m.work.entered + ROUNDING:
        m.finished = 0.0
        m.outcome = NONE
        m.work.undocking = 1.0
        m.event.release = t
        m.happened.release = 1.0
        _enter(m, RELEASE, t)


@kernel
def _part(m, t):
    """Make one transition out of RELEASE or SEPARATE, if one is due."""
    p = m.parameters
    if m.phase == RELEASE:
        # a latch is told to let go in the step that begins now: it cannot have done so yet
        if _latches(m) == 0.0 and t > m.work.entered:
            m.event.separation = t
            m.happened.separation = 1.0
            _enter(m, SEPARATE, t)
        else:
            _limit(m, t, p.release_limit)
    elif m.docking.plane_gap >= p.separated_gap:
        _end(m, STOWED, SEPARATED, t)
    else:
        _limit(m, t, p.separation_limit)


@kernel
def _after_capture(m, t):
    """Make one transition out of ABSORB or RETRACT, if one is due."""
    p = m.parameters
    if m.phase == ABSORB:
        if t >= m.work.entered + p.absorption_time - ROUNDING:
            if m.happened.drive_on == 0.0:
                m.event.drive_on = t
                m.happened.drive_on = 1.0
            _enter(m, RETRACT, t)
    elif m.sensor.retracted != 0.0:
        if m.docking.plane_gap <= p.docked_gap:
            _dock(m, t)
        else:
            _end(m, END, ABORTED, t)
    else:
        _limit(m, t, p.retraction_limit)


@kernel
def _depart(m, t):
    """End the departure once the units are apart, or go on to recover the ring if `parameters.recovery` is set.

    A latch that catches its stop on the way out ends it, too.
    """
    p = m.parameters
    apart = m.flag.contact == 0.0 and m.docking.plane_gap >= p.apart_gap
    if _latches(m) > 0.0:
        _end(m, END, LATCHED, t)
    elif not apart:
        _limit(m, t, p.retreat_limit)
    elif t >= m.work.entered + p.retreat_time - ROUNDING:
        if m.work.aborted != 0.0:
            _end(m, END, ABORTED, t)
        elif p.recovery != 0.0:
            _enter(m, RECOVER, t)
        else:
            _end(m, END, RETREATED, t)


@kernel
def _recover(m, t):
    """End the recovery when the ring is retracted: stowed, with its springs cocked, ready for another attempt."""
    if m.sensor.retracted != 0.0:
        _end(m, STOWED, RETREATED, t)
    else:
        _limit(m, t, m.parameters.retraction_limit)


@kernel
def _resume(m, t):
    """Return to the interrupted phase when the operator commands it."""
    if m.operator.extend != 0.0:
        m.outcome = NONE
        _enter(m, m.work.interrupted, t)


@kernel
def _begin(m, phase, t):
    """Begin a sequence in a phase, with all events cleared."""
    _enter(m, phase, t)
    m.finished = 0.0
    m.outcome = NONE
    m.event.first_contact = -1.0
    m.happened.first_contact = 0.0
    m.event.initial_position_lost = -1.0
    m.happened.initial_position_lost = 0.0
    m.event.capture = -1.0
    m.happened.capture = 0.0
    m.event.drive_on = -1.0
    m.happened.drive_on = 0.0
    m.event.release = -1.0
    m.happened.release = 0.0
    m.event.separation = -1.0
    m.happened.separation = 0.0
    m.event.end = -1.0
    m.happened.end = 0.0
    m.work.interrupted = 0.0
    m.captured = 1.0 if phase == MATED else 0.0
    m.separation.speed = 0.0
    m.separation.lateral_speed = 0.0
    m.separation.tip_off_rate = 0.0
    m.separation.roll_rate = 0.0
    m.work.aborted = 0.0
    m.work.undocking = 0.0
    for k in range(LEGS):
        m.work.at_initial_position[k] = 0.0


@kernel
def _transitions(m, t):
    """Make all transitions that are due at t."""
    if m.flag.contact != 0.0 and m.happened.first_contact == 0.0 and m.phase <= ADAPT:
        m.event.first_contact = t
        m.happened.first_contact = 1.0
    if m.phase == STOWED and m.finished != 0.0 and m.operator.extend != 0.0:
        _begin(m, STOWED, t)
    if m.phase == MATED:
        _undock(m, t)
    if m.phase == RELEASE or m.phase == SEPARATE:
        separation.measure(m.docking, m.separation)
    before = 0.0
    while m.phase != before and m.finished == 0.0:
        before = m.phase
        if m.operator.abort != 0.0 and m.phase != DEPART:
            if m.phase == READY or m.phase == ADAPT:
                m.work.aborted = 1.0
                _leave(m, t)
            else:
                _end(m, END, ABORTED, t)
        elif m.phase <= SLACK:
            _before_contact(m, t)
        elif m.phase <= ADAPT:
            _before_capture(m, t)
        elif m.phase <= RETRACT:
            _after_capture(m, t)
        elif m.phase == DEPART:
            _depart(m, t)
        elif m.phase == RECOVER:
            _recover(m, t)
        elif m.phase == RELEASE or m.phase == SEPARATE:
            _part(m, t)
        elif m.phase == MATED:
            _undock(m, t)
        else:
            _resume(m, t)


@kernel
def _check_latches(m):
    """Set the fault `unlatched`, a capture by the sensors without the latches, while the craft are drawn together."""
    m.unlatched = 0.0
    if m.phase == RETRACT or m.phase == MATED:
        for j in range(3):
            if m.sensor.latched[2 * j] == 0.0 and m.sensor.latched[2 * j + 1] == 0.0:
                m.unlatched = 1.0


@kernel
def _stray(m, t, h):
    """Set the mean of the unplanned thrust over [t, t + h]."""
    fault = m.parameters.fault
    m.stray.thrust = 0.0
    if m.captured == 0.0 or h <= 0.0:
        return
    for k in range(len(fault.stray_thrust)):
        begin = m.event.capture + fault.stray_start[k]
        fires = min(t + h, begin + fault.stray_time[k]) - max(t, begin)
        m.stray.thrust += fault.stray_thrust[k] * max(0.0, fires) / h


@kernel
def _commands(m, t):
    """Set the commands that belong to the phase."""
    p = m.parameters
    for k in range(LEGS):
        unlocked = m.phase == ADAPT or (m.phase == EXTEND and m.work.at_initial_position[k] == 0.0)
        m.command.recoil_lock[k] = 0.0 if unlocked and p.fault.clutch[k] == 0.0 else 1.0
    voltage = 0.0
    if m.phase == EXTEND or m.phase == SLACK:
        voltage = -p.voltage
    elif m.phase == RETRACT or m.phase == RECOVER:
        voltage = p.voltage
    undocking = m.work.undocking != 0.0
    drawn_in = m.phase == STOWED or m.phase == RETRACT or m.phase == MATED or m.phase == RECOVER or undocking
    m.command.retract = 1.0 if drawn_in else 0.0
    for k in range(LEGS):
        m.command.release[k] = 1.0 if undocking and p.fault.latch[k] == 0.0 else 0.0
    m.command.push = 0.0
    if m.phase == DEPART:
        m.command.push = -1.0
    elif (m.phase == READY or m.phase == ADAPT) and m.happened.first_contact != 0.0 and p.push != 0.0:
        m.command.push = 1.0 if t >= m.event.first_contact + p.push_delay - ROUNDING else 0.0
    held = m.captured == 0.0 or p.fault.attitude_hold != 0.0
    for s in range(2):
        m.command.motor_voltage[s] = voltage * (1.0 - p.fault.motor[s])
        m.command.attitude_hold[s] = p.attitude_control[s] if held else 0.0


@kernel
def initialize(m):
    """Set the sequence to its start. Returns 0, or the code of a failure."""
    start = m.parameters.initial_phase
    if start != STOWED and start != READY and start != MATED:
        return fail(m.status, INITIAL_PHASE, start, 0)
    _begin(m, start, m.start_time)
    return step(m, m.start_time, 0.0)


@kernel
def step(m, t, h):
    """Make the transitions that are due at t, s, and set the commands. Returns 0, or the code of a failure."""
    if not isfinite(m.docking.plane_gap):
        return fail(m.status, NOT_FINITE, m.docking.plane_gap, 0)
    _transitions(m, t)
    _check_latches(m)
    _commands(m, t)
    _stray(m, t, h)
    return 0
