"""Macro steps of a fixed length."""

from __future__ import annotations

from master.loop.compiled import compiled, inlined
from master.loop.crew import sweep_together
from master.loop.iterate import iterate
from master.loop.observe import finite, observe
from master.loop.sweep import ask_rates, begin_lines, sweep
from master.loop.tables import DONE, NOT_FINITE, REASON


@inlined
def take(tables, t, h):
    """One macro step of the algorithm; False after a failure or for outputs that are not finite."""
    if tables.prediction.start.size > 0:
        begin_lines(tables.signals, tables.prediction)
        if not ask_rates(tables.prediction, tables.instances.warnings, tables.report):
            return False
    if tables.iteration.slot.size > 0:
        done = iterate(tables, t, h)
    elif tables.crew.board.size > 0:
        done = sweep_together(tables, t, h)
    else:
        done = sweep(tables, t, h)
    if done and not finite(tables.signals.y_bits):
        tables.report[REASON] = NOT_FINITE
        return False
    return done


@compiled
def advance(tables, origin, h, number, first, count):
    """Take the macro steps `first` to `first + count` of a grid, step k from origin + k h; returns how many were done.

    `number` is how many the run has taken before. tables.report says why it ended: DONE, STOPPED (the stop signal is
    true), FAILED (a call of an FMU), NOT_FINITE (an output; the step counts as not done), FULL (the log of events must
    be emptied).
    """
    tables.report[REASON] = DONE
    for k in range(count):
        if not take(tables, origin + (first + k) * h, h):
            return k
        observe(tables, number + k + 1, origin + (first + k + 1) * h)
        if tables.report[REASON] != DONE:
            return k + 1
    return count
