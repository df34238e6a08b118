"""Margin of capture: how far the latch farthest from closing is from its slot, negative exactly when all have fired."""

import numpy as np
import pytest

from dockfmu.components.physics.contact import probe_cone


def margin(unit):
    return probe_cone.capture_margin(unit.u)


def free_margin(unit, x):
    """Slot less tip along the axis, of a head on the axis whose latches nothing presses."""
    latch = unit.u.parameters.latch
    return unit.u.parameters.slot.x - (x + latch.pivot[0] + latch.tip[0])


def test_far_from_the_socket_it_is_the_way_to_go(make_unit):
    unit = make_unit()
    for x in (-1.0, -0.5, -0.1):
        unit.head((x, 0.0, 0.0))
        unit.accept()
        assert margin(unit) == pytest.approx(free_margin(unit, x), abs=1e-12)
        assert free_margin(unit, x) > 0.0


def test_it_falls_to_capture_and_is_negative_exactly_there(make_unit):
    unit = make_unit()
    found = []
    for x in np.arange(0.0, 0.34, 5e-4):
        if unit.head((x, 0.0, 0.0)):
            break
        unit.accept()
        found.append((margin(unit), unit.output.capture))
    margins, captured = np.array(found).T
    assert captured[0] == 0.0
    assert captured.max() == 1.0
    assert np.array_equal(margins < 0.0, captured > 0.5)
    # the last tip comes to the edge of its slot step by step
    before = margins[captured < 0.5]
    assert before[-1] < 2e-3
    assert np.abs(np.diff(before)).max() < 5e-3


def test_a_rolled_head_lacks_the_width_of_its_slots(make_unit):
    unit = make_unit()
    straight, rolled = [], []
    for roll, found in ((0.0, straight), (np.radians(20.0), rolled)):
        probe_cone.initialize(unit.u)
        for x in np.arange(0.0, 0.34, 1e-3):
            if unit.head((x, 0.0, 0.0), (0.0, 0.0, roll)):
                break
            unit.accept()
            found.append(margin(unit))
    assert straight[0] == pytest.approx(rolled[0], abs=1e-12)
    assert min(straight) < 0.0 < min(rolled)
    slot, latch = unit.u.parameters.slot, unit.u.parameters.latch
    radius = latch.pivot[1] + latch.tip[1]
    # pressed levers turn inward, which brings their tips nearer to the plane of the slot, but not into it
    assert min(rolled) <= radius * np.sin(np.radians(20.0)) - slot.half_width


def test_without_a_latch_nothing_is_captured(make_unit):
    unit = make_unit(**{"latch.missing": [0, 1, 0, 0]})
    found = []
    for x in np.arange(0.0, 0.34, 5e-4):
        if unit.head((x, 0.0, 0.0)):
            break
        unit.accept()
        found.append(margin(unit))
    assert min(found) == 0.0


def test_it_changes_nothing(make_unit):
    one, other = make_unit(), make_unit()
    for x in np.arange(0.0, 0.34, 2e-3):
        codes = [unit.head((x, 0.002, -0.001), (0.02, 0.01, 0.03)) for unit in (one, other)]
        if any(codes):
            break
        for unit in (one, other):
            unit.accept()
        margin(one)
        before = one.u.state.tobytes()
        assert before == other.u.state.tobytes()
        assert one.output.tobytes() == other.output.tobytes()
    assert x > 0.2
