"""Progress of the compilation of kernels."""

import re

import pytest
from numba.core import event

from dockfmu.fmus import catalogue
from dockfmu.fmus.native import compile_progress
from dockfmu.fmus.native.compile import compile_component
from dockfmu.fmus.native.compile_progress import CompileProgress, kernels_of

pytestmark = pytest.mark.slow


def test_every_kernel_is_counted_once_and_the_time_left_runs_out(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    monkeypatch.setattr(compile_progress, "TOLD_EVERY_S", 0.0)
    monkeypatch.setattr(compile_progress, "ESTIMATED_FROM", 0.0)
    component, said = catalogue.component("ProbeCyclogram"), []
    kernels = kernels_of(component.initialize, component.step)
    with event.install_listener("numba:compile", CompileProgress(kernels, said.append)):
        compile_component(component)
    found = [re.fullmatch(r"(\d+) of (\d+) kernels are compiled, about (\d+) s are left", line) for line in said]
    done, counts, left = zip(*(map(int, line.groups()) for line in found), strict=True)
    assert set(counts) == {len(kernels)}
    assert {component.initialize.py_func, component.step.py_func} < kernels
    assert list(done) == sorted(done)
    # numba tells nothing of the two kernels through which a library is entered, unless another calls them
    last = len(kernels) - 2
    assert {*done} >= {*range(1, last + 1)}
    assert left[-1] <= 1
