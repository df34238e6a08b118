"""From the elements of a system to instances of their FMUs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from master.fmu import Fmu, Instance
from master.system import System


def instantiate(system: System, cleanup: ExitStack, *, logging: bool = False) -> dict[str, Instance]:
    """Load every FMU once, make the instances, set their start values; `cleanup` frees them. Raises FmuError."""
    fmus: dict[tuple[Path, tuple[tuple[str, int], ...]], Fmu] = {}
    instances: dict[str, Instance] = {}
    for element in system.elements.values():
        structure = system.description(element.name).structure(element.start)
        key = (element.file.resolve(), tuple(structure.items()))
        if key not in fmus:
            fmus[key] = cleanup.enter_context(Fmu(element.file, structure))
        instances[element.name] = instance = fmus[key].instantiate(element.name, logging=logging)
        instance.set({name: value for name, value in element.start.items() if name not in structure})
    return instances
