"""The list of contacts of one evaluation and the sums of their forces."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import append
from dockfmu.components.physics.contact.force import (
    clear,
    exert,
    friction_force,
    normal_force,
    point_velocity,
    stored_energy,
)
from dockfmu.components.physics.contact.ring_pair.pairs import PENETRATION, bit, law_of, weight
from dockfmu.components.physics.mechanics.vector import accumulate, add, axpy, dot, load, negate, norm, scale


@kernel
def begin(tally, work):
    """Clear the sums and the list of contacts for an evaluation."""
    clear(tally.target)
    clear(work.ring)
    tally.stored_energy = 0.0
    tally.count = 0.0
    tally.closed = 0.0
    tally.tips = 0.0
    tally.borders = 0.0


@kernel
def is_known(unit, pair, index):
    """Return whether a contact is one of those that a look for new contacts leaves out, see `kernel.closes_new`."""
    return (int(unit.work.known) >> bit(pair, index)) & 1 == 1


@kernel
def add_contact(unit, pair, index, point, normal, gain, depth):
    """List a contact at one point: `add_spread` without a moment."""
    return add_spread(unit, pair, index, point, normal, gain, depth, 0.0)


@kernel
def add_spread(unit, pair, index, point, normal, gain, depth, moment):
    """List a contact and add its forces to the passive unit and the active ring, and its energy.

    `point` and unit `normal` are in PU axes, `depth` in m; for `gain` see `force.contact_force`. `moment` (m) is the
    torque along the normal per unit of normal force, of a contact that is spread. Returns 0, or PENETRATION + pair for
    a depth beyond the limit of the pair's law.
    """
    tally = unit.tally
    link = unit.work.link
    law = law_of(unit.parameters, pair)
    item = append(tally, pair, index, point, normal, gain, depth)
    v = point_velocity(link, point)
    rate = dot(normal, v)
    closing = rate + moment * dot(normal, load(link.angular_velocity))
    item.normal_force = normal_force(law, closing, gain, depth)
    item.friction_force = 0.0
    item.moment = moment
    force = scale(item.normal_force, normal)
    # friction that is held over a step is added to all contacts at the end, by `hold_friction`
    if unit.input.step == 0.0:
        friction = friction_force(law, item.normal_force, axpy(-rate, normal, v), 0.0)
        item.friction_force = norm(friction)
        force = add(force, friction)
    exert(force, point, load(link.position), tally.target, unit.work.ring)
    twist = scale(moment * item.normal_force, normal)
    accumulate(twist, tally.target.torque)
    accumulate(negate(twist), unit.work.ring.torque)
    tally.stored_energy += stored_energy(law, depth)
    tally.closed += weight(pair, index)
    if depth > law.penetration_limit:
        tally.excess = depth
        tally.index = index
        return PENETRATION + int(pair)
    return 0
