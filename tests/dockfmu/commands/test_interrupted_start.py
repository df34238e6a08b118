"""Ctrl-C while `dockfmu` starts: no traceback at any line after the first of its own."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROGRAM = """
import os, runpy, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["dockfmu", "list"]
runpy.run_module("dockfmu", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "module", ["dockfmu.cli", "argparse", "dockfmu.commands.view", "dockfmu.fmus.catalogue", "dockfmu.components.core"]
)
def test_ctrl_c_while_a_module_is_imported(module):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) in (("", -signal.SIGINT), ("", 130))
    assert done.stderr in ("", "dockfmu: ended by SIGINT\n")


def test_nothing_of_weight_is_imported_before_the_handling():
    """Neither the stub of public names nor pathlib: all that comes before takes a millisecond or two."""
    program = "import sys; before = set(sys.modules); import dockfmu.__main__; print(*sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {*done.stdout.split()} & {"lazy_loader", "ast", "typing", "argparse", "dockfmu.cli"}


def test_the_installed_command_is_that_entry():
    root = Path(__file__).parents[3]
    scripts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"dockfmu": "dockfmu.__main__:main"}
