# /// script
# dependencies = ["fmu-manipulation-toolbox==2.0", "fmpy==0.3.32"]
# ///
"""The container FMU of fmu-manipulation-toolbox, stepped by fmpy."""

import json
import tempfile
from pathlib import Path

from fmu_manipulation_toolbox.assembly import Assembly
from job import Job, answer
from slave import instance, step_alone

SEQUENTIAL = False


def build(job: Job, folder: Path) -> Path:
    for name, file in job.files.items():
        (folder / f"{name}.fmu").write_bytes(Path(file).read_bytes())
    content = {
        "name": "container.fmu",
        "step_size": job.step,
        "mt": False,
        "sequential": SEQUENTIAL,
        "auto_link": False,
        "auto_input": False,
        "auto_output": False,
        "auto_parameter": False,
        "fmu": [f"{name}.fmu" for name in job.files],
        "link": [[f"{c.source}.fmu", c.output, f"{c.target}.fmu", c.input] for c in job.connections],
        "output": [[f"{e}.fmu", v, f"{e}_{v}"] for e, v in job.observed],
        "start": [[f"{e}.fmu", v, value] for e, values in job.start.items() for v, value in values.items()],
    }
    (folder / "container.json").write_text(json.dumps(content))
    assembly = Assembly("container.json", fmu_directory=folder)
    assembly.make_fmu()
    return folder / "container.fmu"


def run(job: Job) -> tuple[float, list[float]]:
    with tempfile.TemporaryDirectory() as temporary:
        slave, variables = instance(build(job, Path(temporary)), "container", {}, logging=True)
        seconds = step_alone(job, slave)
        return seconds, slave.getReal([variables[f"{e}_{v}"].valueReference for e, v in job.observed])


if __name__ == "__main__":
    answer(run)
