"""Other tools open the packages of `dockfmu.ssp.from_system`, and find the same results.

They step all FMUs in parallel, which is our Jacobi. Two oscillators push each other in proportion to their velocities,
which are zero at the start: fmpy begins with inputs of zero, whatever the outputs are.
"""

import subprocess
import sys

import numpy as np
import pytest

from dockfmu.commands.arguments import NOT_BALANCED
from dockfmu.master.algorithms.jacobi import Jacobi
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from tests.ssp.other_tools import system_of, with_ecos, with_fmpy, with_libcosim

pytestmark = pytest.mark.slow

STEPS, H = 200, 0.01
NAMES = ("first.position", "second.position")

# half of the last of six decimals
SIX_DECIMALS = 0.5e-6 * (1.0 + 1e-6)


def duo(fmu, factor):
    system = Structure("duo")
    system.add("first", fmu, {"parameters.initial_position": 1.0})
    system.add("second", fmu, {"parameters.initial_position": -0.5})
    system.connect("first", "velocity", "second", "force", factor=factor, convert_units=False)
    system.connect("second", "velocity", "first", "force", factor=factor, convert_units=False)
    return system


def with_ours(package, names, steps, h, folder):
    system = system_of(package, folder / "unpacked")
    result = CoSimulation(
        system, Schedule(step=h, stop=steps * h), algorithm=Jacobi(), observers=[Recorder(folder / "ours.h5")]
    ).run()
    assert result.status == "completed"
    with read_results(folder / "ours.h5") as results:
        return np.column_stack([results[name] for name in names])[1:]


@pytest.fixture(params=[1.0, -0.7], ids=["plain", "factor"])
def package(oscillator, tmp_path, request):
    content = from_system(duo(oscillator, request.param), start_time=0.0, stop_time=STEPS * H, step=H)
    return write_ssp(content, tmp_path / "duo.ssp")


@pytest.fixture
def ours(package, tmp_path):
    return with_ours(package, NAMES, STEPS, H, tmp_path)


@pytest.mark.parametrize("package", [1.0], indirect=True, ids=["plain"])
def test_fmpy(package, ours):
    """It knows no transformations; its time is a sum of steps."""
    assert np.abs(with_fmpy(package, NAMES, STEPS, H) - ours).max() < 1e-12


def test_libcosim(package, ours, tmp_path):
    """It takes the values at the components; its time is in whole nanoseconds."""
    assert np.abs(with_libcosim(package, NAMES, STEPS, H, tmp_path) - ours).max() < 1e-12


def test_ecos(package, ours, tmp_path):
    """It takes the values at the components, of the set that it is told."""
    found = with_ecos(package, NAMES, STEPS, H, tmp_path)
    assert np.abs(found - ours[: len(found)]).max() <= SIX_DECIMALS


IMPACT = ("mechanism.target.force_now[1]", "chaser.port[1].position[1]", "chaser.port[1].velocity[1]")


@pytest.mark.slow
def test_the_docking_is_the_same_everywhere(tmp_path):
    """The first impact of a craft of 20 t, kilonewtons: libcosim's nanoseconds make some nanonewtons.

    The run that writes the package is one of Jacobi and ends in the midst of the impact: the station feels the force of
    a step one step later than the mechanism gives it, and the audit rightly finds the momentum that is under way,
    2.4 kN for 1 ms of 3000 N s.
    """
    arguments = ("central_impact_20t", "--algorithm", "jacobi", "--step", 1e-3, "--stop", 2e-3, "--no-report")
    command = [sys.executable, "-m", "dockfmu", "run", *map(str, arguments), "-o", "results"]
    done = subprocess.run(command, cwd=tmp_path, check=False, timeout=900, capture_output=True, text=True)
    assert done.returncode == NOT_BALANCED, done.stderr
    assert "the balance does not close: linear momentum drift; the results" in done.stderr
    package = tmp_path / "build" / "ssp" / "central_impact_20t.ssp"
    ours = with_ours(package, IMPACT, 300, 1e-3, tmp_path)
    assert ours[:, 0].max() > 1e3
    assert np.abs(with_libcosim(package, IMPACT, 300, 1e-3, tmp_path) - ours).max() < 1e-6
    found = with_ecos(package, IMPACT, 300, 1e-3, tmp_path)
    assert np.abs(found - ours[: len(found)]).max() <= 1.5 * SIX_DECIMALS
