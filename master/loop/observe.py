"""Observation after each step: values that are not finite, triggers, rows to record."""

from __future__ import annotations

import numpy as np

from dockfmu.master.loop.compiler import compiled, get_or_set, inlined
from dockfmu.master.loop.program import call_failed
from dockfmu.master.loop.tables import (
    ANY_CHANGE_INT,
    ANY_CHANGE_REAL,
    DELIVER,
    DONE,
    ENDED,
    LEVEL_REAL,
    ONE,
    RECORD,
    STOPPED,
)

_EXPONENT = np.int64(0x7FF0000000000000)


@inlined
def all_finite(bits):
    """Return whether no value is infinite or NaN, that is, has all bits of the exponent set."""
    bad = 0
    for k in range(bits.size):
        bad += (bits[k] & _EXPONENT) == _EXPONENT
    return bad == 0


@inlined
def _value(triggers, w, signals):
    """Return the present value of the signal of trigger w."""
    if triggers.kind[w] in (ANY_CHANGE_REAL, LEVEL_REAL):
        return signals.y_real[triggers.slot[w]]
    return float(signals.y_int[triggers.slot[w]])


@compiled
def _fired(triggers, w, new):
    """Return whether trigger w fires at a new value."""
    old = triggers.last[w]
    if triggers.kind[w] in (ANY_CHANGE_REAL, ANY_CHANGE_INT):
        return new != old
    return (new > triggers.level[w]) != (old > triggers.level[w])


@compiled
def event_to_locate(triggers, signals):
    """Return whether a change has occurred that a step must not jump over."""
    for w in range(triggers.kind.size):
        if triggers.located[w] and _fired(triggers, w, _value(triggers, w, signals)):
            return True
    return False


@compiled
def _log_events(triggers, signals, report, time):
    """Log the triggers that fired; return whether they can wait: the log has room, and none of them is prompt."""
    count, prompt = report.events, False
    event = triggers.event
    for w in range(triggers.kind.size):
        new = _value(triggers, w, signals)
        if new == triggers.last[w]:
            continue
        if triggers.logged[w] and _fired(triggers, w, new):
            event[count, 0], event[count, 1], event[count, 2], event[count, 3] = time, w, triggers.last[w], new
            count += 1
            prompt = prompt or triggers.prompt[w] != 0
        triggers.last[w] = new
    report.events = count
    return not prompt and count + triggers.kind.size <= event.shape[0]


@compiled
def record(tables, group, time):
    """Record one row of a group; return False after a failure."""
    recording, g = tables.recording, np.uint64(group)
    row, table = recording.filled[g], recording.calls
    for c in range(recording.range[g], recording.range[g + ONE]):
        status: int = get_or_set(  # type: ignore[call-arg]
            table[c].function,
            table[c].component,
            table[c].references,
            table[c].count,
            table[c].values + row * table[c].stride,
        )
        if status != 0 and call_failed(tables, status, table[c].owner, RECORD, c):
            return False
    recording.time[g, row] = time
    recording.filled[g] = row + 1
    return True


@compiled
def observe(tables, number, time):
    """Observe step `number`, counted from 1, which ended at `time`; tables.report says whether the loop may go on."""
    report, triggers, recording = tables.report[0], tables.triggers, tables.recording
    report.reason = DONE
    can_wait = True
    if triggers.kind.size > 0:
        can_wait = _log_events(triggers, tables.signals, report, time)
    for g in range(recording.every.size):
        if number % recording.every[g] == 0 and not record(tables, g, time):
            return
    if tables.instances.asked[0] != 0:
        report.reason = ENDED
    elif triggers.stop_slot.size > 0 and tables.signals.y_int[triggers.stop_slot[0]] != 0:
        report.reason = STOPPED
    elif not can_wait:
        report.reason = DELIVER
