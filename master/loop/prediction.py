"""Linear prediction: outputs as straight lines over the macro step, and the inputs that follow from them."""

from __future__ import annotations

import numpy as np

from dockfmu.base.fmi import DISCARD
from dockfmu.master.loop.compiler import compiled, get_or_set_derivatives
from dockfmu.master.loop.program import call_failed, transfer
from dockfmu.master.loop.tables import (
    GET_OUTPUT_DERIVATIVES,
    NO_SLOT,
    ONE,
    SET_INPUT_DERIVATIVES,
)


@compiled
def start_lines(signals, prediction):
    """Start the lines of all outputs at their present values, with the known derivative or the last slope."""
    y, derivative, slope = signals.y_real, prediction.derivative, prediction.slope
    for k in range(prediction.start.size):
        prediction.start[k] = y[k]
        if derivative[k] != NO_SLOT:
            slope[k] = y[derivative[k]]


@compiled
def update_lines(signals, prediction, i, h):
    """Draw the lines of the outputs of instance i, which has stepped, through their new values."""
    for k in range(signals.y_range[i], signals.y_range[i + ONE]):
        if prediction.smooth[k]:
            prediction.slope[k] = (signals.y_real[k] - prediction.start[k]) / h
        else:
            prediction.start[k] = signals.y_real[k]


@compiled
def predict_inputs(instances, signals, prediction, a, b):
    """Set the Real inputs of the predicted instances of a to b to the start of their lines, and their slopes."""
    program, factor = instances.program, signals.factor
    for i in range(a, b):
        if not prediction.predicted[i]:
            continue
        for r in range(instances.transfers[i, 0], instances.transfers[i, 1]):
            transfer(prediction.start, signals.u_real, factor, signals.offset, program, r)
            source, target = np.uint64(program[r].source), np.uint64(program[r].target)
            for k in range(np.uint64(program[r].count)):
                prediction.u_slope[target + k] = factor[target + k] * prediction.slope[source + k]


@compiled
def shift_inputs(u, slope, first, last, time):
    """Move the inputs `first` to `last` along their lines by `time`."""
    for k in range(first, last):
        u[k] += time * slope[k]


@compiled
def _call_derivatives(prediction, table, c):
    """Return the status of call c of a table that sets derivatives of inputs or gets those of outputs."""
    status: int = get_or_set_derivatives(  # type: ignore[call-arg]
        table[c].function,
        table[c].component,
        table[c].references,
        table[c].count,
        prediction.orders.ctypes.data,
        table[c].values,
    )
    return status


@compiled
def set_input_derivatives(tables, i):
    """Pass instance i the slopes of its inputs; return False after a failure."""
    prediction = tables.prediction
    for c in range(prediction.set_range[i], prediction.set_range[i + ONE]):
        status = _call_derivatives(prediction, prediction.set_calls, c)
        if status != 0 and call_failed(tables, status, i, SET_INPUT_DERIVATIVES, c):
            return False
    return True


@compiled
def get_output_derivatives(tables):
    """Get the slopes of outputs from the instances that provide their derivatives; return False after a failure.

    After fmi2Discard, such as before the first step of an FMU, the slope stays as it is.
    """
    prediction = tables.prediction
    table, received, slope = prediction.get_calls, prediction.received, prediction.slope
    for c in range(table.shape[0]):
        status = _call_derivatives(prediction, table, c)
        if status == DISCARD:
            continue
        if status != 0 and call_failed(tables, status, table[c].owner, GET_OUTPUT_DERIVATIVES, c):
            return False
        first = table[c].stride
        for k in range(first, first + table[c].count):
            slope[k] = received[k]
    return True
