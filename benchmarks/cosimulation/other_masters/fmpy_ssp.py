# /// script
# dependencies = ["fmpy==0.3.32"]
# ///
"""fmpy.ssp.simulate_ssp. It takes start values only from a parameter set that is passed to it."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from fmpy.ssp import simulation
from job import Job, Stopwatch, answer

SSD = "{http://ssp-standard.org/SSP1/SystemStructureDescription}"


def without_spare_connectors(job: Job) -> str:
    """Return the package with only the necessary connectors: fmpy calls an FMU for each, and knows no strings."""
    needed = {(c.source, c.output) for c in job.connections} | {(c.target, c.input) for c in job.connections}
    needed |= set(job.observed)
    out = Path(job.folder) / "spare.ssp"
    with zipfile.ZipFile(job.ssp) as source, zipfile.ZipFile(out, "w") as sink:
        for name in source.namelist():
            data = source.read(name)
            if name == "SystemStructure.ssd":
                root = ElementTree.fromstring(data)
                for component in root.iter(f"{SSD}Component"):
                    for connectors in component.iter(f"{SSD}Connectors"):
                        for connector in list(connectors):
                            if (component.get("name"), connector.get("name")) not in needed:
                                connectors.remove(connector)
                data = ElementTree.tostring(root)
            sink.writestr(name, data)
    return str(out)


class Value:
    def __init__(self, name, value):
        self.name, self.value = name, value


class Values:
    def __init__(self, job):
        self.parameters = [Value(f"{e}.{v}", x) for e, start in job.start.items() for v, x in start.items()]


def run(job: Job) -> tuple[float, list[float]]:
    # the time of the steps alone: from the first call of its own function for one step to the last
    step, watches, seconds = simulation.do_step, [], []

    def timed(*arguments):
        if not watches:
            watches.append(Stopwatch())
        step(*arguments)
        seconds.append(watches[0].seconds())

    simulation.do_step = timed
    # half a step more: it stops when the time is above the stop time
    result = simulation.simulate_ssp(
        without_spare_connectors(job),
        stop_time=job.stop - 0.5 * job.step,
        step_size=job.step,
        parameter_set=Values(job),
    )
    calls = len(seconds) // len(job.files)
    assert calls == job.steps, (calls, job.steps)
    values = [np.asarray(result[f"{e}.{v}"])[-1] for e, v in job.observed]
    return seconds[-1], [float(value) for value in values]


if __name__ == "__main__":
    answer(run)
