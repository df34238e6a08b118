"""FMUs under the master give the same bits as direct calls of the same kernels in the same order."""

import numpy as np
import pytest

from benchmarks.cosimulation.direct import Direct
from dockfmu.declare.packages import bundle
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation

pytestmark = pytest.mark.slow

STEPS = 3000  # first contact, capture, socket bottom, recoil


def test_coupled_fmus_equal_direct_calls(tmp_path):
    """They are bitwise equal: the same code, compiled for another processor without contraction, and the same libm."""
    direct = Direct("atv_probe_cone", tmp_path / "fmus")
    file = bundle.write_bundle(direct.system, direct.plan, "", tmp_path / "system.ssp")
    system, plan, _, _ = bundle.read_bundle(file, tmp_path / "unpacked")
    result = CoSimulation(
        system, Schedule(step=plan.step, stop=STEPS * plan.step), observers=[Recorder(tmp_path / "r.h5", every=STEPS)]
    ).run()
    assert result.status == "completed", result.message
    direct.run(STEPS)
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.variables) > 300
        for name in results.variables:
            element, _, variable = name.partition(".")
            assert np.array_equal(results[name][-1:], direct.values(element, [variable])), name
