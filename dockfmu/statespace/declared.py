"""The model of an FMU that declares its continuous states and has directional derivatives by them (FMI 2.0, 2.2.8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from dockfmu.master.algorithms import Jacobi
from dockfmu.master.fmi.variables import Description
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.model import StateSpace, modes

METHOD = "directional derivatives of the states that the FMU declares"


def declares_states(description: Description) -> bool:
    """Return whether an FMU declares continuous states and can differentiate by them."""
    return bool(description.derivatives) and description.can_provide_directional_derivatives


def by_declared_states(
    structure: Structure, step: float, at: float, start: float, inputs: Sequence[str], outputs: Sequence[str]
) -> StateSpace:
    """Return the model of a system of one FMU; `inputs` and `outputs` are full names."""
    (element,) = structure.elements
    description = structure.description(element)
    rates = list(description.derivatives)
    states = [description.variables[name].derivative or "" for name in rates]
    given, shown = ([name.removeprefix(f"{element}.") for name in names] for names in (inputs, outputs))
    with CoSimulation(structure, Schedule(step=step, start=start), Jacobi()).open() as run:
        if at > start:
            run.advance(at)
        instance = run.instances[element]
        rows, columns = (
            np.array([description.variables[name].reference for name in names], np.uint32)
            for names in ([*rates, *shown], [*states, *given])
        )
        matrix, one, found = np.zeros((len(rows), len(columns))), np.ones(1), np.zeros(len(rows))
        for k in range(len(columns)):
            known = columns[k : k + 1].copy()
            instance.call(
                "fmi2GetDirectionalDerivative",
                rows.ctypes.data,
                len(rows),
                known.ctypes.data,
                1,
                one.ctypes.data,
                found.ctypes.data,
            )
            matrix[:, k] = found
        drift = np.array(instance.get(rates), float)
        reached = run.time
    if not np.isfinite(matrix).all():
        raise LinearisationError(f"{element}: its fmi2GetDirectionalDerivative gave values that are not finite")
    n, m = len(rates), len(given)
    a, b, c, d = matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]
    block = np.zeros((n + m, n + m))
    block[:n] = matrix[:n] * step
    over = scipy.linalg.expm(block)[:n]
    names = tuple(f"{element}.{name}" for name in states)
    # an FMU gives derivatives to working precision, if they are not differences
    error = np.sqrt(np.finfo(float).eps) * np.abs(a) * step
    return StateSpace(
        name=structure.name,
        time=reached,
        step=step,
        states=names,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        units={name: structure.resolve(name)[1].unit or "1" for name in (*names, *inputs, *outputs)},
        A=a,
        B=b,
        C=c,
        D=d,
        discrete=(over[:, :n], over[:, n:], c @ over[:, :n], c @ over[:, n:] + d),
        memory=names,
        error=error,
        modes=modes(over[:, :n], error, names, step),
        drift=drift,
        notes=("`discrete` holds for inputs that are held over a step",),
        method=METHOD,
    )
