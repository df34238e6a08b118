"""Tables of the iteration: the outputs that close loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from master.algorithms.algorithm import Implicit
from master.loop.tables import AITKEN, BROYDEN, Iteration
from master.system import System
from master.tables.layout import Layout


def scale_groups(system: System, names: Sequence[str]) -> np.ndarray:
    """Return numbers of the groups of outputs that share a magnitude: those of one instance and unit."""
    found: dict[tuple[str, str | None], int] = {}
    kinds = [(element, variable.unit) for element, variable in map(system.resolve, names)]
    return np.array([found.setdefault(kind, len(found)) for kind in kinds], np.uint64)


def iteration_tables(layout: Layout) -> tuple[Iteration, list[np.ndarray]]:
    """Return the table of the iteration, empty for explicit coupling, and the arrays whose addresses stand in it."""
    implicit = layout.scheme.implicit or Implicit("aitken")
    names = [name for name in layout.outputs.real_names if name in layout.feedback]
    n = len(names)
    group = scale_groups(layout.system, names)
    newton = implicit.method == "broyden"
    seed, answer = np.zeros(len(layout.outputs.real)), np.zeros(len(layout.inputs.real))
    kept: list[np.ndarray] = []
    derivatives = _derivative_calls(layout, seed, answer, kept) if implicit.derivatives and n else []
    table = Iteration(
        slot=np.array([layout.outputs.real[name] for name in names], np.uint64),
        method=BROYDEN if newton else AITKEN,
        limit=implicit.sweeps,
        tolerance=implicit.tolerance,
        relaxation=implicit.relaxation,
        group=group,
        scale=np.zeros(int(group.max()) + 1 if n else 0),
        x=np.zeros(n),
        residual=np.zeros(n),
        last=np.zeros(n),
        move=np.zeros(n),
        work=np.zeros(n),
        inverse=np.zeros((n, n) if newton else (0, 0)),
        derivative_calls=np.array(derivatives, np.int64).reshape(-1, 8),
        seed=seed,
        answer=answer,
        tally=np.zeros(3, np.int64),
        worst=np.zeros(1),
    )
    return table, kept


def _derivative_calls(
    layout: Layout, seed: np.ndarray, answer: np.ndarray, kept: list[np.ndarray]
) -> list[tuple[int, ...]]:
    """One row for each instance: outputs along a direction of inputs. All zero where an instance cannot tell.

    The direction stands in `answer`, at the inputs of the instance; the derivative goes to its outputs in `seed`.
    """
    rows, inputs, outputs = [], 0, 0
    for instance in layout.instances:
        knowns = [c.input for c in layout.inputs.connections[instance.name]["Real"]]
        unknowns = layout.outputs.of[instance.name]["Real"]
        row: tuple[int, ...] = (0,) * 8
        if instance.description.can_provide_directional_derivatives and knowns and unknowns:
            assert instance.component is not None
            references = ([instance.variable(name).reference for name in names] for names in (unknowns, knowns))
            blocks = [np.array(found, np.uint32) for found in references]
            kept += blocks
            row = (
                instance.entry("fmi2GetDirectionalDerivative"), instance.component,
                blocks[0].ctypes.data, len(unknowns), blocks[1].ctypes.data, len(knowns),
                answer.ctypes.data + 8 * inputs, seed.ctypes.data + 8 * outputs,
            )  # fmt: skip
        rows.append(row)
        inputs += len(knowns)
        outputs += len(unknowns)
    return rows
