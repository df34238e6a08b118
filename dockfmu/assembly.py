"""A declared system -> its FMUs -> an .ssp that any run starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.component import Component
from components.core.parameters import ParameterError, ParameterSet, unknown_name
from dockfmu.declaration import Declaration, Element
from dockfmu.initial_conditions import place_crafts
from dockfmu.plan import Plan
from dockfmu.ports import join
from fmus import build, catalogue
from master.system import System


def parameter_set(component: Component, name: str) -> ParameterSet:
    """The set of that name that comes with the component. Raises ParameterError with near matches."""
    known = {entry.name: entry for entry in component.parameter_sets}
    if name not in known:
        raise unknown_name(name, known, f"parameter sets of {component.name}")
    return known[name]


def start_values(component: Component, element: Element) -> dict[str, float]:
    """Scalar start values of an element: those in which it differs from the FMU's own.

    Raises ParameterError for unknown names and values out of range.
    """
    sets = [parameter_set(component, name) for name in element.sets]
    block = component.start(*sets, **element.values)
    return {
        slot.name: float(block[slot.index])
        for slot in component.record.variables
        if slot.field.causality in ("parameter", "input") and block[slot.index] != slot.start
    }


def assemble(declaration: Declaration, folder: Path, progress: Callable[[str], None]) -> tuple[System, Plan]:
    """Build the FMUs of a declared system into `folder`, place the crafts, connect the ports.

    Raises ParameterError, DeclarationError or StructureError for what does not fit.
    """
    components: dict[str, Component] = {}
    for name, element in declaration.elements.items():
        try:
            components[name] = catalogue.component(element.component, **element.options)
        except TypeError as error:
            raise ParameterError(f"{declaration.name}, element {name}: {error}") from error
    values: dict[str, dict[str, Any]] = {
        name: start_values(components[name], element) for name, element in declaration.elements.items()
    }
    plan = declaration.plan
    if declaration.initial_conditions is not None:
        placement = place_crafts(declaration.initial_conditions, components, values)
        for name, placed in placement.values.items():
            values[name] |= placed
        plan = replace(plan, approach_energy=placement.approach_energy)
    system = System(declaration.name)
    for name, component in components.items():
        system.add(name, build(component, folder, progress=progress), values[name])
    for first, second in declaration.connections:
        join(system, first, second)
    system.order = plan.order or None
    return system, plan
