# /// script
# dependencies = ["syssimx[fmu,results]==0.4.3"]
# ///
"""SysSimX with its Jacobi algorithm."""

from job import Job, Stopwatch, answer
from syssimx import Connection, System
from syssimx.components import FMUComponent
from syssimx.system.algorithms import JacobiAlgorithm


def run(job: Job) -> tuple[float, list[float]]:
    system = System(name=job.name)
    components = {name: FMUComponent(name, fmu_path=file) for name, file in job.files.items()}
    for name, component in components.items():
        system.add_component(component)
        known = component.parameters
        component.set_parameters(**{v: x for v, x in job.start[name].items() if v in known})
    for c in job.connections:
        system.add_connection(Connection(c.source, c.output, c.target, c.input))
    system.set_algorithm(JacobiAlgorithm())
    system.initialize(t0=0.0)
    for name, component in components.items():
        inputs = {v: x for v, x in job.start[name].items() if v not in component.parameters}
        component.set_inputs(inputs, t=0.0)
    watch = Stopwatch()
    system.run(t0=0.0, tf=job.stop, dt=job.step)
    seconds = watch.seconds()
    outputs = {name: component.get_outputs() for name, component in components.items()}
    return seconds, [float(getattr(outputs[e][v], "magnitude", outputs[e][v])) for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
