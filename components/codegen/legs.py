"""A node body carried only by dependent chains: the peripheral mechanism, hexapods (source 2.3, 2.4, 7.3).

Written once for any scalar type: D6 to D8 of dynamics, chain by chain, so that each chain can be a separate kernel.
Each leg is resolved in the axes of its first joint, where most components are zero; results are in frame 0 about O_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import UNIT, Array, array, cross, gyroscopic, outer_square
from dockfmu.components.codegen.chain import (
    Closure,
    Constraint,
    constrain,
    forces,
    inertia,
    inertia_forces,
    momentum,
    node,
    quadratic,
    reaction,
    reduced,
    static_moment,
    to_base,
    total_inertia,
)
from dockfmu.components.codegen.mechanism import Body, Joint, Motion


@dataclass
class Nut:
    """Nut of a differential ball screw, whose angle is `ratio` times the joint coordinates (7.3.1)."""

    ratio: Array
    inertia: Any
    torque: Any
    strut: int = 2
    """Number of joints before those of the strut: the nut turns about x of the last of their bodies."""


class Leg:
    """One chain on a free node body.

    `joints` are in order; the first one is on the base at `point`, rotated by `axes`. `node_point` and `node_axis` (the
    z axis of a universal cut joint) are in node axes.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        axes: Any,
        point: Any,
        end: Any,
        node_point: Any,
        end_axis: Any = None,
        node_axis: Any = None,
        nut: Nut | None = None,
    ) -> None:
        self.joints = list(joints)
        self.axes, self.point = array(axes), array(point)
        self.end, self.end_axis = end, end_axis
        self.node_point, self.node_axis = node_point, node_axis
        self.nut = nut

    def follow(self, rotation: Any, velocity: Any, spin: Any) -> Constraint:
        """Set the joint rates from the rates of the node, and return the constraint.

        `rotation` maps the base to the node, `velocity` is in frame 0, `spin` in node axes.
        """
        back = self.axes @ array(rotation).T
        hinge = node(back, self.node_point, array(spin), self.axes)
        axis = None if self.node_axis is None else back @ array(self.node_axis)
        self.closure = Closure(self.end, self.end_axis, axis)
        self.constraint = constrain(self.joints, self.closure, hinge)
        self.rates = self.constraint.gain @ np.concatenate([array(velocity), array(spin)])
        for joint, rate in zip(self.joints, self.rates, strict=True):
            joint.rate = rate
        self.quadratic = quadratic(self.joints, self.closure, hinge, self.constraint)
        return self.constraint

    def reduce(self, base: Motion, joint_forces: Any) -> tuple[Array, Array]:
        """Return (H^T A H, H^T (b - A h)), nut included (D6)."""
        moving = Motion(
            self.axes @ base.angular_velocity, self.axes @ base.angular_acceleration, self.axes @ base.at(self.point)
        )
        self.inertial = inertia_forces(self.joints, moving, self.quadratic)
        self.inertia = inertia(self.joints)
        self.forces = forces(self.joints, self.inertial, joint_forces)
        if self.nut is not None:
            ratio = array(self.nut.ratio)
            self.inertia = self.inertia + outer_square(ratio, self.nut.inertia)
            self.forces = self.forces + ratio * (self.nut.torque - self.nut.inertia * (ratio @ self.quadratic))
        return reduced(self.constraint.gain, self.inertia, self.forces)

    def lose(self, acceleration: Any) -> tuple[Array, Array]:
        """Return (force, moment about O_0) of the leg's inertia on the base for du/dt of the node.

        The wrench on the base is the sum of this over all legs, plus the wrench on the node minus its rate of momentum.
        """
        return self._passed_on(acceleration, (array(np.zeros(3)), array(np.zeros(3))))

    def momentum(self, velocity: Any, angular_velocity: Any) -> tuple[Any, Array, Array]:
        """Return (kinetic energy, momentum, angular momentum about O_0), absolute, in frame 0; call `follow` before.

        The arguments are the velocity of O_0 and the angular velocity of the base, frame 0. The nut adds its rotation
        relative to the strut, as in `reduce`.
        """
        origin = array(velocity) + cross(angular_velocity, self.point)
        energy, linear, angular = momentum(self.joints, self.axes @ origin, self.axes @ angular_velocity)
        if self.nut is not None:
            rate = array(self.nut.ratio) @ self.rates
            energy = energy + 0.5 * self.nut.inertia * rate * rate
            angular = angular + to_base(self.joints, self.nut.strut - 1, array(UNIT[0])) * (self.nut.inertia * rate)
        linear = self.axes.T @ linear
        return energy, linear, self.axes.T @ angular + cross(self.point, linear)

    def static_moment(self) -> Array:
        """Return the static moment about O_0, frame 0."""
        mass, moment = static_moment(self.joints)
        return self.axes.T @ moment + self.point * mass

    def react(self, acceleration: Any) -> tuple[Array, Array]:
        """Return (force, moment about O_0) of the leg on the base, including the reaction at its cut joint.

        This is D8 with erratum D6.
        """
        driven = self.constraint.gain @ array(acceleration)
        self.reaction = reaction(self.constraint, self.inertia, self.forces, driven)
        pushed = _into(self.joints, self.reaction[:3])
        twisted = cross(self.end, pushed)
        if self.constraint.moment_axis is not None:
            twisted = twisted + _into(self.joints, self.constraint.moment_axis * self.reaction[3])
        return self._passed_on(acceleration, (pushed, twisted))

    def _passed_on(self, acceleration: Any, end: tuple[Array, Array]) -> tuple[Array, Array]:
        driven = self.constraint.gain @ array(acceleration)
        self.accelerations = driven + self.quadratic
        force, moment = total_inertia(self.joints, self.inertial, driven, end)
        if self.nut is not None:
            spun = (array(self.nut.ratio) @ self.accelerations) * self.nut.inertia
            moment = moment - to_base(self.joints, self.nut.strut - 1, array(UNIT[0])) * spun
        force, moment = self.axes.T @ force, self.axes.T @ moment
        return force, moment + cross(self.point, force)


def _into(chain: Sequence[Joint], v: Any) -> Array:
    """Return a vector, given in the base, in axes of the last body."""
    for joint in chain:
        v = joint.out(v)
    return array(v)


@dataclass
class Ring:
    """The node body on a moving base; its frame is at its centre of mass. Forces are in frame 0, moments in its axes.

    `inertia` (6, 6) and `force` (6) are those of the node alone (2.3.2), with erratum D2.
    """

    body: Body
    position: Any
    rotation: Any
    velocity: Any
    spin: Any
    base: Motion

    @property
    def inertia(self) -> Array:
        """The inertia (6, 6) of the node alone."""
        matrix = array(np.zeros((6, 6)))
        matrix[:3, :3] = array(np.eye(3)) * self.body.mass
        matrix[3:, 3:] = array(self.body.inertia)
        return matrix

    @property
    def force(self) -> Array:
        """The inertial forces (6) on the node alone, on the moving base."""
        base, J = self.base, array(self.body.inertia)
        w0 = self.rotation @ base.angular_velocity
        linear = base.at(self.position) + 2.0 * cross(base.angular_velocity, self.velocity)
        angular = self.rotation @ base.angular_acceleration - cross(self.spin, w0)
        return np.concatenate([-linear * self.body.mass, -(J @ angular) - gyroscopic(J, array(self.spin) + w0)])

    def passes_on(self, force: Any, acceleration: Any) -> tuple[Array, Array]:
        """Return (force, moment about O_0) in frame 0 of the total `force` (6) on it minus its inertia times du/dt."""
        left = array(force) - self.inertia @ array(acceleration)
        return left[:3], self.rotation.T @ left[3:] + cross(self.position, left[:3])
