"""FMUs of pythonfmu run beside compiled ones; faults of its wrapper stay in a separate process."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pythonfmu.builder import FmuBuilder

from dockfmu.master.fmi import python_modules
from dockfmu.master.fmi.description import read_description

ROOT = Path(__file__).parents[3]

SCRIPT = """
import json, sys
from pathlib import Path
from dockfmu.master.algorithms import by_name
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

swing, lag, out, start = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
system = Structure("mixed")
system.add("swing", Path(swing), start)
system.add("lag", Path(lag), {"gain": 2.0})
system.connect("swing", "position", "lag", "u[1]")
system.connect("lag", "y[1]", "swing", "force", factor=-0.5)
system.connect("swing", "positive", "lag", "enable")
system.connect("swing", "steps", "lag", "count_in")
events = Events({"down": Event("swing.positive", "fall")})
result = CoSimulation(system, Schedule(step=0.01, stop=2.0), observers=[Recorder(Path(out)), events]).run()
print(json.dumps(result.summary()))
"""


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swing")
    return FmuBuilder.build_FMU(ROOT / "tests/master/fmus/python_swing.py", dest=folder)


def run_apart(swing, lag, out, **start):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(swing), str(lag), str(out), json.dumps(start)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_python_fmu_and_a_compiled_one_give_what_python_gives(swing, lag, tmp_path):
    import h5py

    summary = run_apart(swing, lag, tmp_path / "r.h5")
    assert summary["status"] == "completed", summary["message"]
    x, v, y, rows, first = 1.0, 0.0, 0.0, [(1.0, 0.0)], None
    for k in range(200):
        v += 0.01 * (-0.5 * y - 4.0 * x)
        x += 0.01 * v
        if x > 0.0:
            y += 0.01 * 2.0 * (x - y)
        elif first is None:
            first = (k + 1) * 0.01
        rows.append((x, y))
    with h5py.File(tmp_path / "r.h5") as file:
        assert np.array_equal(np.column_stack([file["swing/position"], file["lag/y[1]"]]), np.array(rows))
        assert file["lag/count"][-1] == 400
    assert summary["events"] == [{"t": pytest.approx(first), "name": "down", "signal": "swing.positive"}]


def test_an_exception_is_a_failure_with_its_text(swing, lag, tmp_path):
    summary = run_apart(swing, lag, tmp_path / "r.h5", raise_at=0.5)
    assert summary["status"] == "failed"
    assert "swing: fmi2DoStep gave fmi2Fatal" in summary["message"]
    assert "sure that this is wrong" in summary["message"]
    assert summary["t_end"] == pytest.approx(0.5)


def test_a_step_that_is_refused_ends_the_run_and_says_so(swing, lag, tmp_path):
    """pythonfmu answers do_step() = False with fmi2Discard and fmi2Terminated, a request to end the simulation."""
    summary = run_apart(swing, lag, tmp_path / "r.h5", refuse_at=0.5)
    assert summary["status"] == "completed"
    assert summary["message"].startswith("swing asked to end the simulation at t = 0.5")
    assert summary["t_end"] == pytest.approx(0.51, abs=1e-9)


@pytest.mark.parametrize("name", ["pythonslave", "PythonSlaveWithException", "pythonslave_default_ex"])
def test_the_examples_of_pythonfmu_are_read(tmp_path, name):
    import pythonfmu

    script = Path(pythonfmu.__file__).parent / "tests" / "slaves" / f"{name}.py"
    description = read_description(FmuBuilder.build_FMU(script, dest=tmp_path))
    assert description.needs_execution_tool
    assert "linux64" in description.binaries
    assert description.select("output")


EXAMPLE = """
import sys
from pathlib import Path
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

system = Structure("example")
system.add("example", Path(sys.argv[1]), {"intParam": 7})
system.add("lag", Path(sys.argv[2]))
system.connect("example", "realOut", "lag", "u[1]")
system.connect("lag", "y[1]", "example", "realIn")
result = CoSimulation(system, Schedule(step=0.125, stop=1.0), observers=[Recorder(Path(sys.argv[3]))]).run()
with read_results(Path(sys.argv[3])) as results:
    print(result.status, results["example.realOut"].tolist(), results["example.intOut"][-1])
"""


def test_an_example_of_pythonfmu_runs_beside_a_compiled_fmu(lag, tmp_path):
    """Its output is the time at the end of the step (3.0 before the first)."""
    import pythonfmu

    script = Path(pythonfmu.__file__).parent / "tests" / "slaves" / "pythonslave.py"
    file = FmuBuilder.build_FMU(script, dest=tmp_path)
    arguments = [str(file), str(lag), str(tmp_path / "r.h5")]
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLE, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.stdout.strip() == f"completed {[3.0, *(0.125 * k for k in range(1, 9))]} 23", done.stderr


def same_named(folder):
    """Return two FMUs whose scripts have the same name: springs of stiffness 4 and 9."""
    script = ROOT / "tests/master/fmus/python_swing.py"
    files = []
    for stiffness in (4.0, 9.0):
        own = folder / f"k{stiffness:g}"
        own.mkdir()
        copy = own / "same_name.py"
        copy.write_text(script.read_text().replace("stiffness = 4.0", f"stiffness = {stiffness}"))
        files.append(FmuBuilder.build_FMU(copy, dest=own))
    return files


def test_two_scripts_of_one_name_are_refused_in_one_process(tmp_path):
    files = same_named(tmp_path)
    lines = [
        "import sys",
        "from pathlib import Path",
        "from dockfmu.master.fmi.instance import Fmu",
        "first = Fmu(Path(sys.argv[1]))",
    ]
    lines += ["again = Fmu(Path(sys.argv[1]))", "Fmu(Path(sys.argv[2]))"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines), *map(str, files)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 1
    assert "FmuError: Swing.fmu: its Python module 'same_name' has the same name as one of Swing.fmu" in done.stderr
    assert "it must run in a separate process" in done.stderr


BESIDE = """
import sys
from pathlib import Path
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

system = Structure("beside")
system.add("soft", Path(sys.argv[1]))
system.add("stiff", Path(sys.argv[2]))
result = CoSimulation(system, Schedule(step=0.01, stop=0.02), observers=[Recorder(Path(sys.argv[3]))]).run()
with read_results(Path(sys.argv[3])) as results:
    print(result.status, results["soft.position"].tolist(), results["stiff.position"].tolist())
"""


def test_two_scripts_of_one_name_run_side_by_side_in_a_system(tmp_path):
    """Semi-implicit Euler from x = 1: x1 = 1 - k h^2."""
    arguments = [*map(str, same_named(tmp_path)), str(tmp_path / "r.h5")]
    done = subprocess.run(
        [sys.executable, "-c", BESIDE, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )

    def swing(stiffness):
        x, v, rows = 1.0, 0.0, [1.0]
        for _ in range(2):
            v += 0.01 * (0.0 - stiffness * x)
            x += 0.01 * v
            rows.append(x)
        return rows

    assert done.stdout.strip() == f"completed {swing(4.0)} {swing(9.0)}", done.stderr


def test_two_fmus_with_modules_of_one_name_clash_once_one_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(python_modules, "_loaded", {})
    first, second, other = (tmp_path / f"{name}.fmu" for name in ("first", "second", "other"))
    for file, module in ((first, "wheel"), (second, "wheel"), (other, "tyre")):
        with zipfile.ZipFile(file, "w") as sink:
            sink.writestr("resources/slavemodule.txt", module)
            sink.writestr(f"resources/{module}.py", file.name)
            sink.writestr("resources/pythonfmu/__init__.py", "")
    assert not any(map(python_modules.clash, (first, second, other)))
    python_modules.register(first)
    assert python_modules.clash(second) == (
        "its Python module 'wheel' has the same name as one of first.fmu, which this process has loaded"
    )
    assert not any(map(python_modules.clash, (first, other)))
