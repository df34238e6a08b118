# /// script
# dependencies = ["fmpy==0.3.32"]
# ///
"""One call of fmpy after the other, as its documentation shows; Jacobi, values of one type and FMU in one call."""

from job import Job, Stopwatch, answer
from slave import KINDS, instance


def run(job: Job) -> tuple[float, list[float]]:
    slaves, variables = {}, {}
    for name, file in job.files.items():
        slaves[name], variables[name] = instance(file, name, job.start[name])
        slaves[name].setupExperiment(startTime=0.0)
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
