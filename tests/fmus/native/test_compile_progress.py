"""Progress of the compilation of kernels."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.slow

COMPILE = """
import json, os, sys
from numba.core import event
from dockfmu.fmus import catalogue
from dockfmu.fmus.native import compile_progress
from dockfmu.components.core.machine_code import compile_component

compile_progress.TOLD_EVERY_S = compile_progress.ESTIMATED_FROM = 0.0
os.environ["DOCKFMU_CACHE"] = sys.argv[1]  # only now: what the imports need is in the cache of all tests
component, said = catalogue.component("ProbeCyclogram"), []
kernels = compile_progress.kernels_of(component.initialize, component.step)
assert {component.initialize.py_func, component.step.py_func} < kernels
with event.install_listener("numba:compile", compile_progress.CompileProgress(kernels, said.append)):
    compile_component(component)
print(json.dumps({"kernels": len(kernels), "said": said}))
"""
"""A process of its own: numba says nothing of a kernel that the process has compiled before."""


def test_every_kernel_is_counted_once_and_the_time_left_runs_out(tmp_path):
    command = [sys.executable, "-c", COMPILE, str(tmp_path)]
    told = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    pattern = r"(\d+) of (\d+) kernels are compiled, about (\d+) s are left"
    found = [re.fullmatch(pattern, line) for line in told["said"]]
    done, counts, left = zip(*(map(int, line.groups()) for line in found), strict=True)
    assert set(counts) == {told["kernels"]}
    assert list(done) == sorted(done)
    # numba tells nothing of the two kernels through which a library is entered, unless another calls them
    last = told["kernels"] - 2
    assert {*done} >= {*range(1, last + 1)}
    assert left[-1] <= 1
