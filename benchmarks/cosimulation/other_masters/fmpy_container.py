# /// script
# dependencies = ["fmpy==0.3.32"]
# ///
"""fmpy's container FMU: all FMUs and connections inside one FMU, stepped by fmpy."""

import json
import tempfile
import zipfile
from pathlib import Path

import fmpy
from fmpy.container_fmu.cli import create_container_fmu
from fmpy.container_fmu.config import Component, Configuration, Connection
from fmpy.model_description import CoSimulation, ModelDescription, ModelVariable
from job import Job, answer
from slave import instance, step_alone

TYPES = {"Real": "Float64", "Integer": "Int32", "Enumeration": "Int32", "Boolean": "Boolean"}


def repaired(file: Path) -> Path:
    """Return a file with corrected types: fmpy 0.3.32 writes those of FMI 2.0, but its library knows FMI 3.0 only."""
    out = file.with_name("repaired.fmu")
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(out, "w") as sink:
        for name in source.namelist():
            data = source.read(name)
            if name == "resources/container.json":
                content = json.loads(data)
                for connection in content["connections"]:
                    connection["variableType"] = TYPES.get(connection["variableType"], connection["variableType"])
                data = json.dumps(content).encode()
            sink.writestr(name, data)
    return out


def build(job: Job, folder: Path) -> Path:
    components, variables = {}, {}
    for name, file in job.files.items():
        copy = folder / f"{name}.fmu"
        copy.write_bytes(Path(file).read_bytes())
        description = fmpy.read_model_description(copy, validate=False)
        components[name] = Component(name=name, filename=copy, modelDescription=description)
        variables[name] = {v.name: v for v in description.modelVariables}
    connections = [
        Connection(
            startElement=components[c.source],
            startConnectors=[variables[c.source][c.output]],
            endElement=components[c.target],
            endConnectors=[variables[c.target][c.input]],
        )
        for c in job.connections
    ]
    mapped = {}
    for element, name in job.observed:
        variable = ModelVariable(
            name=f"{element}.{name}", type="Real", causality="output", variability="continuous", valueReference=0
        )
        mapped[variable] = [(components[element], variables[element][name])]
    for element, start in job.start.items():
        for name, value in start.items():
            inner = variables[element][name]
            variable = ModelVariable(
                name=f"{element}.{name}",
                type=inner.type,
                causality="parameter",
                variability="tunable",
                valueReference=0,
                start=str(value).lower() if isinstance(value, bool) else str(value),
            )
            mapped[variable] = [(components[element], inner)]
    clock = ModelVariable(name="time", type="Real", causality="independent", variability="continuous", valueReference=0)
    description = ModelDescription(
        fmiVersion="2.0",
        modelName="container",
        instantiationToken="container",
        coSimulation=CoSimulation(modelIdentifier="container_fmu", fixedInternalStepSize=job.step),
        modelVariables=[clock, *mapped],
    )
    configuration = Configuration(
        parallelDoStep=False,
        modelDescription=description,
        components=list(components.values()),
        connections=connections,
        variableMappings=mapped,
    )
    unpacked = folder / "container"
    unpacked.mkdir()
    create_container_fmu(configuration, unpacked, folder / "container.fmu")
    return repaired(folder / "container.fmu")


def run(job: Job) -> tuple[float, list[float]]:
    start = {f"{element}.{name}": value for element, values in job.start.items() for name, value in values.items()}
    with tempfile.TemporaryDirectory() as temporary:
        slave, variables = instance(build(job, Path(temporary)), "container", start)
        seconds = step_alone(job, slave)
        return seconds, slave.getReal([variables[f"{e}.{v}"].valueReference for e, v in job.observed])


if __name__ == "__main__":
    answer(run)
