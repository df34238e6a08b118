"""Declaration of a mechanism: bodies with their joints, in a row (a chain) or as a tree.

Scalars may be numbers or symbols. Numbers become constants in the generated code, and 0 and 1 cost nothing; quantities
that vary from run to run are symbols (symbolic 4.4). Massless bodies are fictitious: they combine joints with one axis
into joints with several.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import UNIT, ZERO, Array, array, cross, rotation, skew, squared
from dockfmu.components.codegen.graph import Graph

X, Y, Z = 0, 1, 2


@dataclass
class Body:
    """A body and the one-axis joint that leads to it, kinematics section 5.

    `axis` is that of the joint, X, Y or Z of its frame; `slides` if it is prismatic. The joint is on the parent at
    `offset` (parent axes), rotated by `mounting` (gamma: parent -> joint). `mass`, `moment` (mass times centre of mass)
    and `inertia` are about the joint, in body axes.
    """

    axis: int
    slides: bool = False
    offset: Any = field(default_factory=lambda: ZERO)
    mounting: Any = field(default_factory=lambda: UNIT)
    mass: Any = 0.0
    moment: Any = field(default_factory=lambda: ZERO)
    inertia: Any = field(default_factory=lambda: np.zeros((3, 3)))
    parent: int | None = None

    @property
    def heavy(self) -> bool:
        """Whether mass, moment or inertia contain anything but the number 0."""
        values = [self.mass, *array(self.moment), *array(self.inertia).ravel()]
        return any(not isinstance(x, (int, float)) or x != 0.0 for x in values)


@dataclass
class Joint:
    """A joint in its present position, `cosine` and `sine` or `stroke`, with its `rate`."""

    body: Body
    cosine: Any = 1.0
    sine: Any = 0.0
    stroke: Any = 0.0
    rate: Any = 0.0

    @property
    def unit(self) -> Array:
        """The joint's axis, in joint and in body axes."""
        return array(UNIT[self.body.axis])

    @property
    def spin(self) -> Array:
        """Angular velocity of the body relative to its parent, body axes."""
        return array(ZERO) if self.body.slides else self.unit * self.rate

    @property
    def slip(self) -> Array:
        """Velocity of the body along a prismatic joint, body axes."""
        return self.unit * self.rate if self.body.slides else array(ZERO)

    @property
    def turn(self) -> Array:
        """alpha: joint -> body axes."""
        return array(UNIT) if self.body.slides else rotation(self.body.axis, self.cosine, self.sine)

    def out(self, v: Any) -> Array:
        """Return beta v, a vector of the parent in body axes; two sparse products cost less than one full product."""
        return self.turn @ (array(self.body.mounting) @ array(v))

    def back(self, v: Any) -> Array:
        """Return beta^T v, a vector of the body in parent axes."""
        return array(self.body.mounting).T @ (self.turn.T @ array(v))

    @property
    def arm(self) -> Array:
        """r: origin of the parent -> origin of the body, parent axes."""
        along = self.unit * self.stroke if self.body.slides else array(ZERO)
        return array(self.body.offset) + array(self.body.mounting).T @ along


@dataclass
class Motion:
    """Angular velocity, angular acceleration and acceleration of a frame, in its own axes."""

    angular_velocity: Any = field(default_factory=lambda: array(ZERO))
    angular_acceleration: Any = field(default_factory=lambda: array(ZERO))
    acceleration: Any = field(default_factory=lambda: array(ZERO))

    @property
    def turning(self) -> Array:
        """skew(epsilon) + Omega: its product with a vector fixed in the frame is the second derivative of the vector.

        It is the same for all points of a body, including its centre of mass.
        """
        return skew(self.angular_acceleration) + squared(self.angular_velocity)

    def at(self, point: Any) -> Array:
        """Return the acceleration of a point fixed in the frame."""
        return self.acceleration + self.turning @ array(point)

    def turned(self, joint: Joint, qdd: Any = 0.0) -> Motion:
        """Return the angular motion of the next body, with the acceleration `qdd` of its joint.

        The member `acceleration` stays zero.
        """
        w = joint.out(self.angular_velocity)
        swing = joint.out(self.angular_acceleration) + cross(w, joint.spin)
        return Motion(w + joint.spin, swing if joint.body.slides else swing + joint.unit * qdd)

    def after(self, joint: Joint, qdd: Any = 0.0) -> Motion:
        """Return the motion of the next body (2.2.3), (2.3.3), with the acceleration `qdd` of its joint."""
        motion = self.turned(joint, qdd)
        motion.acceleration = joint.out(self.at(joint.arm)) + 2.0 * cross(motion.angular_velocity, joint.slip)
        if joint.body.slides:
            motion.acceleration = motion.acceleration + joint.unit * qdd
        return motion


def symmetric_input(graph: Graph, name: str, n: int) -> Array:
    """Return a symmetric matrix of symbols that reads the upper half of `name`."""
    a = graph.array(name, (n, n))
    for i in range(n):
        for k in range(i):
            a[i, k] = a[k, i]
    return a
