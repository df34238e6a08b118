"""An arm on a free craft three times as heavy: the example of docs/examples, with base motion AFFINE."""

from pathlib import Path

import pytest

from tests.dockfmu.command_line import dockfmu, run_system

pytestmark = pytest.mark.slow

SYSTEM = Path(__file__).parents[3] / "docs/examples/arm_on_a_servicer.toml"


def test_momenta_and_energy_close(tmp_path):
    """Elbow and wrist turn out and back; the craft turns by 2 deg meanwhile."""
    done = run_system(tmp_path, SYSTEM, "--no-report")
    assert done.summary["status"] == "completed"
    audit = done.summary["audit"]
    assert audit["linear_momentum_drift"] < 1e-6
    assert audit["angular_momentum_drift"] < 1e-6
    assert audit["energy_residual"] < 0.01
    assert abs(done.results["servicer.body.angles[1]"]).max() > 0.03


def test_modes_that_disagree_are_refused_by_name():
    told = dockfmu("run", SYSTEM, "--set", "servicer.parameters.port[1].base_motion=LAGGED")
    assert told.returncode == 2
    assert "but manipulator.parameters.base_motion = AFFINE" in told.stderr
