"""Separation pushers: preloaded springs on the active docking plane. central-docking section 5.11."""

from __future__ import annotations

from math import cos, fabs, pi, sin

from dockfmu.components.core.field import Group, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, subtract

COUNT = 4


def parameters() -> Group:
    """Return the group `pushers` of parameters; the start values are set PU-1 (central-docking section 8.3)."""
    return Group(
        "pushers",
        parameter("preload", "N", "force of one pusher at first touch", 100.0, minimum=0.0),
        parameter("stiffness", "N/m", "of one pusher", 1e4, minimum=0.0),
        parameter("protrusion", "m", "of the free pusher above the docking plane", 0.025, minimum=0.0),
        parameter("radius", "m", "distance of the pushers from the docking axis", 0.45, minimum=0.0),
        parameter(
            "relative_force",
            "1",
            "force of each pusher over that of the group, 0 for one that is stuck",
            (1.0,) * COUNT,
            shape=COUNT,
            minimum=0.0,
        ),
        parameter("azimuth", "rad", "of the first of four pushers, from y to z", 0.7853981633974483),
        description="separation pushers on the active docking plane",
    )


@kernel
def wrench(p, plane_x, position, rotation):
    """Return (force, torque, energy) of all pushers on the passive unit, frame PU, about its origin, N, N m and J.

    `position` r_PA and `rotation` A_PA of frame 0 relative to PU; `plane_x` is the docking plane in frame 0. A pusher
    with less room than its protrusion pushes along x of PU.
    """
    # no tip can reach beyond a circle that is tilted like the docking plane
    slant = p.radius * (fabs(rotation[1][0]) + fabs(rotation[2][0]))
    if p.protrusion + position[0] + rotation[0][0] * plane_x + slant <= 0.0:
        return ZERO, ZERO, 0.0
    force = 0.0
    torque_y = 0.0
    torque_z = 0.0
    energy = 0.0
    for k in range(COUNT):
        azimuth = p.azimuth + k * 2.0 * pi / COUNT
        tip = (plane_x, p.radius * cos(azimuth), p.radius * sin(azimuth))
        tip = add(position, apply_transposed(rotation, tip))
        depth = p.protrusion + tip[0]
        if depth > 0.0:
            share = p.relative_force[k]
            f = share * (p.preload + p.stiffness * depth)
            force += f
            torque_y += tip[2] * f
            torque_z -= tip[1] * f
            energy += share * (p.preload + 0.5 * p.stiffness * depth) * depth
    return (force, 0.0, 0.0), (0.0, torque_y, torque_z), energy


@kernel
def reaction(force, torque, position, rotation):
    """Return the opposite wrench on the base: (force, torque about the origin of frame 0), axes 0.

    `force`, `torque`: wrench on the passive unit, axes and origin PU; `position`, `rotation` of frame 0 relative to PU.
    """
    about_base = subtract(torque, cross(position, force))
    return apply(rotation, subtract(ZERO, force)), apply(rotation, subtract(ZERO, about_base))
