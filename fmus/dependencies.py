"""On which inputs and parameters the outputs depend at initialisation, found by trying."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from components.core.component import Component
from components.core.record import Slot
from fmus.description import bounds

Initialize = Callable[[np.ndarray], int]
"""Run `initialize` on a block of memory; its message code."""


def _variations(slot: Slot, value: float) -> list[float]:
    """Other values that the variable may take, near `value` and further away."""
    if slot.field.type.fmi == "Boolean":
        return [1.0 - value]
    if slot.field.type.fmi == "Real":
        steps: tuple[float, ...] = (1e-3 * abs(value) + 1e-3, -1e-3 * abs(value) - 1e-3, 0.3 * abs(value) + 0.1)
    else:
        steps = (1.0, -1.0)
    low, high = bounds(slot)
    return [
        value + step
        for step in steps
        if (low is None or value + step >= low) and (high is None or value + step <= high)
    ]


def _arrays(slots: Sequence[Slot]) -> dict[str, list[Slot]]:
    """The scalars of each array, by its name."""
    arrays: dict[str, list[Slot]] = {}
    for slot in slots:
        arrays.setdefault(slot.name.rpartition("[")[0] if slot.field.shape else slot.name, []).append(slot)
    return arrays


def initial_dependencies(component: Component, initialize: Initialize) -> dict[int, list[int]]:
    """Slot of each output -> slots of the inputs and parameters that change it in `initialize`.

    Each input and parameter is varied at several points: the start values and all parameter sets, each also with the
    inputs moved off zero. An array counts as a whole, as a dependent and as what is depended on, and what no variation
    is accepted for counts as influencing everything: rather a dependency too many.
    """
    record = component.record
    knowns = _arrays([slot for slot in record.variables if slot.field.causality in ("parameter", "input")])
    outputs = _arrays([slot for slot in record.variables if slot.field.causality == "output"])
    places = {name: np.array([slot.index for slot in array]) for name, array in outputs.items()}
    points = []
    for start in (component.start(), component.start(*component.parameter_sets)):
        moved = start.copy()
        for slot in record.variables:
            if slot.field.causality == "input" and slot.field.type.fmi == "Real":
                moved[slot.index] += 1e-2 * np.sin(1.0 + slot.index)
        points += [start, moved]

    found: dict[str, set[str]] = {name: set() for name in outputs}
    for point in points:
        reference = point.copy()
        if initialize(reference):
            continue
        for known, array in knowns.items():
            accepted = False
            for slot in array:
                for value in _variations(slot, point[slot.index]):
                    block = point.copy()
                    block[slot.index] = value
                    if initialize(block):
                        continue
                    accepted = True
                    changed = block.view(np.uint64) != reference.view(np.uint64)
                    for name, where in places.items():
                        if changed[where].any():
                            found[name].add(known)
            if not accepted:
                for name in outputs:
                    found[name].add(known)
    if all(initialize(point.copy()) for point in points):
        found = {name: set(knowns) for name in outputs}
    return {
        slot.index: sorted(known.index for name in found[output] for known in knowns[name])
        for output, array in outputs.items()
        for slot in array
    }
