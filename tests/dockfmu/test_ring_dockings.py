"""Dockings with the simpler rings, from first contact to the end of retraction."""

import numpy as np
import pytest

from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

RINGS = ("electric_ring_5t",)


@pytest.fixture(scope="module", params=RINGS)
def docking(request, tmp_path_factory):
    return run_system(tmp_path_factory.mktemp(request.param), request.param)


@pytest.fixture(scope="module")
def electric(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("electric"), "electric_ring_5t")


def of_legs(run, name):
    return np.column_stack([run.results[f"mechanism.leg[{k}].{name}"] for k in range(1, 7)])


def test_the_sequence_ends_docked(docking):
    """Contact, capture, ten seconds of absorption, retraction, planes at most 5 mm apart: outcome DOCKED."""
    assert docking.summary["outcome"] == "docked"
    results, t = docking.results, docking.results.time
    assert docking.time("first_contact") < docking.time("capture") < docking.time("retraction")
    assert docking.time("retraction") == pytest.approx(docking.time("capture") + 10.0, abs=3e-3)
    assert docking.time("end_of_retraction") == pytest.approx(docking.summary["t_end"])
    assert abs(results["mechanism.docking.plane_gap"][-1]) < 5e-3
    assert results["mechanism.sensor.retracted"][-1] == 1.0
    assert not results["cyclogram.unlatched"][t > docking.time("retraction")].any(), "latched all the way"
    # once the longest legs have come to the others, the ring stays aligned with its own craft
    drawn = t > 0.5 * (docking.time("retraction") + t[-1])
    ring = np.column_stack([results[f"mechanism.ring.angles[{k}]"] for k in (1, 2, 3)])
    assert np.degrees(np.abs(ring[drawn]).max()) < 0.25


def test_momentum_and_energy_of_the_whole_docking(docking):
    """Momentum holds to rounding, energy, supplied by motors and thrusters alone, to 1 % of the approach's."""
    audit = docking.summary["audit"]
    assert audit["linear_momentum_drift"] < 1e-6
    assert audit["angular_momentum_drift"] < 1e-6
    assert audit["energy_residual"] < 1e-2
    assert audit["mechanism_momentum_drift"] < 2e-3
    assert docking.results["mechanism.audit.work_drive"][-1] > 1.0, "the drive has drawn the ring in"


def test_electric_legs_go_in_together_at_the_speed_of_their_reference(electric):
    """The longest leg goes first; the end is where the reference, at 4 mm/s from the longest, is past the stops."""
    strokes, t = of_legs(electric, "stroke"), electric.results.time
    commanded = of_legs(electric, "commanded_stroke")
    on = electric.time("retraction")
    begun = np.searchsorted(t, on) + 1
    longest, shortest = strokes[begun].max(), strokes[begun].min()
    assert np.ptp(strokes[begun]) > 0.01
    # the shortest waits until the reference has come to it
    waits = (t > on + 0.05) & (t < on + (longest - shortest) / 4e-3 - 0.05)
    assert np.ptp(commanded[waits][:, np.argmin(strokes[begun])]) < 1e-12
    assert np.ptp(commanded[t > on + (longest - shortest) / 4e-3 + 0.05], axis=1).max() < 1e-12
    # retracted at strokes of 1 mm; legs swing about their references by a millimetre
    assert electric.summary["t_end"] - on == pytest.approx(longest / 4e-3, abs=0.5)
