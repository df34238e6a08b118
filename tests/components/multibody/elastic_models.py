"""Random elastic bodies, systems with them, and the same systems in the Cartesian reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import BASE, Kind, Model, Mounting, Port
from dockfmu.components.multibody.model.elastic import elastic_rigid_body, expanded, nearest_node
from dockfmu.components.multibody.reference.elastic import (
    ElasticMarker,
    ElasticState,
    ElasticSystem,
    rigid_invariants,
)
from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.components.physics.tree.links import FRAME
from tests.components.multibody.random_models import random_model, vector

KINDS: tuple[Kind, ...] = ("spherical", "universal", "revolute", "cylindrical", "prismatic", "planar", "fixed")


def random_elastic(seed: int, shapes: int = 5, nodes: int = 4, size: float = 0.1) -> ElasticBody:
    """Return a body of displaced rigid bodies on eight nodes with random shapes of a unit modal mass."""
    random = np.random.default_rng(seed)
    k = 8
    place, offset = random.normal(size=(k, 3)), 0.1 * random.normal(size=(k, 3))
    mass = random.uniform(0.2, 1.0, k)
    turned = random.normal(size=(k, 3, 3))
    inertia = 0.02 * np.einsum("kij,klj->kil", turned, turned)
    shape = random.normal(size=(k, 6, shapes))
    gram = ElasticInvariants.of_bodies(mass, place, offset, inertia, shape).modal_mass
    shape = shape @ np.linalg.inv(np.linalg.cholesky(gram)).T
    own = ElasticInvariants.of_bodies(mass, place, offset, inertia, shape)
    own = replace(own, modal_mass=np.eye(shapes))
    frequency = np.sort(random.uniform(1.0, 40.0, shapes)) / size * 0.1
    return ElasticBody(
        f"random{seed}", "mean", "bodies", np.zeros(3), np.arange(1, nodes + 1), place[:nodes], shape[:nodes],
        frequency, 0.02 * frequency, own, np.zeros(shapes, bool), place, shape[:, :3], np.zeros((0, 2), int), (), {},
    )  # fmt: skip


def elastic_model(seed: int, count: int, kinds: tuple[Kind, ...] = KINDS, every: int = 2) -> Model:
    """Return a random tree in which every second body is elastic, with a port on each of these."""
    random = np.random.default_rng(seed)
    model = random_model(seed, count, kinds, reverse=0.5)
    bodies, ports = [], []
    for k, body in enumerate(model.bodies):
        if k % every == 0:
            bodies.append(elastic_rigid_body(body.name, random_elastic(seed + 31 * k), reach=9.0))
            ports.append(Port(f"p{k}", body.name, vector(random, 0.5)))
        else:
            bodies.append(body)
    return replace(model, bodies=tuple(bodies), ports=tuple(ports))


def deflect(instance: Instance, seed: int, size: float = 0.1) -> None:
    """Give all modes random coordinates and rates, and evaluate the start again."""
    random = np.random.default_rng(seed)
    m = instance.m
    for k in range(int(m.run.modes)):
        link = m.link[int(m.modal[k].link)]
        link.q, link.rate = size * random.normal(), random.normal()
    instance.initialize()


def reference_system(model: Model) -> ElasticSystem:
    """Return a model that is not expanded in the Cartesian reference."""
    own, stiffness, damping = [], [], []
    for body in model.bodies:
        if body.elastic is None:
            own.append(rigid_invariants(body.mass, np.array(body.center), np.array(body.inertia)))
            stiffness.append(np.zeros((0, 0)))
            damping.append(np.zeros((0, 0)))
        else:
            own.append(body.elastic.invariants)
            stiffness.append(body.elastic.stiffness)
            damping.append(np.diag(body.elastic.damping))
    joints = tuple(
        (joint.kind, marker(model, joint.predecessor, joint.on_predecessor),
         marker(model, joint.successor, joint.on_successor))
        for joint in model.joints
    )  # fmt: skip
    return ElasticSystem(tuple(own), tuple(stiffness), tuple(damping), joints, np.array(model.gravity))


def marker(model: Model, name: str, mounting: Mounting) -> ElasticMarker:
    """Return a joint frame in the reference."""
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}[name]
    point, R = np.array(mounting.point), np.array(mounting.rotation).T
    body = model.bodies[number - 1] if number else None
    if body is None or body.elastic is None:
        return ElasticMarker(number, point, np.zeros((6, 0)), R=R)
    index, _ = nearest_node(body, mounting.point)
    place = body.elastic.place[index]
    return ElasticMarker(number, place, body.elastic.shape[index], point - place, R)


def reference_states(instance: Instance, model: Model) -> list[ElasticState]:
    """Return the state of an instance in the reference, the base first."""
    m, none = instance.m, np.zeros(0)
    found = [ElasticState(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), none, none)]
    for k in range(len(model.bodies)):
        shown = m.body[k]
        link = m.link[int(shown.link)]
        own = np.array(shown.axes).T @ link.rotation
        arm = -own.T @ shown.reference
        w = np.array(link.angular_velocity)
        q, rate = none, none
        if link.kind == FRAME:
            o = m.flex.body[int(link.flex)]
            modes = [m.link[int(o.modes) + j] for j in range(int(o.count))]
            q, rate = np.array([one.q for one in modes]), np.array([one.rate for one in modes])
        found.append(ElasticState(own.T, link.position + arm, link.velocity + np.cross(w, arm), own @ w, q, rate))
    assert len(expanded(model).bodies) == len(m.body)
    return found


def kernel_accelerations(instance: Instance, model: Model) -> list[np.ndarray]:
    """Return {a, epsilon, zeta} of all bodies of a model, in axes of each, from the links."""
    m, found = instance.m, []
    for k, _ in enumerate(model.bodies):
        shown = m.body[k]
        link = m.link[int(shown.link)]
        own = np.array(shown.axes).T @ link.rotation
        arm = -own.T @ shown.reference
        w, e = np.array(link.angular_velocity), np.array(link.angular_acceleration)
        a = link.acceleration + np.array(model.gravity) + np.cross(e, arm) + np.cross(w, np.cross(w, arm))
        parts = [own @ a, own @ e]
        if link.kind == FRAME:
            o = m.flex.body[int(link.flex)]
            parts.append(np.array([m.link[int(o.modes) + j].qdd for j in range(int(o.count))]))
        found.append(np.concatenate(parts))
    return found
