"""FMPy's pattern for many runs, on the same impact phases: its container FMU, an instance kept and reset, `dask.bag`.

As in FMPy's example `parameter_variation`, chunks of runs are mapped over processes. Each process makes an instance,
which is reset for each run; steps and outputs go through Python. FMPy has neither initial conditions nor initialisation
of connected FMUs: dockfmu prepares the start values, including those of connected inputs, before the clock starts. Its
container couples by Jacobi, dockfmu by Gauss-Seidel: the work is the same, the digits are not.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fmpy
from dask import bag
from fmpy.fmi2 import FMU2Slave

from benchmarks.cosimulation.masters import RUNNERS, job_of
from dockfmu.campaign.campaign import Campaign
from dockfmu.campaign.runner import Runner

FORCE = tuple(f"mechanism.target.force_now[{k}]" for k in (1, 2, 3))
KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean"}


def prepare(campaign: Campaign, runs: int, step: float, folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Return (unpacked container FMU, start values of each run)."""
    sys.path.insert(0, str(RUNNERS))
    from fmpy_container import build

    job = job_of(campaign.system, FORCE, step, 1, folder)
    unpacked = folder / "unpacked"
    fmpy.extract(str(build(job, folder)), str(unpacked))
    runner = Runner(campaign.study)
    simulation = runner._get((), 1.0).simulation
    starts = []
    for index in range(runs):
        simulation.reset(campaign.values(index))
        inner = simulation._running
        found = {
            f"{name}.{v}": value
            for name, element in inner.system.elements.items()
            for v, value in element.start.items()
            if f"{name}.{v}" in _exposed(job.start)
        }
        for c in inner.system.connections:
            found[f"{c.target}.{c.input}"] = inner.get([f"{c.target}.{c.input}"])[0]
        starts.append(found)
    runner.close()
    return unpacked, starts


def _exposed(start: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {f"{element}.{name}" for element, values in start.items() for name in values}


def simulate(task: tuple[str, Sequence[Mapping[str, Any]], float, float]) -> list[float]:
    """Return the largest force of each run of a chunk, N."""
    unpacked, starts, step, stop = task
    description = fmpy.read_model_description(unpacked, validate=False)
    variables = {v.name: v for v in description.modelVariables}
    observed = [variables[name].valueReference for name in FORCE]
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=unpacked,
        instanceName="container",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )
    slave.instantiate()
    found = []
    for k, start in enumerate(starts):
        if k:
            slave.reset()
        for name, value in start.items():
            getattr(slave, f"set{KINDS[variables[name].type]}")([variables[name].valueReference], [value])
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        largest = 0.0
        for step_number in range(round(stop / step)):
            slave.doStep(currentCommunicationPoint=step_number * step, communicationStepSize=step)
            largest = max(largest, math.hypot(*slave.getReal(observed)))
        found.append(largest)
    slave.freeInstance()
    return found


def time_runs(
    unpacked: Path, starts: Sequence[Mapping[str, Any]], step: float, stop: float, workers: int, chunk: int = 10
) -> tuple[float, list[float]]:
    """Return (seconds per run on these processes, largest forces in N)."""
    chunks = [(str(unpacked), starts[k : k + chunk], step, stop) for k in range(0, len(starts), chunk)]
    tasks = bag.from_sequence(chunks, npartitions=len(chunks)).map(simulate)
    began = time.perf_counter()
    found = tasks.compute(scheduler="processes", num_workers=workers)
    return (time.perf_counter() - began) / len(starts), [force for forces in found for force in forces]
