"""What a linear model is made of: a system, a file of one, or an FMU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dockfmu.master.fmi.description import read_description
from dockfmu.system import System


def source_system(source: str | Path | System, settings: Mapping[str, Any]) -> System:
    """Return the system of a source; an FMU is a system of one element, called as its model."""
    if isinstance(source, System):
        if settings:
            source.set(settings)
        return source
    if str(source).endswith(".fmu"):
        file = Path(source)
        name = read_description(file).model_name
        system = System(name)
        system.add(name, file)
        system.set({key if key.startswith(f"{name}.") else f"{name}.{key}": value for key, value in settings.items()})
        return system
    return System.load(source, settings)


def macro_step(system: System, step: float | None) -> float:
    """Return the macro step, s: the given one, or that of the plan, or of the default experiment of a single FMU."""
    if step is not None:
        return float(step)
    if len(system.structure.elements) == 1 and not system.structure.connections:
        (only,) = system.structure.elements
        given = system.structure.description(only).experiment.step
        if given is not None:
            return given
    return system.plan.step
