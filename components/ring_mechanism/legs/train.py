"""Friction and stops of a train, which all laws of the legs have: forces along a way, or torques about an angle."""

from __future__ import annotations

from math import sqrt

from components.core.kernel import kernel


@kernel
def friction(level, speed, v):
    """Return dry friction against v: smooth, 0.7 of its `level` at `speed`."""
    return -level * v / sqrt(v * v + speed * speed)


@kernel
def stop(stiffness, damping, depth, rate):
    """Return the force of a stop gone into by `depth` (0 outside) at `rate`: none where it would hold back."""
    return max(0.0, stiffness * depth + damping * rate) if depth > 0.0 else 0.0


@kernel
def stop_loss(stiffness, depth, force, rate):
    """Return the power that a stop with this `force` dissipates: what it takes less what its spring stores."""
    return (force - stiffness * depth) * rate


@kernel
def stored(stiffness, depth):
    """Return the energy of the spring of a stop."""
    return 0.5 * stiffness * depth * depth
