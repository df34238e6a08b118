"""Importers that others wrote, each asked for the outputs of an experiment: shape (steps + 1, number of outputs).

A row that an importer does not tell is NaN. `Missing` says why one cannot run here.
"""

import json
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import fmpy
import numpy as np

from dockfmu.fmus.check import importer
from dockfmu.master.fmi.description import read_description
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from tests import ecos_program
from tests.importers_environment import call, installed

HERE = Path(__file__).parent


def with_fmpy(fmu, experiment, folder):
    """The most used importer in Python. Its step size is the difference of rounded times."""
    table = np.zeros(experiment.steps + 1, [("time", "f8"), *((name, "f8") for name in experiment.inputs)])
    table["time"] = experiment.times
    for name, values in experiment.inputs.items():
        table[name] = [*values, values[-1]]
    result = fmpy.simulate_fmu(
        str(fmu),
        start_time=experiment.start,
        stop_time=experiment.stop,
        output_interval=experiment.step,
        input=table,
        output=list(experiment.outputs),
        fmi_type="CoSimulation",
    )
    return np.column_stack([result[name].astype(float) for name in experiment.outputs])


def with_libcosim(fmu, experiment, folder):
    """An importer in C++, which counts time in nanoseconds; it tells nothing of enumerations and of the time before
    the first step."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    variables = read_description(fmu).variables
    execution = CosimExecution.from_step_size(step_size=round(experiment.step * 1e9))
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="one"))
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    execution.add_observer(observer)
    execution.add_manipulator(manipulator)
    for name, values in experiment.inputs.items():
        reference = variables[name].reference
        if variables[name].type == "Real":
            execution.real_initial_value(slave, variable_reference=reference, value=values[0])
        else:
            execution.boolean_initial_value(slave, variable_reference=reference, value=bool(values[0]))
    write = {"Real": manipulator.slave_real_values, "Boolean": manipulator.slave_boolean_values}
    driven = {kind: [name for name in experiment.inputs if variables[name].type == kind] for kind in write}
    read = {
        "Real": observer.last_real_values,
        "Integer": observer.last_integer_values,
        "Boolean": observer.last_boolean_values,
    }
    places = {kind: [i for i, name in enumerate(experiment.outputs) if variables[name].type == kind] for kind in read}
    rows = np.full((experiment.steps + 1, len(experiment.outputs)), np.nan)
    for k in range(experiment.steps):
        for kind, names in driven.items():
            if names:
                values = [{"Real": float, "Boolean": bool}[kind](experiment.inputs[name][k]) for name in names]
                write[kind](slave, [variables[name].reference for name in names], values)
        assert execution.step()
        for kind, chosen in places.items():
            if chosen:
                rows[k + 1, chosen] = read[kind](slave, [variables[experiment.outputs[i]].reference for i in chosen])
    return rows


def with_ecos(fmu, experiment, folder):
    """A program in C++, without Python in its process; given an .ssp, for it takes no inputs of a bare FMU."""
    system = Structure("alone")
    system.add("one", fmu, {name: float(values[0]) for name, values in experiment.inputs.items()})
    file = write_ssp(from_system(system), folder / "alone.ssp")
    names = [f"one.{name}" for name in experiment.outputs]
    times, values = ecos_program.simulate(file, names, experiment.step, experiment.stop, folder)
    rows = np.full((experiment.steps + 1, len(names)), np.nan)
    rows[np.rint((times - experiment.start) / experiment.step).astype(int)] = values
    return rows


def _container(fmu, experiment, folder, outputs):
    """A container FMU around `fmu` with inputs u0, u1, ... and outputs y0, y1, ..."""
    python, tool = installed("bin/python"), installed("bin/fmucontainer")
    (folder / fmu.name).write_bytes(fmu.read_bytes())
    lines = ["rule;from_fmu;from_port;to_fmu;to_port", f"FMU;{fmu.name};;;"]
    lines += [f"INPUT;;u{i};{fmu.name};{name}" for i, name in enumerate(experiment.inputs)]
    lines += [f"OUTPUT;{fmu.name};{name};;y{i}" for i, name in enumerate(outputs)]
    (folder / "container.csv").write_text("\n".join(lines) + "\n")
    options = ("-no-auto-input", "-no-auto-output", "-no-auto-link")
    declaration = f"container.csv:{experiment.step}"
    call(python, tool, "-fmu-directory", folder, "-container", declaration, *options, cwd=folder)
    return folder / "container.fmu"


def with_container(fmu, experiment, folder):
    """A container FMU of the FMU manipulation toolbox around ours, run by our importer in C: no Python there either."""
    around = replace(
        experiment,
        inputs={f"u{i}": values for i, values in enumerate(experiment.inputs.values())},
        outputs=tuple(f"y{i}" for i in range(len(experiment.outputs))),
    )
    return importer.run(_container(fmu, experiment, folder, experiment.outputs), around).outputs


@cache
def _cofmpy(python):
    """Start the process that runs experiments with CoFMPy; it ends with this one."""
    return subprocess.Popen(
        [str(python), str(HERE / "with_cofmpy.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def with_cofmpy(fmu, experiment, folder):
    """A master in Python. It takes every variable for a Real, so it gets a container with only the Real ones."""
    python = installed("bin/python")
    installed("lib/python*/site-packages/cofmpy")
    variables = read_description(fmu).variables
    reals = [i for i, name in enumerate(experiment.outputs) if variables[name].type == "Real"]
    container = _container(fmu, experiment, folder, [experiment.outputs[i] for i in reals])
    request = {
        "fmu": str(container),
        "step": experiment.step,
        "steps": experiment.steps,
        "inputs": {f"u{i}": list(values) for i, values in enumerate(experiment.inputs.values())},
        "outputs": [f"y{i}" for i in range(len(reals))],
    }
    (folder / "request.json").write_text(json.dumps(request))
    server = _cofmpy(python)
    print(folder / "request.json", file=server.stdin, flush=True)
    status = server.stdout.readline().strip()
    assert status == "0", f"CoFMPy ended with {status}:\n{(folder / 'log').read_text()[-6000:]}"
    rows = np.full((experiment.steps + 1, len(experiment.outputs)), np.nan)
    rows[1:, reals] = json.loads((folder / "result.json").read_text())
    return rows
