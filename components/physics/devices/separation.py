"""Relative motion with which two docking units part, as the cyclograms that let them go report it."""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.field import Group, output
from dockfmu.components.core.kernel import kernel


def relative_motion() -> Group:
    """Return the outputs `separation.*`, which `measure` fills."""
    return Group(
        "separation",
        output("speed", "m/s", "along the axis, positive apart"),
        output("lateral_speed", "m/s", "across the axis"),
        output("tip_off_rate", "rad/s", "rate of pitch and yaw, vector sum"),
        output("roll_rate", "rad/s", "rate of roll, magnitude"),
        description="relative motion of the docking units from the release on, and that with which they part",
    )


@kernel
def measure(docking, separation):
    """Set the relative motion from the velocity and angular velocity of `docking`, axes of the passive unit."""
    v = docking.velocity
    w = docking.angular_velocity
    separation.speed = -v[0]
    separation.lateral_speed = sqrt(v[1] * v[1] + v[2] * v[2])
    separation.tip_off_rate = sqrt(w[1] * w[1] + w[2] * w[2])
    separation.roll_rate = fabs(w[0])
