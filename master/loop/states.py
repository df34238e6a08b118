"""Saving all instances with the buffers of the loop, and going back."""

from __future__ import annotations

import numpy as np

from master.loop.calls import refused, state_call
from master.loop.compiled import compiled
from master.loop.tables import RESTORE, SAVE


@compiled
def _copy(source, target):
    for k in range(source.size):
        target[k] = source[k]


@compiled
def save(tables, level):
    """Remember everything at `level` (OUTER or INNER); False after a failure."""
    instances, backup = tables.instances, tables.backup
    count = instances.component.size
    for i in range(count):
        address = np.int64(instances.state.ctypes.data) + 8 * (level * count + i)
        status: int = state_call(instances.get_state[i], instances.component[i], address)  # type: ignore[call-arg]
        if status != 0 and refused(instances.warnings, tables.report, status, i, SAVE, 0):
            return False
    _copy(tables.signals.y_real, backup.y_real[level])
    _copy(tables.signals.y_whole, backup.y_whole[level])
    _copy(tables.prediction.slope, backup.slope[level])
    _copy(tables.pace.waited, backup.waited[level])
    _copy(tables.pace.begun, backup.begun[level])
    _copy(tables.pace.u_sum, backup.u_sum[level])
    return True


@compiled
def restore(tables, level):
    """Go back to what was saved at `level`; False after a failure."""
    instances, backup = tables.instances, tables.backup
    for i in range(instances.component.size):
        state = instances.state[level, i]
        status: int = state_call(instances.set_state[i], instances.component[i], state)  # type: ignore[call-arg]
        if status != 0 and refused(instances.warnings, tables.report, status, i, RESTORE, 0):
            return False
    _copy(backup.y_real[level], tables.signals.y_real)
    _copy(backup.y_whole[level], tables.signals.y_whole)
    _copy(backup.slope[level], tables.prediction.slope)
    _copy(backup.waited[level], tables.pace.waited)
    _copy(backup.begun[level], tables.pace.begun)
    _copy(backup.u_sum[level], tables.pace.u_sum)
    return True
