"""Magnitudes that errors are relative to."""

from __future__ import annotations

from master.loop.compiled import compiled


@compiled
def grow(scale, group, slot, values):
    """Let each scale be the largest magnitude that any of its group has had."""
    for j in range(slot.size):
        scale[group[j]] = max(scale[group[j]], abs(values[slot[j]]))


@compiled
def weight(scale):
    """1 / scale; finite, and so is its square, where the scale is 0"""
    return 1.0 / max(scale, 1e-150)


@compiled
def relative(difference, scale):
    """|difference| / scale, 0 where both are 0"""
    return 0.0 if difference == 0.0 else abs(difference) * weight(scale)
