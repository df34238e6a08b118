"""Structures for tests and for the operation tables: chains, trees, arms.

A structure defines axes, sliding joints and which bodies have mass (kinematics sections 3.3, 4 and 10); its users add
numbers or symbols.
"""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.components.codegen.mechanism import X, Y, Z


@dataclass(frozen=True)
class KinematicStructure:
    """Joint axes from the base outward, and the indices of bodies that slide, have mass, or have an offset along x.

    With `universal` the chain ends in a cut U joint, else in a cut S joint (planar: R). `parents` is for trees.
    """

    axes: tuple[int, ...]
    slides: tuple[int, ...] = ()
    heavy: tuple[int, ...] = ()
    offset: tuple[int, ...] = ()
    universal: bool = False
    planar: bool = False
    parents: tuple[int | None, ...] | None = None


CHAINS = {
    "UPS": KinematicStructure((Y, Z, X), slides=(2,), heavy=(1, 2)),
    "SPU": KinematicStructure((Y, Z, X, X), slides=(3,), heavy=(2, 3), universal=True),
    "UCU": KinematicStructure((Y, Z, X, X), slides=(3,), heavy=(1, 3), universal=True),
    "RUS": KinematicStructure((Z, Z, Y), heavy=(0, 2), offset=(1,)),
    "RSU": KinematicStructure((Z, Z, Y, X), heavy=(0, 3), offset=(1,), universal=True),
    "UUU": KinematicStructure((Y, Z, Z, Y), heavy=(1, 3), offset=(2,), universal=True),
    "RPR": KinematicStructure((Z, X), slides=(1,), heavy=(0, 1), planar=True),
}
"""Dependent chains: the six spatial types and the planar one (Fig. 1.1.11)."""

TREES = {
    "central, 5 bodies": KinematicStructure((Y, Z, Y, Z, X), heavy=(1, 4), offset=(2,), parents=(None, 0, 1, 2, 3)),
    "central, 6 bodies": KinematicStructure(
        (Y, Z, Y, Z, X, X), slides=(5,), heavy=(1, 4, 5), offset=(2, 5), parents=(None, 0, 1, 2, 3, 1)
    ),
    "arm, 7 joints": KinematicStructure(
        (X, Z, Y, Y, Y, Z, X), heavy=tuple(range(7)), offset=tuple(range(7)), parents=(None, 0, 1, 2, 3, 4, 5)
    ),
}
"""Independent chains: probe mechanism without and with a movable limiter, manipulator (conventions section 7)."""
