"""Commands and warm runs do not import slow packages, which would dominate the time before the first step."""

import json
import subprocess
import sys

import pytest

from tests.dockfmu.command_line import dockfmu

PROGRAM = """
import json, sys
from dockfmu.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as end:
    status = end.code or 0
print("\\n" + json.dumps([status, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def imported(*arguments: object, status: int = 0) -> set[str]:
    """Return the packages that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    found, names = json.loads(done.stdout.splitlines()[-1])
    assert found == status, done.stderr
    return set(names)


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["list"]])
def test_commands_that_only_tell_import_no_numerics(command):
    heavy = {"numba", "llvmlite", "scipy", "lxml", "h5py", "jinja2", "matplotlib", "plotly", "pandas"}
    assert not imported(*command) & heavy


@pytest.mark.slow
def test_a_warm_run_with_its_report_imports_no_compiler(pair, tmp_path):
    assert dockfmu("run", pair, "--stop", 0.5, "-o", tmp_path).returncode == 0
    names = imported("run", pair, "--stop", 0.5, "-o", tmp_path)
    assert not names & {"numba", "scipy", "fmpy", "matplotlib", "plotly", "pandas", "ziglang"}
    assert names >= {"numpy", "llvmlite", "h5py", "jinja2"}
    assert (tmp_path / "report.html").is_file()


@pytest.mark.slow
def test_a_warm_run_of_an_arm_imports_no_compiler(tmp_path):
    """The pose of its berth is checked before the run, without the kernels. In a second the arm only sets out."""
    command = ("run", "mim1_ssrms_nrt74", "--stop", 1.0, "--no-report", "-o", tmp_path)
    assert dockfmu(*command).returncode == 3
    assert not imported(*command, status=3) & {"numba", "scipy"}


def test_workers_of_a_campaign_do_not_wait_for_statistics():
    """A client and each worker import the campaign; scipy.stats, half a second, is needed where a question is asked."""
    program = "import sys, dockfmu.campaign.campaign; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
