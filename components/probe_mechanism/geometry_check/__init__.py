"""Fit of cone, hinge, limiter, levers and brakes over all poses of a docking (ruling R46, central-docking 5.10).

Each of them has its own parameter set (central-docking 1.2), and kernels accept any numbers. A declared system is
therefore checked before anything is compiled: extended, with the head on the bottom at every stroke of the absorber,
with the latches on their stops at every travel of the retraction, and at tilts in every direction up to the limiter's
contact.
"""

from __future__ import annotations

from collections.abc import Iterator

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism.geometry_check import absorption, fixed_limiter, levers, movable_limiter
from dockfmu.components.probe_mechanism.geometry_check.poses import shape


def misfits(m: Memory) -> Iterator[str]:
    """Yield every reason why the parameters of a mechanism with internal contact do not fit each other."""
    s = shape(m)
    movable = "limiter" in m.parameters.dtype.fields
    yield from absorption.reach_misfits(m, s)
    yield from (movable_limiter if movable else fixed_limiter).misfits(m, s)
    if not movable:
        yield from levers.misfits(m, s)
    yield from absorption.plane_misfits(m, s)
    yield from absorption.brake_misfits(m, s, movable)


def misfit(m: Memory) -> str | None:
    """Return the first reason why the parameters do not fit each other, or None. Each names the data to change."""
    return next(misfits(m), None)
