"""Friction on the active ring that is held over a step, like that on a probe's head: see `probe_cone.held_friction`."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import exert, free_velocity, friction_force, point_velocity, tangential
from dockfmu.components.physics.contact.ring_pair.pairs import bit, law_of, weight
from dockfmu.components.physics.mechanics.vector import load, norm, store


@kernel
def _slip(unit, item):
    """Return the velocity of sliding of a listed contact, m/s, PU axes."""
    return tangential(point_velocity(unit.work.link, load(item.position)), load(item.normal))


@kernel
def hold_friction(unit):
    """Add the friction that is held over `input.step` to all listed contacts."""
    memory = unit.state.friction_memory
    before = int(memory.closed)
    step = unit.input.step
    lead = unit.input.lead
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        law = law_of(unit.parameters, item.pair)
        place = bit(item.pair, item.index)
        known = (before >> place) & 1
        mobility = step * (memory.count + 1.0 - known) / unit.input.mass
        n = load(item.normal)
        slip = _slip(unit, item)
        free = slip
        if known == 1:
            ratio = (step - lead) / (memory.step - memory.lead + lead)
            free = free_velocity(memory.contact[place], ratio, n, slip, mobility)
        friction = friction_force(law, item.normal_force, free, mobility)
        exert(friction, load(item.position), load(unit.work.link.position), unit.tally.target, unit.work.ring)
        item.friction_force = norm(friction)
        store(slip, item.slip)
        store(friction, item.friction)


@kernel
def forget_friction(memory):
    """Clear the memory, as after a step without contacts."""
    memory.step = 0.0
    memory.lead = 0.0
    memory.closed = 0.0
    memory.count = 0.0


@kernel
def remember_friction(unit):
    """Remember the contacts of an accepted step for the next one, except those of latches, which roll."""
    memory = unit.state.friction_memory
    forget_friction(memory)
    memory.step = unit.input.step
    memory.lead = unit.input.lead
    for k in range(int(unit.work.held_count)):
        item = unit.tally.contact[k]
        place = bit(item.pair, item.index)
        memory.count += 1.0
        memory.closed += weight(item.pair, item.index)
        store(load(item.slip), memory.contact[place].slip)
        store(load(item.friction), memory.contact[place].friction)
