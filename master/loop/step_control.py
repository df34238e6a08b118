"""Macro steps of variable length: estimates of their error, repeated steps, events."""

from __future__ import annotations

from dockfmu.master.loop.compiler import compiled
from dockfmu.master.loop.fixed_steps import take_step
from dockfmu.master.loop.numerics import grow, relative
from dockfmu.master.loop.observe import event_to_locate, observe
from dockfmu.master.loop.program import SLACK
from dockfmu.master.loop.rollback import restore, save, shorter_step
from dockfmu.master.loop.tables import (
    DONE,
    DOUBLING,
    EVENT_BEFORE,
    LAST_ERROR,
    LONGEST,
    NEXT,
    NOW,
    OUTER,
    POWER_BONDS,
    SHORTEST,
    SINCE_REJECTION,
    SINCE_SAVE,
)

GROWTH, CUT, SAFETY = 2.0, 0.2, 0.9
"""Largest and smallest factor by which a step may change, and the safety factor of the next step."""

STEPS_PER_UNSAVED = 8
"""Steps without a rejection for each step that is allowed between the saved state and the present one."""


@compiled
def _save_start(tables, changed):
    """Make the present state one that `_roll_back` can return to; return False after a failure.

    It is saved if too many steps were taken since the saved state, or if it has `changed` between two steps. Not every
    state is saved, because most steps are not repeated and copying a state costs more than a step of some FMUs.
    """
    control = tables.control
    counters = control.counters
    limit = min(control.history.shape[0], counters[SINCE_REJECTION] // STEPS_PER_UNSAVED)
    if not changed and counters[SINCE_SAVE] < limit:
        return True
    counters[SINCE_SAVE] = 0
    return save(tables, OUTER)


@compiled
def _log_step(control, t, h):
    """Log an accepted step from t to t + h."""
    counters = control.counters
    if counters[SINCE_SAVE] < control.history.shape[0]:
        control.history[counters[SINCE_SAVE], 0], control.history[counters[SINCE_SAVE], 1] = t, h
    counters[SINCE_SAVE] += 1
    counters[SINCE_REJECTION] += 1


@compiled
def _roll_back(tables):
    """Return to the state of the last `_save_start`: restore the saved state, and repeat the steps since then.

    Returns False after a failure.
    """
    control = tables.control
    control.counters[SINCE_REJECTION] = 0
    done = restore(tables, OUTER)
    for k in range(control.counters[SINCE_SAVE]):
        done = done and take_step(tables, control.history[k, 0], control.history[k, 1])
    return done


@compiled
def _double(tables, t, h):
    """Take one step, then repeat it as two half steps, whose results are kept; return False after a failure."""
    control, y = tables.control, tables.signals.y_real
    if not take_step(tables, t, h):
        return False
    for j in range(control.slot.size):
        control.coarse[j] = y[control.slot[j]]
    return restore(tables, OUTER) and take_step(tables, t, 0.5 * h) and take_step(tables, t + 0.5 * h, 0.5 * h)


@compiled
def _difference(control, y):
    """Return the largest difference between one step and two, relative to the scales."""
    grow(control.scale, control.group, control.slot, y)
    largest = 0.0
    for j in range(control.slot.size):
        difference = y[control.slot[j]] - control.coarse[j]
        largest = max(largest, relative(difference, control.scale[control.group[j]]))
    return largest


@compiled
def _residual_energy(control, y, u, h):
    """Return the largest energy in J that a bond generated in the step: received less supplied, as a magnitude."""
    control.energy[:] = 0.0
    for j in range(control.bond.size):
        supplied = y[control.effort[j, 0]] * u[control.flow[j, 1]] * control.ratio[j]
        received = u[control.effort[j, 1]] * y[control.flow[j, 0]]
        control.energy[control.bond[j]] += h * (received - supplied)
    largest = 0.0
    for k in range(control.energy.size):
        energy = abs(control.energy[k])
        # NaN propagates
        if energy > largest or energy != energy:
            largest = energy
    return largest


@compiled
def _attempt(tables, t, h):
    """Take a step; return whether it was done, and its estimated error relative to the tolerance."""
    control, signals = tables.control, tables.signals
    if control.estimate == DOUBLING:
        if not _double(tables, t, h):
            return False, 0.0
        return True, _difference(control, signals.y_real) / control.tolerance
    if not take_step(tables, t, h):
        return False, 0.0
    if control.estimate == POWER_BONDS:
        return True, _residual_energy(control, signals.y_real, signals.u_real, h) / control.tolerance
    return True, 0.0


@compiled
def _next_length(control, until):
    """Return the length of the next step: half way to an event ahead, not beyond `until`, no tiny step left before."""
    t, h = control.clock[NOW], control.clock[NEXT]
    rest = until - t
    event = control.clock[EVENT_BEFORE] - t
    if event > control.event_step * (1.0 + SLACK):
        h = min(h, max(0.5 * event, control.event_step))
    elif event > control.event_step * SLACK:
        rest = min(rest, event)
    if h > (1.0 - SLACK) * rest:
        return rest
    return min(h, 0.5 * rest) if 2.0 * h > rest else h


@compiled
def _choose_next(control, error, h):
    """Choose the step after one of length h whose error was `error`, by a PI controller."""
    last = control.clock[LAST_ERROR]
    error = max(error, 1e-8)
    factor = SAFETY * error ** (-0.7 / control.order) * last ** (0.4 / control.order)
    control.clock[LAST_ERROR] = error
    control.clock[NEXT] = min(max(h * min(max(factor, CUT), GROWTH), control.shortest), control.longest)


@compiled
def _reject(tables, h):
    """Roll back to the start of the step, to try a step of length h instead; return False after a failure."""
    control = tables.control
    control.rejected[0] += 1
    control.clock[NEXT] = h
    control.clock[LAST_ERROR] = 1.0
    tables.report[0].reason = DONE
    return _roll_back(tables)


@compiled
def advance_controlled(tables, until, first, count):
    """Take up to `count` steps from clock[NOW], not beyond `until`; the first has the number `first` + 1.

    Returns how many were accepted; tables.report gives the reason for the end, as in `advance`.
    """
    control, report = tables.control, tables.report[0]
    clock = control.clock
    report.reason = DONE
    taken = 0
    changed = True  # values may have been set between two chunks
    while taken < count and clock[NOW] < until:
        t, h = clock[NOW], _next_length(control, until)
        if control.rollback and not _save_start(tables, changed):
            return taken
        changed = False
        done, error = _attempt(tables, t, h)
        repeat = 0.0
        event = False
        if not done:
            repeat = shorter_step(tables, t, h) if control.rollback else 0.0
            if repeat < control.shortest:
                return taken
        elif control.rollback:
            event = event_to_locate(tables.triggers, tables.signals)
            if event and h > control.event_step * (1.0 + SLACK):
                clock[EVENT_BEFORE] = t + h
                repeat = max(0.5 * h, control.event_step)
            elif error > 1.0 and h > control.shortest * (1.0 + SLACK):
                repeat = max(h * max(CUT, SAFETY * error ** (-1.0 / control.order)), control.shortest)
        if repeat > 0.0:
            if not _reject(tables, repeat):
                return taken
            continue
        clock[NOW] = until if h == until - t else t + h
        clock[SHORTEST], clock[LONGEST] = min(clock[SHORTEST], h), max(clock[LONGEST], h)
        taken += 1
        _log_step(control, t, h)
        _choose_next(control, error, h)
        if event:
            # the motion changes at an event: begin with a short step
            clock[NEXT], clock[LAST_ERROR] = control.event_step, 1.0
        observe(tables, first + taken, clock[NOW])
        if report.reason != DONE:
            return taken
    return taken
