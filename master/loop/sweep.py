"""One sweep: every instance over one macro step, stage by stage."""

from __future__ import annotations

import numpy as np

from base.fmi import DISCARD
from master.loop.calls import derivatives, refused
from master.loop.compiled import compiled, inlined
from master.loop.program import carry, execute
from master.loop.tables import (
    COMPONENT,
    COUNT,
    FUNCTION,
    NOWHERE,
    ONE,
    OWNER,
    RATE,
    REFERENCES,
    SLOPE,
    SOURCE,
    STRIDE,
    TARGET,
    VALUES,
)  # fmt: skip

ROUNDING = 1e-6
"""of a macro step: what times that are told apart differ by at least"""


@compiled
def _draw(instances, signals, prediction, a, b):
    """Real inputs of the predicted instances of a to b as lines: values at the start of the step, and slopes."""
    program, factor = instances.program, signals.factor
    for i in range(a, b):
        if not prediction.predicted[i]:
            continue
        for r in range(instances.carries[i, 0], instances.carries[i, 1]):
            carry(prediction.start, signals.u_real, factor, signals.offset, program, r)
            source, target = np.uint64(program[r, SOURCE]), np.uint64(program[r, TARGET])
            for k in range(np.uint64(program[r, COUNT])):
                prediction.u_slope[target + k] = factor[target + k] * prediction.slope[source + k]


@compiled
def _slide(u, slope, first, last, time):
    for k in range(first, last):
        u[k] += time * slope[k]


@compiled
def _slopes(prediction, table, c):
    """Status of call c of a table that sets slopes of inputs or gets those of outputs."""
    status: int = derivatives(  # type: ignore[call-arg]
        table[c, FUNCTION],
        table[c, COMPONENT],
        table[c, REFERENCES],
        table[c, COUNT],
        prediction.orders.ctypes.data,
        table[c, VALUES],
    )
    return status


@compiled
def _pass_slopes(prediction, warnings, report, i):
    """Hand instance i the slopes of its inputs; False after a failure."""
    table = prediction.slope_calls
    for c in range(prediction.slope_range[i], prediction.slope_range[i + ONE]):
        status = _slopes(prediction, table, c)
        if status != 0 and refused(warnings, report, status, i, SLOPE, c):
            return False
    return True


@compiled
def ask_rates(prediction, warnings, report):
    """Slopes of the outputs whose derivatives their instances know; False after a failure.

    What an FMU discards it does not know now, such as before its first step: that keeps the slope it has.
    """
    table, told, slope = prediction.rate_calls, prediction.told, prediction.slope
    for c in range(table.shape[0]):
        status = _slopes(prediction, table, c)
        if status == DISCARD:
            continue
        if status != 0 and refused(warnings, report, status, table[c, OWNER], RATE, c):
            return False
        first = table[c, STRIDE]
        for k in range(first, first + table[c, COUNT]):
            slope[k] = told[k]
    return True


@compiled
def _wait(signals, pace, i, t, h):
    """Instance i misses a macro step: remember its inputs. Its own step when it is its turn, with the means of its
    inputs, otherwise 0.
    """
    first, last = signals.real_range[i], signals.real_range[i + ONE]
    if pace.waited[i] == 0:
        pace.begun[i] = t
    pace.waited[i] += 1
    turn = pace.waited[i] >= pace.every[i]
    time = 0.0
    if turn:
        time = t + h - pace.begun[i]
        if abs(time - pace.waited[i] * h) < ROUNDING * h:
            # of macro steps of one length: free of the rounding of times
            time = pace.waited[i] * h
        pace.waited[i] = 0
    for k in range(first, last):
        pace.u_sum[k] += h * signals.u_real[k]
        if turn:
            signals.u_real[k] = pace.u_sum[k] / time
            pace.u_sum[k] = 0.0
    return time


@compiled
def move(tables, i, t, h):
    """Instance i over the macro step, at its own pace and with lines for inputs; False after a failure."""
    instances, signals, pace, prediction = tables.instances, tables.signals, tables.pace, tables.prediction
    first, last = signals.real_range[i], signals.real_range[i + ONE]
    call, step, end = instances.calls[i, 0], instances.calls[i, 1], instances.calls[i, 2]
    steps, every = 1, 1
    if pace.every.size > 0:
        steps, every = pace.substeps[i], pace.every[i]
    h_own = h / steps
    drawn = prediction.predicted.size > 0 and prediction.predicted[i] != 0
    slopes = drawn and every == 1 and prediction.slope_range[i] < prediction.slope_range[i + ONE]
    if drawn and not slopes:
        # what is held is the value in the middle
        _slide(signals.u_real, prediction.u_slope, first, last, 0.5 * h_own)
    if every > 1:
        h_own = _wait(signals, pace, i, t, h)
        return h_own == 0.0 or execute(tables, call, end, pace.begun[i], h_own)
    for j in range(steps):
        if slopes and not _pass_slopes(prediction, instances.warnings, tables.report, i):
            return False
        # inputs that are held are set once, and of outputs that are no means the last values count
        begin = call if j == 0 or drawn else step
        done = end if j + 1 == steps or pace.averaged[i] else step + ONE
        if not execute(tables, begin, done, t + j * h_own, h_own):
            return False
        if drawn:
            _slide(signals.u_real, prediction.u_slope, first, last, h_own)
        if steps > 1 and pace.averaged[i]:
            _average(signals, pace, i, j + 1)
    return True


@compiled
def _average(signals, pace, i, count):
    """Outputs that are means: over all steps of instance i in this macro step, of which there were `count`."""
    for k in range(signals.y_range[i], signals.y_range[i + ONE]):
        if pace.mean[k]:
            total = signals.y_real[k] if count == 1 else pace.y_sum[k] + signals.y_real[k]
            pace.y_sum[k] = total
            signals.y_real[k] = total / count


@compiled
def begin_lines(signals, prediction):
    """Lines of all outputs from the start of a macro step: as they went over the last one, or along their rates."""
    y, rate, slope = signals.y_real, prediction.rate, prediction.slope
    for k in range(prediction.start.size):
        prediction.start[k] = y[k]
        if rate[k] != NOWHERE:
            slope[k] = y[rate[k]]


@compiled
def _end_lines(signals, prediction, i, h):
    """Lines of the outputs of instance i, which has stepped, to where they have come."""
    for k in range(signals.y_range[i], signals.y_range[i + ONE]):
        if prediction.smooth[k]:
            prediction.slope[k] = (signals.y_real[k] - prediction.start[k]) / h
        else:
            prediction.start[k] = signals.y_real[k]


@compiled
def begin_stage(tables, a, b, t, h):
    """The inputs of the instances a to b, which have yet to step."""
    carries = tables.instances.carries
    execute(tables, carries[a, 0], carries[b - ONE, 2], t, h)
    if tables.prediction.predicted.size > 0:
        _draw(tables.instances, tables.signals, tables.prediction, a, b)


@compiled
def end_stage(tables, a, b, h):
    """Lines of the outputs of the instances a to b, which have stepped."""
    if tables.prediction.predicted.size > 0:
        for i in range(a, b):
            _end_lines(tables.signals, tables.prediction, i, h)


@compiled
def _by_stages(tables, t, h):
    """All instances from t to t + h, with lines for inputs or at paces of their own; False after a failure."""
    stages = tables.instances.stages
    for s in range(stages.size - 1):
        a, b = stages[s], stages[s + 1]
        begin_stage(tables, a, b, t, h)
        for i in range(a, b):
            if not move(tables, i, t, h):
                return False
        end_stage(tables, a, b, h)
    return True


@inlined
def sweep(tables, t, h):
    """All instances from t to t + h; False after a failure."""
    if tables.prediction.predicted.size > 0 or tables.pace.every.size > 0:
        return _by_stages(tables, t, h)
    return execute(tables, np.uint64(0), np.uint64(tables.instances.program.shape[0]), t, h)
