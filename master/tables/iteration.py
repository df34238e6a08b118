"""Tables of the iteration: the outputs that close loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from master.algorithms.algorithm import Implicit, Scheme
from master.errors import StructureError
from master.loop.tables import AITKEN, BROYDEN, Iteration
from master.order import loops
from master.system import System

if TYPE_CHECKING:
    from master.tables.coupling import Coupling


def feedback(system: System, scheme: Scheme) -> set[str]:
    """The Real outputs that an instance of the same loop uses before they are there: those of its stage and later.

    Raises StructureError where the scheme iterates over them, and FMUs cannot go back.
    """
    if scheme.implicit is None:
        return set()
    stage_of = {name: k for k, stage in enumerate(scheme.stages) for name in stage}
    found = loops(tuple(stage_of), {(c.source, c.target) for c in system.connections})
    loop_of = {name: k for k, names in enumerate(found) for name in names}
    closing = {
        f"{c.source}.{c.output}"
        for c in system.connections
        if system.description(c.target).variables[c.input].storage == "Real"
        and c.source in loop_of
        and loop_of[c.source] == loop_of.get(c.target)
        and stage_of[c.source] >= stage_of[c.target]
    }
    stuck = [name for name in stage_of if not system.description(name).can_get_and_set_state]
    if closing and stuck:
        raise StructureError([f"implicit coupling needs to go back, and {', '.join(stuck)} cannot"])
    return closing


def scale_groups(coupling: Coupling, names: list[str]) -> np.ndarray:
    """Numbers of the groups of outputs that share a magnitude: those of one instance and unit."""
    found: dict[tuple[str, str | None], int] = {}
    kinds = [(element, variable.unit) for element, variable in map(coupling.system.resolve, names)]
    return np.array([found.setdefault(kind, len(found)) for kind in kinds], np.uint64)


def iteration_tables(coupling: Coupling) -> Iteration:
    """Empty for explicit coupling."""
    implicit = coupling.scheme.implicit or Implicit("aitken")
    names = [name for name in coupling.outputs.real_names if name in coupling.feedback]
    n = len(names)
    group = scale_groups(coupling, names)
    newton = implicit.method == "broyden"
    seed, answer = np.zeros(len(coupling.outputs.real)), np.zeros(len(coupling.inputs.real))
    derivatives = _derivative_calls(coupling, seed, answer) if implicit.derivatives and n else []
    return Iteration(
        slot=np.array([coupling.outputs.real[name] for name in names], np.uint64),
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


def _derivative_calls(coupling: Coupling, seed: np.ndarray, answer: np.ndarray) -> list[tuple[int, ...]]:
    """One row for each instance: outputs along a direction of inputs. All zero where an instance cannot tell.

    The direction stands in `answer`, at the inputs of the instance; the derivative goes to its outputs in `seed`.
    """
    rows, inputs, outputs = [], 0, 0
    for instance in coupling.instances:
        knowns = [c.input for c in coupling.inputs.connections[instance.name]["Real"]]
        unknowns = coupling.outputs.of[instance.name]["Real"]
        row: tuple[int, ...] = (0,) * 8
        if instance.description.can_provide_directional_derivatives and knowns and unknowns:
            assert instance.component is not None
            references = ([instance.variable(name).reference for name in names] for names in (unknowns, knowns))
            blocks = [np.array(found, np.uint32) for found in references]
            coupling.keep(blocks)
            row = (
                instance.entry("fmi2GetDirectionalDerivative"), instance.component,
                blocks[0].ctypes.data, len(unknowns), blocks[1].ctypes.data, len(knowns),
                answer.ctypes.data + 8 * inputs, seed.ctypes.data + 8 * outputs,
            )  # fmt: skip
        rows.append(row)
        inputs += len(knowns)
        outputs += len(unknowns)
    return rows
