"""Independent masters give the same trajectories: a plain loop over fmpy's calls, and libcosim in C++."""

import shutil

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
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system

GAINS = (1.0, 2.0, 3.0)
STEPS, H = 400, 0.01


@pytest.fixture(scope="module")
def ring(lag):
    system = Structure("ring")
    for i, gain in enumerate(GAINS):
        system.add(f"lag{i}", lag, {"gain": gain})
    for i in range(3):
        system.connect(f"lag{i}", "y[1]", f"lag{(i + 1) % 3}", "u[1]", factor=0.9, offset=0.1)
    return system


def ours(system, file, algorithm):
    result = CoSimulation(
        system, Schedule(step=H, stop=STEPS * H), algorithm=algorithm, observers=[Recorder(file)]
    ).run()
    assert result.status == "completed"
    with read_results(file) as results:
        return np.column_stack([results[f"lag{i}.y[1]"] for i in range(3)])


def plain_fmpy_loop(system, sequential):
    """Run the textbook master: one fmpy call after the other, step sizes passed exactly."""
    slaves = []
    for name, element in system.elements.items():
        folder = fmpy.extract(str(element.file))
        description = fmpy.read_model_description(folder)
        slave = fmpy.fmi2.FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        slave.instantiate()
        references = {v.name: v.valueReference for v in description.modelVariables}
        slave.setReal([references["gain"]], [element.start["gain"]])
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slaves.append((slave, references, folder))
    for slave, _, _ in slaves:
        slave.exitInitializationMode()
    y = [slave.getReal([references["y[1]"]])[0] for slave, references, _ in slaves]
    rows = [list(y)]
    for k in range(STEPS):
        held = list(y)
        for i, (slave, references, _) in enumerate(slaves):
            source = y if sequential else held
            slave.setReal([references["u[1]"]], [0.9 * source[i - 1] + 0.1])
            slave.doStep(currentCommunicationPoint=k * H, communicationStepSize=H)
            if sequential:
                y[i] = slave.getReal([references["y[1]"]])[0]
        y = [slave.getReal([references["y[1]"]])[0] for slave, references, _ in slaves]
        rows.append(list(y))
    for slave, _, folder in slaves:
        slave.terminate()
        slave.freeInstance()
        shutil.rmtree(folder)
    return np.array(rows)


@pytest.mark.parametrize("algorithm", [GaussSeidel(), Jacobi()])
def test_a_plain_fmpy_loop_gives_the_same_bits(ring, tmp_path, algorithm):
    expected = plain_fmpy_loop(ring, sequential=algorithm.name == "gauss_seidel")
    assert np.array_equal(ours(ring, tmp_path / "r.h5", algorithm), expected)


def test_libcosim_runs_the_package_and_gives_the_same_trajectory(ring, tmp_path):
    file = write_ssp(from_system(ring, start_time=0.0, stop_time=STEPS * H, step=H), tmp_path / "ring.ssp")
    execution = CosimExecution.from_ssp_file(str(file), round(H * 1e9))
    observer = CosimObserver.create_time_series(buffer_size=STEPS + 1)
    execution.add_observer(observer)
    slaves = [execution.slave_index_from_instance_name(f"lag{i}") for i in range(3)]
    for slave in slaves:
        observer.start_time_series(slave, 1, CosimVariableType.REAL)
    assert execution.step(STEPS)
    columns = []
    for slave in slaves:
        _, _, samples = observer.time_series_real_samples(slave, 1, 1, STEPS)
        columns.append(np.array(samples[:STEPS]))
    expected = ours(ring, tmp_path / "r.h5", Jacobi())
    # libcosim counts time in integer nanoseconds: 0.01 s is exact, and only the sum of rounding differs
    assert np.allclose(np.column_stack(columns), expected[1:], rtol=0.0, atol=1e-14)
    assert expected[-1].min() > 0.1
