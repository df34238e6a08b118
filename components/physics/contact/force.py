"""Class-1 contact force: a spring and damper along the common normal with regularised friction (contact-geometry A0).

Everything is in axes of the passive unit PU and relative to it. `n` is the unit reaction on the passive unit, the depth
of penetration is positive in contact, velocities are those of the link relative to the passive surface (conventions
3.3). The spring stores `stored_energy(law, depth)`; while the normal force would pull, it relaxes without work.
`list_forces` puts the parts together.

`gain` times n is the gradient of the depth. The gain is 1, except for segments that bear on an edge, along which their
deepest point moves, and for latches in their slots. Spring and damper act on the depth; gain and normal map their force
to the link.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message
from dockfmu.components.core.field import Group, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    norm,
    scale,
    subtract,
)

# limit of the steps of Newton's method; about five are taken
NEWTON_STEPS = 50


def law(name: str, description: str) -> Group:
    """Return the group of parameters of the force law of one kind of pair."""
    return Group(
        name,
        parameter("stiffness", "N/m", "of the contact", 0.0, minimum=0.0),
        parameter("damping", "N.s/m", "along the normal", 0.0, minimum=0.0),
        parameter("friction", "1", "coefficient of friction", 0.0, minimum=0.0),
        parameter("slip_velocity", "m/s", "sliding speed below which friction fades", 1e-3, minimum=1e-9),
        parameter("penetration_limit", "m", "depth beyond which the model does not hold", 0.0, minimum=0.0),
        description=description,
    )


def motion(name: str, count: int | None = None) -> Group:
    """Return the group of the pose and velocity of a link relative to PU, in PU axes."""
    return Group(
        name,
        private("position", "m", "origin of the link from the origin of PU, PU axes", shape=3),
        private("rotation", "1", "PU -> link", shape=(3, 3)),
        private("velocity", "m/s", "of the origin, seen in PU, PU axes", shape=3),
        private("angular_velocity", "rad/s", "relative to PU, PU axes", shape=3),
        count=count,
    )


def wrench(name: str, description: str, count: int | None = None) -> Group:
    """Return the group of a sum of contact forces and of their torque."""
    return Group(
        name,
        private("force", "N", "sum of forces", shape=3),
        private("torque", "N.m", "sum of torques", shape=3),
        count=count,
        description=description,
    )


@kernel
def clear(wrench):
    """Set a wrench to zero."""
    for i in range(3):
        wrench.force[i] = 0.0
        wrench.torque[i] = 0.0


@kernel
def point_velocity(motion, r):
    """Return the velocity of the link's point at r relative to the passive surface, m/s; PU axes, r from its origin."""
    arm = subtract(r, load(motion.position))
    return add(load(motion.velocity), cross(load(motion.angular_velocity), arm))


@kernel
def spring_force(law, gain, depth):
    """Return the force of a contact's spring along its normal, N: minus the gradient of `stored_energy`."""
    return law.stiffness * gain * depth


@kernel
def normal_damping(law, gain):
    """Return the force of a contact's damper along its normal per velocity along it, N s/m."""
    return law.damping * gain * gain


@kernel
def normal_force(law, rate, gain, depth):
    """Return the normal force of a contact, N; it never pulls (erratum E26)."""
    return max(0.0, spring_force(law, gain, depth) + normal_damping(law, gain) * rate)


@kernel
def friction_share(law, speed):
    """Return the ratio of friction to its largest value k_Fr f_N at a sliding speed (ruling R24)."""
    return speed / sqrt(speed * speed + law.slip_velocity * law.slip_velocity)


@kernel
def speed_after(law, free, loss):
    """Return the sliding speed s after a step, m/s: s + loss * friction_share(s) = free.

    `free` is the speed without friction, `loss` the speed that the full friction k_Fr f_N takes away. The left side is
    concave, so that Newton's method rises to the solution from below.
    """
    speed = max(free - loss, free * law.slip_velocity / (law.slip_velocity + loss))
    for _ in range(NEWTON_STEPS):
        share = friction_share(law, speed)
        excess = speed + loss * share - free
        if excess > -1e-12 * free:
            break
        size = speed * speed + law.slip_velocity * law.slip_velocity
        speed -= excess / (1.0 + loss * law.slip_velocity * law.slip_velocity / (size * sqrt(size)))
    return speed


@kernel
def friction_force(law, normal, free, mobility):
    """Return the friction on the passive unit, a vector, from a link that would slide with velocity `free` without it.

    `mobility` (s/kg) is the time for which the force will be held, divided by the mass of the link. Friction is that of
    the end of this time, as in the backward Euler method, and keeps a link at rest that it can hold. 0: friction is
    that of this instant.
    """
    speed = norm(free)
    if speed == 0.0:
        return ZERO
    limit = law.friction * normal
    after = speed
    if mobility > 0.0:
        after = speed_after(law, speed, mobility * limit)
    return scale(limit * friction_share(law, after) / speed, free)


@kernel
def tangential(v, n):
    """Return the part of a vector across the unit vector n."""
    return axpy(-dot(n, v), n, v)


@kernel
def free_velocity(last, ratio, n, slip, mobility):
    """Return the velocity with which a contact would slide at the end of the step without its friction, m/s.

    `last` has the sliding and the friction of the last step, `ratio` is the time to the end of the step over the time
    since then, `slip` the sliding now; for `mobility` see `friction_force`.
    """
    gained = scale(ratio, subtract(slip, load(last.slip)))
    return tangential(add(add(slip, gained), scale(mobility, load(last.friction))), n)


@kernel
def stored_energy(law, depth):
    """Return the energy in a contact's spring, J."""
    return 0.5 * law.stiffness * depth * depth


@kernel
def exert(force, r, position, target, link):
    """Add a force at r to the wrench on the passive unit and its opposite to the wrench on a link, PU axes.

    The wrench `target` is taken about the origin of PU, the wrench `link` about the link's origin at `position`.
    """
    accumulate(force, target.force)
    accumulate(cross(r, force), target.torque)
    reaction = negate(force)
    accumulate(reaction, link.force)
    accumulate(cross(subtract(r, position), reaction), link.torque)


def penetration(name: str, limit: str, more: str = "", *, discard: bool = True) -> Message:
    """Return the message of a contact `name` beyond its limit, the placeholder of a value in m."""
    text = f"contact: penetration {{status.value:.4g}} m of {name} exceeds its limit of {{{limit}:.4g}} m{more}"
    return Message(text, discard=discard, outcome=LIMIT_EXCEEDED)
