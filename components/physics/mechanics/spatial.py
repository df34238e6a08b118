"""Spatial vectors: rows of six, a twist [angular velocity, velocity] or a wrench [torque, force] about one origin."""

from dockfmu.components.core.kernel import kernel


@kernel
def upper(a):
    """Return the angular velocity or torque of a spatial vector."""
    return (a[0], a[1], a[2])


@kernel
def lower(a):
    """Return the velocity or force of a spatial vector."""
    return (a[3], a[4], a[5])
