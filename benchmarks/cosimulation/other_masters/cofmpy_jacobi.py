# /// script
# dependencies = ["cofmpy==0.2.0"]
# ///
"""CoFMPy's coordinator, Jacobi without iterations."""

import json
from pathlib import Path

from cofmupy import Coordinator
from job import Job, Stopwatch, answer


def run(job: Job) -> tuple[float, list[float]]:
    content = {
        "fmus": [
            {"id": name, "path": file, "initialization": dict(job.start[name])} for name, file in job.files.items()
        ],
        "connections": [
            {
                "source": {"id": c.source, "variable": c.output, "type": "fmu"},
                "target": {"id": c.target, "variable": c.input, "type": "fmu"},
            }
            for c in job.connections
        ],
        "cosim_method": "jacobi",
        "iterative": False,
    }
    file = Path(job.folder) / "cofmpy.json"
    file.write_text(json.dumps(content))
    coordinator = Coordinator()
    coordinator.start(str(file))
    watch = Stopwatch()
    for _ in range(job.steps):
        coordinator.do_step(job.step)
    seconds = watch.seconds()
    return seconds, [float(coordinator.get_variable((e, v))[-1]) for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
