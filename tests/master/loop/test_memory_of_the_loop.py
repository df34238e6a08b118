"""The compiled loop writes through addresses: memory blocks are large enough, and its cached code is not stale."""

import ast
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dockfmu.master.algorithms import ALGORITHMS, by_name
from dockfmu.master.loop import compiler, tables
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry, StepControl, StepDoubling
from dockfmu.master.system import Structure

ROOT = Path(__file__).parents[3]
CONTROLS = {
    "fixed": None,
    "retry": Retry(1e-4),
    "events": StepControl(1e-4, 0.1, 0.01),
    "doubling": StepControl(1e-4, 0.1, 0.01, StepDoubling(1e-4), locate=()),
}
CHECKED = "libc_malloc_debug.so.0"
"""glibc's: looks at each block when it is freed"""


def ring(lag, **second):
    """Return two lags that exchange values of all types; `second` are options of the second."""
    system = Structure("ring")
    system.add("a", lag, {"gain": 2.0})
    system.add("b", lag, {"gain": 3.0}, **second)
    for one, two in (("a", "b"), ("b", "a")):
        system.connect(one, "y[1]", two, "u[1]", factor=-3.0, offset=1.0)
        system.connect(one, "count", two, "count_in")
        system.connect(one, "text", two, "text_in")
    return system


@pytest.mark.parametrize("second", [{}, {"substeps": 2}])
@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_backup_is_as_large_as_what_it_backs_up(lag, name, control, second):
    with CoSimulation(
        ring(lag, **second), Schedule(step=0.01, stop=0.1, control=CONTROLS[control]), algorithm=by_name(name)
    ).open() as simulation:
        found = simulation.session.tables
        live = found.signals._asdict() | found.prediction._asdict() | found.rates._asdict()
        used = found.iteration.slot.size > 0 or found.control.rollback
        for field in tables.BackupTable._fields:
            saved = getattr(found.backup, field)
            assert saved.shape == ((2 if used else 0), live[field].size), field
            assert saved.dtype == live[field].dtype, field
        simulation.advance(0.1)
        assert found.instances.state.any() == bool(used)
    # the states were given back
    assert not found.instances.state.any()


RUNS = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from dockfmu.master.tables import coupling
from dockfmu.master.algorithms import by_name
from dockfmu.master.run.simulation import branch
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry
from test_memory_of_the_loop import CONTROLS, ring

lag, kind = Path(sys.argv[1]), sys.argv[2]
if kind == "overflow":
    sound = coupling._backup_table
    def larger(*arguments):
        found = sound(*arguments)
        return found._replace(slope=np.zeros((2, found.slope.shape[1] + 2)))
    coupling._backup_table = larger
for name, control in (
    ("fixed_point", None), ("quasi_newton", None), ("gauss_seidel", "doubling"), ("jacobi_linear", "doubling"),
    ("jacobi", "retry"), ("fixed_point", "doubling"), ("fixed_point", "events"),
):
    schedule = Schedule(step=0.01, stop=1.0, control=CONTROLS.get(control))
    with CoSimulation(ring(lag), schedule, by_name(name)).open() as run:
        run.advance(0.3)
        checkpoint = run.save()
        with branch(run, schedule=replace(schedule, stop=0.6)).open() as other:
            other.advance(0.6)
        run.advance(1.0)
    with CoSimulation(ring(lag), schedule, by_name(name), resume=Resumption(checkpoint)).open() as resumed:
        resumed.advance(1.0)
    print(name, control, run.result.status, resumed.result.status)
print("sound")
"""


def checked_runs(lag, kind):
    """Save, set, free and serialise states in runs of a process whose heap is checked."""
    try:
        ctypes.CDLL(CHECKED)
    except OSError:
        pytest.skip(f"there is no {CHECKED}")
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    environment = {"LD_PRELOAD": CHECKED, "GLIBC_TUNABLES": "glibc.malloc.check=3", "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", RUNS, str(lag), kind],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_what_is_saved_and_set_stays_within_its_blocks(lag):
    done = checked_runs(lag, "sound")
    assert done.stdout.endswith("sound\n"), done.stderr
    assert done.stdout.count("completed completed") == 7


def test_a_backup_that_is_too_large_is_found(lag):
    """The heap check detects a backup that is larger than its source when the loop writes it back."""
    done = checked_runs(lag, "overflow")
    assert done.returncode == -signal.SIGABRT
    # which of its checks of the heap meets the damage first depends on what lies beside it
    assert re.search(r"^(free|malloc|realloc|corrupted|double free|munmap_chunk)\b", done.stderr, re.M), done.stderr


def test_compiled_code_depends_on_no_other_package(tmp_path):
    """A change of any file of the loop changes the digest, and the loop imports no other part of the master."""
    here = Path(compiler.__file__).parent
    for file in here.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("master"):
                assert node.module.startswith("dockfmu.master.loop"), (file.name, node.module)
    copy = shutil.copytree(here, tmp_path / "loop", ignore=shutil.ignore_patterns("__pycache__"))
    digests = {compiler.digest_of_sources(here), compiler.digest_of_sources(copy)}
    assert len(digests) == 1
    for file in sorted(copy.glob("*.py")):
        file.write_text(file.read_text() + "\n")
        digests.add(compiler.digest_of_sources(copy))
    assert len(digests) == 1 + len(list(copy.glob("*.py")))
