"""Macro steps of a fixed length; steps that fail because of their length may be retried with shorter ones."""

from __future__ import annotations

from dockfmu.master.loop.compiler import compiled, inlined
from dockfmu.master.loop.iteration import iterate
from dockfmu.master.loop.observe import all_finite, observe
from dockfmu.master.loop.prediction import get_output_derivatives, start_lines
from dockfmu.master.loop.program import SLACK
from dockfmu.master.loop.rollback import restore, save, shorter_step
from dockfmu.master.loop.sweep import sweep
from dockfmu.master.loop.tables import DONE, NOT_FINITE, NOW, OUTER
from dockfmu.master.loop.threads import sweep_parallel


@inlined
def take_step(tables, t, h):
    """Take one macro step of the algorithm; return False after a failure or for outputs that are not finite."""
    if tables.prediction.start.size > 0:
        start_lines(tables.signals, tables.prediction)
        if not get_output_derivatives(tables):
            return False
    if tables.iteration.slot.size > 0:
        done = iterate(tables, t, h)
    elif tables.threads.words.size > 0:
        done = sweep_parallel(tables, t, h)
    else:
        done = sweep(tables, t, h)
    if done and not all_finite(tables.signals.y_bits):
        tables.report[0].reason = NOT_FINITE
        return False
    return done


@compiled
def advance(tables, origin, h, number, first, count):
    """Take `count` macro steps of a grid, whose step k begins at origin + k h, from step `first` on.

    `number` is the number of steps that the run has already taken. Returns how many were taken; tables.report gives the
    reason for the end: DONE, STOPPED (the stop signal is true), FAILED (a call of an FMU), NOT_FINITE (an output; the
    step does not count), DELIVER (events: the log is full or a prompt trigger fired).
    """
    tables.report[0].reason = DONE
    for k in range(count):
        if not take_step(tables, origin + (first + k) * h, h):
            return k
        observe(tables, number + k + 1, origin + (first + k + 1) * h)
        if tables.report[0].reason != DONE:
            return k + 1
    return count


@compiled
def _take_in_parts(tables, t, h):
    """Step from t to t + h, in one step if possible; return False after a failure that shorter steps do not avoid.

    The time that was reached, clock[NOW], is t + h unless an FMU asked to end the simulation before.
    """
    now, end, part = t, t + h, h
    while save(tables, OUTER):
        if take_step(tables, now, part):
            now, part = now + part, end - (now + part)
            if part <= SLACK * h:
                tables.control.clock[NOW] = end
                return True
            if tables.instances.asked[0] != 0:
                # an FMU that asked to end the simulation takes no further step
                tables.control.clock[NOW] = now
                return True
        else:
            part = shorter_step(tables, now, part)
            if part < tables.control.shortest:
                return False
            tables.control.rejected[0] += 1
            if not restore(tables, OUTER):
                return False
    return False


@compiled
def advance_retrying(tables, origin, h, number, first, count):
    """Take macro steps as `advance` does, and retry those that fail; all instances must support rollback."""
    tables.report[0].reason = DONE
    for k in range(count):
        if not _take_in_parts(tables, origin + (first + k) * h, h):
            return k
        whole = tables.instances.asked[0] == 0
        observe(tables, number + k + 1, origin + (first + k + 1) * h if whole else tables.control.clock[NOW])
        if tables.report[0].reason != DONE:
            return k + 1
    return count
