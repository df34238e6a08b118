"""How random starts are judged: by how they end, not by the first signal of a capture."""

import pytest

import dockfmu
from benchmarks.validation import starts

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
