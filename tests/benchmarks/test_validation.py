"""The quantities that the comparison with the source measures, on a docking of a few seconds."""

import numpy as np
import pytest

from benchmarks.validation import budget
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


def test_each_feature_is_measured(docking):
    rows = existing_table(docking)[2:]
    assert all(row.split("|")[4].strip() in ("yes", "**no**") for row in rows)
    assert "| 5.7° |" in "".join(comparison_table([docking]))
