"""Losses of contact damping and friction over a step, with the mean of the velocities at its start and its end.

As in `components.contact_probe_cone.losses`, the dissipative wrench is the wrench on the ring less that of the contact
springs. It is held over the step; the motion of the ring under it is known when the next step begins.
"""

from __future__ import annotations

from components.contact.force import clear, spring_force, wrench
from components.contact.ring_pair.pairs import law_of
from components.core.field import Group, private
from components.core.kernel import kernel
from components.core.vector import accumulate, cross, dot, load, scale, store, subtract


def state() -> Group:
    """Return the group `losses`."""
    return Group(
        "losses",
        wrench("ring", "damping and friction on the ring, PU axes, about its origin"),
        private("power", "W", "lost at the start of the present step"),
        private("step", "s", "length of the present step"),
        private("dissipated", "J", "lost until the start of the present step"),
    )


@kernel
def reset(losses):
    """Set all to zero."""
    clear(losses.ring)
    losses.power = 0.0
    losses.step = 0.0
    losses.dissipated = 0.0


@kernel
def _set_dissipative(unit, losses):
    """Set the dissipative wrench from the last `attempt`."""
    work = unit.work
    store(load(work.ring.force), losses.ring.force)
    store(load(work.ring.torque), losses.ring.torque)
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        law = law_of(unit.parameters, item.pair)
        spring = scale(spring_force(law, item.gain, item.penetration), load(item.normal))
        accumulate(spring, losses.ring.force)
        accumulate(cross(subtract(load(item.position), load(work.link.position)), spring), losses.ring.torque)


@kernel
def _power(link, losses):
    """Return the power that the dissipative wrench takes from the ring in its present motion, W."""
    power = dot(load(losses.ring.force), load(link.velocity))
    return -power - dot(load(losses.ring.torque), load(link.angular_velocity))


@kernel
def begin_step(unit, losses, h):
    """Add the losses of the last step and begin those of a step of length h, after its `attempt`."""
    losses.dissipated += 0.5 * losses.step * (losses.power + _power(unit.work.link, losses))
    _set_dissipative(unit, losses)
    losses.power = _power(unit.work.link, losses)
    losses.step = h


@kernel
def dissipated(losses):
    """Return the energy lost until the end of the present step, J, as far as its velocities are known."""
    return losses.dissipated + losses.step * losses.power
