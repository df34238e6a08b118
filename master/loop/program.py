"""The program of a macro step, row by row: transfers from outputs to inputs, and calls of the FMUs."""

from __future__ import annotations

import numpy as np

from dockfmu.base.fmi import DISCARD, LAST_SUCCESSFUL_TIME, TERMINATED, WARNING
from dockfmu.master.loop.compiler import compiled, do_step, get_or_set, get_status, inlined
from dockfmu.master.loop.tables import (
    CONVERT,
    COPY,
    COPY_INT,
    FAILED,
    GET,
    ONE,
    SET,
    STEP,
)

SLACK = 1e-9
"""Times that are closer than this fraction of a step count as equal."""


@compiled
def call_failed(tables, status, instance, called, row):
    """Count a warning, or report a call with a worse status; return whether the status, not fmi2OK, ends the run."""
    if status == WARNING:
        tables.instances.warnings[instance] += 1
        return False
    report = tables.report[0]
    report.reason = FAILED
    report.instance = instance
    report.called = called
    report.status = status
    report.row = row
    return True


@compiled
def asks_to_end(tables, i, t, h):
    """Return whether instance i, which has discarded its step from t to t + h, asks to end the simulation.

    Its step then counts as done, and the run ends after the macro step. If the FMU has reached less than t + h, and
    steps can be repeated, the step fails first, to be repeated up to the time that was reached.
    """
    instances, control = tables.instances, tables.control
    address = np.int64(instances.answer.ctypes.data) + 4 * i
    status: int = get_status(instances.boolean_status[i], instances.component[i], TERMINATED, address)  # type: ignore[call-arg]
    if status != 0 or instances.answer[i] == 0:
        return False
    instances.end[i] = t + h
    address = np.int64(instances.end.ctypes.data) + 8 * i
    status = get_status(instances.real_status[i], instances.component[i], LAST_SUCCESSFUL_TIME, address)
    reached = instances.end[i] if status == 0 and t <= instances.end[i] <= t + h else t + h
    if control.rollback and control.shortest <= reached - t < (1.0 - SLACK) * h:
        instances.end[i] = np.inf
        return False
    instances.end[i] = reached
    instances.asked[0] = 1
    return True


@inlined
def transfer(y, u, factor, offset, program, r):
    """Set the Real inputs u of row r from the outputs y."""
    source, target, count = np.uint64(program[r].source), np.uint64(program[r].target), program[r].count
    if program[r].kind == COPY:
        for k in range(np.uint64(count)):
            u[target + k] = y[source + k]
    else:
        for k in range(np.uint64(count)):
            u[target + k] = factor[target + k] * y[source + k] + offset[target + k]


@compiled
def _copy_int(y, u, program, r):
    source, target = np.uint64(program[r].source), np.uint64(program[r].target)
    for k in range(np.uint64(program[r].count)):
        u[target + k] = y[source + k]


@compiled
def _map_int(signals, program, r):
    """Map the values of int32 inputs that have a mapping."""
    first = np.uint64(program[r].target)
    for j in range(first, first + np.uint64(program[r].count)):
        k = signals.mapped[j]
        value = signals.u_int[k]
        for row in range(signals.mapping_range[j], signals.mapping_range[j + ONE]):
            if signals.mapping[row, 0] == value:
                signals.u_int[k] = signals.mapping[row, 1]


@compiled
def execute(tables, first, last, t, h):
    """Execute the rows `first` to `last`, with steps from t to t + h; return False after a failure."""
    program, signals, final = tables.instances.program, tables.signals, tables.instances.final
    for r in range(first, last):
        kind = program[r].kind
        status: int = 0
        if kind in (SET, GET):
            status = get_or_set(  # type: ignore[call-arg]
                program[r].function,
                program[r].component,
                program[r].references,
                program[r].count,
                program[r].values,
            )
        elif kind == STEP:
            status = do_step(program[r].function, program[r].component, t, h, final)  # type: ignore[call-arg]
        elif kind in (COPY, CONVERT):
            transfer(signals.y_real, signals.u_real, signals.factor, signals.offset, program, r)
        elif kind == COPY_INT:
            _copy_int(signals.y_int, signals.u_int, program, r)
        else:
            _map_int(signals, program, r)
        if status != 0:
            if kind == STEP and status == DISCARD and asks_to_end(tables, program[r].owner, t, h):
                continue
            if call_failed(tables, status, program[r].owner, kind, r):
                return False
    return True


@compiled
def read_outputs(tables):
    """Read the coupled and observed outputs of all instances; return False after a failure."""
    program = tables.instances.program
    for r in range(np.uint64(program.size)):
        if program[r].kind == GET and not execute(tables, r, r + ONE, 0.0, 0.0):
            return False
    return True
