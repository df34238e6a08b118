"""Losses of contact damping and friction over a step, with the mean of the velocities at its start and its end.

The dissipative wrench is the wrench on a link less that of the contact springs. A separate contact component holds it
over the step; the motion of the link under it is known when the next step begins. With the velocities at the start
alone, friction that stops a link within the step would count twice.
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import clear, wrench
from dockfmu.components.physics.mechanics.vector import accumulate, cross, dot, load, scale, store, subtract


def account() -> tuple[Field, ...]:
    """Return the fields of the account of losses, of any number of links."""
    return (
        private("power", "W", "lost at the start of the present step"),
        private("step", "s", "length of the present step"),
        private("dissipated", "J", "lost until the start of the present step"),
    )


def state(link: str) -> Group:
    """Return the group `losses` of one link; `link` says which, and in which axes its wrench is."""
    return Group("losses", wrench("link", f"damping and friction on {link}, about its origin"), *account())


@kernel
def clear_account(losses):
    """Set the account to zero."""
    losses.power = 0.0
    losses.step = 0.0
    losses.dissipated = 0.0


@kernel
def close_step(losses, power):
    """Add the losses of the last step, with the `power` (W) that its wrenches take in the present motion."""
    losses.dissipated += 0.5 * losses.step * (losses.power + power)


@kernel
def open_step(losses, power, h):
    """Begin a step of length h, with the `power` (W) that its wrenches take at its start."""
    losses.power = power
    losses.step = h


@kernel
def dissipated(losses):
    """Return the energy lost until the end of the present step, J, as far as its velocities are known."""
    return losses.dissipated + losses.step * losses.power


@kernel
def reset(losses):
    """Set the wrench and the account of one link to zero."""
    clear(losses.link)
    clear_account(losses)


@kernel
def wrench_power(wrench, motion):
    """Return the power that a wrench takes from a link in its present motion, W."""
    power = dot(load(wrench.force), load(motion.velocity))
    return -power - dot(load(wrench.torque), load(motion.angular_velocity))


@kernel
def at_a_point(unit, item):
    """Return 0: a contact at one point has no moment along its normal."""
    return 0.0


def beginning(spring_of, moment_of=at_a_point):
    """Return the kernel `begin_step(unit, on_link, losses, h)` for one kind of unit with one link.

    It adds the losses of the last step and begins those of a step of length h with the last evaluation, whose wrench
    on the link is `on_link`. `spring_of(unit, item)` returns the force of the spring of a listed contact, N, and
    `moment_of(unit, item)` the torque along its normal per unit of that force, m.
    """

    @kernel
    def begin_step(unit, on_link, losses, h):
        link = unit.work.link
        close_step(losses, wrench_power(losses.link, link))
        store(load(on_link.force), losses.link.force)
        store(load(on_link.torque), losses.link.torque)
        for k in range(int(unit.tally.count)):
            item = unit.tally.contact[k]
            spring = scale(spring_of(unit, item), load(item.normal))
            accumulate(spring, losses.link.force)
            accumulate(cross(subtract(load(item.position), load(link.position)), spring), losses.link.torque)
            accumulate(scale(moment_of(unit, item), spring), losses.link.torque)
        open_step(losses, wrench_power(losses.link, link), h)

    return begin_step
