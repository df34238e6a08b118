"""Losses of contact over a step with rollers that move on the limiter; see `dockfmu.components.physics.contact.losses`.

The force on a roller loses power by the roller's own motion too.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import losses as contact_losses
from dockfmu.components.physics.contact.probe_cone.pairs import ROLLER_CONE
from dockfmu.components.physics.contact.sums import copy_wrench
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, dot, load, scale, store


def state() -> Group:
    """Return the group `losses`."""
    rollers = Group("roller", private("force", "N", "damping and friction on the roller, PU axes", shape=3), count=3)
    return contact_losses.state(2, "head and limiter, PU axes", rollers)


@kernel
def _set_dissipative(unit, losses):
    """Set the dissipative wrenches from the last `attempt`; the first two parts of its sums are head and pads."""
    work = unit.work
    for j in range(len(losses.link)):
        copy_wrench(work.bearing.part[j], losses.link[j])
    limiter = losses.link[1]
    for k in range(len(losses.roller)):
        roller = work.bearing.part[2 + k]
        accumulate(load(roller.force), limiter.force)
        accumulate(load(roller.torque), limiter.torque)
        store(load(roller.force), losses.roller[k].force)
    contact_losses.take_springs(unit.tally, unit.tally.class_1, work.link, losses)
    for k in range(int(unit.tally.class_1)):
        item = unit.tally.contact[k]
        if item.pair == ROLLER_CONE:
            accumulate(scale(item.spring, load(item.normal)), losses.roller[int(item.index) - 1].force)


@kernel
def _power(unit, losses):
    """Return the power that the dissipative wrenches take from links and rollers in their present motion, W."""
    power = contact_losses.wrench_power(losses, unit.work.link)
    A = load_matrix(unit.work.link[1].rotation)
    for k in range(len(losses.roller)):
        velocity = apply_transposed(A, load(unit.input.roller[k].velocity))
        power -= dot(load(losses.roller[k].force), velocity)
    return power


@kernel
def reset(losses):
    """Set all to zero."""
    contact_losses.reset(losses)
    for k in range(len(losses.roller)):
        store(ZERO, losses.roller[k].force)


@kernel
def begin_step(unit, losses, h):
    """Add the losses of the last step and begin those of a step of length h, after its `attempt`."""
    contact_losses.close_step(losses, _power(unit, losses))
    _set_dissipative(unit, losses)
    contact_losses.open_step(losses, _power(unit, losses), h)
