"""How random starts are judged: by how they end, not by the first signal of a capture."""

import numpy as np
import pytest

import dockfmu
from benchmarks.campaigns import ring_starts
from benchmarks.validation import starts
from tests.dockfmu.dockings.test_idss_dockings import SHORT_HOOKS

pytestmark = pytest.mark.slow

LATCH = "mechanism.probe_cone.parameters.latch"
SLOT = "mechanism.probe_cone.parameters.slot.distance"


@pytest.fixture(autouse=True)
def after_the_recoil(monkeypatch):
    monkeypatch.setattr(starts, "BEFORE_RETRACTION", 12.0)


@pytest.fixture(scope="module")
def system():
    return dockfmu.load("atv_probe_cone")


def test_a_head_that_came_off_again_is_not_counted_as_captured(system):
    """Latches that end before their slots: all four fire, and slip off when the recoil pulls the head out."""
    held = starts.end_of(system, 1)
    assert held.kind == starts.HELD
    came_off = starts.end_of(system.with_values({f"{LATCH}.rear_tip": [-0.012, 0.050]}), 1)
    assert came_off.told.startswith("captured"), "the signal of the capture stays"
    assert came_off.kind == starts.CAME_OFF


def test_a_start_beyond_a_limit_of_the_model_is_counted_as_such(system):
    """With slots beyond the latches one of them runs against its stop askew, 3 s after the capture: the FMU fails."""
    end = starts.end_of(system.with_values({SLOT: 0.070}), 1)
    assert end.kind == starts.LIMIT
    assert "penetration" in end.told


RECORD = ["mechanism.sensor.latched", "mechanism.flag.contact"]


def test_a_petal_that_no_latch_ever_held_is_told_from_one_that_came_off():
    """The 28th start of `expert_peripheral_5t`: captured by its sensors, and behind the stops with two petals only."""
    rng = np.random.default_rng(1)
    *_, drawn = (ring_starts.conditions(rng) for _ in range(28))
    run = dockfmu.load("expert_peripheral_5t", drawn).run(stop=12.0, record=RECORD, every=1)
    assert run.outcome == "unlatched"
    assert ring_starts.end_of(run) == "a petal not latched"


def test_a_ring_that_slid_off_its_stops_has_come_off():
    """Short hooks let the ring of the standard go 13 s after the start, long after its capture."""
    hooks = {f"mechanism.ring_pair.parameters.latch.{name}": value for name, value in SHORT_HOOKS.items()}
    system = dockfmu.load("idss_hydraulic_20t", {"initial_conditions.seed": 33, **hooks})
    assert ring_starts.end_of(system.run(stop=8.0, record=RECORD, every=1)) == "captured"
    assert ring_starts.end_of(system.run(stop=15.0, record=RECORD, every=1)) == "came off"
