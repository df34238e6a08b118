"""The program of a macro step, row by row: values from outputs to inputs, and calls of the FMUs."""

from __future__ import annotations

import numpy as np

from master.loop.calls import do_step, get_or_set, refused
from master.loop.compiled import compiled, inlined
from master.loop.tables import (
    CARRY,
    CARRY_WHOLE,
    COMPONENT,
    CONVERT,
    COUNT,
    FUNCTION,
    GET,
    KIND,
    ONE,
    OWNER,
    REFERENCES,
    SET,
    SOURCE,
    STEP,
    TARGET,
    VALUES,
)  # fmt: skip


@inlined
def carry(y, u, factor, offset, program, r):
    """Real inputs u from the outputs y, as row r says."""
    source, target, count = np.uint64(program[r, SOURCE]), np.uint64(program[r, TARGET]), program[r, COUNT]
    if program[r, KIND] == CARRY:
        for k in range(np.uint64(count)):
            u[target + k] = y[source + k]
    else:
        for k in range(np.uint64(count)):
            u[target + k] = factor[target + k] * y[source + k] + offset[target + k]


@compiled
def _carry_whole(y, u, program, r):
    source, target = np.uint64(program[r, SOURCE]), np.uint64(program[r, TARGET])
    for k in range(np.uint64(program[r, COUNT])):
        u[target + k] = y[source + k]


@compiled
def _translate(signals, program, r):
    """Look up values of whole inputs that have a table."""
    first = np.uint64(program[r, TARGET])
    for j in range(first, first + np.uint64(program[r, COUNT])):
        k = signals.tabled[j]
        value = signals.u_whole[k]
        for row in range(signals.table_range[j], signals.table_range[j + ONE]):
            if signals.table[row, 0] == value:
                signals.u_whole[k] = signals.table[row, 1]


@compiled
def execute(tables, first, last, t, h):
    """The rows `first` to `last`, with steps from t to t + h; False after a failure."""
    program, signals, final = tables.instances.program, tables.signals, tables.instances.final
    for r in range(first, last):
        kind = program[r, KIND]
        status: int = 0
        if kind in (SET, GET):
            status = get_or_set(  # type: ignore[call-arg]
                program[r, FUNCTION],
                program[r, COMPONENT],
                program[r, REFERENCES],
                program[r, COUNT],
                program[r, VALUES],
            )
        elif kind == STEP:
            status = do_step(program[r, FUNCTION], program[r, COMPONENT], t, h, final)  # type: ignore[call-arg]
        elif kind in (CARRY, CONVERT):
            carry(signals.y_real, signals.u_real, signals.factor, signals.offset, program, r)
        elif kind == CARRY_WHOLE:
            _carry_whole(signals.y_whole, signals.u_whole, program, r)
        else:
            _translate(signals, program, r)
        if status != 0 and refused(tables.instances.warnings, tables.report, status, program[r, OWNER], kind, r):
            return False
    return True


@compiled
def read_outputs(tables):
    """Read the coupled and watched outputs of all instances; False after a failure."""
    program = tables.instances.program
    for r in range(np.uint64(program.shape[0])):
        if program[r, KIND] == GET and not execute(tables, r, r + ONE, 0.0, 0.0):
            return False
    return True
