"""The modified mechanism V2: a docking, and the central impact with its axial device alone (spec/06 9.3 to 9.6)."""

import numpy as np
import pytest

from tests.components.probe_mechanism.one_dimensional import RECORD_V2
from tests.components.probe_mechanism.one_dimensional import central_impact as one_dimensional
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def central(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("central_v2"), "central_impact_20t_v2")


@pytest.fixture(scope="module")
def atv_v2(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("atv_v2"), "atv_probe_cone_v2")


def test_spec06_9_4_central_impact_v2_beside_one_dimension(central):
    """Tolerances as for V1 in `test_central_impact`: latches and sensors are bodies instead of a friction law."""
    results, flat = central.results, one_dimensional(0.15, record=RECORD_V2)
    force = results["mechanism.target.force_now[1]"]
    assert results["mechanism.sensor.axial_travel"].max() == pytest.approx(81.2e-3, rel=0.01)
    assert results["mechanism.axial.stroke"].max() == pytest.approx(79.0e-3, rel=0.01)
    assert force.max() == pytest.approx(flat.bottom.max(), rel=0.03)
    assert np.interp(0.1, results.time, force) == pytest.approx(2.74e3, rel=0.02)
    # the latches pull the first brake back: a twelfth of the pulse of V1, and only one
    assert -force.min() == pytest.approx(0.84e3, rel=0.1)
    assert not results["mechanism.axial.brake_slip"].any()


def test_spec06_oracle_16_central_impact_v2_stays_central(central):
    for j in range(1, 6):
        assert np.abs(central.results[f"mechanism.joint.angle[{j}]"]).max() < 1e-12


def test_spec06_oracle_14_15_docking_of_the_modified_mechanism_closes(central, atv_v2):
    assert atv_v2.summary["outcome"] == "docked"
    for run in (central, atv_v2):
        audit = run.summary["audit"]
        assert audit["linear_momentum_drift"] < 1e-6
        assert audit["energy_residual"] < 1e-3


def test_spec06_section_5_11_pushers_re_cock_the_first_brake(atv_v2):
    """Near the end the pushers hold the probe: the nut stands while the drive takes the stroke of FrB1 back to 0, at
    the drive's 1 mm/s; the gap stays; then the planes come together."""
    results = atv_v2.results
    t, stroke = results.time, results["mechanism.axial.stroke"]
    captured = t > 10.0
    assert stroke[captured][0] > 0.03
    assert stroke[-1] == 0.0
    zero = t[np.flatnonzero(stroke == 0.0)[np.flatnonzero(stroke == 0.0) > np.argmax(stroke)][0]]
    during = (t > zero - 25.0) & (t < zero - 3.0)
    # 1 % of what the drive takes back: the gears creep under their hysteresis (spec/00 R49)
    assert np.ptp(results["mechanism.sensor.axial_travel"][during]) < 0.4e-3
    assert np.ptp(results["mechanism.docking.plane_gap"][during]) < 2e-3
    assert np.polyfit(t[during], stroke[during], 1)[0] == pytest.approx(-1e-3, rel=0.03)
    assert results["mechanism.docking.plane_gap"][-1] < 0.0105


def test_no_switchable_brakes(atv_v2):
    assert not any(event["name"].startswith("lateral_brakes") for event in atv_v2.summary["events"])
