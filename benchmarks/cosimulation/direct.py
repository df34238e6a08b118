"""A docking system without FMI and without a master: its kernels called one after the other on their records.

It is the reference for the cost of co-simulation, and for the tests that co-simulation changes no results.
"""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np

from dockfmu.base.compiler import jit
from dockfmu.components.core.component import Component
from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import assemble
from dockfmu.declare.plan import Plan
from dockfmu.fmus import catalogue
from dockfmu.master.system import Structure


@jit
def _copy(target, target_slots, source, source_slots):
    for k in range(len(target_slots)):
        target[target_slots[k]] = source[source_slots[k]]


class Direct:
    """The elements of a declared system as blocks of memory, stepped in the order of its plan."""

    def __init__(self, name: str, folder: Path) -> None:
        declared = declaration.read(name)
        self.system, self.plan = assemble(declared, folder, lambda _: None)
        self.components = {
            key: catalogue.component(element.component, **element.options) for key, element in declared.elements.items()
        }
        self.blocks = {
            key: component.start(**self.system.elements[key].start) for key, component in self.components.items()
        }
        self._links = _links(self.system, self.components, self.plan)
        self._loop = _loop([self.components[key] for key in self.plan.order])
        self._views = tuple(self.components[key].record.view(self.blocks[key]) for key in self.plan.order)
        # craft first, then what is mounted on them, then what reads its sensors; twice, for values that flow back
        for _ in range(2):
            for key, view in zip(self.plan.order[::-1], self._views[::-1], strict=True):
                self._receive(key)
                code = self.components[key].initialize(view)
                if code:
                    raise RuntimeError(f"{key}: {self.components[key].explain(code, self.blocks[key])}")

    def _receive(self, target: str) -> None:
        for (source, receiver), (source_slots, target_slots) in self._links.items():
            if receiver == target:
                _copy(self.blocks[target], target_slots, self.blocks[source], source_slots)

    def run(self, steps: int, first: int = 0) -> None:
        """Make `steps` macro steps from step number `first` on. Raises RuntimeError with the component's message."""
        order = self.plan.order
        empty = np.zeros(0, np.int64)
        gather = tuple(tuple(self._links.get((source, target), (empty, empty)) for source in order) for target in order)
        failed, code = self._loop(
            self._views, tuple(self.blocks[key] for key in order), gather, first, steps, self.plan.step
        )
        if code:
            raise RuntimeError(self.components[order[failed]].explain(code, self.blocks[order[failed]]))

    def values(self, element: str, names: list[str]) -> np.ndarray:
        """Return the present values of variables of an element."""
        index = self.components[element].record.index
        return self.blocks[element][[index[name] for name in names]]


def _links(system: Structure, components: dict[str, Component], plan: Plan) -> dict:
    """Return (source, target) -> slots of the outputs, slots of the inputs that they feed."""
    found: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for c in system.connections:
        outputs, inputs = found.setdefault((c.source, c.target), ([], []))
        outputs.append(components[c.source].record.index[c.output])
        inputs.append(components[c.target].record.index[c.input])
    return {key: (np.array(outputs), np.array(inputs)) for key, (outputs, inputs) in found.items()}


def _loop(parts: list[Component]):
    """Return the compiled loop over four components."""
    step_0, step_1, step_2, step_3 = (part.step for part in parts)

    @jit
    def loop(views, blocks, gather, first, steps, h):
        for k in range(first, first + steps):
            t = k * h
            for source in numba.literal_unroll((0, 1, 2, 3)):
                _copy(blocks[0], gather[0][source][1], blocks[source], gather[0][source][0])
            code = step_0(views[0], t, h)
            if code:
                return 0, code
            for source in numba.literal_unroll((0, 1, 2, 3)):
                _copy(blocks[1], gather[1][source][1], blocks[source], gather[1][source][0])
            code = step_1(views[1], t, h)
            if code:
                return 1, code
            for source in numba.literal_unroll((0, 1, 2, 3)):
                _copy(blocks[2], gather[2][source][1], blocks[source], gather[2][source][0])
            code = step_2(views[2], t, h)
            if code:
                return 2, code
            for source in numba.literal_unroll((0, 1, 2, 3)):
                _copy(blocks[3], gather[3][source][1], blocks[source], gather[3][source][0])
            code = step_3(views[3], t, h)
            if code:
                return 3, code
        return 0, 0

    return loop
