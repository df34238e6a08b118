"""The start time of fmi2SetupExperiment reaches `initialize`: timers count from it, in native and pythonfmu FMUs."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dockfmu import fmus
from dockfmu.components.probe_cyclogram import component

ROOT = Path(__file__).resolve().parents[2]

# the extension of the probe may take 600 s: at the start it is not overdue, whenever that is, and 600 s later it is
PROGRAM = """
    import sys
    from pathlib import Path
    from tests.fmus.library import OK, Library
    library = Library(Path(sys.argv[1]), Path(sys.argv[1]).with_suffix(""))
    for start in (0.0, 1000.0, -50.0):
        one = library.instance()
        assert one.setup(start) == one("EnterInitializationMode") == OK, one.messages
        seen = [one.get_all(["overdue", "command.motor_voltage[1]"])]
        assert one("ExitInitializationMode") == OK
        for k in range(61):
            assert one.step(start + 10.0 * k, 10.0) == OK, one.messages
            seen.append(one.get_all(["overdue", "command.motor_voltage[1]"]))
        for row in (seen[0], seen[1], seen[60], seen[61]):
            print(*(float(x) for x in row))
        one.free()
"""


@pytest.mark.parametrize("kind", ["native", "python"])
def test_timers_count_from_the_start_time(kind, tmp_path):
    """Step k reads the clock at start + 10 k: the limit of 600 s passes in the sixty-first."""
    file = fmus.build(component(), tmp_path, kind=kind)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == ["0.0 -27.0", "0.0 -27.0", "0.0 -27.0", "1.0 0.0"] * 3
