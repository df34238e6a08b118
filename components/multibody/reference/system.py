"""Bodies and joints of a system of rigid bodies, as the reference formulations take them.

Theory: multibody-formulations 1.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from dockfmu.components.multibody.reference.constraints import NonHolonomic
from dockfmu.components.multibody.reference.flexible import FlexibleBody
from dockfmu.components.multibody.reference.graph import GraphError, paths, predecessors
from dockfmu.components.multibody.reference.joints import JointMotion


@dataclass(frozen=True)
class ReferenceBody:
    """Mass, kg, and central inertia in axes of the body, kg m2."""

    name: str
    mass: float
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True)
class JointSide:
    """Place a joint on a body: its point from the centre of mass (from the origin for body 0), and its axes."""

    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    """Components in axes of the joint to components in axes of the body."""


@dataclass(frozen=True)
class JointArc:
    """A joint from body `leaves`, i+, to body `enters`, i-: the motion is that of i- relative to i+."""

    name: str
    leaves: int
    enters: int
    motion: JointMotion
    plus: JointSide = field(default_factory=JointSide)
    minus: JointSide = field(default_factory=JointSide)
    rows: NonHolonomic | None = None
    """Further constraints on the motion in a cut joint, non-holonomic or rheonomic ones."""

    flexible: int | None = None
    """Index of the elastic body whose deformation the joint is."""


@dataclass(frozen=True)
class BaseMotion:
    """Prescribed motion of body 0 in inertial axes; its origin is where its joint points are measured from."""

    r: np.ndarray = field(default_factory=lambda: np.zeros(3))
    A: np.ndarray = field(default_factory=lambda: np.eye(3))
    v: np.ndarray = field(default_factory=lambda: np.zeros(3))
    w: np.ndarray = field(default_factory=lambda: np.zeros(3))
    a: np.ndarray = field(default_factory=lambda: np.zeros(3))
    e: np.ndarray = field(default_factory=lambda: np.zeros(3))


AT_REST = BaseMotion()


@dataclass(frozen=True)
class RigidSystem:
    """Bodies 1 .. n with the n joints of a tree, any numbering and any directions, and cut joints that close loops.

    The modal coordinates of elastic bodies follow the coordinates of the joints, body by body.
    """

    bodies: tuple[ReferenceBody, ...]
    joints: tuple[JointArc, ...]
    cuts: tuple[JointArc, ...] = ()
    flexible: tuple[FlexibleBody, ...] = ()

    def __post_init__(self) -> None:
        for cut in self.cuts:
            if not (0 <= cut.leaves <= self.n and 0 <= cut.enters <= self.n) or cut.leaves == cut.enters:
                raise GraphError(f"cut joint {cut.name} must connect two of the bodies 0 to {self.n}")
        _ = self.before

    @property
    def n(self) -> int:
        """Return the number of bodies without body 0."""
        return len(self.bodies)

    @cached_property
    def before(self) -> list[tuple[int, int]]:
        """Return (arc, body towards the base) of each body, from body 0 on."""
        return predecessors(self.leaves, self.enters, self.n)

    @cached_property
    def outward(self) -> list[int]:
        """Return the bodies 1 .. n, each after the body before it."""
        depth = [0] * (self.n + 1)

        def steps(body: int) -> int:
            count = 0
            while body != 0:
                body, count = self.before[body][1], count + 1
            return count

        for body in range(1, self.n + 1):
            depth[body] = steps(body)
        return sorted(range(1, self.n + 1), key=lambda body: depth[body])

    @property
    def leaves(self) -> list[int]:
        """Return i+ of the joints of the tree."""
        return [joint.leaves for joint in self.joints]

    @property
    def enters(self) -> list[int]:
        """Return i- of the joints of the tree."""
        return [joint.enters for joint in self.joints]

    @cached_property
    def path_matrix(self) -> np.ndarray:
        """Return T of the tree."""
        return paths(self.leaves, self.enters, self.n)

    @cached_property
    def masses(self) -> np.ndarray:
        """Return the masses of the bodies, kg."""
        return np.array([body.mass for body in self.bodies])

    @cached_property
    def inertias(self) -> np.ndarray:
        """Return the central inertias, n x 3 x 3, in axes of the bodies."""
        return np.array([body.inertia for body in self.bodies]).reshape(-1, 3, 3)

    def _places(self, sizes: Sequence[int]) -> list[slice]:
        """Return where joints of these sizes are; those that deform an elastic body are all at its modes."""
        own = [0 if joint.flexible is not None else size for joint, size in zip(self.joints, sizes, strict=True)]
        ends = np.cumsum([0, *own])
        places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        modes = self._modes(int(ends[-1]))
        return [
            place if joint.flexible is None else modes[joint.flexible]
            for joint, place in zip(self.joints, places, strict=True)
        ]

    def _modes(self, first: int) -> list[slice]:
        ends = np.cumsum([first, *(part.count for part in self.flexible)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @cached_property
    def rate_slices(self) -> list[slice]:
        """Return where the rates of each joint of the tree are in u."""
        return self._places([joint.motion.rates for joint in self.joints])

    @cached_property
    def position_slices(self) -> list[slice]:
        """Return where the coordinates of each joint of the tree are in q."""
        return self._places([joint.motion.positions for joint in self.joints])

    @cached_property
    def mode_rates(self) -> list[slice]:
        """Return where the modal rates of each elastic body are in u."""
        return self._modes(sum(joint.motion.rates for joint in self.joints if joint.flexible is None))

    @cached_property
    def mode_positions(self) -> list[slice]:
        """Return where the modal coordinates of each elastic body are in q."""
        return self._modes(sum(joint.motion.positions for joint in self.joints if joint.flexible is None))

    @property
    def rates(self) -> int:
        """Return the number of rates of the tree, with the modes of elastic bodies."""
        own = sum(joint.motion.rates for joint in self.joints if joint.flexible is None)
        return own + sum(part.count for part in self.flexible)

    @cached_property
    def arc_of_rate(self) -> np.ndarray:
        """Return the index of the joint of each rate, joint after joint."""
        return np.repeat(np.arange(len(self.joints)), [joint.motion.rates for joint in self.joints])

    def gathered(self, rows: np.ndarray) -> np.ndarray:
        """Return one row a rate from those of the rates of each joint: joints that share modes are added up."""
        if not self.flexible:
            return rows
        places = np.concatenate([np.arange(here.start, here.stop) for here in self.rate_slices])
        found = np.zeros((self.rates, *rows.shape[1:]))
        np.add.at(found, places, rows)
        return found

    def moved(self, q: ArrayLike, change: np.ndarray) -> np.ndarray:
        """Return the coordinates after a finite step along the rates."""
        q = np.asarray(q, dtype=float)
        found = np.zeros_like(q)
        for joint, here, rates in zip(self.joints, self.position_slices, self.rate_slices, strict=True):
            found[here] = joint.motion.moved(q[here], change[rates])
        return found

    def coordinate_rates(self, q: ArrayLike, u: np.ndarray) -> np.ndarray:
        """Return dq/dt for the rates u."""
        q = np.asarray(q, dtype=float)
        found = np.zeros_like(q)
        for joint, here, rates in zip(self.joints, self.position_slices, self.rate_slices, strict=True):
            found[here] = joint.motion.coordinate_rates(q[here], u[rates])
        return found

    def renumbered(self, bodies: Sequence[int], arcs: Sequence[int]) -> RigidSystem:
        """Return the same system with new numbers of the bodies 0 .. n and new indices of the joints of the tree."""
        new_bodies: list[ReferenceBody] = list(self.bodies)
        for old, number in enumerate(bodies[1:]):
            new_bodies[number - 1] = self.bodies[old]
        new_joints: list[JointArc] = list(self.joints)
        for old, number in enumerate(arcs):
            new_joints[number] = self.joints[old]

        def at(joint: JointArc) -> JointArc:
            return replace(joint, leaves=bodies[joint.leaves], enters=bodies[joint.enters])

        flexible = tuple(replace(part, body=bodies[part.body]) for part in self.flexible)
        return RigidSystem(tuple(new_bodies), tuple(map(at, new_joints)), tuple(map(at, self.cuts)), flexible)
