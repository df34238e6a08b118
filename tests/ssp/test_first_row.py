"""The values at the start of a docking are the same in every master, whatever the order in which it reads and writes.

The cyclogram answers the first contact of the mechanism with a push of the craft within the initialisation: a value
that passes through three FMUs before the first step.
"""

import subprocess
import sys

import fmpy
import fmpy.fmi2
import numpy as np
import pytest
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver

from dockfmu.master.algorithms.gauss_seidel import GaussSeidel
from dockfmu.master.algorithms.jacobi import Jacobi
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from tests.ssp.other_tools import system_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docking")
    arguments = ("atv_probe_cone", "--step", 1e-3, "--stop", 1e-3, "--no-report", "-o", "results")
    command = [sys.executable, "-m", "dockfmu", "run", *map(str, arguments)]
    # a run of one step is not a success of the system (exit status 3)
    done = subprocess.run(command, cwd=folder, check=False, timeout=900, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return folder / "build" / "ssp" / "atv_probe_cone.ssp"


@pytest.fixture(scope="module")
def system(package, tmp_path_factory):
    return system_of(package, tmp_path_factory.mktemp("unpacked") / "package")


@pytest.fixture(scope="module")
def names(system):
    """All Real outputs of all elements."""
    return [
        f"{element}.{v.name}"
        for element in system.elements
        for v in system.description(element).select("output")
        if v.type == "Real"
    ]


def first_row(system, names, file, algorithm, order=None):
    system.order = tuple(order or system.elements)
    assert (
        CoSimulation(system, Schedule(step=1e-3, stop=1e-3), algorithm=algorithm, observers=[Recorder(file, names)])
        .run()
        .status
        == "completed"
    )
    with read_results(file) as results:
        return np.array([results[name][0] for name in names])


@pytest.fixture(scope="module")
def expected(system, names, tmp_path_factory):
    return first_row(system, names, tmp_path_factory.mktemp("row") / "r.h5", GaussSeidel())


def with_plain_fmpy_loop(system, names):
    """Start values, then outputs to inputs as often as there are elements: what every textbook master does."""
    slaves = {}
    for name, element in system.elements.items():
        folder = fmpy.extract(str(element.file))
        description = fmpy.read_model_description(folder)
        slave = fmpy.fmi2.FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            instanceName=name,
            modelIdentifier=description.coSimulation.modelIdentifier,
        )
        slave.instantiate()
        slaves[name] = slave
    access = {"Real": ("setReal", "getReal"), "Boolean": ("setBoolean", "getBoolean")}

    def call(element, variable, *values):
        found = system.description(element).variables[variable]
        function = access.get(found.type, ("setInteger", "getInteger"))[not values]
        return getattr(slaves[element], function)([found.reference], *([value] for value in values))

    for name, element in system.elements.items():
        for variable, value in element.start.items():
            call(name, variable, value)
        slaves[name].setupExperiment(startTime=0.0)
        slaves[name].enterInitializationMode()
    for _ in system.elements:
        for c in system.connections:
            (value,) = call(c.source, c.output)
            call(c.target, c.input, value)
    for slave in slaves.values():
        slave.exitInitializationMode()
    row = [call(*name.split(".", 1))[0] for name in names]
    for slave in slaves.values():
        slave.terminate()
        slave.freeInstance()
    return np.array(row)


def with_libcosim(package, system, names):
    execution = CosimExecution.from_ssp_file(str(package), 1_000_000)
    observer = CosimObserver.create_time_series(buffer_size=4)
    execution.add_observer(observer)
    places = []
    for name in names:
        element, variable = system.resolve(name)
        places.append((execution.slave_index_from_instance_name(element), variable.reference))
        observer.start_time_series(*places[-1], CosimVariableType.REAL)
    assert execution.step(1)
    rows = []
    for place in places:
        times, _, samples = observer.time_series_real_samples(*place, 0, 2)
        assert times[0] == 0
        rows.append(samples[0])
    return np.array(rows)


def test_the_push_of_the_first_contact_is_there(names, expected):
    assert expected[names.index("cyclogram.event.first_contact")] == 0.0


@pytest.mark.parametrize("turned", [False, True])
def test_every_algorithm_and_order_begins_with_the_same_row(system, names, expected, tmp_path, turned):
    order = list(system.elements)[:: -1 if turned else 1]
    for algorithm in (Jacobi(), GaussSeidel()):
        found = first_row(system, names, tmp_path / f"{algorithm.name}.h5", algorithm, order)
        assert np.array_equal(found, expected), algorithm.name


def test_a_plain_fmpy_loop_begins_with_the_same_row(system, names, expected):
    assert np.array_equal(with_plain_fmpy_loop(system, names), expected)


def test_libcosim_begins_with_the_same_row(package, system, names, expected):
    assert np.array_equal(with_libcosim(package, system, names), expected)
