"""Calls of FMI functions through their addresses, and what becomes of their status."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from master.loop.compiled import compiled
from master.loop.tables import CALLED, FAILED, INSTANCE, REASON, ROW, STATUS

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
def get_or_set(context, function, component, references, count, values):
    """fmi2GetReal and its kin: (component, references, count, values)"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _BYTES, _SIZE, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def do_step(context, function, component, t, h, no_rollback):
    """fmi2DoStep(component, t, h, noSetFMUStatePriorToCurrentPoint)"""

    def generate(context, builder, signature, arguments):
        final = builder.trunc(arguments[4], _INT)
        return _emit(builder, [_BYTES, _DOUBLE, _DOUBLE, _INT], [*arguments[:4], final])

    return types.int32(types.int64, types.int64, types.float64, types.float64, types.int64), generate


@intrinsic
def derivatives(context, function, component, references, count, orders, values):
    """fmi2SetRealInputDerivatives and fmi2GetRealOutputDerivatives: (component, references, count, orders, values)"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _BYTES, _SIZE, _BYTES, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def state_call(context, function, component, state):
    """fmi2GetFMUstate with the address of a state, fmi2SetFMUstate with the state"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64), generate


@intrinsic
def derivative(context, function, component, unknowns, unknown_count, knowns, known_count, direction, answer):
    """fmi2GetDirectionalDerivative(component, unknowns, count, knowns, count, direction, answer)"""

    def generate(context, builder, signature, arguments):
        return _emit(builder, [_BYTES, _BYTES, _SIZE, _BYTES, _SIZE, _BYTES, _BYTES], arguments)

    return types.int32(*[types.int64] * 8), generate


@intrinsic
def get_status(context, function, component, kind, value):
    """fmi2GetRealStatus(component, kind, value)"""

    def generate(context, builder, signature, arguments):
        kind = builder.trunc(arguments[2], _INT)
        return _emit(builder, [_BYTES, _INT, _BYTES], [*arguments[:2], kind, arguments[3]])

    return types.int32(types.int64, types.int64, types.int64, types.int64), generate


@compiled
def refused(warnings, report, status, instance, called, row):
    """Whether a status ends the run; counts warnings."""
    if status == 1:
        warnings[instance] += 1
        return False
    report[REASON] = FAILED
    report[INSTANCE] = instance
    report[CALLED] = called
    report[STATUS] = status
    report[ROW] = row
    return True
