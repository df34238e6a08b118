"""The central impact of the peripheral mechanism with contact in a separate FMU, against contact inside."""

import numpy as np
import pytest

import dockfmu

pytestmark = pytest.mark.slow

INSIDE, OUTSIDE = "central_impact_peripheral_25t", "central_impact_peripheral_25t_external"
GAP = "mechanism.docking.plane_gap"
EVERY = 4e-3


def run(name, step, settings=()):
    system = dockfmu.load(name)
    if settings:
        system.set(settings)
    return system.run(step=step, stop=0.6, every=round(EVERY / step))


def gaps(outcome):
    return np.interp(np.arange(0.0, 0.6, EVERY), outcome.time, outcome[GAP])


@pytest.fixture(scope="module")
def exact():
    micro = {f"mechanism.parameters.{name}": 3.125e-5 for name in ("micro_step", "longest_micro_step")}
    return run(INSIDE, 1.25e-4, micro)


def captures(outcome):
    return dict(outcome.events)


def test_contact_outside_converges_to_contact_inside(exact):
    """Gap of the planes over impact, capture and first absorption: 4.7 um at 0.5 ms, 0.7 um at 0.1 ms, of 36 mm."""
    coarse, fine = run(OUTSIDE, 5e-4), run(OUTSIDE, 1e-4)
    errors = [np.abs(gaps(outcome) - gaps(exact)).max() for outcome in (coarse, fine)]
    assert errors[0] < 1e-5
    assert errors[1] < min(2e-6, 0.4 * errors[0])
    assert np.ptp(gaps(exact)) > 30e-3
    assert captures(fine)["capture"] == pytest.approx(captures(exact)["capture"], abs=3e-4)
    assert captures(fine)["latched"] == pytest.approx(captures(exact)["latched"], abs=3e-4)
