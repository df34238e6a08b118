"""The list of contacts of one evaluation: what touches, where, and how deep.

Detection only lists. What follows from the list is found by one module each, for every unit and mechanism:

    detection           lists contacts: kind of pair, part, bodies, point, normal, depth
    `list_forces`       velocities at the points, and the force of each contact by the law of its pair
    `sums`              their sums on the passive unit and on the parts that touch it
    `held_friction`     friction that is held over a step
    `losses`            what damping and friction take

So forces can be found as often as needed: where bodies move under the contact forces within a step, the forces need
the velocities at its end, which depend on the forces.

All vectors are in one frame, that of the passive unit. A contact is between its `link`, a moving body, and the passive
unit itself; or between two moving bodies, `link` and `other`. The `part` is the row of `sums` that gets its wrench: the
link, unless the wrenches of parts of a link are wanted apart. The items of all lists are alike.
"""

from __future__ import annotations

from dockfmu.components.core.component import fail
from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import kind_of, slot_of, weight
from dockfmu.components.physics.mechanics.vector import load, store

# `other` of a contact with the passive unit itself
PASSIVE = -1.0


def contacts(count: int) -> Group:
    """Return the group of at most `count` contacts."""
    return Group(
        "contact",
        private("pair", "1", "kind of pair, from 1"),
        private("index", "1", "number of the part, from 1; 0 if there is only one"),
        private("link", "1", "row of the body that carries the surface"),
        private("other", "1", "row of the body with the other surface; -1: the passive unit"),
        private("part", "1", "row of the sums that gets its wrench"),
        private("feature", "1", "face or edge of the passive surface, see `profile.depth`"),
        private("position", "m", "contact point, passive frame", shape=3),
        private("normal", "1", "unit reaction on the passive unit, its axes", shape=3),
        private("gain", "1", "magnitude of the gradient of the depth, whose direction is the normal"),
        private("penetration", "m", "depth; 0 for a pushing spring"),
        private("moment", "m", "torque along the normal per unit of normal force, of a contact that is spread"),
        private("sprung", "1", "1: a spring without inertia that pushes with `push`; 0: a contact with a law"),
        private("push", "N", "force of a pushing spring along the normal"),
        private("spring_energy", "J", "in a spring without inertia that pushes, or that the contact holds pushed in"),
        private("velocity", "m/s", "of the link relative to the passive surface at the point", shape=3),
        private("spin", "rad/s", "of the link relative to the passive surface about the normal"),
        private("spring", "N", "force of its spring along the normal"),
        private("stored_energy", "J", "in its spring"),
        private("normal_force", "N", "normal reaction"),
        private("friction_force", "N", "friction"),
        private("friction", "N", "friction on the passive unit", shape=3),
        private("force", "N", "on the passive unit", shape=3),
        private("slip", "m/s", "velocity of sliding, of a contact whose friction is held", shape=3),
        count=count,
    )


def tally(count: int, *more: Field) -> Group:
    """Return the group of the list of at most `count` contacts, with `more` fields of its unit."""
    return Group("tally", private("count", "1", "contacts listed"), *more, contacts(count))


def status() -> Group:
    """Return the group of the last failure: code, value and index."""
    return Group(
        "status",
        private("code", "1", "0, or the number of the message"),
        private("value", "1", "the value that exceeded its bound"),
        private("index", "1", "number of the part, from 1; 0 if there is only one"),
    )


@kernel
def clear_list(tally):
    """Empty the list."""
    tally.count = 0.0


@kernel
def list_contact(tally, pair, index, link, depth, normal, gain, point):
    """List a contact of the body in row `link` with the passive unit. Returns its item.

    `point` and unit `normal` are in axes of the passive frame, `depth` > 0 in m; for `gain` see `force`.
    The item may be given another `part`, an `other` body, a `feature` and a `moment`.
    """
    item = tally.contact[int(tally.count)]
    tally.count += 1.0
    item.pair = pair
    item.index = index
    item.link = link
    item.other = PASSIVE
    item.part = link
    item.feature = 0.0
    store(point, item.position)
    store(normal, item.normal)
    item.gain = gain
    item.penetration = depth
    item.moment = 0.0
    item.sprung = 0.0
    item.push = 0.0
    item.spring_energy = 0.0
    return item


@kernel
def list_push(tally, pair, index, link, normal, point, push, energy):
    """List a spring that pushes with `push`, N, along the normal without friction, and stores `energy`, J."""
    item = list_contact(tally, pair, index, link, 0.0, normal, 1.0, point)
    item.sprung = 1.0
    item.push = push
    item.spring_energy = energy
    return item


@kernel
def first_too_deep(tally, kinds):
    """Return the number, from 0, of the first listed contact that is deeper than the law of its pair allows, or -1."""
    for k in range(int(tally.count)):
        item = tally.contact[k]
        if item.penetration > kind_of(kinds, item.pair).penetration_limit:
            return k
    return -1


@kernel
def check_depths(tally, kinds, status, penetration):
    """Return 0, or `penetration` + pair of the first listed contact that is deeper than the law of its pair allows."""
    k = first_too_deep(tally, kinds)
    if k < 0:
        return 0
    item = tally.contact[k]
    return fail(status, penetration + int(item.pair), item.penetration, item.index)


@kernel
def closed_set(tally, kinds):
    """Return the set of all listed contacts, one bit each by its slot, of a unit with at most 53 slots."""
    closed = 0.0
    for k in range(int(tally.count)):
        item = tally.contact[k]
        closed += weight(slot_of(kinds, item.pair, item.index))
    return closed


@kernel
def copy_contacts(tally, contact):
    """Copy the listed contacts with their forces to `contact`, a group of `ports.contacts`, as far as it has room."""
    count = int(tally.count)
    for k in range(len(contact)):
        if k < count:
            item = tally.contact[k]
            contact[k].active = 1.0
            contact[k].pair = item.pair
            store(load(item.position), contact[k].position)
            store(load(item.normal), contact[k].normal)
            contact[k].penetration = item.penetration
            contact[k].normal_force = item.normal_force
            contact[k].friction_force = item.friction_force
        else:
            contact[k].active = 0.0
