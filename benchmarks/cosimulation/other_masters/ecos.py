# /// script
# dependencies = ["ecospy==0.7.2", "tbb>=2022"]
# ///
"""ecos through ecospy; its library needs libtbb, which the wheel does not contain."""

import ctypes
import sys
from pathlib import Path

from job import Job, Stopwatch, answer


def run(job: Job) -> tuple[float, list[float]]:
    ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.12"), mode=ctypes.RTLD_GLOBAL)
    from ecospy import EcosSimulation, EcosSimulationStructure

    structure = EcosSimulationStructure()
    for name, file in job.files.items():
        structure.add_model(name, file)
    for c in job.connections:
        kind = {"Real": "real", "Boolean": "bool"}.get(c.type, "int")
        getattr(structure, f"make_{kind}_connection")(f"{c.source}::{c.output}", f"{c.target}::{c.input}")
    start = {f"{e}::{v}": value for e, values in job.start.items() for v, value in values.items()}
    structure.add_parameter_set("start", start)
    simulation = EcosSimulation(structure=structure, step_size=job.step)
    simulation.init(parameter_set="start")
    watch = Stopwatch()
    simulation.step(job.steps)
    seconds = watch.seconds()
    return seconds, [simulation.get_real(f"{e}::{v}") for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
