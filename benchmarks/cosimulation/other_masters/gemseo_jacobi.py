# /// script
# dependencies = ["gemseo-fmu==3.1.1"]
# ///
"""The time-stepping system of gemseo-fmu: a multidisciplinary analysis by Jacobi at each macro step."""

import logging

import numpy as np
from gemseo_fmu.disciplines.do_step_fmu_discipline import DoStepFMUDiscipline
from gemseo_fmu.disciplines.time_stepping_system import TimeSteppingSystem
from job import Job, Stopwatch, answer


def run(job: Job) -> tuple[float, list[float]]:
    logging.disable(logging.WARNING)
    disciplines = []
    for name, file in job.files.items():
        # variables are connected by having the same name
        inputs = {c.input: f"{c.source}.{c.output}" for c in job.connections if c.target == name}
        outputs = {c.output: f"{name}.{c.output}" for c in job.connections if c.source == name}
        outputs |= {v: f"{name}.{v}" for e, v in job.observed if e == name}
        # it cannot read the start value of a Boolean
        free = {v: f"{name}.{v}" for v, x in job.start[name].items() if v not in inputs and not isinstance(x, bool)}
        discipline = DoStepFMUDiscipline(
            file,
            input_names=[*inputs, *free],
            output_names=list(outputs),
            variable_names=inputs | outputs | free,
            time_step=job.step,
            final_time=job.stop,
            add_time_to_output_grammar=False,
            validate=False,
        )
        for variable, common in free.items():
            discipline.io.input_grammar.defaults[common] = np.array([job.start[name][variable]])
        disciplines.append(discipline)
    system = TimeSteppingSystem(disciplines, job.stop, job.step, mda_name="MDAJacobi", do_step=True)
    system.execute()
    watch = Stopwatch()
    for _ in range(job.steps - 1):
        data = system.execute()
    seconds = watch.seconds() * job.steps / (job.steps - 1)
    return seconds, [float(np.ravel(data[f"{e}.{v}"])[-1]) for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
