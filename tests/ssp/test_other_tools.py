"""Other tools open the packages of `ssp.packaging`, and find the same results.

They step all FMUs in parallel, which is our Jacobi. Two oscillators push each other in proportion to their velocities,
which are zero at the start: fmpy begins with inputs of zero, whatever the outputs are.
"""

import csv
import os
import re
import stat
import subprocess
from pathlib import Path

import fmpy.ssp.simulation
import numpy as np
import pytest
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver

import fmus
from components.core.sources import ROOT
from components.oscillator import component
from master.algorithms.jacobi import Jacobi
from master.description import read_description
from master.observers.recorder import Recorder
from master.observers.results import read_results
from master.run import run
from master.system import System
from ssp.coupling import to_system
from ssp.packaging import from_system
from ssp.read import read_ssp
from ssp.write import write_ssp

STEPS, H = 200, 0.01
NAMES = ("first.position", "second.position")
OTHERS = Path(os.environ.get("DOCKFMU_IMPORTERS", ROOT / "build" / "importers"))


def duo(fmu, factor):
    system = System("duo")
    system.add("first", fmu, {"parameters.initial_position": 1.0})
    system.add("second", fmu, {"parameters.initial_position": -0.5})
    system.connect("first", "velocity", "second", "force", factor=factor, convert_units=False)
    system.connect("second", "velocity", "first", "force", factor=factor, convert_units=False)
    return system


@pytest.fixture(scope="module")
def oscillator(tmp_path_factory):
    return fmus.build(component(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(params=[1.0, -0.7], ids=["plain", "factor"])
def package(oscillator, tmp_path, request):
    content = from_system(duo(oscillator, request.param), start_time=0.0, stop_time=STEPS * H, step=H)
    return write_ssp(content, tmp_path / "duo.ssp")


@pytest.fixture
def ours(package, tmp_path):
    """Positions of both after each step, shape (STEPS, 2)."""
    system, _ = to_system(read_ssp(package, tmp_path / "unpacked"))
    result = run(system, step=H, stop=STEPS * H, algorithm=Jacobi(), observers=[Recorder(tmp_path / "ours.h5")])
    assert result.status == "completed"
    with read_results(tmp_path / "ours.h5") as results:
        return np.column_stack([results[name] for name in NAMES])[1:]


@pytest.mark.parametrize("package", [1.0], indirect=True, ids=["plain"])
def test_fmpy(package, ours):
    """It knows no transformations and takes parameters only from a set that it is told; time is a sum of steps."""
    values = fmpy.ssp.ssd.read_ssv(str(package), "resources/duo.ssv")
    # times add up: with half a step less it ends after the last one
    found = fmpy.ssp.simulation.simulate_ssp(
        str(package), stop_time=(STEPS - 0.5) * H, step_size=H, parameter_set=values
    )
    assert np.abs(np.column_stack([found[name] for name in NAMES]) - ours).max() < 1e-12


def test_libcosim(package, ours):
    """It takes the values at the components; its time is in whole nanoseconds. The step is that of the annotation."""
    execution = CosimExecution.from_ssp_file(str(package), round(H * 1e9))
    observer = CosimObserver.create_time_series(buffer_size=STEPS + 1)
    execution.add_observer(observer)
    slaves = [execution.slave_index_from_instance_name(name.split(".")[0]) for name in NAMES]
    fmu = next((package.parent / "unpacked" / "resources").glob("*.fmu"))
    reference = read_description(fmu).variables["position"].reference
    for slave in slaves:
        observer.start_time_series(slave, reference, CosimVariableType.REAL)
    assert execution.step(STEPS)
    found = [observer.time_series_real_samples(slave, reference, 1, STEPS)[2][:STEPS] for slave in slaves]
    assert np.abs(np.array(found).T - ours).max() < 1e-12


def test_ecos(package, ours, tmp_path):
    """It takes the values at the components, of the set that it is told, and writes six decimals."""
    program = next(OTHERS.glob("lib/python*/site-packages/ecospy/binaries/ecos"), None)
    library = next(OTHERS.glob("lib/libtbb.so.12"), None)
    if program is None or library is None:
        pytest.skip("ecos is not installed in build/importers")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    arguments = ["--stepSize", str(H), "--stopTime", str(STEPS * H), "--parameterSet", "duo"]
    done = subprocess.run(
        [program, "simulate", "--path", package, *arguments],
        cwd=tmp_path, env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "duo.csv").open() as stream:
        header, *rows = csv.reader(stream, skipinitialspace=True)
    columns = [next(i for i, title in enumerate(header) if re.match(name.replace(".", "::"), title)) for name in NAMES]
    found = np.array([[float(row[column]) for column in columns] for row in rows])
    # it writes the start too, and may stop one step short: 2.0 is not 200 times 0.01 there
    count = min(len(found) - 1, STEPS)
    assert count >= STEPS - 1
    assert np.abs(found[1 : count + 1] - ours[:count]).max() <= 0.5e-6 * (1.0 + 1e-6)
