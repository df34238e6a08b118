"""Latches that are drawn in by command: they hold no longer, at once, and what they carried is accounted for."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.physics.contact.ring_pair.pairs import LATCH_FRONT, LATCH_REAR
from tests.components.physics.contact.ring_pair.ring_unit import ELASTIC, Rings

pytestmark = pytest.mark.quick

PULLED = (-4.5e-3, 0.0, 0.0)


def hooked(**parameters):
    """Rings whose six latches have fired and are pulled against their stops."""
    rings = Rings(**ELASTIC, **parameters)
    assert rings.place((0.0, 0.0, 0.0)) == 0
    rings.accept(0.0)
    assert all(rings.output.latched)
    assert rings.place(PULLED) == 0
    rings.accept(1e-4)
    return rings


def total(rings):
    return rings.output.stored_energy + rings.output.dissipated_latches


def test_released_latches_hold_no_longer():
    rings = hooked()
    assert len(rings.contacts(LATCH_REAR)) == 6
    assert rings.output.target.force[0] < -1e3, "the active ring pulls the passive unit"
    rings.u.input.release[:] = 1.0
    rings.place(PULLED)
    assert len(rings.contacts(LATCH_REAR)) == 6, "a trial never changes the state"
    rings.accept(1e-4)
    assert rings.contacts() == []
    assert not any(rings.output.latched)
    assert [*rings.output.target.force] == [0.0] * 3


def test_one_latch_can_stay():
    rings = hooked()
    rings.u.input.release[:] = [1, 1, 1, 1, 0, 1]
    rings.place(PULLED)
    rings.accept(1e-4)
    assert [item.index for item in rings.contacts(LATCH_REAR)] == [5.0]
    assert [*rings.output.latched] == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("x", [PULLED[0], -0.010])
def test_energy_of_latches_and_their_contacts_is_lost_when_they_are_drawn_in(x):
    """Behind the stops their contacts carry it, before them their springs: stored and lost energies have one sum."""
    rings = Rings(**ELASTIC)
    start = (x, 0.0, 0.0) if x < -0.005 else (0.0, 0.0, 0.0)
    rings.place(start)
    rings.accept(0.0)
    rings.place((x, 0.0, 0.0))
    rings.accept(1e-4)
    kinds = {item.pair for item in rings.contacts()}
    assert kinds == {LATCH_REAR if x > -0.005 else LATCH_FRONT}
    before, stored = total(rings), rings.output.stored_energy
    assert stored > 0.5
    rings.u.input.release[:] = 1.0
    rings.place((x, 0.0, 0.0))
    rings.accept(1e-4)
    assert rings.output.stored_energy == 0.0
    assert total(rings) == pytest.approx(before, rel=1e-12)
    # and drawn-in latches stay so: the rings part and meet without them
    for depth in np.linspace(x, -0.001, 5):
        rings.place((depth, 0.0, 0.0))
        rings.accept(1e-4)
        assert not any(rings.output.latched)
        assert rings.contacts(LATCH_FRONT, LATCH_REAR) == []


def test_latches_that_are_let_out_behind_the_stops_hold_again():
    rings = hooked()
    for commanded in (1.0, 0.0):
        rings.u.input.release[:] = commanded
        rings.place((0.0, 0.0, 0.0))
        rings.accept(1e-4)
    assert all(rings.output.latched)
