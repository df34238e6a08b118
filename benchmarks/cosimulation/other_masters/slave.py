"""An FMU in fmpy: code shared by the runners that step with fmpy, each in its own environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fmpy
from fmpy.fmi2 import FMU2Slave
from job import Job, Stopwatch

KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean"}
"""functions that set and get a type"""


def instance(
    file: Path | str, name: str, start: Mapping[str, Any], *, logging: bool = False
) -> tuple[FMU2Slave, dict[str, Any]]:
    """(instance with its start values, its variables by name)"""
    folder = fmpy.extract(str(file))
    description = fmpy.read_model_description(folder, validate=False)
    variables = {v.name: v for v in description.modelVariables}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName=name,
    )
    slave.instantiate(loggingOn=logging)
    for variable, value in start.items():
        v = variables[variable]
        getattr(slave, f"set{KINDS[v.type]}")([v.valueReference], [value])
    return slave, variables


def step_alone(job: Job, slave: FMU2Slave) -> float:
    """Initialise one instance that contains the whole system, and step it; return the seconds of all steps."""
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    watch = Stopwatch()
    for k in range(job.steps):
        slave.doStep(currentCommunicationPoint=k * job.step, communicationStepSize=job.step)
    return watch.seconds()
