"""Rollback: save and restore all instances with the buffers of the loop, and choose a shorter step after a failure."""

from __future__ import annotations

import numpy as np

from dockfmu.base.fmi import DISCARD, LAST_SUCCESSFUL_TIME
from dockfmu.master.loop.compiler import compiled, get_or_set_state, get_status
from dockfmu.master.loop.program import SLACK, call_failed
from dockfmu.master.loop.tables import (
    FAILED,
    GET,
    NOT_FINITE,
    RESTORE,
    SAVE,
    SET,
    STEP,
)


@compiled
def _copy(source, target):
    for k in range(source.size):
        target[k] = source[k]


@compiled
def save(tables, level):
    """Save everything at `level` (OUTER or INNER); return False after a failure."""
    instances, backup, rates = tables.instances, tables.backup, tables.rates
    count = instances.component.size
    for i in range(count):
        address = np.int64(instances.state.ctypes.data) + 8 * (level * count + i)
        status: int = get_or_set_state(instances.get_state[i], instances.component[i], address)  # type: ignore[call-arg]
        if status != 0 and call_failed(tables, status, i, SAVE, 0):
            return False
    _copy(tables.signals.y_real, backup.y_real[level])
    _copy(tables.signals.y_int, backup.y_int[level])
    _copy(tables.prediction.slope, backup.slope[level])
    _copy(rates.elapsed, backup.elapsed[level])
    _copy(rates.start, backup.start[level])
    _copy(rates.u_integral, backup.u_integral[level])
    return True


@compiled
def restore(tables, level):
    """Restore what was saved at `level`; return False after a failure."""
    instances, backup, rates = tables.instances, tables.backup, tables.rates
    if instances.asked[0] != 0:
        instances.asked[0] = 0
        instances.end[:] = np.inf
    for i in range(instances.component.size):
        state = instances.state[level, i]
        status: int = get_or_set_state(instances.set_state[i], instances.component[i], state)  # type: ignore[call-arg]
        if status != 0 and call_failed(tables, status, i, RESTORE, 0):
            return False
    _copy(backup.y_real[level], tables.signals.y_real)
    _copy(backup.y_int[level], tables.signals.y_int)
    _copy(backup.slope[level], tables.prediction.slope)
    _copy(backup.elapsed[level], rates.elapsed)
    _copy(backup.start[level], rates.start)
    _copy(backup.u_integral[level], rates.u_integral)
    return True


@compiled
def shorter_step(tables, t, h):
    """Return the length to try instead of `h` from `t` on, 0 if a shorter step does not help.

    A discarded step is shortened to the last successful time if the FMU reports one that is not too close. The step is
    halved if it does not, if values are not finite, and if an FMU discards values: its equations have no solution for
    such inputs.
    """
    report, control = tables.report[0], tables.control
    if report.reason == NOT_FINITE:
        return 0.5 * h
    called = report.called
    if report.reason != FAILED or report.status != DISCARD or called not in (SET, STEP, GET):
        return 0.0
    if called != STEP:
        return 0.5 * h
    i, time = report.instance, control.last_successful_time
    status: int = get_status(  # type: ignore[call-arg]
        tables.instances.real_status[i], tables.instances.component[i], LAST_SUCCESSFUL_TIME, time.ctypes.data
    )
    reached = time[0] - t
    return reached if status == 0 and control.shortest <= reached < (1.0 - SLACK) * h else 0.5 * h
