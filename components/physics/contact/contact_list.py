"""Lists of contacts: all are first found from positions, then their forces are summed with velocities.

Where links move under the contact forces within the step, the forces need the velocities at its end, which depend on
the forces; with a list they can be summed as often as needed. A unit has the groups `tally` (`tally()`) and `work` with
the motion `link` of its active part and the wrenches `passive` and `active`, in axes of the passive frame. The lists of
other units have more fields; `contacts`, `append`, `status` and `list_contacts` serve all of them.
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import (
    clear,
    contact_force,
    exert,
    point_velocity,
    spring_force,
    stored_energy,
)
from dockfmu.components.physics.mechanics.vector import dot, load, scale, store


def contacts(count: int, *more: Field) -> Group:
    """Return the group of at most `count` contacts of a list, with `more` fields for a kind of unit."""
    return Group(
        "contact",
        private("pair", "1", "kind of pair"),
        private("index", "1", "number of the part, from 1; 0 if there is only one"),
        private("position", "m", "contact point, passive frame", shape=3),
        private("normal", "1", "unit reaction on the passive unit, its axes", shape=3),
        private("gain", "1", "magnitude of the gradient of the depth, whose direction is the normal"),
        private("penetration", "m", "depth; 0 for a pushing spring"),
        private("normal_force", "N", "normal reaction"),
        private("friction_force", "N", "friction"),
        *more,
        count=count,
    )


def tally(count: int) -> Group:
    """Return the group of the list of at most `count` contacts."""
    return Group(
        "tally",
        private("count", "1", "contacts listed"),
        private("stored_energy", "J", "in contacts and in pushing springs"),
        private("excess", "m", "penetration that exceeds its limit"),
        private("index", "1", "number of the part that exceeds it, from 1"),
        contacts(
            count,
            private("push", "N", "force of a pushing spring along the normal; 0 for a contact"),
            private("force", "N", "on the passive unit", shape=3),
        ),
    )


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
    tally.stored_energy = 0.0


@kernel
def append(tally, pair, index, point, normal, gain, depth):
    """List a contact and return its item, without its forces.

    `point` and unit `normal` are in axes of the passive frame, `depth` in m; for `gain` see `force.contact_force`.
    """
    item = tally.contact[int(tally.count)]
    tally.count += 1.0
    item.pair = pair
    item.index = index
    store(point, item.position)
    store(normal, item.normal)
    item.gain = gain
    item.penetration = depth
    return item


@kernel
def _clear_forces(item):
    item.push = 0.0
    item.normal_force = 0.0
    item.friction_force = 0.0


@kernel
def add_push(unit, pair, index, point, normal, push, energy):
    """List a spring that pushes with `push` > 0, N, along the normal without friction, and stores `energy`, J."""
    item = append(unit.tally, pair, index, point, normal, 1.0, 0.0)
    _clear_forces(item)
    item.push = push
    unit.tally.stored_energy += energy


def adding(law_of, penetration):
    """Return the kernel `add_contact(unit, pair, index, point, normal, gain, depth) -> code` for one kind of unit.

    It lists a contact with spring, damper and friction; for `gain` see `force.contact_force`. `law_of(parameters,
    pair)` returns the law of a pair. The code is 0, or `penetration` + pair for a depth beyond the limit of the law.
    """

    @kernel
    def add_contact(unit, pair, index, point, normal, gain, depth):
        law = law_of(unit.parameters, pair)
        _clear_forces(append(unit.tally, pair, index, point, normal, gain, depth))
        unit.tally.stored_energy += stored_energy(law, depth)
        if depth > law.penetration_limit:
            unit.tally.excess = depth
            unit.tally.index = index
            return penetration + int(pair)
        return 0

    return add_contact


def summing(law_of):
    """Return the kernel `sum_forces(unit)` for one kind of unit.

    It sums the forces of all listed contacts with the velocities of `work.link`.
    """

    @kernel
    def sum_forces(unit):
        work = unit.work
        clear(work.passive)
        clear(work.active)
        for k in range(int(unit.tally.count)):
            item = unit.tally.contact[k]
            n = load(item.normal)
            point = load(item.position)
            if item.push > 0.0:
                item.normal_force = item.push
                force = scale(item.push, n)
            else:
                law = law_of(unit.parameters, item.pair)
                v = point_velocity(work.link, point)
                force, normal, friction = contact_force(law, v, n, item.gain, item.penetration)
                item.normal_force = normal
                item.friction_force = friction
            store(force, item.force)
            exert(force, point, load(work.link.position), work.passive, work.active)

    return sum_forces


def losing(law_of):
    """Return the kernel `lost_power(unit)` for one kind of unit.

    It returns the power, W, that damping and friction in the forces summed last dissipate at the velocities of
    `work.link`.
    """

    @kernel
    def lost_power(unit):
        total = 0.0
        for k in range(int(unit.tally.count)):
            item = unit.tally.contact[k]
            if item.push > 0.0:
                continue
            law = law_of(unit.parameters, item.pair)
            v = point_velocity(unit.work.link, load(item.position))
            spring = spring_force(law, item.gain, item.penetration)
            total += dot(load(item.force), v) - spring * dot(load(item.normal), v)
        return total

    return lost_power


@kernel
def list_contacts(unit, contact):
    """Copy the contacts of the last evaluation to `contact`, a group of `ports.contacts`, as far as it has room."""
    count = int(unit.tally.count)
    for k in range(len(contact)):
        if k < count:
            item = unit.tally.contact[k]
            contact[k].active = 1.0
            contact[k].pair = item.pair
            store(load(item.position), contact[k].position)
            store(load(item.normal), contact[k].normal)
            contact[k].penetration = item.penetration
            contact[k].normal_force = item.normal_force
            contact[k].friction_force = item.friction_force
        else:
            contact[k].active = 0.0
