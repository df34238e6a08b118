"""The modified mechanism V2: a docking, and the central impact with its axial device alone.

Theory: central-docking 9.3 to 9.6.
"""

import numpy as np
import pytest

from benchmarks.validation.docking import changed
from tests.components.probe_mechanism.one_dimensional import RECORD_V2
from tests.components.probe_mechanism.one_dimensional import central_impact as one_dimensional
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def central(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("central_v2"), "central_impact_20t_v2", "--no-report")


@pytest.fixture(scope="module")
def atv_v2(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("atv_v2"), "atv_probe_cone_v2", "--no-report")


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
    """Near the end the pushers hold the probe: while no roller bears on the cone, the nut stands, the gap stays, and
    the drive takes the stroke of FrB1 back at its 1 mm/s. A roller that bears pulls the probe out on top of that."""
    results = atv_v2.results
    t, stroke = results.time, results["mechanism.axial.stroke"]
    captured = t > 10.0
    assert stroke[captured][0] > 0.03
    assert stroke[-1] == 0.0
    borne = sum(results[f"mechanism.flag.roller_contact[{k}]"] for k in (1, 2, 3)) > 0.0
    late = (t > 250.0) & (stroke > 2e-3)
    free = np.flatnonzero(late & ~borne)
    spans = [s for s in np.split(free, np.flatnonzero(np.diff(free) > 1) + 1) if t[s[-1]] - t[s[0]] > 4.0]
    assert len(spans) >= 3
    for span in spans:
        during = span[(t[span] > t[span[0]] + 1.0) & (t[span] < t[span[-1]] - 0.5)]
        # 1 % of what the drive takes back: the gears creep under their hysteresis (ruling R49)
        assert np.ptp(results["mechanism.sensor.axial_travel"][during]) < 0.4e-3
        assert np.ptp(results["mechanism.docking.plane_gap"][during]) < 1.5e-3
        assert np.polyfit(t[during], stroke[during], 1)[0] == pytest.approx(-1e-3, rel=0.03)


def test_no_switchable_brakes(atv_v2):
    assert not any(event["name"].startswith("lateral_brakes") for event in atv_v2.summary["events"])


@pytest.mark.parametrize("craft", ["atv", "soyuz"])
def test_spec00_ruling_46_v2_and_v3_are_softer_from_5_to_35_cm_s(craft):
    """Largest push and pull at the target port over the energy absorption; misalignments of the named system."""
    loads = ["mechanism.load.compression", "mechanism.load.tension"]
    for speed in (0.05, 0.15, 0.25, 0.35):
        peaks = []
        for variant in ("", "_v2", "_v3"):
            system = changed(f"{craft}_probe_cone{variant}", {"initial_conditions.velocity[1]": speed})
            run = system.run(stop=6.0, record=loads, every=1, check=False)
            assert "capture" in run.events
            peaks.append([run[name].max() for name in loads])
        existing, *others = np.array(peaks)
        for found in others:
            assert (found < 0.95 * existing).all(), (speed, peaks)


def test_spec00_ruling_46_frb2_slips_where_it_should():
    """20 t from 0.20 m/s on: the stroke of FrB1 takes what is below. FrB1 holds back what FrB2 then slips with."""
    for speed, slips in ((0.10, False), (0.20, True), (0.35, True)):
        run = changed("atv_probe_cone_v2", {"initial_conditions.velocity[1]": speed}).run(
            stop=6.0, record=["mechanism.axial.brake_slip", "mechanism.axial.stroke"], every=1, check=False
        )
        assert (np.abs(run["mechanism.axial.brake_slip"]).max() > 0.0) == slips
        assert (run["mechanism.axial.stroke"].max() > 0.0999) == slips
