"""Losses over a step of the two links and the rollers, as in `dockfmu.components.physics.contact.losses`.

The dissipative wrench on a link is the class-1 wrench less that of the contact springs.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import clear, spring_force, wrench
from dockfmu.components.physics.contact.losses import account, clear_account, close_step, open_step
from dockfmu.components.physics.contact.probe_cone.pairs import PAD_CONE, ROLLER_CONE, law_of
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, cross, dot, load, scale, store, subtract


def state() -> Group:
    """Return the group `losses`."""
    return Group(
        "losses",
        wrench("link", "damping and friction on head and limiter, PU axes, about the link's origin", count=2),
        Group("roller", private("force", "N", "damping and friction on the roller, PU axes", shape=3), count=3),
        *account(),
    )


@kernel
def reset(losses):
    """Set all to zero."""
    for j in range(2):
        clear(losses.link[j])
    for k in range(len(losses.roller)):
        for i in range(3):
            losses.roller[k].force[i] = 0.0
    clear_account(losses)


@kernel
def _add(force, torque, out):
    accumulate(force, out.force)
    accumulate(torque, out.torque)


@kernel
def _set_dissipative(unit, losses):
    """Set the dissipative wrenches from the last `attempt`."""
    work = unit.work
    store(load(work.head.force), losses.link[0].force)
    store(load(work.head.torque), losses.link[0].torque)
    store(load(work.limiter.force), losses.link[1].force)
    store(load(work.limiter.torque), losses.link[1].torque)
    for k in range(len(losses.roller)):
        _add(load(work.roller[k].force), load(work.roller[k].torque), losses.link[1])
        store(load(work.roller[k].force), losses.roller[k].force)
    for k in range(int(unit.tally.class_1)):
        item = unit.tally.contact[k]
        law = law_of(unit.parameters, item.pair)
        spring = scale(spring_force(law, item.gain, item.penetration), load(item.normal))
        j = 1 if item.pair in (PAD_CONE, ROLLER_CONE) else 0
        arm = subtract(load(item.position), load(work.link[j].position))
        _add(spring, cross(arm, spring), losses.link[j])
        if item.pair == ROLLER_CONE:
            accumulate(spring, losses.roller[int(item.index) - 1].force)


@kernel
def _power(unit, losses):
    """Return the power that the dissipative wrenches take from links and rollers in their present motion, W."""
    power = 0.0
    for j in range(2):
        link = unit.work.link[j]
        power -= dot(load(losses.link[j].force), load(link.velocity))
        power -= dot(load(losses.link[j].torque), load(link.angular_velocity))
    A = load_matrix(unit.work.link[1].rotation)
    for k in range(len(losses.roller)):
        velocity = apply_transposed(A, load(unit.input.roller[k].velocity))
        power -= dot(load(losses.roller[k].force), velocity)
    return power


@kernel
def begin_step(unit, losses, h):
    """Add the losses of the last step and begin those of a step of length h, after its `attempt`."""
    close_step(losses, _power(unit, losses))
    _set_dissipative(unit, losses)
    open_step(losses, _power(unit, losses), h)
