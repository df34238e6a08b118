"""The docking as a package in libcosim: a master in C++ that nobody here wrote."""

import numpy as np
import pytest
from command_line import run_system
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver

from master.description import read_description

STEPS, H = 300, 1e-3


@pytest.mark.slow
def test_the_impact_is_the_same_in_libcosim(tmp_path):
    """The force on the target over the first impact, kilonewtons: libcosim's nanoseconds make micronewtons."""
    arguments = ("central_impact_20t", "--algorithm", "jacobi", "--step", H, "--stop", STEPS * H, "--no-report")
    ours = run_system(tmp_path / "ours", *arguments, cwd=tmp_path)
    package = tmp_path / "build" / "ssp" / "central_impact_20t.ssp"
    execution = CosimExecution.from_ssp_file(str(package), round(H * 1e9))
    observer = CosimObserver.create_time_series(buffer_size=STEPS + 1)
    execution.add_observer(observer)
    mechanism = execution.slave_index_from_instance_name("mechanism")
    fmu = next((tmp_path / "build" / "fmus").glob("ProbeMechanism.fmu"))
    reference = read_description(fmu).variables["target.force_now[1]"].reference
    observer.start_time_series(mechanism, reference, CosimVariableType.REAL)
    assert execution.step(STEPS)
    found = np.array(observer.time_series_real_samples(mechanism, reference, 1, STEPS)[2][:STEPS])
    force = ours.results["mechanism.target.force_now[1]"]
    assert force.max() > 1e3
    assert len(force) == STEPS + 1
    assert np.abs(found - force[1:]).max() < 1e-6
