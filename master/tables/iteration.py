"""The table of the iteration: the outputs that close algebraic loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.master.algorithms.algorithm import Implicit
from dockfmu.master.loop.records import DERIVATIVE, table_of
from dockfmu.master.loop.tables import AITKEN, BROYDEN, IterationTable
from dockfmu.master.system import Structure
from dockfmu.master.tables.layout import Layout


def scale_groups(system: Structure, names: Sequence[str]) -> np.ndarray:
    """Return the group of each output: outputs of one instance and unit share a scale."""
    found: dict[tuple[str, str | None], int] = {}
    kinds = [(element, variable.unit) for element, variable in map(system.resolve, names)]
    return np.array([found.setdefault(kind, len(found)) for kind in kinds], np.uint64)


def iteration_table(layout: Layout) -> tuple[IterationTable, list[np.ndarray]]:
    """Return the table of the iteration, empty for explicit coupling, and the arrays whose addresses are in it."""
    implicit = layout.scheme.implicit or Implicit("aitken")
    names = [name for name in layout.outputs.real_names if name in layout.feedback]
    n = len(names)
    group = scale_groups(layout.system, names)
    newton = implicit.method == "broyden"
    dy, du = np.zeros(len(layout.outputs.real)), np.zeros(len(layout.inputs.real))
    buffers: list[np.ndarray] = []
    derivatives = _derivative_calls(layout, dy, du, buffers) if implicit.derivatives and n else []
    table = IterationTable(
        slot=np.array([layout.outputs.real[name] for name in names], np.uint64),
        method=BROYDEN if newton else AITKEN,
        max_sweeps=implicit.sweeps,
        tolerance=implicit.tolerance,
        relaxation=implicit.relaxation,
        group=group,
        scale=np.zeros(int(group.max()) + 1 if n else 0),
        x=np.zeros(n),
        residual=np.zeros(n),
        previous_residual=np.zeros(n),
        increment=np.zeros(n),
        work=np.zeros(n),
        inverse_jacobian=np.zeros((n, n) if newton else (0, 0)),
        jacobian=np.zeros((n, n) if newton else (0, 0)),
        derivative_calls=table_of(DERIVATIVE, derivatives),
        dy=dy,
        du=du,
        counters=np.zeros(3, np.int64),
        largest_residual=np.zeros(1),
    )
    return table, buffers


def _derivative_calls(
    layout: Layout, dy: np.ndarray, du: np.ndarray, buffers: list[np.ndarray]
) -> list[tuple[int, ...]]:
    """Return one row for each instance, all zero if it has no directional derivatives.

    The direction is read from `du`, at the inputs of the instance; the derivative goes to its outputs in `dy`.
    """
    rows, inputs, outputs = [], 0, 0
    for instance in layout.instances:
        knowns = [c.input for c in layout.inputs.connections[instance.name]["Real"]]
        unknowns = layout.outputs.real_of[instance.name]
        row: tuple[int, ...] = (0,) * 8
        if instance.description.can_provide_directional_derivatives and knowns and unknowns:
            assert instance.component is not None
            references = ([instance.variable(name).reference for name in names] for names in (unknowns, knowns))
            blocks = [np.array(found, np.uint32) for found in references]
            buffers += blocks
            row = (
                instance.entry("fmi2GetDirectionalDerivative"), instance.component,
                blocks[0].ctypes.data, len(unknowns), blocks[1].ctypes.data, len(knowns),
                du.ctypes.data + 8 * inputs, dy.ctypes.data + 8 * outputs,
            )  # fmt: skip
        rows.append(row)
        inputs += len(knowns)
        outputs += len(unknowns)
    return rows
