"""Losses of contact damping and friction.

Where the forces of an evaluation act for the whole step with known velocities, `lost_power` gives the loss. Where a
separate contact component holds them over the step, the motion of the links under them is known when the next step
begins: the losses are those of the dissipative wrenches, the wrenches on the links less those of the contact springs,
with the mean of the velocities at the start and the end of the step. With the velocities at the start alone, friction
that stops a link within the step would count twice.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import clear, wrench
from dockfmu.components.physics.contact.sums import copy_wrench
from dockfmu.components.physics.mechanics.vector import accumulate, cross, dot, load, scale, subtract


def state(links: int, names: str, *more: Group) -> Group:
    """Return the group `losses` of `links` links; `names` says which, and in which axes their wrenches are.

    `more` groups of the unit follow.
    """
    return Group(
        "losses",
        wrench("link", f"damping and friction on {names}, about its origin", count=links),
        *more,
        private("power", "W", "lost at the start of the present step"),
        private("step", "s", "length of the present step"),
        private("dissipated", "J", "lost until the start of the present step"),
    )


@kernel
def reset(losses):
    """Set all to zero."""
    for j in range(len(losses.link)):
        clear(losses.link[j])
    losses.power = 0.0
    losses.step = 0.0
    losses.dissipated = 0.0


@kernel
def lost_power(tally):
    """Return the power, W, that damping and friction in the forces of the list dissipate at its velocities."""
    total = 0.0
    for k in range(int(tally.count)):
        item = tally.contact[k]
        if item.sprung > 0.0:
            continue
        v = load(item.velocity)
        total += dot(load(item.force), v) - item.spring * dot(load(item.normal), v)
    return total


@kernel
def wrench_power(losses, link):
    """Return the power that the dissipative wrenches take from the links in their present motion, W."""
    power = 0.0
    for j in range(len(losses.link)):
        power -= dot(load(losses.link[j].force), load(link[j].velocity))
        power -= dot(load(losses.link[j].torque), load(link[j].angular_velocity))
    return power


@kernel
def close_step(losses, power):
    """Add the losses of the last step, with the `power` (W) that its wrenches take in the present motion."""
    losses.dissipated += 0.5 * losses.step * (losses.power + power)


@kernel
def take_springs(tally, count, link, losses):
    """Take the springs of the first `count` listed contacts out of the wrenches on their links."""
    for k in range(int(count)):
        item = tally.contact[k]
        j = int(item.link)
        spring = scale(item.spring, load(item.normal))
        accumulate(spring, losses.link[j].force)
        accumulate(cross(subtract(load(item.position), load(link[j].position)), spring), losses.link[j].torque)
        accumulate(scale(item.moment, spring), losses.link[j].torque)


@kernel
def open_step(losses, power, h):
    """Begin a step of length h, with the `power` (W) that its wrenches take at its start."""
    losses.power = power
    losses.step = h


@kernel
def begin_step(tally, link, sums, losses, h):
    """Add the losses of the last step and begin those of a step of length h with the `sums` over the list.

    The parts of the sums are the links.
    """
    close_step(losses, wrench_power(losses, link))
    for j in range(len(losses.link)):
        copy_wrench(sums.part[j], losses.link[j])
    take_springs(tally, tally.count, link, losses)
    open_step(losses, wrench_power(losses, link), h)


@kernel
def dissipated(losses):
    """Return the energy lost until the end of the present step, J, as far as its velocities are known."""
    return losses.dissipated + losses.step * losses.power
