"""Macro steps of variable length: estimates of their error, repeated steps, events."""

from __future__ import annotations

import numpy as np

from master.loop.advance import take
from master.loop.compiled import compiled
from master.loop.observe import located, observe
from master.loop.scales import grow, relative
from master.loop.shorter import SLACK, shorter
from master.loop.states import restore
from master.loop.tables import (
    DONE,
    DOUBLING,
    EVENT_BEFORE,
    LAST_ERROR,
    LONGEST,
    NEXT,
    NOW,
    OUTER,
    POWER_BONDS,
    REASON,
    SHORTEST,
)  # fmt: skip
from master.loop.trail import go_back, mark, walk

GROWTH, CUT, SAFETY = 2.0, 0.2, 0.9
"""limits of the change of the step, and the share of the allowed error that is aimed at"""


@compiled
def _double(tables, t, h):
    """One step, then the same as two halves, which stay; False after a failure."""
    control, y = tables.control, tables.signals.y_real
    if not take(tables, t, h):
        return False
    for j in range(control.slot.size):
        control.coarse[j] = y[control.slot[j]]
    return restore(tables, OUTER) and take(tables, t, 0.5 * h) and take(tables, t + 0.5 * h, 0.5 * h)


@compiled
def _difference(control, y):
    """Largest difference between one step and two, relative to the scales."""
    grow(control.scale, control.group, control.slot, y)
    largest = 0.0
    for j in range(control.slot.size):
        difference = y[control.slot[j]] - control.coarse[j]
        largest = max(largest, relative(difference, control.scale[control.group[j]]))
    return largest


@compiled
def _residual_energy(control, y, u, h):
    """Largest energy in J that a bond made in the step: what one side gave less what the other got."""
    control.energy[:] = 0.0
    for j in range(control.bond.size):
        given = y[control.effort[j, 0]] * u[control.flow[j, 1]] * control.ratio[j]
        taken = u[control.effort[j, 1]] * y[control.flow[j, 0]]
        control.energy[control.bond[j]] += h * (taken - given)
    return np.abs(control.energy).max()


@compiled
def _attempt(tables, t, h):
    """A step under estimation: (whether it was done, its error relative to the tolerance)."""
    control, signals = tables.control, tables.signals
    if control.estimate == DOUBLING:
        if not _double(tables, t, h):
            return False, 0.0
        return True, _difference(control, signals.y_real) / control.tolerance
    if not take(tables, t, h):
        return False, 0.0
    if control.estimate == POWER_BONDS:
        return True, _residual_energy(control, signals.y_real, signals.u_real, h) / control.tolerance
    return True, 0.0


@compiled
def _length(control, until):
    """The next step: half way to an event that lies ahead, not beyond `until`, and no splinter left before either."""
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
def _choose(control, error, h):
    """The step after one of length h whose error was `error`: a PI controller."""
    last = control.clock[LAST_ERROR]
    error = max(error, 1e-8)
    factor = SAFETY * error ** (-0.7 / control.order) * last ** (0.4 / control.order)
    control.clock[LAST_ERROR] = error
    control.clock[NEXT] = min(max(h * min(max(factor, CUT), GROWTH), control.shortest), control.longest)


@compiled
def _reject(tables, h):
    """Go back to the start of the step, and try one of length h instead; False after a failure."""
    control = tables.control
    control.rejected[0] += 1
    control.clock[NEXT] = h
    control.clock[LAST_ERROR] = 1.0
    tables.report[REASON] = DONE
    return go_back(tables)


@compiled
def advance_controlled(tables, until, first, count):
    """Take up to `count` steps, the first of number `first` + 1, from clock[NOW] to `until` at the most.

    Returns how many were completed; tables.report says why it ended, as in `advance`.
    """
    control, report = tables.control, tables.report
    clock = control.clock
    report[REASON] = DONE
    taken = 0
    anew = True  # whatever was set between two chunks
    while taken < count and clock[NOW] < until:
        t, h = clock[NOW], _length(control, until)
        if control.rollback and not mark(tables, anew):
            return taken
        anew = False
        done, error = _attempt(tables, t, h)
        repeat = 0.0
        event = False
        if not done:
            repeat = shorter(tables, t, h) if control.rollback else 0.0
            if repeat < control.shortest:
                return taken
        elif control.rollback:
            event = located(tables.watches, tables.signals.y_real, tables.signals.y_whole)
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
        walk(control, t, h)
        _choose(control, error, h)
        if event:
            # what comes after is another motion: find its step anew
            clock[NEXT], clock[LAST_ERROR] = control.event_step, 1.0
        observe(tables, first + taken, clock[NOW])
        if report[REASON] != DONE:
            return taken
    return taken
