"""Energy accumulators, one on each leg: a spiral spring with a clutch that locks its recoil.

Theory: source 7.4, peripheral-docking 6.

Deformation d grows as the leg shortens, 0 at the forward position. The force is that on the rod; positive pushes it
out. The spring's shaft follows the nut through a train of stiffness `train_stiffness`. The branches 1 and 2 include
this compliance, and the lines on which the shaft is at rest (3, 4, 11) have the slope of the train:

    1 direct branch, compressing              2 return branch, releasing   3 between 1 and 2, shaft at rest
    4 force falls to zero, shaft at rest      0 backlash                   11 tension      12 clutch slips in tension
    5 stop, rod fully in

Transitions follow the merged table of peripheral-docking 6.3. Slip of the clutch shifts the lines, but not the stop,
where the rod is fully in. The source shifts it too, but then a leg that has slipped could never be retracted again. The
state changes only at samples of the deformation; between two samples the force is taken as linear, and `work` and
energies follow from that. Names: p = parameters.accumulators, e = one accumulator.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.table import segment
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.physics.ring_on_legs import platform

BACKLASH, DIRECT, RETURN, BETWEEN, HELD, STOP, TENSION, SLIP = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 12.0

# largest number of transitions in one sample: each line at most once, with one to spare
TRANSITIONS = 8


def parameters() -> Group:
    """Return the group `accumulators`; the start values are set PM-1 (peripheral-docking section 11.4)."""
    return Group(
        "accumulators",
        parameter(
            "direct_deformation",
            "m",
            "direct branch: deformations from the forward to the retracted position, ascending",
            (0.0, 0.06, 0.12, 0.18, 0.24),
            shape=5,
        ),
        parameter(
            "direct_force",
            "N",
            "direct branch: force while the spring is compressed",
            (270.0, 410.0, 560.0, 720.0, 900.0),
            shape=5,
            minimum=0.0,
        ),
        parameter(
            "return_deformation",
            "m",
            "return branch: deformations from the forward position, ascending; the "
            "last is on the line of the train through the end of the direct branch",
            (0.0, 0.06, 0.12, 0.18, 0.23928),
            shape=5,
        ),
        parameter(
            "return_force",
            "N",
            "return branch: force while the spring releases",
            (162.0, 246.0, 336.0, 432.0, 540.0),
            shape=5,
            minimum=0.0,
        ),
        parameter(
            "train_stiffness",
            "N/m",
            "stiffness of the train between ring and spring shaft, and of the stop",
            5e5,
            minimum=1.0,
        ),
        parameter("backlash", "m", "backlash of the train", 5e-4, minimum=0.0),
        parameter("slip_force", "N", "tension at which the clutch slips", 800.0, minimum=1.0),
        parameter("damping", "N.s/m", "viscous damping of the train", 250.0, minimum=0.0),
        parameter("clutch_delay", "s", "delay from the command of the clutch to its action", 0.01, minimum=0.0),
        description="energy accumulators of the legs: force against deformation",
    )


def state() -> Group:
    """Return the group `accumulator`: state and energies of each."""
    return Group(
        "accumulator",
        private("state", "1", "line of the force: 0 to 5, 11 or 12"),
        private("locked", "1", "recoil is locked"),
        private("waiting", "s", "time for which the command has differed from the clutch"),
        private("deformation", "m", "deformation at the last sample"),
        private("force", "N", "force on the rod at the last sample, without damping"),
        private("extreme", "m", "largest (branch 1) or smallest (branch 2) deformation since the branch was entered"),
        private("between", "m", "deformations at the ends of line 3, lower and upper", shape=2),
        private("held_top", "m", "deformation at the upper end of line 4"),
        private("zero", "m", "deformation at the lower end of line 4, where the force is zero"),
        private("shift", "m", "shift of all lines by slip of the clutch"),
        private("work", "J", "work done on the spring and its train so far"),
        private("slipped", "J", "energy dissipated by slip of the clutch"),
        count=6,
    )


@kernel
def _branch(deformation, force, x):
    """Return the force of a branch at x; its end segments are extrapolated."""
    i = segment(x, deformation)
    return force[i] + (force[i + 1] - force[i]) * (x - deformation[i]) / (deformation[i + 1] - deformation[i])


@kernel
def _meet(deformation, force, stiffness, x, f):
    """Return where the line of slope `stiffness` through (x, f) meets a branch with extrapolated end segments.

    The line is steeper than any branch, so branch minus line falls monotonically, and the line meets the last segment
    whose start is still above it, or the first one.
    """
    last = len(deformation) - 2
    i = 0
    while i < last and force[i + 1] >= f + stiffness * (deformation[i + 1] - x):
        i += 1
    slope = (force[i + 1] - force[i]) / (deformation[i + 1] - deformation[i])
    return (force[i] - slope * deformation[i] - f + stiffness * x) / (stiffness - slope)


@kernel
def _area(deformation, force, x):
    """Return the integral of a branch from its first point to x; its end segments are extrapolated."""
    total = 0.0
    last = len(deformation) - 2
    i = 0
    while i < last and x > deformation[i + 1]:
        total += 0.5 * (force[i] + force[i + 1]) * (deformation[i + 1] - deformation[i])
        i += 1
    return total + 0.5 * (force[i] + _branch(deformation, force, x)) * (x - deformation[i])


@kernel
def direct_force(p, e, d):
    """Return the force of branch 1 at d, N."""
    return _branch(p.direct_deformation, p.direct_force, d - e.shift)


@kernel
def return_force(p, e, d):
    """Return the force of branch 2 at d, N."""
    return _branch(p.return_deformation, p.return_force, d - e.shift)


@kernel
def _to_direct(p, e, d, f):
    """Return the deformation at which line 3 or 4 through (d, f) meets branch 1, or the stop if that comes first."""
    x = _meet(p.direct_deformation, p.direct_force, p.train_stiffness, d - e.shift, f)
    return min(e.shift + x, p.direct_deformation[4])


@kernel
def _to_return(p, e, d, f):
    """Return the deformation at which line 3 through (d, f) meets branch 2."""
    return e.shift + _meet(p.return_deformation, p.return_force, p.train_stiffness, d - e.shift, f)


@kernel
def _hold(p, e, top):
    """Set line 4 with its upper end on branch 1 at `top`, and with it the zones of backlash and tension."""
    e.held_top = top
    e.zero = top - direct_force(p, e, top) / p.train_stiffness
    e.state = HELD


@kernel
def _hold_released(p, e):
    """Set line 4 at the forward position, where branch 2 ends."""
    start = p.return_deformation[0] + e.shift
    _hold(p, e, _to_direct(p, e, start, return_force(p, e, start)))


@kernel
def _between(p, e, lower, upper):
    e.between[0] = lower
    e.between[1] = upper
    e.state = BETWEEN


@kernel
def force(p, e, d):
    """Return the force on the rod at deformation d on the current line, N, without damping."""
    if e.state == DIRECT:
        return direct_force(p, e, d)
    if e.state == RETURN:
        return return_force(p, e, d)
    if e.state == BETWEEN:
        return direct_force(p, e, e.between[1]) + p.train_stiffness * (d - e.between[1])
    if e.state == HELD:
        return p.train_stiffness * (d - e.zero)
    if e.state == STOP:
        end = p.direct_deformation[4]
        return direct_force(p, e, end) + p.train_stiffness * (d - end)
    if e.state == TENSION:
        return p.train_stiffness * (d - e.zero + p.backlash)
    if e.state == SLIP:
        return -p.slip_force
    return 0.0


@kernel
def _switch(p, e, lock):
    """Switch the clutch at the deformation of the last sample.

    Unlocking releases the shaft, so the force may jump to branch 2; the energy lost in the jump is dissipated.
    """
    e.locked = lock
    if lock != 0.0 or e.state == DIRECT or e.state == STOP:
        return
    d = e.deformation
    x = d - e.shift
    if x <= p.return_deformation[0]:
        _hold_released(p, e)
    elif e.force >= return_force(p, e, d):
        _between(p, e, _to_return(p, e, d, e.force), _to_direct(p, e, d, e.force))
    else:
        e.state = RETURN
        e.extreme = d
    e.force = force(p, e, d)


@kernel
def _from_branches(p, e, d, rate):
    """Make one transition out of states 1, 2, 3 and 5, if one is due. Returns whether one was made."""
    end = p.direct_deformation[4]
    locked = e.locked != 0.0
    if e.state == DIRECT:
        e.extreme = max(e.extreme, d)
        if d > end:
            e.state = STOP
        elif rate < 0.0 and locked:
            _hold(p, e, e.extreme)
        elif rate < 0.0:
            f = direct_force(p, e, e.extreme)
            _between(p, e, _to_return(p, e, e.extreme, f), e.extreme)
        else:
            return False
    elif e.state == BETWEEN:
        if locked:
            _hold(p, e, e.between[1])
        elif d > e.between[1]:
            e.extreme = d
            e.state = STOP if e.between[1] >= end else DIRECT
        elif d < e.between[0]:
            e.extreme = d
            e.state = RETURN
        else:
            return False
    elif e.state == RETURN:
        e.extreme = min(e.extreme, d)
        if locked or rate > 0.0:
            _between(p, e, e.extreme, _to_direct(p, e, e.extreme, return_force(p, e, e.extreme)))
        elif rate < 0.0 and d - e.shift < p.return_deformation[0]:
            _hold_released(p, e)
        else:
            return False
    elif d >= end:
        return False
    elif locked:
        _hold(p, e, end)
    else:
        _between(p, e, _to_return(p, e, end, direct_force(p, e, end)), end)
    return True


@kernel
def _from_held(p, e, d, rate):
    """Make one transition out of states 4, 0, 11 and 12, if one is due. Returns whether one was made."""
    slack = e.zero - p.backlash
    slip = slack - p.slip_force / p.train_stiffness
    if e.state == HELD:
        if d > e.held_top:
            e.extreme = d
            e.state = STOP if e.held_top >= p.direct_deformation[4] else DIRECT
        elif d < e.zero:
            e.state = BACKLASH if p.backlash > 0.0 else TENSION
        else:
            return False
    elif e.state == BACKLASH:
        if d < slack:
            e.state = TENSION
        elif d > e.zero:
            e.state = HELD
        else:
            return False
    elif e.state == TENSION:
        if d > slack:
            e.state = BACKLASH if p.backlash > 0.0 else HELD
        elif d < slip:
            e.state = SLIP
        else:
            return False
    elif d < slip:
        # the clutch slips between train and spring shaft: the spring stays wound, the rod moves out
        slipped = d - slip
        e.held_top += slipped
        e.zero += slipped
        e.shift += slipped
        e.slipped -= p.slip_force * slipped
        return False
    elif rate > 0.0:
        e.state = TENSION
    else:
        return False
    return True


@kernel
def advance(p, e, command, d, rate, h):
    """Process a sample of deformation d (m) and its rate (m/s), h after the last, with the `command` to lock."""
    if command == e.locked:
        e.waiting = 0.0
    else:
        e.waiting += h
        if e.waiting >= p.clutch_delay - ROUNDING:
            _switch(p, e, command)
            e.waiting = 0.0
    before = e.force
    for _ in range(TRANSITIONS):
        if e.state == HELD or e.state == BACKLASH or e.state >= TENSION:
            if not _from_held(p, e, d, rate):
                break
        elif not _from_branches(p, e, d, rate):
            break
    e.force = force(p, e, d)
    e.work += 0.5 * (before + e.force) * (d - e.deformation)
    e.deformation = d


@kernel
def stored_energy(p, e):
    """Return the energy that spring and train would give back if the recoil were unlocked now, J.

    The shaft is where the line of the train through (d, f) meets zero force; from there branch 2 releases the spring.
    """
    d = e.zero
    if DIRECT <= e.state <= BETWEEN or e.state == STOP:
        d = e.deformation - e.force / p.train_stiffness
    x = _meet(p.return_deformation, p.return_force, p.train_stiffness, d - e.shift, 0.0)
    f = _branch(p.return_deformation, p.return_force, x)
    first = p.return_force[0]
    spring = _area(p.return_deformation, p.return_force, x) - 0.5 * (f * f - first * first) / p.train_stiffness
    return spring + 0.5 * e.force * e.force / p.train_stiffness


@kernel
def initialize(p, e, d):
    """Lock the accumulator with zero force at deformation d: a ring that was drawn in and released.

    Theory: peripheral-docking 6.4.
    """
    e.shift = 0.0
    e.locked = 1.0
    e.waiting = 0.0
    _hold(p, e, _to_direct(p, e, d, 0.0))
    e.deformation = d
    e.force = force(p, e, d)
    e.extreme = d
    e.between[0] = d
    e.between[1] = d
    e.work = 0.0
    e.slipped = 0.0


@kernel
def drive_legs(p, x, s, accumulators, locks, h, share):
    """Sample the accumulators at the placed legs, and set the torques on their nuts.

    `locks` (6) are the commands of the clutches. h is the time since the last sample, and `share` (s) the time over
    which the dissipation by damping is counted.
    """
    for k in range(platform.LEGS):
        c = x.strut[k]
        e = accumulators[k]
        rate = platform.effective_rate(c)
        advance(p.accumulators, e, locks[k], p.legs.stroke - platform.effective_stroke(c), -rate, h)
        damping = p.accumulators.damping * rate
        s.viscous += share * damping * rate
        c.nut_torque = (e.force - damping) / c.nut_ratio
