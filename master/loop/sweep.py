"""One sweep: every instance over one macro step, stage by stage, at its own rate."""

from __future__ import annotations

import numpy as np

from dockfmu.master.loop.compiler import compiled, inlined
from dockfmu.master.loop.prediction import predict_inputs, set_input_derivatives, shift_inputs, update_lines
from dockfmu.master.loop.program import execute
from dockfmu.master.loop.tables import ONE

ROUNDING = 1e-6
"""Smallest difference of two times that is not rounding, relative to the macro step."""


@compiled
def _accumulate(signals, rates, i, t, h):
    """Add a macro step to the pending step of instance i, which steps once in several macro steps.

    If the step is due, sets the means of the inputs and returns its length; otherwise returns 0.
    """
    first, last = signals.u_range[i], signals.u_range[i + ONE]
    if rates.elapsed[i] == 0:
        rates.start[i] = t
    rates.elapsed[i] += 1
    due = rates.elapsed[i] >= rates.every[i]
    time = 0.0
    if due:
        time = t + h - rates.start[i]
        if abs(time - rates.elapsed[i] * h) < ROUNDING * h:
            # macro steps of one length: avoid the rounding of times
            time = rates.elapsed[i] * h
        rates.elapsed[i] = 0
    for k in range(first, last):
        rates.u_integral[k] += h * signals.u_real[k]
        if due:
            signals.u_real[k] = rates.u_integral[k] / time
            rates.u_integral[k] = 0.0
    return time


@compiled
def _average(signals, rates, i, count):
    """Replace outputs that are means by the means over the `count` substeps so far of instance i."""
    for k in range(signals.y_range[i], signals.y_range[i + ONE]):
        if rates.is_mean[k]:
            total = signals.y_real[k] if count == 1 else rates.y_integral[k] + signals.y_real[k]
            rates.y_integral[k] = total
            signals.y_real[k] = total / count


@compiled
def step_instance(tables, i, t, h):
    """Step instance i over the macro step, at its own rate and with predicted inputs; return False after a failure."""
    instances, signals, rates, prediction = tables.instances, tables.signals, tables.rates, tables.prediction
    first, last = signals.u_range[i], signals.u_range[i + ONE]
    call, step, end = instances.calls[i, 0], instances.calls[i, 1], instances.calls[i, 2]
    steps, every = 1, 1
    if rates.every.size > 0:
        steps, every = rates.substeps[i], rates.every[i]
    h_own = h / steps
    predicted = prediction.predicted.size > 0 and prediction.predicted[i] != 0
    slopes = predicted and every == 1 and prediction.set_range[i] < prediction.set_range[i + ONE]
    if predicted and not slopes:
        # an input that is held gets the value in the middle of the step
        shift_inputs(signals.u_real, prediction.u_slope, first, last, 0.5 * h_own)
    if every > 1:
        h_own = _accumulate(signals, rates, i, t, h)
        return h_own == 0.0 or execute(tables, call, end, rates.start[i], h_own)
    for j in range(steps):
        if j > 0 and instances.end[i] < np.inf:
            # it takes no further step
            return True
        if slopes and not set_input_derivatives(tables, i):
            return False
        # inputs that are held are set once; of outputs that are not means the last values count
        begin = call if j == 0 or predicted else step
        done = end if j + 1 == steps or rates.has_means[i] else step + ONE
        if not execute(tables, begin, done, t + j * h_own, h_own):
            return False
        if predicted:
            shift_inputs(signals.u_real, prediction.u_slope, first, last, h_own)
        if steps > 1 and rates.has_means[i]:
            _average(signals, rates, i, j + 1)
    return True


@compiled
def begin_stage(tables, a, b, t, h):
    """Set the inputs of the instances a to b, which have yet to step."""
    transfers = tables.instances.transfers
    execute(tables, transfers[a, 0], transfers[b - ONE, 2], t, h)
    if tables.prediction.predicted.size > 0:
        predict_inputs(tables.instances, tables.signals, tables.prediction, a, b)


@compiled
def end_stage(tables, a, b, h):
    """Update the lines of the outputs of the instances a to b, which have stepped."""
    if tables.prediction.predicted.size > 0:
        for i in range(a, b):
            update_lines(tables.signals, tables.prediction, i, h)


@compiled
def _sweep_stages(tables, t, h):
    """Step all instances from t to t + h, with predicted inputs or different rates; return False after a failure."""
    stages = tables.instances.stages
    for s in range(stages.size - 1):
        a, b = stages[s], stages[s + 1]
        begin_stage(tables, a, b, t, h)
        for i in range(a, b):
            if not step_instance(tables, i, t, h):
                return False
        end_stage(tables, a, b, h)
    return True


@inlined
def sweep(tables, t, h):
    """Step all instances from t to t + h; return False after a failure."""
    if tables.prediction.predicted.size > 0 or tables.rates.every.size > 0:
        return _sweep_stages(tables, t, h)
    return execute(tables, np.uint64(0), np.uint64(tables.instances.program.size), t, h)
