"""What is computed outside the domain of its formulas is counted (ruling R40); which contacts are closed is a set."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest

from dockfmu.components.contact_probe_cone import component as contact_component
from dockfmu.components.core.component import Instance
from dockfmu.components.core.field import INTEGER
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.pairs import PENETRATION, kind_of, slot_of
from dockfmu.components.physics.contact.probe_cone.pairs import (
    HEAD_BOTTOM,
    HEAD_CONE,
    LATCH_STOP,
    LATCH_WIDE,
    PAIRS,
    SLOTS,
)
from dockfmu.components.physics.contact.probe_cone.ports import LATCHES, PADS, ROLLERS, SENSORS
from dockfmu.components.physics.devices.macro_step import CLOSED
from dockfmu.components.probe_mechanism import component as mechanism_component
from dockfmu.components.probe_mechanism import kernel
from dockfmu.components.probe_mechanism.contact import internal as internal_contact
from tests.components.physics.contact.probe_cone.contact_unit import bit
from tests.components.physics.contact.probe_cone.test_brute_force import captured, unit_of

STOP = 0.2950 + 0.012


@pytest.mark.parametrize(("tilt", "counted"), [(14.0, 0), (16.0, 2)])
def test_a_latch_that_bears_tilted_is_counted(tilt, counted):
    """Two micro-steps on the stops, yawed: latches in the plane of yaw lean away from the normals of their slots."""
    unit = captured("RefCone")
    for _ in range(2):
        assert unit.head((STOP - 0.02, 0.0, 0.0), (radians(tilt), 0.0, 0.0)) == 0
        unit.accept()
    assert any(item.pair == LATCH_STOP for item in unit.contacts())
    assert unit.u.state.validity.latch_tilt == counted
    # a trial counts nothing
    probe_cone.evaluate(unit.u)
    assert unit.u.state.validity.latch_tilt == counted
    # nor does a tilt in which no latch bears
    unit.head((-3.0, 0.0, 0.0), (radians(tilt), 0.0, 0.0))
    unit.accept()
    assert unit.u.state.validity.latch_tilt == counted


def test_a_latch_on_the_wide_part_of_its_slot_is_counted():
    unit = captured("RefCone")
    unit.head((STOP + 0.022, 0.0, 0.0), (0.0, 0.0, 0.25))
    unit.accept()
    assert unit.u.state.validity.wide_slot == 0
    unit.head((STOP + 0.022, 0.0, 0.0), (0.0, 0.0, 0.3))
    unit.accept()
    assert any(item.pair == LATCH_WIDE for item in unit.contacts())
    assert unit.u.state.validity.wide_slot == 1
    probe_cone.initialize(unit.u)
    assert unit.u.state.validity.wide_slot == 0


def test_a_latch_that_comes_to_the_wide_part_of_its_slot_is_found_ahead():
    """A roll of 0.2 rad/s that brings all four latches to their walls within 5 ms, and one that does not yet."""
    unit = captured("RefCone")
    walls = sum(1 << bit(LATCH_WIDE, k) for k in range(1, 5))

    def at(roll, ahead):
        unit.u.input.ahead = ahead
        assert unit.head((STOP + 0.022, 0.0, 0.0), (0.0, 0.0, roll), (0.0, 0.0, 0.0), (0.2, 0.0, 0.0)) == 0
        return int(unit.u.tally.closed) & walls, int(unit.u.tally.closing) & walls

    rolls = np.arange(0.25, 0.3, 1e-4)
    wall = rolls[[at(roll, 0.0)[0] == walls for roll in rolls].index(True)]
    assert at(wall - 0.9e-3, 5e-3) == (0, walls)
    assert at(wall - 0.9e-3, 0.0) == (0, 0)
    assert at(wall - 1.5e-3, 5e-3) == (0, 0)


@pytest.mark.parametrize(("offset", "counted"), [(-2e-3, 0), (-1e-4, 1)])
def test_a_lever_on_a_short_arm_is_counted(make_unit, offset, counted):
    """A latch that stands upright over its pivot, 1e-8 m into the wall of the socket: the arm is the offset."""
    unit = make_unit(**{"latch.pivot": (0.0, 0.025), "latch.tip": (offset, 0.02200001), "sensor.count": 0})
    assert unit.head((0.291, 0.0, 0.0)) == 0
    unit.accept()
    assert unit.u.state.latch[0].mode == 1.0
    assert unit.u.state.validity.lever_arm == counted


MECHANISM = mechanism_component()


@pytest.mark.parametrize("component", [contact_component(), MECHANISM], ids=["contact", "mechanism"])
def test_counts_are_integer_outputs(component):
    names = [slot.name for slot in component.record.variables if slot.name.startswith("validity.")]
    unit = ["validity.latch_tilt", "validity.wide_slot", "validity.lever_arm", "validity.three_rollers"]
    assert names[-4:] == unit
    assert names[:-4] == (["validity.early_plane_contact"] if component is MECHANISM else [])
    i = Instance(component)
    assert [i.m.validity[name.partition(".")[2]] for name in names] == [0.0] * len(names)
    i.m.probe_cone.state.validity.wide_slot = 7.0
    i.step(0.0, 1e-4)
    assert i.m.validity.wide_slot == 7.0
    assert all(component.record.slots[component.record.index[name]].field.type == INTEGER for name in names)


def test_the_list_has_room_for_every_contact(make_unit):
    """Each part of each kind has a slot of its own, and the list, the table of dampers too, as many places."""
    unit = make_unit().u
    most = {"head": 1, "pad": PADS, "roller": ROLLERS, "latch": LATCHES, "capture": SENSORS}
    places = []
    for number, pair in PAIRS.items():
        count = next(n for word, n in most.items() if word in pair.name.split())
        places += [slot_of(unit.kind, number, k) for k in (range(1, count + 1) if count > 1 else [0])]
    assert sorted(places) == list(range(SLOTS))
    assert len(unit.tally.contact) == SLOTS
    assert len(Instance(mechanism_component()).m.implicit_contact.held) == SLOTS + 1


def test_every_pair_has_the_law_that_its_forces_were_found_with(make_unit):
    """Dampers and losses of bottomed latches and sensors took those of limiter and head."""
    names = ("stiffness", "damping", "friction", "slip_velocity", "penetration_limit")
    laws = ("law_head", "law_bottom", "law_latch", "law_limiter")
    unit = make_unit(
        **{f"{law}.{name}": 1.0 + k + 10.0 * j for k, law in enumerate(laws) for j, name in enumerate(names)}
    ).u
    for number, pair in PAIRS.items():
        kind = kind_of(unit.kind, number)
        assert [kind[name] for name in names] == [unit.parameters[pair.law][name] for name in names]


def test_a_penetration_may_be_cured_by_a_shorter_step_only_where_one_evaluation_serves_it():
    """Inside, micro-steps were halved in vain (contact-geometry 10.4): an error.

    Outside, the master may repeat the step.
    """
    for component, discard in ((mechanism_component(), False), (contact_component(), True)):
        found = {code: message for code, message in component.messages.items() if PENETRATION < code < PENETRATION + 10}
        assert len(found) == len(PAIRS)
        assert all(message.discard == discard for message in found.values())


def at(m, x, y):
    """Place the head in PU, without a step, and try the contact there."""
    for link in m.probe_cone.input.link:
        link.position[:] = 0.0, 0.0, 0.0
    m.probe_cone.input.base.rotation[:] = np.eye(3)
    m.probe_cone.input.link[1].position[:] = -3.0, 0.0, 0.0
    m.probe_cone.input.base.position[:] = x, y, 0.0
    for roller in m.probe_cone.input.roller:
        roller.position[:] = -3.0, 0.0, 0.0
    m.probe_cone.input.latches_armed = 0.0
    assert probe_cone.attempt(m.probe_cone) == 0
    return [item.pair for item in m.probe_cone.tally.contact[: int(m.probe_cone.tally.class_1)]]


def test_a_contact_that_closes_while_another_opens_is_noticed():
    m = Instance(mechanism_component()).m
    bottom = 0.3770023 - 0.045
    assert at(m, bottom - 0.01, 0.0021) == [HEAD_CONE]
    internal_contact.remember_closed(m)
    assert not internal_contact.newly_closed(m)
    # deeper is no new contact
    assert at(m, bottom - 0.005, 0.0022) == [HEAD_CONE]
    assert not internal_contact.newly_closed(m)
    # from the wall to the bottom: one contact before, one after
    assert at(m, bottom + 1e-4, 0.0) == [HEAD_BOTTOM]
    assert internal_contact.newly_closed(m)
    # from wall to wall: the same pair, another contact
    assert at(m, bottom - 0.01, -0.0021) == [HEAD_CONE]
    assert internal_contact.newly_closed(m)
    # a latch from the edge of its slot to the side of it, likewise; see `_detect_edge`
    m.probe_cone.tally.contact[0].normal[:] = 0.0, 0.8, 0.6
    m.implicit_contact.last[0].normal[:] = 0.0, 1.0, 0.0
    assert internal_contact.newly_closed(m)
    m.implicit_contact.last[0].normal[:] = 0.0, 0.6, 0.8
    assert not internal_contact.newly_closed(m)
    # one that opens alone is none
    assert at(m, bottom + 1e-4, 0.0021) == [HEAD_CONE, HEAD_BOTTOM]
    internal_contact.remember_closed(m)
    assert at(m, bottom + 1e-4, 0.0) == [HEAD_BOTTOM]
    assert not internal_contact.newly_closed(m)


def test_a_long_micro_step_that_exchanges_contacts_is_repeated_short():
    """The head lies on the wall; in the middle of a micro-step of 2 ms it would be 0.1 mm in the bottom instead."""
    bottom = 0.3770023 - 0.045
    where = {
        "target.position": 0.0,
        "base.position": (bottom - 0.8 - 0.01, 0.00205, 0.0),
        "base.velocity": (10.1, -2.05, 0.0),
        "command.latches_armed": 0.0,
    }
    m = Instance(mechanism_component(), **where).m
    assert kernel._micro_step(m, 0.0, 1e-6, False) == 0
    assert m.probe_cone.tally.class_1 == 1.0
    assert kernel._micro_step(m, 0.0, 2e-3, True) == CLOSED
    assert m.probe_cone.tally.class_1 == 1.0
    assert m.probe_cone.tally.contact[0].pair == HEAD_BOTTOM


def test_unit_of_another_set_stands_apart():
    """RefCone25 is data beside RefCone: the start values are those of RefCone."""
    assert unit_of("RefCone25").u.parameters.cone.vertices == 5
    assert Instance(contact_component()).m.probe_cone.parameters.cone.vertices == 6


OTHERS = {"RefCone25", "ShortCone25", "DeepCone22", "ShortDeepCone22", "HB-1-pads", "HB-2-pads", "HB-4-pads",
          "ML-1-pads", "ML-3-pads"}  # fmt: skip
"""Sets that are not the start values."""


def test_sets_of_the_contact_component_fit_and_are_its_starts():
    component = contact_component()
    starts = {slot.name: slot.start for slot in component.record.slots}
    for entry in component.parameter_sets:
        entry.check(component.record)
        if entry.name not in OTHERS:
            for name, value in entry.values.items():
                for slot, number in component.record.expand(name, value, entry.file):
                    assert number == pytest.approx(starts[slot], rel=1e-6), slot
    assert {entry.name for entry in component.parameter_sets} == {"HF-1", "CP-1", "RefCone", *OTHERS}
