"""Friction that is held over a step: the friction at its end, as in the backward Euler method.

Forces may hold for a whole communication step, as those of a separate contact component. Friction from the velocities
at its start would reverse the sliding again and again, or would have to fade below a speed that grows with the step.
Here the law of friction is solved at the end of the step for a link of known mass. The other loads on the link follow
from its motion over the last step and the friction that it had then. A link that friction can hold thus stays at rest
and does not creep.

A mechanism that knows its own response to a force at a contact gives `hold` the sliding and the mobility itself, as do
the declared systems. `hold_friction` finds them from the last step:

The mass may be too small: with a fraction beta of the true one, the change of sliding from step to step decays by
sqrt(1 - beta). The method is stable for beta below 4/3. Contacts of one link share its mass.
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import free_velocity, friction_force, tangential
from dockfmu.components.physics.contact.pairs import kind_of, slot_of
from dockfmu.components.physics.contact.sums import exert_contact
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, load, norm, scale, store, subtract


def inputs(links: int) -> tuple[Field, ...]:
    """Return the inputs of a unit for friction that is held on `links` links."""
    return (
        private("step", "s", "time for which friction will be held; 0: none"),
        private("lead", "s", "from the start of that time to the instant of the velocities"),
        private("mass", "kg", "of the links, for held friction", shape=links),
    )


def memory(contacts: int, links: int) -> Group:
    """Return the group of the memory of held friction: the contacts of the last step, at most `contacts`."""
    return Group(
        "friction_memory",
        private("step", "s", "length of the last step"),
        private("lead", "s", "from its start to the instant of its velocities"),
        private("count", "1", "number of its contacts"),
        private("on_link", "1", "number of them on each link", shape=links),
        Group(
            "contact",
            private("slot", "1", "of the contact"),
            private("slip", "m/s", "velocity of sliding that was given for it", shape=3),
            private("friction", "N", "held over it, on the passive unit", shape=3),
            count=contacts,
        ),
    )


@kernel
def forget_friction(memory):
    """Clear the memory, as after a step without contacts."""
    memory.step = 0.0
    memory.lead = 0.0
    memory.count = 0.0
    for j in range(len(memory.on_link)):
        memory.on_link[j] = 0.0


@kernel
def _find(memory, slot):
    """Return the number of a contact in the memory, from 0, or -1."""
    for k in range(int(memory.count)):
        if memory.contact[k].slot == slot:
            return k
    return -1


@kernel
def set_friction(item, friction):
    """Replace the friction of a listed contact, in its force too."""
    item.friction_force = norm(friction)
    store(friction, item.friction)
    store(axpy(item.normal_force, load(item.normal), friction), item.force)


@kernel
def recall(item, law, friction):
    """Give a listed contact the `friction` of the last step: its part across the normal, at most the law's limit."""
    held = tangential(friction, load(item.normal))
    limit = law.friction * item.normal_force
    size = norm(held)
    set_friction(item, scale(1.0 if size <= limit else limit / size, held))


@kernel
def hold(item, law, free, mobility, link, sums):
    """Replace the friction of a listed contact by that of the end of a step, in the list and in the sums.

    For the sliding `free` without friction, and the `mobility`, see `force.friction_force`.
    """
    friction = friction_force(law, item.normal_force, free, mobility)
    exert_contact(item, subtract(friction, load(item.friction)), ZERO, link, sums)
    set_friction(item, friction)


@kernel
def hold_friction(tally, kinds, memory, inputs, link, sums):
    """Replace the friction of all listed contacts by that held over `inputs.step`, in the list and in the sums."""
    step = inputs.step
    lead = inputs.lead
    for k in range(int(tally.count)):
        item = tally.contact[k]
        law = kind_of(kinds, item.pair)
        j = int(item.link)
        last = _find(memory, slot_of(kinds, item.pair, item.index))
        known = 1.0 if last >= 0 else 0.0
        mobility = step * (memory.on_link[j] + 1.0 - known) / inputs.mass[j]
        n = load(item.normal)
        slip = tangential(load(item.velocity), n)
        free = slip
        if last >= 0:
            ratio = (step - lead) / (memory.step - memory.lead + lead)
            free = free_velocity(memory.contact[last], ratio, n, slip, mobility)
        hold(item, law, free, mobility, link, sums)
        store(slip, item.slip)


@kernel
def remember(tally, count, kinds, memory, inputs):
    """Remember the first `count` listed contacts of an accepted step, for the next one."""
    forget_friction(memory)
    memory.step = inputs.step
    memory.lead = inputs.lead
    memory.count = count
    for k in range(int(count)):
        item = tally.contact[k]
        last = memory.contact[k]
        memory.on_link[int(item.link)] += 1.0
        last.slot = slot_of(kinds, item.pair, item.index)
        store(load(item.slip), last.slip)
        store(load(item.friction), last.friction)
