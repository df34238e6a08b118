"""Sums of the forces of listed contacts: on the passive unit, and on the parts that touch it.

Contacts add their forces in the order of the list, so that the sums do not depend on what else touches elsewhere.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import clear, wrench
from dockfmu.components.physics.mechanics.vector import accumulate, cross, load, negate, scale, store, subtract


def sums(name: str, parts: int, description: str) -> Group:
    """Return the group of the sums over contacts of `parts` parts."""
    return Group(
        name,
        wrench("passive", "on the passive unit, its axes, about its origin"),
        wrench("part", "on a part, axes of the passive unit, about the origin of its link", count=parts),
        private("stored_energy", "J", "in contacts and in pushing springs"),
        description=description,
    )


@kernel
def clear_sums(sums):
    """Set all sums to zero."""
    clear(sums.passive)
    for k in range(len(sums.part)):
        clear(sums.part[k])
    sums.stored_energy = 0.0


@kernel
def copy_wrench(wrench, copy):
    """Copy a wrench."""
    store(load(wrench.force), copy.force)
    store(load(wrench.torque), copy.torque)


@kernel
def copy_sums(sums, copy):
    """Copy all sums to a group with as many parts."""
    copy_wrench(sums.passive, copy.passive)
    for k in range(len(sums.part)):
        copy_wrench(sums.part[k], copy.part[k])
    copy.stored_energy = sums.stored_energy


@kernel
def _add(force, point, origin, moment, wrench):
    """Add a force at a point to a wrench about `origin`, and a `moment` vector."""
    accumulate(force, wrench.force)
    accumulate(cross(subtract(point, origin), force), wrench.torque)
    accumulate(moment, wrench.torque)


@kernel
def exert_contact(item, force, twist, link, sums):
    """Add a `force` at the point of a listed contact, and a torque `twist`, to both bodies of the contact.

    They act on the passive body; their opposites act on the part.
    """
    point = load(item.position)
    if item.other >= 0.0:
        other = int(item.other)
        _add(force, point, load(link[other].position), twist, sums.part[other])
    else:
        accumulate(force, sums.passive.force)
        accumulate(cross(point, force), sums.passive.torque)
        accumulate(twist, sums.passive.torque)
    _add(negate(force), point, load(link[int(item.link)].position), negate(twist), sums.part[int(item.part)])


@kernel
def add_forces(tally, first, link, sums):
    """Add the forces and energies of all listed contacts from number `first` on, from 0."""
    for k in range(int(first), int(tally.count)):
        item = tally.contact[k]
        exert_contact(item, load(item.force), scale(item.moment * item.normal_force, load(item.normal)), link, sums)
        sums.stored_energy += item.spring_energy
        sums.stored_energy += item.stored_energy
