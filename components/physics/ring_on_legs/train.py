"""Friction and stops of a train, shared by all laws of the legs: forces along a path, or torques about an axis."""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel


@kernel
def friction(level, speed, v):
    """Return smoothed dry friction against v, which reaches 0.7 of its `level` at `speed`."""
    return -level * v / sqrt(v * v + speed * speed)


@kernel
def stop(stiffness, damping, depth, rate):
    """Return the force of a stop compressed by `depth` (0 outside) at `rate`; zero instead of a pull."""
    return max(0.0, stiffness * depth + damping * rate) if depth > 0.0 else 0.0


@kernel
def stop_loss(stiffness, depth, force, rate):
    """Return the power dissipated by a stop with this `force`: its input power minus the power stored in its spring."""
    return (force - stiffness * depth) * rate


@kernel
def stored(stiffness, depth):
    """Return the energy stored in the spring of a stop."""
    return 0.5 * stiffness * depth * depth
