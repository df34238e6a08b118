"""Joints, forces and constraints of a compiled MuJoCo model as parts of a multibody system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Protocol

import numpy as np

from dockfmu.components.multibody.declaration.joint_frames import about
from dockfmu.components.multibody.model import CoordinateLaw, Kind, Mounting, MultibodyJoint
from dockfmu.components.multibody.model.vectors import Matrix, Vector
from dockfmu.components.multibody.reference.algebra import rotation_of, unit

LIMIT_PERIOD = 0.02
"""s, assumed: half of it is how long a joint stays in its limit, of which the description gives no stiffness."""


class NameMaker(Protocol):
    """Makes names that are new."""

    def new(self, wanted: str, otherwise: str) -> str:
        """Return a name near the one wanted."""


@dataclass(frozen=True)
class JointChain:
    """The joints that move one body, with bodies without mass between them, and their indices in MuJoCo."""

    joints: list[MultibodyJoint]
    between: list[str]
    indices: list[tuple[int, MultibodyJoint]]


def _vector(values: np.ndarray) -> Vector:
    x, y, z = map(float, values)
    return x, y, z


def _matrix(rows: np.ndarray) -> Matrix:
    x, y, z = map(_vector, rows)
    return x, y, z


def joint_chain(
    mujoco: Any, compiled: Any, body: int, of_body: dict[int, str], names: NameMaker, joint_names: NameMaker
) -> JointChain:
    """Return the joints between a body and its parent: several, one after another, with bodies without mass between."""
    parent, own = of_body[int(compiled.body_parentid[body])], of_body[body]
    place, R = compiled.body_pos[body], rotation_of(compiled.body_quat[body])
    indices = [int(compiled.body_jntadr[body]) + k for k in range(int(compiled.body_jntnum[body]))]
    types = mujoco.mjtJoint
    if not indices:
        name = joint_names.new(own, "joint")
        return JointChain(
            [MultibodyJoint(name, "fixed", parent, own, Mounting(_vector(place), _matrix(R.T)), Mounting())], [], []
        )
    made, between, found = [], [], []
    carrier = parent
    for number, index in enumerate(indices):
        name = joint_names.new(compiled.joint(index).name or own, "joint")
        last = number == len(indices) - 1
        successor = own if last else names.new(f"{own}_{name}", "body")
        if not last:
            between.append(successor)
        kind = int(compiled.jnt_type[index])
        point = compiled.jnt_pos[index]
        if kind == types.mjJNT_FREE:
            # positions and attitude are those of the body itself
            q = (*place, *compiled.body_quat[body])
            joint = MultibodyJoint(name, "free", carrier, successor, coordinates=tuple(map(float, q)))
        else:
            kinds: dict[int, Kind] = {
                int(types.mjJNT_HINGE): "revolute",
                int(types.mjJNT_SLIDE): "prismatic",
                int(types.mjJNT_BALL): "spherical",
            }
            frame = np.eye(3) if kind == types.mjJNT_BALL else about(unit(compiled.jnt_axis[index]))
            # the first joint also has the placement of the body; later ones are in its frame
            on_carrier = (place + R @ point, frame @ R.T) if number == 0 else (point, frame)
            joint = MultibodyJoint(
                name,
                kinds[kind],
                carrier,
                successor,
                Mounting(_vector(on_carrier[0]), _matrix(on_carrier[1])),
                Mounting(_vector(point), _matrix(frame)),
            )
        made.append(joint)
        found.append((index, joint))
        carrier = successor
    return JointChain(made, between, found)


def in_pose(compiled: Any, index: int, joint: MultibodyJoint, positions: np.ndarray) -> MultibodyJoint:
    """Return a joint that starts at the positions of MuJoCo, whose reference is zero here."""
    at = int(compiled.jnt_qposadr[index])
    if joint.kind in ("free", "spherical"):
        q = np.array(positions[at : at + (7 if joint.kind == "free" else 4)])
        q[-4:] /= np.linalg.norm(q[-4:])
    else:
        q = positions[at : at + 1] - compiled.qpos0[at]
    if joint.kind != "free" and np.array_equal(positions, compiled.qpos0):
        return joint
    return replace(joint, coordinates=tuple(map(float, q)))


def forces(
    compiled: Any, data: Any, index: int, joint: MultibodyJoint, left_out: list[str]
) -> tuple[list[CoordinateLaw], dict[str, str]]:
    """Return the law of a joint and the reasons for what is assumed in it.

    Coordinates are 0 in the pose of the description, where those of MuJoCo have their reference.
    """
    dof = int(compiled.jnt_dofadr[index])
    size = {"spherical": 3, "free": 6}.get(joint.kind, 1)
    stiffness, damping = float(compiled.jnt_stiffness[index]), float(compiled.dof_damping[dof])
    if _any(compiled, "jnt_stiffnesspoly", index) or _any(compiled, "dof_dampingpoly", dof):
        left_out.append(f"nonlinear spring or damper of joint {joint.name}: only its linear part is taken")
    limited, armature = bool(compiled.jnt_limited[index]), float(compiled.dof_armature[dof])
    loss = float(compiled.dof_frictionloss[dof])
    if armature:
        left_out.append(f"armature {armature:g} of joint {joint.name}: add it to a body as inertia about the axis")
    if loss:
        left_out.append(
            f"frictionloss {loss:g} of joint {joint.name}: give friction and its presliding friction_stiffness"
        )
    if size > 1:
        if stiffness or damping or limited:
            left_out.append(f"spring, damper or limit of the {joint.kind} joint {joint.name}")
        return [], {}
    at = int(compiled.jnt_qposadr[index])
    reference = float(compiled.qpos0[at])
    rest = float(compiled.qpos_spring[at]) - reference if stiffness else 0.0
    lower, upper = (float(value) - reference for value in compiled.jnt_range[index]) if limited else (-inf, inf)
    if not (stiffness or damping or limited):
        return [], {}
    stop, reasons = 0.0, {}
    if limited:
        stop = float(f"{mass_felt(compiled, data, dof) * (2.0 * np.pi / LIMIT_PERIOD) ** 2:.3g}")
        reasons[f"{joint.name}.stop_stiffness"] = (
            f"assumed: the limit has no stiffness in the description; {LIMIT_PERIOD:g} s is the period on it"
        )
    return [CoordinateLaw(joint.name, 0, stiffness, rest, 0.0, damping, lower, upper, stop)], reasons


def _any(compiled: Any, name: str, index: int) -> bool:
    """Return whether an array of the compiled model, absent in older versions, has a number that is not 0."""
    return bool(np.any(getattr(compiled, name, np.zeros(index + 1))[index]))


def mass_felt(compiled: Any, data: Any, dof: int) -> float:
    """Return the inertia that a coordinate feels in the pose of the description."""
    import mujoco

    full = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, full)
    return float(full[dof, dof])


def constraints(
    mujoco: Any, compiled: Any, of_body: dict[int, str], joint_names: NameMaker, left_out: list[str]
) -> list[MultibodyJoint]:
    """Return equality constraints as cut joints: connect is a spherical one, weld a fixed one."""
    found = []
    kinds = {int(mujoco.mjtEq.mjEQ_CONNECT): "spherical", int(mujoco.mjtEq.mjEQ_WELD): "fixed"}
    for index in range(compiled.neq):
        name = compiled.equality(index).name or f"constraint {index + 1}"
        kind = int(compiled.eq_type[index])
        if kind not in kinds or int(compiled.eq_objtype[index]) != int(mujoco.mjtObj.mjOBJ_BODY):
            left_out.append(f"equality {name}: neither connect nor weld of two bodies")
            continue
        if not compiled.eq_active0[index]:
            left_out.append(f"equality {name}: not active at the start")
            continue
        first, second = (int(compiled.eq_obj1id[index]), int(compiled.eq_obj2id[index]))
        numbers = compiled.eq_data[index]
        made = joint_names.new(name, "cut")
        if kinds[kind] == "spherical":
            sides = Mounting(_vector(numbers[:3])), Mounting(_vector(numbers[3:6]))
            found.append(MultibodyJoint(made, "spherical", of_body[first], of_body[second], *sides, cut=True))
            continue
        # anchor in the second body, then the pose of the second body in the first
        R = rotation_of(numbers[6:10])
        place = numbers[3:6]
        sides = Mounting(_vector(place), _matrix(R.T)), Mounting(_vector(numbers[:3]))
        found.append(MultibodyJoint(made, "fixed", of_body[first], of_body[second], *sides, cut=True))
    return found


def elements_left_out(compiled: Any) -> list[str]:
    """Return a sentence for each kind of element that a declaration has no place for."""
    contact = int(np.sum((compiled.geom_contype != 0) | (compiled.geom_conaffinity != 0)))
    counted: list[tuple[int, str, Callable[[int], str] | None]] = [
        (contact, "geometries that touch: declare surfaces and pairs", None),
        (int(compiled.ntendon), "tendons", lambda k: compiled.tendon(k).name),
        (int(compiled.nu), "actuators: each coordinate has the input drive", lambda k: compiled.actuator(k).name),
        (int(compiled.nsensor), "sensors", None),
        (int(compiled.nkey), "keyframes", lambda k: compiled.key(k).name),
        (int(getattr(compiled, "nflex", 0)), "flexible bodies", None),
        (int(np.sum(compiled.body_gravcomp != 0.0)), "bodies whose weight is compensated: they have weight here", None),
        (int(compiled.nmocap), "mocap bodies: fixed here", None),
        (int(bool(compiled.opt.density or compiled.opt.viscosity)), "fluid with drag", None),
    ]
    found = []
    for count, what, named in counted:
        if count:
            head, _, tail = what.partition(":")
            names = ", ".join(filter(None, map(named, range(min(count, 8))))) if named else ""
            listed = f" ({names}{', ...' if count > 8 else ''})" if names else ""
            found.append(f"{count} {head}{listed}" + (f":{tail}" if tail else ""))
    return found
