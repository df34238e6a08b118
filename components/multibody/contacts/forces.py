"""Forces of the declared contacts within a micro-step.

Normal forces follow from the depths in the middle of the micro-step, before the recursion; friction comes after it
(`friction`). Lists, law, sums and friction are those of all contacts (`components/physics/contact`). The sums are on
the surfaces, about their origins; here they go on to the links, and to the target.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody.contacts.detection import detect, place_surfaces
from dockfmu.components.physics.contact.contact_list import clear_list
from dockfmu.components.physics.contact.force import clear
from dockfmu.components.physics.contact.held_friction import recall
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.pairs import kind_of, set_spread_kind, slot_of
from dockfmu.components.physics.contact.sums import add_forces
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, add, cross, load, store, subtract


@kernel
def set_laws(kind, law, pair, run):
    """Fill the laws of all contacts from their parameters; the slot of a contact is the number of its pair, from 0."""
    first = 0.0
    for k in range(int(run.contacts)):
        set_spread_kind(kind[k], law[k], 1.0, law[k].depth_limit, first)
        while first < run.pairs and pair[int(first)].contact == k:
            first += 1.0


@kernel
def wrench_about(part, origin, position):
    """Return force and torque about `origin` of the sum over a surface that is at `position`."""
    force = load(part.force)
    return force, add(load(part.torque), cross(subtract(position, origin), force))


@kernel
def clear_touched(tally, sums):
    """Set the sums over all surfaces that touch to zero."""
    for k in range(int(tally.count)):
        item = tally.contact[k]
        clear(sums.part[int(item.link)])
        clear(sums.part[int(item.other)])


@kernel
def load_target(surface, part, run):
    """Add the sum over a surface of the target to the target's wrench."""
    force, torque = wrench_about(part, load(run.target_position), load(surface.position))
    accumulate(force, run.target_force)
    accumulate(torque, run.target_torque)


@kernel
def _load_link(link, surface, part, run):
    """Hand the sum over a surface to the wrench on its link, or on the target: it is zero then."""
    if surface.link < 0.0:
        load_target(surface, part, run)
    else:
        b = link[int(surface.link)]
        force, torque = wrench_about(part, load(b.position), load(surface.position))
        accumulate(force, b.force)
        accumulate(torque, b.torque)
    clear(part)


@kernel
def press(link, touch, run, h):
    """List what touches and add its normal forces to the links; with h = 0 the friction of the last micro-step too."""
    surface, pair, kind, tally, sums = touch.surface, touch.pair, touch.kind, touch.tally, touch.sums
    store(ZERO, run.target_force)
    store(ZERO, run.target_torque)
    sums.stored_energy = 0.0
    clear_list(tally)
    if run.surfaces == 0.0:
        return
    place_surfaces(link, surface, run)
    detect(surface, touch.face, pair, kind, tally, run)
    if tally.count == 0.0:
        return
    set_velocities(tally, 0.0, surface)
    make_forces(tally, 0.0, kind, False)
    if h == 0.0:
        for k in range(int(tally.count)):
            item = tally.contact[k]
            held = pair[int(slot_of(kind, item.pair, item.index))].friction
            recall(item, kind_of(kind, item.pair), load(held))
    clear_touched(tally, sums)
    add_forces(tally, 0.0, surface, sums)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        first = int(item.link)
        second = int(item.other)
        _load_link(link, surface[first], sums.part[first], run)
        _load_link(link, surface[second], sums.part[second], run)
