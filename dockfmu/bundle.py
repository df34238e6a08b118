"""A system and the plan of its run as one .ssp: what every run starts from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.plan import Plan
from master.errors import StructureError
from master.system import System
from ssp import coupling, packaging, read
from ssp.model import Annotation
from ssp.write import write_ssp

ANNOTATION = "org.dockfmu.plan"


def write_bundle(system: System, plan: Plan, description: str, file: Path) -> Path:
    """Write the .ssp with FMUs, start values and connections; the plan goes along as an annotation."""
    annotation = Annotation.of_text(ANNOTATION, plan.to_json())
    content = packaging.from_system(
        system, stop_time=plan.stop, step=plan.step, annotations=[annotation], description=description
    )
    return write_ssp(content, file)


def read_bundle(file: Path, folder: Path) -> tuple[System, Plan, str, list[str]]:
    """(system, plan, description, notes) of any .ssp, unpacked into `folder`, which must outlive the system.

    An .ssp from elsewhere gets the default plan with its own stop time. Raises SspError or StructureError.
    """
    content = read.read_ssp(file, folder)
    system, notes = coupling.to_system(content)
    found = content.description.annotation(ANNOTATION)
    if found is not None:
        plan = Plan.from_json(found.text)
    elif content.description.stop_time is not None:
        plan = Plan(stop=content.description.stop_time)
    else:
        plan = Plan()
    system.order = plan.order or system.order
    return system, plan, content.description.description or "", notes


def apply_parameters(system: System, file: Path) -> list[str]:
    """Put an .ssv over the start values; names of the file that fit nothing come back as notes. Raises SspError."""
    return coupling.apply_parameters(system, read.read_parameter_set(file.read_bytes(), str(file)))


def set_value(system: System, name: str, value: Any) -> None:
    """Start value of "element.variable", a scalar or a whole array. Raises StructureError for what does not fit."""
    element, _, variable = name.partition(".")
    if element not in system.elements:
        raise StructureError([f"--set {name}: the system has {', '.join(system.elements)}, no {element!r}"])
    known = system.description(element).variables
    if variable in known or not isinstance(value, Sequence):
        system.resolve(name)
        system.elements[element].start[variable] = value
        return
    shape = np.shape(value)
    names = [f"{variable}[{','.join(str(i + 1) for i in place)}]" for place in np.ndindex(shape)]
    for scalar, number in zip(names, np.ravel(value), strict=True):
        system.resolve(f"{element}.{scalar}")
        system.elements[element].start[scalar] = float(number)
