"""The sequence: scripts NRT, RT, STEP, LIVE and LIMP, load guards, end conditions and outcome.

Theory: manipulator 3.7, berthing 6.

A step over [t, t + h] reads the inputs at t and gives the commands for [t, t + h], so it must precede the arm's step.
"""

from __future__ import annotations

from math import ceil, copysign, fabs, floor, isfinite

from dockfmu.components.berthing_sequence import operator
from dockfmu.components.berthing_sequence.ports import OUTCOME, PHASE, SCRIPT, WAITING
from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.manipulator.ports import MODE, STEP_STATE, STEP_TYPE
from dockfmu.components.physics.mechanics.vector import load, norm

DELAY_TOO_LONG = 11
NO_MISS = 12
ZONE_TOO_SMALL = 13

MESSAGES = {
    check.NOT_FINITE: Message(
        "input {status.index:.0f} of the sequence (1 relative, 2 tip, 3 hand, 4 operator) is not finite: connect it"
    ),
    check.QUATERNION: Message("relative.quaternion has norm {status.value:.6g}, not 1: set it, or connect it"),
    DELAY_TOO_LONG: Message(
        "parameters.operator.delay = {parameters.operator.delay:g} s must not exceed {status.value:g} s, 7 times "
        "parameters.operator.sample_time"
    ),
    NO_MISS: Message(
        "parameters.step.unit[{status.index:.0f}] = {status.value:g}: an Insert, and a Step along axis 1, have no miss "
        "to correct: set the unit to 0 and give an amplitude, or choose a Step along an axis from 2 to 6"
    ),
    ZONE_TOO_SMALL: Message(
        "parameters.step.zone[{status.index:.0f}] = {status.value:g} must be at least half of parameters.step.unit, or "
        "a whole unit would go past the zone"
    ),
}

WAIT = PHASE.codes["WAIT"]
ALIGN_ANGLES = PHASE.codes["ALIGN_ANGLES"]
APPROACH = PHASE.codes["APPROACH"]
STEP = PHASE.codes["STEP"]
INSERT = PHASE.codes["INSERT"]
CAPTURED = PHASE.codes["CAPTURED"]
END = PHASE.codes["END"]

NONE = OUTCOME.codes["NONE"]
BERTHED = OUTCOME.codes["BERTHED"]
NOT_CAPTURED = OUTCOME.codes["NOT_CAPTURED"]
OVERLOADED = OUTCOME.codes["OVERLOADED"]
TIMED_OUT = OUTCOME.codes["TIMED_OUT"]
ABORTED = OUTCOME.codes["ABORTED"]
NOT_CAPTURED_AND_OVERLOADED = OUTCOME.codes["NOT_CAPTURED_AND_OVERLOADED"]
TIMED_OUT_AND_OVERLOADED = OUTCOME.codes["TIMED_OUT_AND_OVERLOADED"]
ABORTED_AND_OVERLOADED = OUTCOME.codes["ABORTED_AND_OVERLOADED"]

NRT = SCRIPT.codes["NRT"]
RT = SCRIPT.codes["RT"]
LIST = SCRIPT.codes["STEP"]
LIVE = SCRIPT.codes["LIVE"]
LIMP = SCRIPT.codes["LIMP"]

SEMI = MODE.codes["SEMI"]
SUPV = MODE.codes["SUPV"]
HOLD_ARM = MODE.codes["HOLD"]
LIMP_ARM = MODE.codes["LIMP"]
# s, time in which the arm answers a trigger; one that it entered SUPV with has no rising edge, and is given again
ANSWER = 0.1
IDLE = STEP_STATE.codes["IDLE"]
RUN = STEP_STATE.codes["RUN"]
HOLD = STEP_STATE.codes["HOLD"]
NOT_REACHED = STEP_STATE.codes["NOT_REACHED"]
BROKEN_OFF = STEP_STATE.codes["ABORTED"]
A_STEP = STEP_TYPE.codes["STEP"]
AN_INSERT = STEP_TYPE.codes["INSERT"]


@kernel
def _check(m):
    """Return 0, or the code of an invalid input."""
    size = check.norm_of_quaternion(m.relative.quaternion)
    total = size + norm(m.relative.position)
    if not isfinite(total):
        return fail(m.status, check.NOT_FINITE, total, 1)
    if not check.is_attitude(size):
        return fail(m.status, check.QUATERNION, size, 0)
    total = norm(m.tip.force) + norm(m.tip.torque)
    if not isfinite(total):
        return fail(m.status, check.NOT_FINITE, total, 2)
    total = norm(m.hand.translation) + norm(m.hand.rotation)
    if not isfinite(total):
        return fail(m.status, check.NOT_FINITE, total, 3)
    total = m.operator.step.amplitude + m.operator.step.speed
    if not isfinite(total):
        return fail(m.status, check.NOT_FINITE, total, 4)
    return 0


@kernel
def _overloaded(outcome):
    """Return the outcome that also tells of a load beyond its limit."""
    if outcome == NOT_CAPTURED:
        return NOT_CAPTURED_AND_OVERLOADED
    if outcome == TIMED_OUT:
        return TIMED_OUT_AND_OVERLOADED
    if outcome == ABORTED:
        return ABORTED_AND_OVERLOADED
    return OVERLOADED


@kernel
def _end(m, outcome, t):
    """End the sequence with an outcome (ruling R41), which tells of a load beyond its limit as well."""
    m.phase = END
    m.outcome = _overloaded(outcome) if m.load.exceeded != 0.0 else outcome
    m.finished = 1.0
    m.event.end = t
    m.happened.end = 1.0


@kernel
def _watch(m, t):
    """Read the sensors and the loads, and end the sequence if one of the end conditions holds."""
    p = m.parameters
    if m.happened.first_contact == 0.0 and (m.sensor.first_contact != 0.0 or m.sensor.capture != 0.0):
        m.event.first_contact = t
        m.happened.first_contact = 1.0
    if m.work.captured == 0.0 and m.sensor.capture != 0.0:
        m.work.captured = 1.0
        m.event.capture = t
        m.happened.capture = 1.0
    m.load.force = norm(load(m.tip.force))
    m.load.torque = norm(load(m.tip.torque))
    m.load.peak_force = max(m.load.peak_force, m.load.force)
    m.load.peak_torque = max(m.load.peak_torque, m.load.torque)
    if m.load.exceeded == 0.0 and (m.load.force > p.limit.force or m.load.torque > p.limit.torque):
        m.load.exceeded = 1.0
        m.event.overload = t
        m.happened.overload = 1.0
    since = t - m.start_time + ROUNDING
    if m.operator.abort != 0.0:
        _end(m, ABORTED, t)
    elif m.load.exceeded != 0.0 and p.limit.guard != 0.0:
        _end(m, OVERLOADED, t)
    elif m.work.captured == 0.0 and since >= p.time_limit:
        _end(m, TIMED_OUT, t)
    elif (
        p.script != LIST
        and m.work.captured != 0.0
        # a Step or an Insert of a live operator runs to its end
        and m.work.ran == 0.0
        and t - max(m.event.capture, m.start_time + m.work.ended) + ROUNDING >= p.post_time
    ):
        _end(m, BERTHED, t)


@kernel
def _rates(m, deflection):
    """Command the rates of SEMI for six deflections of the hand controllers, forward along x."""
    p = m.parameters
    m.command.mode = SEMI
    m.command.velocity[0] = p.axial_speed * deflection[0]
    for i in range(1, 3):
        m.command.velocity[i] = p.lateral_speed * deflection[i]
    for i in range(3):
        m.command.angular_velocity[i] = p.angular_speed * deflection[3 + i]


@kernel
def _look(m, t):
    """Let the operator look and decide as often as due; `t` is the time since the start, s."""
    w = m.work
    while w.next_look <= t + ROUNDING:
        operator.look(m)
        if m.parameters.script == RT and m.work.captured == 0.0:
            operator.decide(m, w.next_look)
        w.next_look += m.parameters.operator.sample_time
    operator.act(m)


@kernel
def _steer(m, t):
    """Command the rates of NRT, RT, or LIVE by hand."""
    p = m.parameters
    deflection = m.sight.deflection
    if p.script == NRT:
        m.phase = APPROACH
        for i in range(6):
            deflection[i] = 0.0
        deflection[0] = p.operator.approach
    elif p.script == RT:
        if m.phase == WAIT:
            m.phase = ALIGN_ANGLES
        _look(m, t)
    else:
        m.phase = APPROACH
        for i in range(3):
            deflection[i] = max(-1.0, min(1.0, m.hand.translation[i]))
            deflection[3 + i] = max(-1.0, min(1.0, m.hand.rotation[i]))
    if m.work.captured != 0.0:
        m.phase = CAPTURED
        if p.stop_at_capture != 0.0:
            for i in range(6):
                deflection[i] = 0.0
    _rates(m, deflection)


@kernel
def _amplitude(m, k):
    """Return the amplitude of command k: as listed, or whole units against the miss that the operator sees now."""
    p = m.parameters.step
    unit = p.unit[k]
    if unit == 0.0:
        return p.amplitude[k]
    axis = int(p.axis[k])
    miss = operator.miss(m, axis)
    beyond = fabs(miss) - p.zone[k]
    if beyond <= 0.0:
        return 0.0
    return -copysign(unit * ceil(beyond / unit), miss)


@kernel
def _issue(m, k, amplitude):
    """Put command k of the list on the outputs, with its amplitude."""
    p = m.parameters.step
    given = m.command.step
    given.type = AN_INSERT if p.insert[k] != 0.0 else A_STEP
    given.axis = p.axis[k]
    given.amplitude = amplitude
    given.speed = p.speed[k]
    given.trigger = 1.0
    m.phase = INSERT if p.insert[k] != 0.0 else STEP


@kernel
def _list(m, t, since, h):
    """Issue the commands of the list one after another; `t` is the time now, `since` the time since the start, s.

    `h` is 0 at initialisation, where nothing has been seen yet.
    """
    p = m.parameters
    w = m.work
    state = m.command.state
    m.command.mode = SUPV
    k = int(w.command)
    if w.triggered != 0.0:
        if state == RUN:
            w.ran = 1.0
        elif w.ran != 0.0 and state == BROKEN_OFF:
            _end(m, OVERLOADED if m.load.exceeded != 0.0 else ABORTED, t)
            return
        elif w.ran != 0.0 and state in (HOLD, NOT_REACHED):
            if state == NOT_REACHED and (m.phase == STEP or w.captured == 0.0):
                m.notice.not_reached += 1.0
            m.command.step.trigger = 0.0
            w.triggered = 0.0
            w.ran = 0.0
            w.command += 1.0
            w.ended = since
            m.phase = WAIT
        elif w.ran == 0.0 and state == IDLE and since - w.issued > ANSWER:
            m.command.step.trigger = 0.0
            w.triggered = 0.0
            w.issued = since
    elif k < p.step.count and since + ROUNDING >= p.step.begin[k] and state == IDLE:
        if (w.issued < 0.0 or since - w.issued > ANSWER) and (h > 0.0 or p.step.unit[k] == 0.0):
            amplitude = _amplitude(m, k)
            if amplitude == 0.0 and p.step.unit[k] != 0.0:
                # nothing to correct along this axis
                w.command += 1.0
            else:
                _issue(m, k, amplitude)
                w.triggered = 1.0
                w.issued = since
    elif k >= p.step.count and since - max(w.ended, 0.0) + ROUNDING >= p.post_time:
        if w.captured == 0.0:
            _end(m, NOT_CAPTURED, t)
        else:
            _end(m, BERTHED, t)
    if m.phase == WAIT and w.captured != 0.0:
        m.phase = CAPTURED


@kernel
def _hold_arm(m, mode):
    """Put the arm into `mode` with zero rates and no command."""
    m.command.mode = mode
    m.command.step.trigger = 0.0
    for i in range(3):
        m.payload.force[i] = 0.0
        m.command.velocity[i] = 0.0
        m.command.angular_velocity[i] = 0.0
    for i in range(6):
        m.sight.deflection[i] = 0.0


@kernel
def _pass_commands(m, since):
    """Pass on the Step and Insert commands of a live operator; `since` is the time since the start, s."""
    w = m.work
    requested = m.operator.step
    given = m.command.step
    _hold_arm(m, SUPV)
    given.type = requested.type
    given.axis = requested.axis
    given.amplitude = requested.amplitude
    given.speed = requested.speed
    given.trigger = requested.trigger
    if m.command.state == RUN:
        if w.ran == 0.0:
            # only at the start: the operator may set the type of the next command while this one runs
            m.phase = INSERT if requested.type == AN_INSERT else STEP
        w.ran = 1.0
        return
    if w.ran != 0.0:
        w.ended = since
    w.ran = 0.0
    m.phase = CAPTURED if w.captured != 0.0 else WAIT


@kernel
def _drift(m, since):
    """Leave the arm limp and thrust until capture, LIMP (OP-74 of berthing 1.2); `since` the start, s."""
    p = m.parameters
    _hold_arm(m, LIMP_ARM)
    m.phase = CAPTURED if m.work.captured != 0.0 else APPROACH
    if m.work.captured == 0.0 and since + ROUNDING < p.start_delay + p.thrust_time:
        for i in range(3):
            m.payload.force[i] = p.thrust[i]


@kernel
def _command_live(m, since):
    """Set the command from the live operator's inputs; `since` is the time since the start, s."""
    mode = m.operator.mode
    if mode == SUPV:
        _pass_commands(m, since)
        return
    if m.work.ran != 0.0:
        # the change of mode aborts the command
        m.work.ended = since
    m.work.ran = 0.0
    _hold_arm(m, HOLD_ARM)
    m.phase = CAPTURED if m.work.captured != 0.0 else WAIT
    if mode == SEMI:
        _steer(m, since)


@kernel
def _reset(m):
    """Reset everything to the start of the sequence."""
    m.phase = WAIT
    m.finished = 0.0
    m.outcome = NONE
    m.event.first_contact = -1.0
    m.happened.first_contact = 0.0
    m.event.capture = -1.0
    m.happened.capture = 0.0
    m.event.overload = -1.0
    m.happened.overload = 0.0
    m.event.end = -1.0
    m.happened.end = 0.0
    m.load.peak_force = 0.0
    m.load.peak_torque = 0.0
    m.load.exceeded = 0.0
    m.notice.not_reached = 0.0
    m.command.abort = 0.0
    w = m.work
    w.next_look = m.parameters.start_delay
    w.looks = 0.0
    w.settled = -1.0
    w.command = 0.0
    w.ended = -1.0
    w.triggered = 0.0
    w.issued = -1.0
    w.ran = 0.0
    w.captured = 0.0
    for i in range(3):
        m.sight.angles[i] = 0.0
    for i in range(2):
        m.sight.offset[i] = 0.0
    for k in range(WAITING):
        for i in range(6):
            w.hand[k].deflection[i] = 0.0


@kernel
def initialize(m):
    """Set the sequence to its start. Returns 0, or the code of a failure."""
    p = m.parameters.operator
    if floor(p.delay / p.sample_time + 0.5) > WAITING - 1:
        return fail(m.status, DELAY_TOO_LONG, (WAITING - 1) * p.sample_time, 0)
    steps = m.parameters.step
    for k in range(int(steps.count)):
        unit = steps.unit[k]
        if unit > 0.0 and (steps.insert[k] != 0.0 or steps.axis[k] == 1.0):
            return fail(m.status, NO_MISS, unit, k + 1)
        if steps.zone[k] < 0.5 * unit:
            return fail(m.status, ZONE_TOO_SMALL, steps.zone[k], k + 1)
    _reset(m)
    return step(m, m.start_time, 0.0)


@kernel
def step(m, t, h):
    """Set the commands for [t, t + h], s. Returns 0, or the code of a failure."""
    code = _check(m)
    if code:
        return code
    since = t - m.start_time
    if m.phase != END:
        _watch(m, t)
    if m.phase != END and since + ROUNDING >= m.parameters.start_delay:
        if m.parameters.script == LIST:
            _list(m, t, since, h)
        elif m.parameters.script == LIVE:
            _command_live(m, since)
        elif m.parameters.script == LIMP:
            _drift(m, since)
        else:
            _steer(m, since)
    if m.phase == END or since + ROUNDING < m.parameters.start_delay:
        _hold_arm(m, HOLD_ARM)
    m.command.abort = m.operator.abort
    return 0
