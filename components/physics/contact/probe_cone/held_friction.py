"""Friction that is held over a step: the friction at its end, as in the backward Euler method.

A separate contact component gives forces that hold for a whole communication step. Friction from the velocities at its
start would reverse the sliding again and again, or would have to fade below a speed that grows with the step. Here the
law of friction is solved at the end of the step for a link of known mass. The other loads on the link follow from its
motion over the last step and the friction that it had then. A link that friction can hold thus stays at rest and does
not creep.

The mass may be too small: with a fraction beta of the true one, the change of sliding from step to step decays by
sqrt(1 - beta). The method is stable for beta below 4/3. Contacts of one link share its mass.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import exert, free_velocity, friction_force, point_velocity, tangential
from dockfmu.components.physics.contact.probe_cone.pairs import PAD_CONE, ROLLER_CONE, bit, law_of, weight
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, load, norm, store, subtract


@kernel
def _link(pair):
    """Return the number of the link of a kind of pair: 0 head, 1 limiter."""
    return 1 if pair in (PAD_CONE, ROLLER_CONE) else 0


@kernel
def _wrench(work, pair, index):
    """Return the wrench to which a contact contributes."""
    if pair == ROLLER_CONE:
        return work.roller[int(index) - 1]
    if pair == PAD_CONE:
        return work.limiter
    return work.head


@kernel
def _slip(unit, item):
    """Return the velocity of sliding of a listed contact, m/s, PU axes."""
    link = unit.work.link[_link(item.pair)]
    v = point_velocity(link, load(item.position))
    if item.pair == ROLLER_CONE:
        own = load(unit.input.roller[int(item.index) - 1].velocity)
        v = add(v, apply_transposed(load_matrix(link.rotation), own))
    return tangential(v, load(item.normal))


@kernel
def hold_friction(unit):
    """Replace the friction of all listed contacts by the friction that is held over `input.step`."""
    memory = unit.state.friction_memory
    before = int(memory.closed)
    step = unit.input.step
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        law = law_of(unit.parameters, item.pair)
        j = _link(item.pair)
        place = bit(item.pair, item.index)
        known = (before >> place) & 1
        mobility = step * (memory.count[j] + 1.0 - known) / unit.input.mass[j]
        n = load(item.normal)
        slip = _slip(unit, item)
        free = slip
        if known == 1:
            free = free_velocity(memory.contact[place], step / memory.step, n, slip, mobility)
        plain = friction_force(law, item.normal_force, slip, 0.0)
        friction = friction_force(law, item.normal_force, free, mobility)
        change = subtract(friction, plain)
        origin = load(unit.work.link[j].position)
        exert(change, load(item.position), origin, unit.tally.target, _wrench(unit.work, item.pair, item.index))
        item.friction_force = norm(friction)
        store(slip, item.slip)
        store(friction, item.friction)


@kernel
def forget_friction(memory):
    """Clear the memory, as after a step without contacts."""
    memory.step = 0.0
    memory.closed = 0.0
    memory.count[0] = 0.0
    memory.count[1] = 0.0


@kernel
def remember_friction(unit):
    """Remember the contacts of an accepted step, for the next one."""
    memory = unit.state.friction_memory
    forget_friction(memory)
    memory.step = unit.input.step
    for k in range(int(unit.tally.class_1)):
        item = unit.tally.contact[k]
        place = bit(item.pair, item.index)
        memory.count[_link(item.pair)] += 1.0
        memory.closed += weight(item.pair, item.index)
        store(load(item.slip), memory.contact[place].slip)
        store(load(item.friction), memory.contact[place].friction)
