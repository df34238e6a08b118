"""Random models of all kinds of joints, and the state of a record without stepping it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dockfmu.components.core.component import Component, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import Declared
from dockfmu.components.multibody.groups import Solver, groups_of
from dockfmu.components.multibody.model import (
    BASE,
    COORDINATES,
    RATES,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
    RigidBody,
)
from dockfmu.components.multibody.model.vectors import Matrix, Vector
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.components.physics.tree.elastic_bodies import Flex

KINDS: tuple[Kind, ...] = tuple(COORDINATES)


def vector(random: np.random.Generator, size: float = 1.0) -> Vector:
    x, y, z = (size * random.normal(size=3)).tolist()
    return x, y, z


def matrix(values: object) -> Matrix:
    x, y, z = (tuple(row) for row in np.asarray(values, float).tolist())
    return x, y, z


def attitude(random: np.random.Generator) -> list[float]:
    q = random.normal(size=4)
    return (q / np.linalg.norm(q)).tolist()


def mounting(random: np.random.Generator) -> Mounting:
    return Mounting(vector(random, 0.5), matrix(from_quaternion(tuple(attitude(random)))))


def random_model(seed: int, count: int, kinds: Sequence[Kind] = KINDS, *, reverse: float = 0.0) -> Model:
    """Return a tree in which each body hangs on one of the three before it, or on the base."""
    random = np.random.default_rng(seed)
    bodies, joints = [], []
    for k in range(1, count + 1):
        points = random.normal(size=(6, 3)) * 0.3
        J = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
        bodies.append(RigidBody(f"b{k}", float(random.uniform(0.5, 2.0)), vector(random, 0.2), matrix(J)))
        before = int(random.integers(max(0, k - 3), k))
        ends = [BASE if before == 0 else f"b{before}", f"b{k}"]
        if random.random() < reverse:
            ends.reverse()
        kind = kinds[random.integers(len(kinds))]
        q = random.normal(size=len(COORDINATES[kind])).tolist()
        if kind in ("spherical", "free"):
            q[-4:] = attitude(random)
        joints.append(
            MultibodyJoint(
                f"j{k}",
                kind,
                *ends,
                mounting(random),
                mounting(random),
                0.3 if kind == "screw" else 0.0,
                tuple(q),
                tuple(random.normal(size=len(RATES[kind])).tolist()),
            )
        )
    return Model(f"random{seed}", tuple(bodies), tuple(joints), gravity=(0.4, -9.81, 2.0))


def free_model(seed: int, count: int, kinds: Sequence[Kind]) -> Model:
    """Return a random model whose first body flies freely and carries all others."""
    model = random_model(seed, count, kinds, reverse=0.5)
    joints = []
    for k, joint in enumerate(model.joints):
        if k == 0:
            q, v = (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5), (0.1, 0.2, -0.3, 0.4, 0.5, -0.6)
            joint = replace(joint, kind="free", pitch=0.0, coordinates=q, rates=v)
        elif joint.predecessor == BASE:
            joint = replace(joint, predecessor="b1")
        elif joint.successor == BASE:
            joint = replace(joint, successor="b1")
        joints.append(joint)
    return replace(model, joints=tuple(joints), gravity=(0.0, 0.0, 0.0))


def made(model: Model) -> Component:
    return interpreted(component_of(Declared(model, "test")))


def interpreted(component: Component) -> Component:
    """Return a component whose outermost kernels are interpreted: what they call is compiled once for all models."""
    plain = [getattr(one, "py_func", one) for one in (component.initialize, component.step)]
    return replace(component, initialize=plain[0], step=plain[1])


def solver_of(m: Any) -> Solver:
    """Return the work space of the loops of a record, as kernels take it."""
    return groups_of(m).solver


def flex_of(m: Any) -> Flex:
    """Return the data of the elastic bodies of a record, as kernels take them."""
    return solver_of(m).flex


def body_accelerations(instance: Instance, model: Model) -> dict[str, np.ndarray]:
    """Return (acceleration of the origin, angular acceleration) of each body in I, from the links."""
    m, out = instance.m, {}
    gravity = np.array(model.gravity)
    for k, body in enumerate(model.bodies):
        shown = m.body[k]
        link = m.link[int(shown.link)]
        own = np.array(shown.axes).T @ link.rotation
        r = -own.T @ shown.reference
        w, e = np.array(link.angular_velocity), np.array(link.angular_acceleration)
        a = link.acceleration + gravity + np.cross(e, r) + np.cross(w, np.cross(w, r))
        out[body.name] = np.hstack([a, e])
    return out
