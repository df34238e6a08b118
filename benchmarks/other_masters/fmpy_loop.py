# /// script
# dependencies = ["fmpy==0.3.32"]
# ///
"""One call of fmpy after the other, as its documentation shows; Jacobi, values of one type and FMU in one call."""

import fmpy
from fmpy.fmi2 import FMU2Slave
from job import Job, Stopwatch, answer

KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean"}


def run(job: Job) -> tuple[float, list[float]]:
    slaves, variables = {}, {}
    for name, file in job.files.items():
        folder = fmpy.extract(file)
        description = fmpy.read_model_description(folder, validate=False)
        variables[name] = {v.name: v for v in description.modelVariables}
        slaves[name] = slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        slave.instantiate()
        for variable, value in job.start[name].items():
            v = variables[name][variable]
            getattr(slave, f"set{KINDS[v.type]}")([v.valueReference], [value])
        slave.setupExperiment(startTime=0.0)
    copies = {}
    for c in job.connections:
        key = (c.source, c.target, KINDS[c.type])
        copies.setdefault(key, ([], []))
        copies[key][0].append(variables[c.source][c.output].valueReference)
        copies[key][1].append(variables[c.target][c.input].valueReference)
    exchange = [
        (getattr(slaves[s], f"get{kind}"), outputs, getattr(slaves[t], f"set{kind}"), inputs)
        for (s, t, kind), (outputs, inputs) in copies.items()
    ]
    for slave in slaves.values():
        slave.enterInitializationMode()
    for _ in slaves:  # as often as a value may have to pass through FMUs
        for get, outputs, put, inputs in exchange:
            put(inputs, get(outputs))
    for slave in slaves.values():
        slave.exitInitializationMode()
    watch = Stopwatch()
    for k in range(job.steps):
        for get, outputs, put, inputs in exchange:
            put(inputs, get(outputs))
        for slave in slaves.values():
            slave.doStep(currentCommunicationPoint=k * job.step, communicationStepSize=job.step)
    seconds = watch.seconds()
    return seconds, [slaves[e].getReal([variables[e][v].valueReference])[0] for e, v in job.observed]


if __name__ == "__main__":
    answer(run)
