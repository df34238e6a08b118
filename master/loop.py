"""The compiled loop: macro steps of coupled FMUs through the addresses of their functions.

Tables of integers say what to call with which addresses; `master.coupling` fills them. The loop returns to Python at
the end of a chunk of steps, and at once after a failure or when the run is to stop. Everything that is compiled stands
in this one file, because numba's cache of compiled code looks at no other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

# why `advance` returned
DONE, STOPPED, FAILED, NOT_FINITE, FULL = range(5)

# columns of a table of calls of fmi2Get... and fmi2Set...; the stride is used by recording, which fills row after row
FUNCTION, COMPONENT, REFERENCES, COUNT, VALUES, STRIDE = range(6)

# entries of Tables.report
REASON, INSTANCE, CALLED, STATUS, EVENTS, ROW = range(6)
SET, STEP, GET, RECORD = range(4)
"""what Tables.report[CALLED] may be; of SET, GET and RECORD the row of their table stands in report[ROW]"""

# what Tables.watch_kind may be
ANY_CHANGE_REAL, ANY_CHANGE_WHOLE, LEVEL_REAL, LEVEL_WHOLE = range(4)

ONE = np.uint64(1)
_EXPONENT = np.int64(0x7FF0000000000000)


class Tables(NamedTuple):
    """All that the loop needs. Instances are numbered in execution order; "whole" stands for Integer and Boolean.

    A stage is a range of instances that exchange before any of them steps: one each for Gauss-Seidel, all for Jacobi.
    Ranges have one entry more than instances (or groups): those of i are range[i] to range[i + 1]. Ranges and places
    are unsigned, which spares the compiled code a look for negative indices at each access.
    """

    stages: np.ndarray  # uint64 (stages + 1): ranges of instances
    component: np.ndarray  # int64 (instances)
    do_step: np.ndarray  # int64 (instances): addresses of fmi2DoStep
    set_calls: np.ndarray  # int64 (calls, 6)
    set_range: np.ndarray  # uint64 (instances + 1), as all ranges
    get_calls: np.ndarray  # int64 (calls, 6)
    get_range: np.ndarray
    y_real: np.ndarray  # float64: all outputs that are coupled or watched
    y_bits: np.ndarray  # int64: the same memory
    u_real: np.ndarray  # float64: all coupled inputs, by instance
    real_source: np.ndarray  # uint64: u_real[k] comes from y_real[real_source[k]]
    real_range: np.ndarray
    scaled: np.ndarray  # uint64: the k whose input is factor * output + offset
    factor: np.ndarray
    offset: np.ndarray
    scaled_range: np.ndarray
    y_whole: np.ndarray  # int32
    u_whole: np.ndarray
    whole_source: np.ndarray
    whole_range: np.ndarray
    watch_kind: np.ndarray  # int64 (watches)
    watch_slot: np.ndarray  # uint64: place in y_real or y_whole
    watch_level: np.ndarray  # float64
    watch_last: np.ndarray  # float64: value after the last step
    event: np.ndarray  # float64 (capacity, 4): step, watch, old value, new value
    stop_slot: np.ndarray  # uint64 (0 or 1): place in y_whole that ends the run when it is not 0
    record_every: np.ndarray  # int64 (groups): steps between two rows
    record_calls: np.ndarray  # int64 (calls, 6); the address of row r is VALUES + r * STRIDE
    record_instance: np.ndarray  # int64 (calls)
    record_range: np.ndarray
    record_rows: np.ndarray  # int64 (groups): rows that are filled
    record_step: np.ndarray  # int64 (groups, capacity): number of the step after which a row was taken
    warnings: np.ndarray  # int64 (instances): calls that gave fmi2Warning
    report: np.ndarray  # int64 (6)


_BYTES = ir.IntType(8).as_pointer()
_INT, _SIZE, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _emit(builder: Any, kinds: list[Any], arguments: Any) -> Any:
    """An indirect call of the function at address arguments[0]; int64 stands for a pointer where one is due."""
    function = builder.inttoptr(arguments[0], ir.FunctionType(_INT, kinds).as_pointer())
    given = [
        builder.inttoptr(value, kind) if kind == _BYTES else value
        for kind, value in zip(kinds, arguments[1:], strict=True)
    ]
    return builder.call(function, given)


@intrinsic
def _get_or_set(context, function, component, references, count, values):
    """fmi2GetReal and its kin: (component, references, count, values)"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _BYTES, _SIZE, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _do_step(context, function, component, t, h, no_rollback):
    """fmi2DoStep(component, t, h, noSetFMUStatePriorToCurrentPoint)"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _DOUBLE, _DOUBLE, _INT], arguments)

    return types.int32(types.int64, types.int64, types.float64, types.float64, types.int32), generate


@njit(cache=True)
def _refused(warnings, report, status, instance, called, row):
    """Whether a status ends the run; counts warnings."""
    if status == 1:
        warnings[instance] += 1
        return False
    report[REASON], report[INSTANCE], report[CALLED], report[STATUS], report[ROW] = (
        FAILED,
        instance,
        called,
        status,
        row,
    )
    return True


@njit(cache=True)
def _calls(calls, first, last, row, instance, called, warnings, report):
    """Calls of the table from `first` to `last`, their values moved on by `row` strides; False after a failure."""
    for c in range(first, last):
        status: int = _get_or_set(  # type: ignore[call-arg]
            calls[c, FUNCTION],
            calls[c, COMPONENT],
            calls[c, REFERENCES],
            calls[c, COUNT],
            calls[c, VALUES] + row * calls[c, STRIDE],
        )
        if status != 0 and _refused(warnings, report, status, instance, called, c):
            return False
    return True


@njit(cache=True)
def read_outputs(tables):
    """Read the coupled and watched outputs of all instances; False after a failure."""
    for i in range(tables.component.size):
        first, last = tables.get_range[i], tables.get_range[i + ONE]
        if not _calls(tables.get_calls, first, last, 0, i, GET, tables.warnings, tables.report):
            return False
    return True


@njit(cache=True)
def _record(calls, ranges, instances, rows, steps, warnings, report, group, step):
    row = rows[group]
    for c in range(ranges[group], ranges[group + 1]):
        if not _calls(calls, c, c + 1, row, instances[c], RECORD, warnings, report):
            return False
    steps[group, row] = step
    rows[group] = row + 1
    return True


@njit(cache=True)
def record(tables, group, step):
    """Take one row of a group; False after a failure."""
    return _record(
        tables.record_calls, tables.record_range, tables.record_instance, tables.record_rows, tables.record_step,
        tables.warnings, tables.report, group, step,
    )  # fmt: skip


@njit(cache=True)
def _gather(y, source, u, first, last):
    for k in range(first, last):
        u[k] = y[source[k]]


@njit(cache=True)
def _scale(u, scaled, factor, offset, first, last):
    for j in range(first, last):
        u[scaled[j]] = factor[j] * u[scaled[j]] + offset[j]


@njit(cache=True)
def _finite(bits):
    """Whether no value is infinite or NaN: those have all bits of the exponent set."""
    bad = 0
    for k in range(bits.size):
        bad += (bits[k] & _EXPONENT) == _EXPONENT
    return bad == 0


@njit(cache=True)
def _watch(y_real, y_whole, kinds, slots, levels, last, event, report, step):
    """Log what changed; False when the log is full."""
    count = report[EVENTS]
    for w in range(kinds.size):
        kind, slot, old = kinds[w], slots[w], last[w]
        if kind in (ANY_CHANGE_REAL, LEVEL_REAL):
            new = y_real[slot]
        else:
            new = float(y_whole[slot])
        last[w] = new
        if kind in (ANY_CHANGE_REAL, ANY_CHANGE_WHOLE):
            changed = new != old
        else:
            changed = (new > levels[w]) != (old > levels[w])
        if changed:
            event[count, 0], event[count, 1], event[count, 2], event[count, 3] = step, w, old, new
            count += 1
    report[EVENTS] = count
    return count + kinds.size <= event.shape[0]


@njit(cache=True)
def advance(tables, start, h, first, count):
    """Take the macro steps `first` to `first + count`, step k from start + k h; returns how many were completed.

    tables.report says why it ended: DONE, STOPPED (the stop signal is true), FAILED (a call of an FMU), NOT_FINITE (an
    output; the step counts as not completed), FULL (the log of events must be emptied).
    """
    # taken out of the tuple once: each access inside the loop would cost reference counts
    stages, component, do_step = tables.stages, tables.component, tables.do_step
    set_calls, set_range, get_calls, get_range = tables.set_calls, tables.set_range, tables.get_calls, tables.get_range
    y_real, y_bits, u_real, y_whole, u_whole = (
        tables.y_real,
        tables.y_bits,
        tables.u_real,
        tables.y_whole,
        tables.u_whole,
    )
    real_source, real_range, whole_source = tables.real_source, tables.real_range, tables.whole_source
    whole_range, scaled, factor, offset = tables.whole_range, tables.scaled, tables.factor, tables.offset
    scaled_range, watch_kind, watch_slot = tables.scaled_range, tables.watch_kind, tables.watch_slot
    watch_level, watch_last, event, stop_slot = tables.watch_level, tables.watch_last, tables.event, tables.stop_slot
    record_every, record_calls, record_range = tables.record_every, tables.record_calls, tables.record_range
    record_instance, record_rows, record_step = tables.record_instance, tables.record_rows, tables.record_step
    warnings, report = tables.warnings, tables.report
    report[REASON] = DONE
    for k in range(first, first + count):
        t = start + k * h
        for s in range(stages.size - 1):
            a, b = stages[s], stages[s + 1]
            _gather(y_real, real_source, u_real, real_range[a], real_range[b])
            _scale(u_real, scaled, factor, offset, scaled_range[a], scaled_range[b])
            _gather(y_whole, whole_source, u_whole, whole_range[a], whole_range[b])
            for i in range(a, b):
                if not _calls(set_calls, set_range[i], set_range[i + ONE], 0, i, SET, warnings, report):
                    return k - first
            for i in range(a, b):
                status: int = _do_step(do_step[i], component[i], t, h, np.int32(1))  # type: ignore[call-arg]
                if status != 0 and _refused(warnings, report, status, i, STEP, 0):
                    return k - first
            for i in range(a, b):
                if not _calls(get_calls, get_range[i], get_range[i + ONE], 0, i, GET, warnings, report):
                    return k - first
        if not _finite(y_bits):
            report[REASON] = NOT_FINITE
            return k - first
        room = True
        if watch_kind.size > 0:
            room = _watch(y_real, y_whole, watch_kind, watch_slot, watch_level, watch_last, event, report, k + 1)
        for g in range(record_every.size):
            if (k + 1) % record_every[g] == 0 and not _record(
                record_calls, record_range, record_instance, record_rows, record_step, warnings, report, g, k + 1
            ):
                return k - first
        if stop_slot.size > 0 and y_whole[stop_slot[0]] != 0:
            report[REASON] = STOPPED
            return k + 1 - first
        if not room:
            report[REASON] = FULL
            return k + 1 - first
    return count
