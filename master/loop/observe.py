"""What is looked at after each step: values that are not finite, changes of watched signals, rows to record."""

from __future__ import annotations

import numpy as np

from master.loop.calls import get_or_set, refused
from master.loop.compiled import compiled, inlined
from master.loop.tables import (
    ANY_CHANGE_REAL,
    ANY_CHANGE_WHOLE,
    COMPONENT,
    COUNT,
    DONE,
    EVENTS,
    FULL,
    FUNCTION,
    LEVEL_REAL,
    ONE,
    OWNER,
    REASON,
    RECORD,
    REFERENCES,
    STOPPED,
    STRIDE,
    VALUES,
)  # fmt: skip

_EXPONENT = np.int64(0x7FF0000000000000)


@inlined
def finite(bits):
    """Whether no value is infinite or NaN: those have all bits of the exponent set."""
    bad = 0
    for k in range(bits.size):
        bad += (bits[k] & _EXPONENT) == _EXPONENT
    return bad == 0


@inlined
def _now(watches, w, y_real, y_whole):
    if watches.kind[w] in (ANY_CHANGE_REAL, LEVEL_REAL):
        return y_real[watches.slot[w]]
    return float(y_whole[watches.slot[w]])


@compiled
def _changed(watches, w, new):
    old = watches.last[w]
    if watches.kind[w] in (ANY_CHANGE_REAL, ANY_CHANGE_WHOLE):
        return new != old
    return (new > watches.level[w]) != (old > watches.level[w])


@compiled
def located(watches, y_real, y_whole):
    """Whether a signal changed that a step must not jump over."""
    for w in range(watches.kind.size):
        if watches.located[w] and _changed(watches, w, _now(watches, w, y_real, y_whole)):
            return True
    return False


@compiled
def _watch(watches, y_real, y_whole, report, time):
    """Log what changed; False when the log is full."""
    count = report[EVENTS]
    event = watches.event
    for w in range(watches.kind.size):
        new = _now(watches, w, y_real, y_whole)
        if new == watches.last[w]:
            continue
        if watches.logged[w] and _changed(watches, w, new):
            event[count, 0], event[count, 1], event[count, 2], event[count, 3] = time, w, watches.last[w], new
            count += 1
        watches.last[w] = new
    report[EVENTS] = count
    return count + watches.kind.size <= event.shape[0]


@compiled
def _record(rows, warnings, report, group, time):
    row, table = rows.filled[group], rows.calls
    for c in range(rows.range[group], rows.range[group + ONE]):
        status: int = get_or_set(  # type: ignore[call-arg]
            table[c, FUNCTION],
            table[c, COMPONENT],
            table[c, REFERENCES],
            table[c, COUNT],
            table[c, VALUES] + row * table[c, STRIDE],
        )
        if status != 0 and refused(warnings, report, status, table[c, OWNER], RECORD, c):
            return False
    rows.time[group, row] = time
    rows.filled[group] = row + 1
    return True


@compiled
def record(tables, group, time):
    """Take one row of a group; False after a failure."""
    return _record(tables.rows, tables.instances.warnings, tables.report, np.uint64(group), time)


@compiled
def observe(tables, number, time):
    """After step `number` (from 1), which ended at `time`; tables.report says whether the loop may go on."""
    report, watches, rows = tables.report, tables.watches, tables.rows
    y_whole = tables.signals.y_whole
    report[REASON] = DONE
    room = True
    if watches.kind.size > 0:
        room = _watch(watches, tables.signals.y_real, y_whole, report, time)
    for g in range(rows.every.size):
        if number % rows.every[g] == 0 and not _record(rows, tables.instances.warnings, report, np.uint64(g), time):
            return
    if watches.stop_slot.size > 0 and y_whole[watches.stop_slot[0]] != 0:
        report[REASON] = STOPPED
    elif not room:
        report[REASON] = FULL
