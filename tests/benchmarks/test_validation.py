"""The quantities that the comparison with the source measures, on a docking of a few seconds."""

import numpy as np
import pytest

from benchmarks.validation import budget, convergence, published
from benchmarks.validation.docking import APART, PULSE, Docking
from benchmarks.validation.published import comparison_table, existing_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def docking():
    return Docking("atv_probe_cone")


def test_energies_of_devices_add_up(docking):
    """No device is left out: the balance of the devices closes as that of the whole does."""
    found = budget.balance(docking)
    assert np.abs(found["residual"]).max() < 1e-3 * found["kinetic"][0]
    named = {f"mechanism.audit.dissipated_{name}" for name in (*budget.DEVICES, "drive", "energy")}
    assert {name for name in docking.energies if "mechanism.audit.dissipated_" in name} <= named


def test_pulses_are_apart_and_as_high_as_the_force(docking):
    pulses = docking.pulses(60.0)
    times, forces = np.array(pulses).T
    assert np.diff(times).min() > APART
    assert forces.min() > PULSE
    assert forces.max() == docking.limiter[docking.time <= 60.0].max()
    touching = docking["mechanism.flag.limiter_contact"] > 0.0
    assert all(touching[np.searchsorted(docking.time, time)] for time in times)


def test_rollers_and_planes_that_touch_too_early_are_counted():
    """Two rows of made-up recordings: a docking with its faults, and one without."""

    class Made:
        time, events = np.arange(6) * 0.1, {"drive_on": 0.35}
        recorded: dict[str, np.ndarray]

        def __getitem__(self, name):
            return self.recorded[name]

    def found(rollers, planes, three, early):
        made = Made()
        made.recorded = {
            "mechanism.flag.roller_contact": np.array(rollers, float), "mechanism.flag.plane_contact": np.array(planes),
            "mechanism.validity.three_rollers": np.array([0.0, three]),
            "mechanism.validity.early_plane_contact": np.array([0.0, early]),
            "mechanism.docking.plane_gap": np.linspace(0.02, -0.03, 6),
        }  # fmt: skip
        return [published.MEASURES[name](made) for name in ("early rollers", "rollers at once", "early planes")]

    none, one, three = [0, 0, 0], [1, 0, 0], [1, 1, 1]
    late = found([none, none, none, none, one, one], [0.0, 0, 0, 0, 0, 1], 0, 0)
    assert late == [("none", True), ("1", True), ("none", True)]
    faults = found([none, one, three, none, one, one], [0.0, 1, 1, 0, 0, 1], 7, 40)
    assert faults == [
        ("for 0.20 s from 0.1 s, 3 at once", False),
        ("3, three in 7 micro-steps", False),
        ("for 0.20 s, gap of the middles -10 mm", False),
    ]


def test_each_feature_is_measured(docking):
    rows = existing_table(docking)[2:]
    assert all(row.split("|")[4].strip() in ("yes", "**no**") for row in rows)
    yaw, pitch = docking["mechanism.docking.angles"].T[:2]
    largest = np.degrees(np.arccos((np.cos(yaw) * np.cos(pitch)).min()))
    assert 3.0 < largest < 9.0
    assert f"| {largest:.1f}° |" in "".join(comparison_table([docking]))


def test_peak_loads_of_a_ring_have_converged_at_the_usual_steps():
    """Twice the macro step and half the micro-steps change a central impact by 0.1 %; loads across are rounding."""
    (case,) = (case for case in convergence.CASES if case.system == "central_impact_peripheral_25t")
    usual = convergence.peaks(case, 1e-3)
    assert usual["compression"] > 2e3
    assert max(usual["shear"], usual["bending"]) < convergence.SMALL * usual["compression"]
    for other in (convergence.peaks(case, 2e-3), convergence.peaks(case, 1e-3, 0.5)):
        assert [other[load] for load in ("compression", "tension")] == pytest.approx(
            [usual[load] for load in ("compression", "tension")], rel=2e-3
        )
    assert convergence.peaks(case, 1e-3, 0.5) != usual, "micro-steps have changed"
