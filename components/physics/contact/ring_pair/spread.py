"""Contacts that are spread where surfaces conform (ruling R54).

Where a line of one body bears along its length on the other, as a rim on a petal when the rings are parallel, or a
fired latch on the rear face of its stop, all its points are equally deep, and the deepest one is chance. With d the
largest depth, m a mean of the depths of some points of the line, and V = d - m, the depth of the contact is
d - V exp(-V / conformity). Its gradient is a weighted sum of those of d and of m: that of m alone for V = 0, that of d
alone for V far above the conformity. The forces so spread act together at one point of their line of action, with what
is left of their moment along it.
"""

from __future__ import annotations

from math import exp

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, dot, norm, scale, subtract

# V / conformity beyond which the share of the mean is below rounding
SINGLE = 25.0


@kernel
def shared(deepest, mean, conformity):
    """Return (depth, share): the depth of a contact with these depths, m, and the share of the mean in its gradient."""
    if conformity == 0.0:
        return deepest, 0.0
    excess = max(0.0, deepest - mean) / conformity
    if excess > SINGLE:
        return deepest, 0.0
    fading = exp(-excess)
    return deepest - excess * conformity * fading, (1.0 - excess) * fading


@kernel
def act_together(weights, points, forces):
    """Return (normal, gain, point, moment) of four forces at points, each given per unit of its weight.

    `normal` and `gain` are direction and magnitude of the resultant, `point` is the point of its line of action next
    to the weighted mean of the points, `moment` the torque along it per unit of the resultant, m. The mean does not
    depend on which of equally deep points was found.
    """
    force = ZERO
    centre = ZERO
    for k in range(4):
        force = axpy(weights[k], forces[k], force)
        centre = axpy(weights[k], points[k], centre)
    torque = ZERO
    for k in range(4):
        torque = add(torque, cross(subtract(points[k], centre), scale(weights[k], forces[k])))
    gain = norm(force)
    normal = scale(1.0 / gain, force)
    return normal, gain, axpy(1.0 / gain, cross(normal, torque), centre), dot(normal, torque) / gain


@kernel
def two_together(weight, first, second):
    """Return what `act_together` does for two forces: (point, force) with `weight`, and another with the rest of 1."""
    rest = 1.0 - weight
    force = axpy(weight, first[1], scale(rest, second[1]))
    centre = axpy(weight, first[0], scale(rest, second[0]))
    arm = subtract(first[0], second[0])
    torque = scale(weight * rest, cross(arm, subtract(first[1], second[1])))
    gain = norm(force)
    normal = scale(1.0 / gain, force)
    return normal, gain, axpy(1.0 / gain, cross(normal, torque), centre), dot(normal, torque) / gain
