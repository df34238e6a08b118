"""One sweep: every instance over one macro step, stage by stage."""

from __future__ import annotations

from master.loop.calls import calls, derivatives, do_step, refused
from master.loop.compiled import compiled, inlined
from master.loop.tables import (
    COMPONENT,
    COUNT,
    DISCARD,
    FUNCTION,
    GET,
    NOWHERE,
    ONE,
    RATE,
    REFERENCES,
    SET,
    SLOPE,
    STEP,
    STRIDE,
    VALUES,
)  # fmt: skip

ROUNDING = 1e-6
"""of a macro step: what times that are told apart differ by at least"""


@compiled
def _gather(y, source, u, first, last):
    for k in range(first, last):
        u[k] = y[source[k]]


@compiled
def _scale(u, scaled, factor, offset, first, last):
    for j in range(first, last):
        u[scaled[j]] = factor[j] * u[scaled[j]] + offset[j]


@compiled
def _translate(signals, first, last):
    """Look up the values of whole inputs that have a table."""
    for j in range(first, last):
        k = signals.tabled[j]
        value = signals.u_whole[k]
        for row in range(signals.table_range[j], signals.table_range[j + ONE]):
            if signals.table[row, 0] == value:
                signals.u_whole[k] = signals.table[row, 1]


@inlined
def _hold(signals, a, b):
    """Inputs of the instances a to b from the latest outputs."""
    y, u, source, ends = signals.y_real, signals.u_real, signals.real_source, signals.real_range
    _gather(y, source, u, ends[a], ends[b])
    _scale(u, signals.scaled, signals.factor, signals.offset, signals.scaled_range[a], signals.scaled_range[b])
    _gather(signals.y_whole, signals.whole_source, signals.u_whole, signals.whole_range[a], signals.whole_range[b])
    if signals.tabled.size > 0:
        _translate(signals, signals.tabled_range[a], signals.tabled_range[b])


@compiled
def _draw(signals, prediction, a, b):
    """Real inputs of the predicted instances of a to b as lines: values at the start of the step, and slopes."""
    u, slope, ends = signals.u_real, prediction.u_slope, signals.real_range
    scaled, factor, offset = signals.scaled, signals.factor, signals.offset
    for i in range(a, b):
        if not prediction.predicted[i]:
            continue
        _gather(prediction.start, signals.real_source, u, ends[i], ends[i + ONE])
        _gather(prediction.slope, signals.real_source, slope, ends[i], ends[i + ONE])
        for j in range(signals.scaled_range[i], signals.scaled_range[i + ONE]):
            u[scaled[j]] = factor[j] * u[scaled[j]] + offset[j]
            slope[scaled[j]] *= factor[j]


@compiled
def _slide(u, slope, first, last, time):
    for k in range(first, last):
        u[k] += time * slope[k]


@compiled
def _pass_slopes(prediction, warnings, report, i):
    """Hand instance i the slopes of its inputs; False after a failure."""
    table = prediction.slope_calls
    for c in range(prediction.slope_range[i], prediction.slope_range[i + ONE]):
        status: int = derivatives(  # type: ignore[call-arg]
            table[c, FUNCTION],
            table[c, COMPONENT],
            table[c, REFERENCES],
            table[c, COUNT],
            prediction.orders.ctypes.data,
            table[c, VALUES],
        )
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
        status: int = derivatives(  # type: ignore[call-arg]
            table[c, FUNCTION],
            table[c, COMPONENT],
            table[c, REFERENCES],
            table[c, COUNT],
            prediction.orders.ctypes.data,
            table[c, VALUES],
        )
        if status == DISCARD:
            continue
        if status != 0 and refused(warnings, report, status, prediction.rate_instance[c], RATE, c):
            return False
        first = table[c, STRIDE]
        for k in range(first, first + table[c, COUNT]):
            slope[k] = told[k]
    return True


@inlined
def _step(instances, i, t, h, report):
    """Inputs, step and outputs of instance i; False after a failure."""
    ends, warnings = instances.set_range, instances.warnings
    if not calls(instances.set_calls, ends[i], ends[i + ONE], 0, i, SET, warnings, report):
        return False
    status: int = do_step(instances.do_step[i], instances.component[i], t, h, instances.final)  # type: ignore[call-arg]
    if status != 0 and refused(warnings, report, status, i, STEP, 0):
        return False
    ends = instances.get_range
    return calls(instances.get_calls, ends[i], ends[i + ONE], 0, i, GET, warnings, report)


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
def _move(instances, signals, pace, prediction, report, i, t, h):
    """Instance i over the macro step, at its own pace and with lines for inputs; False after a failure."""
    first, last = signals.real_range[i], signals.real_range[i + ONE]
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
        return h_own == 0.0 or _step(instances, i, pace.begun[i], h_own, report)
    for j in range(steps):
        if slopes and not _pass_slopes(prediction, instances.warnings, report, i):
            return False
        if not _step(instances, i, t + j * h_own, h_own, report):
            return False
        if drawn:
            _slide(signals.u_real, prediction.u_slope, first, last, h_own)
        if steps > 1:
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
def sweep(tables, t, h):
    """All instances from t to t + h; False after a failure."""
    instances, signals, report = tables.instances, tables.signals, tables.report
    pace, prediction = tables.pace, tables.prediction
    drawn = prediction.predicted.size > 0
    plain = not drawn and pace.every.size == 0
    stages = instances.stages
    for s in range(stages.size - 1):
        a, b = stages[s], stages[s + 1]
        _hold(signals, a, b)
        if drawn:
            _draw(signals, prediction, a, b)
        for i in range(a, b):
            if plain:
                if not _step(instances, i, t, h, report):
                    return False
            elif not _move(instances, signals, pace, prediction, report, i, t, h):
                return False
        if drawn:
            for i in range(a, b):
                _end_lines(signals, prediction, i, h)
    return True
