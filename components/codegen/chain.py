"""One dependent chain: its motion from that of its node, its generalised inertia and forces, its reduction to the node.

Written once for any scalar type: kinematics section 8 and dynamics sections 6 to 8, in body axes, with their errata. A
chain is a list of joints from the base outward. `end` is the position of its cut joint in axes of the last body. "In
the base" means in axes of the body that carries the first joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import (
    UNIT,
    ZERO,
    Array,
    array,
    cross,
    gyroscopic,
    inverse,
    skew,
    squared,
    symmetric_product,
)
from dockfmu.components.codegen.mechanism import Body, Joint, Motion

Chain = Sequence[Joint]


@dataclass
class Node:
    """The node at the cut joint: partial velocities with respect to the rates u of the node, in the base.

    Theory: kinematics 8.2.

    `translation` is T_N (3, m), `rotation` R_N (3, m), `acceleration` the acceleration w_N of the cut joint without the
    terms in du/dt, and `angular_velocity` is relative to the base.
    """

    translation: Any
    rotation: Any
    acceleration: Any
    angular_velocity: Any


def node(to_base: Any, point: Any, spin: Any, axes: Any = None) -> Node:
    """Return a free node body, u = [velocity of its origin, angular velocity in its axes] (kinematics 8.2).

    `to_base` maps node to base components; `point` is the cut joint and `spin` the angular velocity relative to the
    base, both in node axes. `axes` maps the velocity to the base, if it is not given in the base.
    """
    moving = array(UNIT if axes is None else axes)
    turning = to_base @ skew(point).T
    return Node(
        np.hstack([moving, turning]),
        np.hstack([array(np.zeros((3, 3))), to_base]),
        to_base @ (squared(spin) @ array(point)),
        to_base @ spin,
    )


def crank(lever: Any, rate: Any) -> Node:
    """Return a node that turns about z of the base with u = `rate`.

    This is the node of the planar chain of a secondary loop (1.3.6).
    """
    z = array(UNIT[2])
    return Node(cross(z, lever).reshape(3, 1), z.reshape(3, 1), squared(z * rate) @ array(lever), z * rate)


def pivoted_node(lever: Any, spin: Any) -> Node:
    """Return a node body with a fixed origin, all in the base.

    `lever` points from this origin to the cut joint, and u = `spin` is the angular velocity of the body.
    """
    return Node(skew(lever).T, array(UNIT), squared(spin) @ array(lever), spin)


@dataclass
class Closure:
    """Cut joint at `end`: spherical, or universal with the axes e_1 on the chain's side and e_2 on the node's side.

    e_1 is in axes of the last body, e_2 in the base (1.3.2). `planar` is for the revolute joint of a chain in the x y
    plane of the base, with two constraints (1.3.6).
    """

    end: Any
    chain_axis: Any | None = None
    node_axis: Any | None = None
    planar: bool = False


def to_base(chain: Chain, j: int, v: Any) -> Array:
    """Return a vector, given in axes of body j, in the base."""
    for joint in reversed(chain[: j + 1]):
        v = joint.back(v)
    return array(v)


def levers(chain: Chain, end: Any) -> list[Array]:
    """Return the vector from each joint, at zero stroke of it, to the cut joint, in axes of its body.

    Strokes of later joints are included.
    """
    vectors = [array(end)]
    for joint in reversed(chain[1:]):
        vectors.insert(0, joint.arm + joint.back(vectors[0]))
    return vectors


def jacobian(chain: Chain, end: Any) -> tuple[Array, Array]:
    """Return (T^L, R_n), both (3, n): velocity of the cut joint and angular velocity of the last body per joint rate.

    Columns are computed in the axes where they are sparse; the result equals algorithm K-J of kinematics 8.1 (erratum
    K3).
    """
    translation, rotation = [], []
    for j, (joint, lever) in enumerate(zip(chain, levers(chain, end), strict=True)):
        slides = joint.body.slides
        translation.append(to_base(chain, j, joint.unit if slides else cross(joint.unit, lever)))
        rotation.append(array(ZERO) if slides else to_base(chain, j, joint.unit))
    return np.stack(translation, 1), np.stack(rotation, 1)


def cut_axis(chain: Chain, closure: Closure) -> Array:
    """Return e_1 in the base."""
    return to_base(chain, len(chain) - 1, closure.chain_axis)


@dataclass
class Constraint:
    """Cd^-1, det Cd, H = Cd^-1 Ci, R_n, and n_R of a universal joint, in the base (kinematics 8.2, 8.3)."""

    inverse: Array
    determinant: Any
    gain: Array
    rotation: Array
    moment_axis: Array | None


def constrain(chain: Chain, closure: Closure, node: Node) -> Constraint:
    """Return the constraint of a chain; with its `gain` H, the joint rates are H u."""
    translation, rotation = jacobian(chain, closure.end)
    moment_axis = None
    independent = array(node.translation)
    if closure.chain_axis is not None:
        moment_axis = cross(cut_axis(chain, closure), closure.node_axis)
        translation = np.vstack([translation, moment_axis @ rotation])
        independent = np.vstack([independent, moment_axis @ array(node.rotation)])
    if closure.planar:
        translation, independent = translation[:2], independent[:2]
    inverted, determinant = inverse(translation)
    return Constraint(inverted, determinant, inverted @ independent, rotation, moment_axis)


def cut_acceleration(chain: Chain, end: Any) -> Array:
    """Return the acceleration of the cut joint relative to the base at constant rates of the joints (1.3.3).

    It is computed from the cut joint inward. Both sides of a sliding joint have the same rotation, so that one product
    serves for both. A joint whose axis passes through the cut joint adds nothing.
    """
    motions = [Motion()]
    for joint in chain:
        motions.append(motions[-1].turned(joint))
    acceleration, lever = array(ZERO), array(end)
    for joint, motion in zip(reversed(chain), reversed(motions), strict=False):
        if joint.body.slides:
            acceleration = joint.back(acceleration + 2.0 * cross(motion.angular_velocity, joint.slip))
            lever = joint.arm + joint.back(lever)
        else:
            acceleration = joint.back(acceleration + motion.turning @ lever)
            lever = joint.arm
    return acceleration


def quadratic(chain: Chain, closure: Closure, node: Node, constraint: Constraint) -> Array:
    """Return h of qdd = H du/dt + h, with the joint rates set; errata K4 and K5."""
    residual = array(node.acceleration) - cut_acceleration(chain, closure.end)
    if constraint.moment_axis is not None:
        spin, swing = array(ZERO), array(ZERO)
        for joint, axis in zip(chain, constraint.rotation.T, strict=True):
            turning = axis * joint.rate
            swing = swing + cross(spin, turning)
            spin = spin + turning
        e1, e2 = cut_axis(chain, closure), array(closure.node_axis)
        turning = cross(cross(spin, e1), e2) + cross(e1, cross(node.angular_velocity, e2))
        row = -(constraint.moment_axis @ swing) - turning @ (spin - array(node.angular_velocity))
        residual = np.append(residual, row)
    return constraint.inverse @ residual[: len(chain)]


def effort(body: Body, linear: Any, angular: Any) -> tuple[Array, Array]:
    """Return (force, moment) that give a body the acceleration `linear` of its origin and `angular` acceleration."""
    force = linear * body.mass + cross(angular, body.moment)
    return force, array(body.inertia) @ angular + cross(body.moment, linear)


def inertia(chain: Chain) -> Array:
    """Return the generalised inertia A (n, n), column by column from unit accelerations: D3 of dynamics, erratum D4."""
    n = len(chain)
    A = array(np.zeros((n, n)))
    for j in range(n):
        linear = chain[j].unit if chain[j].body.slides else array(ZERO)
        angular = array(ZERO) if chain[j].body.slides else chain[j].unit
        needed = [effort(chain[j].body, linear, angular)]
        for joint in chain[j + 1 :]:
            linear, angular = joint.out(linear + cross(angular, joint.arm)), joint.out(angular)
            needed.append(effort(joint.body, linear, angular))
        force, moment = array(ZERO), array(ZERO)
        for i in range(n - 1, j - 1, -1):
            force, moment = force + needed[i - j][0], moment + needed[i - j][1]
            A[i, j] = A[j, i] = (force if chain[i].body.slides else moment)[chain[i].body.axis]
            if i > j:
                force, moment = transferred(chain[i], force, moment)
    return A


def transferred(joint: Joint, force: Any, moment: Any) -> tuple[Array, Array]:
    """Return a wrench on a body as a wrench on its parent, about the parent's origin."""
    force = joint.back(force)
    return force, joint.back(moment) + cross(joint.arm, force)


def inertia_forces(chain: Chain, base: Motion, qdd: Any) -> list[tuple[Array, Array]]:
    """Return the inertial (force, moment) of each body on a moving base: forward pass of D4 (2.3.3).

    `qdd` are the joint accelerations. Passing h, those at du/dt = 0, saves the product A h of the reduction.
    """
    motion, inertial = base, []
    for joint, acceleration in zip(chain, qdd, strict=True):
        motion = motion.after(joint, acceleration)
        body = joint.body
        force = motion.acceleration * body.mass + motion.turning @ array(body.moment)
        moment = array(body.inertia) @ motion.angular_acceleration + cross(body.moment, motion.acceleration)
        inertial.append((-force, -moment - gyroscopic(array(body.inertia), motion.angular_velocity)))
    return inertial


def forces(chain: Chain, inertial: Sequence[tuple[Array, Array]], joint_forces: Any) -> Array:
    """Return the generalised forces b - A qdd (n) from `inertia_forces` and the forces of the joints.

    This is the backward pass of D4.
    """
    generalised = array(joint_forces)
    force, moment = array(ZERO), array(ZERO)
    for j in range(len(chain) - 1, -1, -1):
        force, moment = force + inertial[j][0], moment + inertial[j][1]
        generalised[j] = generalised[j] + (force if chain[j].body.slides else moment)[chain[j].body.axis]
        if j > 0:
            force, moment = transferred(chain[j], force, moment)
    return generalised


def reduced(gain: Array, inertia: Array, forces: Array) -> tuple[Array, Array]:
    """Return (H^T A H, H^T (b - A h)), the chain reduced to its node (2.3.4), (2.5.1); `forces` is b - A h."""
    return symmetric_product(gain, inertia @ gain), gain.T @ forces


def reaction(constraint: Constraint, inertia: Array, forces: Array, driven: Any) -> Array:
    """Return lambda = Cd^-T (A qdd - b), the reaction of the node on the end of the chain.

    `driven` is H du/dt and `forces` is b - A h. The force is in the base, the moment along n_R.
    """
    return constraint.inverse.T @ (inertia @ array(driven) - forces)


def total_inertia(
    chain: Chain, inertial: Sequence[tuple[Array, Array]], driven: Any, end: tuple[Any, Any] = (ZERO, ZERO)
) -> tuple[Array, Array]:
    """Return (force, moment) on the base about its origin, due to inertia and to a wrench `end` on the last body.

    `inertial` is from `inertia_forces`, and `driven` H du/dt are the joint accelerations in excess of those used there.
    These are the forward and backward passes of D8 of dynamics; with `end` from `reaction` the result is the wrench on
    the base (erratum D6).
    """
    linear, angular = array(ZERO), array(ZERO)
    wrenches = []
    for joint, (force, moment), rate in zip(chain, inertial, driven, strict=True):
        linear, angular = joint.out(linear + cross(angular, joint.arm)), joint.out(angular)
        along = joint.unit * rate
        if joint.body.slides:
            linear = linear + along
        else:
            angular = angular + along
        needed = effort(joint.body, linear, angular)
        wrenches.append((force - needed[0], moment - needed[1]))
    force, moment = array(end[0]), array(end[1])
    for joint, (own_force, own_moment) in zip(reversed(chain), reversed(wrenches), strict=True):
        force, moment = transferred(joint, force + own_force, moment + own_moment)
    return force, moment


def momentum(chain: Chain, velocity: Any, angular_velocity: Any) -> tuple[Any, Array, Array]:
    """Return (kinetic energy, momentum, angular momentum about the origin of the base), absolute, in the base.

    `velocity` is that of the origin of the base, `angular_velocity` that of the base.
    """
    w, v = array(angular_velocity), array(velocity)
    energy: Any = 0.0
    shares = []
    for joint in chain:
        v = joint.out(v + cross(w, joint.arm)) + joint.slip
        w = joint.out(w) + joint.spin
        share = effort(joint.body, v, w)
        energy = energy + 0.5 * (v @ share[0] + w @ share[1])
        shares.append(share)
    linear, angular = array(ZERO), array(ZERO)
    for joint, share in zip(reversed(chain), reversed(shares), strict=True):
        linear, angular = transferred(joint, linear + share[0], angular + share[1])
    return energy, linear, angular


def static_moment(chain: Chain) -> tuple[Any, Array]:
    """Return (mass, static moment about the origin of the base, in the base) of all bodies."""
    mass: Any = 0.0
    moment = array(ZERO)
    for joint in reversed(chain):
        mass = mass + joint.body.mass
        moment = joint.back(moment + joint.body.moment) + joint.arm * mass
    return mass, moment
