"""The share of a run spent inside the FMUs: each fmi2DoStep is called through a function that measures its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dockfmu.base.compiler import jit
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.loop.compiler import do_step
from dockfmu.master.loop.tables import STEP
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

_WORD = ir.IntType(64)


@intrinsic
def _cycles(context):
    """The counter of the processor's clock."""

    def generate(context, builder, signature, arguments):
        return builder.call(
            builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(_WORD, ())), ()
        )

    return types.int64(), generate


@intrinsic
def _add(context, address, value):
    """Add a value to the int64 at an address."""

    def generate(context, builder, signature, arguments):
        place = builder.inttoptr(arguments[0], _WORD.as_pointer())
        builder.store(builder.add(builder.load(place), arguments[1]), place)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@jit
def _now() -> int:
    return _cycles()  # type: ignore[call-arg,no-any-return]


def _watched(function: int, counter: int) -> Callable[..., Any]:
    """Return fmi2DoStep at an address as a function that adds its cycles to the int64 at the address of a counter."""

    @numba.cfunc(types.int32(types.int64, types.float64, types.float64, types.int32))
    def step(component, t, h, final):
        began = _cycles()  # type: ignore[call-arg]
        status = do_step(function, component, t, h, final)  # type: ignore[call-arg]
        _add(counter, _cycles() - began)  # type: ignore[call-arg]
        return status

    return step  # type: ignore[no-any-return]


def share_of_fmus(system: Structure, step: float, stop: float, algorithm: Algorithm) -> float:
    """Return the time inside fmi2DoStep over the time of all steps, 0 to 1."""
    inside, whole = cycles(system, step, stop, algorithm)
    return float(inside.sum() / whole)


def cycles(system: Structure, step: float, stop: float, algorithm: Algorithm) -> tuple[np.ndarray, int]:
    """Return the cycles of the processor's clock inside fmi2DoStep of each FMU, and those of the run."""
    with CoSimulation(system, Schedule(step=step), algorithm=algorithm).open() as simulation:
        program = simulation.session.coupling.tables.instances.program
        steps = np.flatnonzero(program["kind"] == STEP)
        counters = np.zeros(len(steps), np.int64)
        watched = [_watched(int(program["function"][row]), counters.ctypes.data + 8 * k) for k, row in enumerate(steps)]
        program["function"][steps] = [function.address for function in watched]  # type: ignore[attr-defined]
        began = _now()
        simulation.advance(stop)
        return counters, _now() - began
