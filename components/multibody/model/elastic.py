"""Elastic bodies of a model: their interface nodes become bodies without mass, to which everything is attached.

An elastic body is its frame E, with the mass of the undeformed body; the node that its inner joint moves carries E, and
E carries all other nodes that are used. What a declaration attaches at a point of an elastic body is attached rigidly
to the nearest interface node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dockfmu.components.multibody.model.parts import (
    Model,
    Mounting,
    MultibodyJoint,
    RigidBody,
)
from dockfmu.components.multibody.model.topology import limbs
from dockfmu.components.multibody.model.vectors import Vector
from dockfmu.components.physics.elastic.body import ElasticBody

NEAR = 1e-6
"""m: a point at most this far from an interface node is at it."""


def node_name(body: str, number: int) -> str:
    """Return the name of the body that an interface node becomes."""
    return f"{body}_node{number}"


def nearest_node(body: RigidBody, point: Vector) -> tuple[int, float]:
    """Return (index of the interface node of an elastic body that is nearest to a point, its distance in m)."""
    assert body.elastic is not None
    distances = np.linalg.norm(body.elastic.place - np.array(point), axis=1)
    index = int(np.argmin(distances))
    return index, float(distances[index])


def attachments(model: Model) -> list[tuple[str, str, Vector]]:
    """Return (place in the declaration, body, point) of everything that is attached to an elastic body."""
    found: list[tuple[str, str, Vector]] = []
    for joint in model.joints:
        found.append((f"joints.{joint.name}.points", joint.predecessor, joint.on_predecessor.point))
        found.append((f"joints.{joint.name}.points", joint.successor, joint.on_successor.point))
    for spring in model.springs:
        found.append((f"springs.{spring.name}.points", spring.first, spring.first_point))
        found.append((f"springs.{spring.name}.points", spring.second, spring.second_point))
    found.extend((f"ports.{port.name}.point", port.body, port.point) for port in model.ports)
    found.extend((f"surfaces.{surface.name}.point", surface.body, surface.point) for surface in model.surfaces)
    elastic = {body.name for body in model.bodies if body.elastic is not None and body.node is None}
    return [one for one in found if one[1] in elastic]


def normalized(body: ElasticBody) -> ElasticBody:
    """Return an elastic body whose modal mass is the unit matrix: its shapes are combined where it is not."""
    mass = body.invariants.modal_mass
    if not mass.size or np.abs(mass - np.eye(len(mass))).max() < 1e-9:
        return body
    root = np.linalg.inv(np.linalg.cholesky(mass))
    squares, turn = np.linalg.eigh(root @ body.stiffness @ root.T)
    Z = root.T @ turn
    own = body.invariants
    invariants = replace(
        own,
        translation=own.translation @ Z,
        inertia_slope=np.einsum("aij,ab->bij", own.inertia_slope, Z),
        inertia_curvature=np.einsum("abij,ac,bd->cdij", own.inertia_curvature, Z, Z),
        rotation=own.rotation @ Z,
        gyration=np.einsum("aib,ac,bd->cid", own.gyration, Z, Z),
        modal_mass=np.eye(len(mass)),
    )
    sections = body.sections
    if sections is not None:
        sections = replace(sections, modal=sections.modal @ Z, displaced=sections.displaced @ Z)
    return replace(
        body,
        shape=body.shape @ Z,
        point_shape=body.point_shape @ Z,
        frequency=np.sqrt(squares),
        damping=np.einsum("ab,a,ab->b", Z, body.damping, Z),
        invariants=invariants,
        sections=sections,
    )


def elastic_rigid_body(name: str, body: ElasticBody, settled: bool = False, reach: float = NEAR) -> RigidBody:
    """Return an elastic body as a body of a model, with mass, centre and inertia of the undeformed one."""
    body = normalized(body)
    own = body.invariants
    center = own.static_moment / own.mass
    inertia = own.inertia - own.mass * (center @ center * np.eye(3) - np.outer(center, center))
    x, y, z = (tuple(map(float, row)) for row in 0.5 * (inertia + inertia.T))
    a, b, c = map(float, center)
    rows = ((x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2]))
    return RigidBody(name, own.mass, (a, b, c), rows, elastic=body, settled=settled, reach=reach)


@dataclass(frozen=True)
class ElasticPart:
    """An elastic body of an expanded model: the inner node, and all nodes that are used, by their index in the file."""

    body: RigidBody
    inner: int
    nodes: tuple[int, ...]


def elastic_parts(model: Model) -> list[ElasticPart]:
    """Return the elastic bodies of an expanded model, in the order of its bodies."""
    parts = []
    for body in model.bodies:
        if body.elastic is None or body.node is not None:
            continue
        around = [joint for joint in model.joints if joint.deforms]
        inner = next(joint.predecessor for joint in around if joint.successor == body.name)
        outer = [joint.successor for joint in around if joint.predecessor == body.name]
        index = {one.name: one.node for one in model.bodies}
        numbers = tuple(int(index[name] or 0) for name in (inner, *outer))
        parts.append(ElasticPart(body, numbers[0], numbers))
    return parts


def expanded(model: Model) -> Model:
    """Return a model with the nodes of its elastic bodies as bodies; itself if it has none, or has them already.

    Raises ValueError if its joints do not form a tree.
    """
    flexible = {body.name: body for body in model.bodies if body.elastic is not None}
    if not flexible or any(joint.deforms for joint in model.joints):
        return model
    used: dict[str, list[int]] = {name: [] for name in flexible}

    def at(body: str, point: Vector) -> tuple[str, Vector]:
        if body not in flexible:
            return body, point
        index, _ = nearest_node(flexible[body], point)
        if index not in used[body]:
            used[body].append(index)
        elastic = flexible[body].elastic
        assert elastic is not None
        x, y, z = map(float, np.array(point) - elastic.place[index])
        return node_name(body, int(elastic.nodes[index])), (x, y, z)

    def moved(joint: MultibodyJoint) -> MultibodyJoint:
        one, start = at(joint.predecessor, joint.on_predecessor.point)
        other, end = at(joint.successor, joint.on_successor.point)
        return replace(
            joint,
            predecessor=one,
            successor=other,
            on_predecessor=replace(joint.on_predecessor, point=start),
            on_successor=replace(joint.on_successor, point=end),
        )

    inner: dict[str, int] = {}
    for limb in limbs(model):
        name = model.bodies[limb.body].name
        if name in flexible:
            joint = model.joints[limb.joint]
            side = joint.on_successor if limb.outward else joint.on_predecessor
            inner[name] = nearest_node(flexible[name], side.point)[0]
    joints = [moved(joint) for joint in model.joints]
    springs = []
    for spring in model.springs:
        first, start = at(spring.first, spring.first_point)
        second, end = at(spring.second, spring.second_point)
        springs.append(replace(spring, first=first, second=second, first_point=start, second_point=end))
    ports = []
    for port in model.ports:
        body, point = at(port.body, port.point)
        ports.append(replace(port, body=body, point=point))
    surfaces = []
    for surface in model.surfaces:
        body, point = at(surface.body, surface.point)
        surfaces.append(replace(surface, body=body, point=point))
    bodies = list(model.bodies)
    for name, indices in used.items():
        elastic = flexible[name].elastic
        assert elastic is not None
        for index in (inner[name], *(one for one in indices if one != inner[name])):
            x, y, z = map(float, elastic.place[index])
            node = node_name(name, int(elastic.nodes[index]))
            bodies.append(RigidBody(node, 0.0, elastic=elastic, node=index))
            if index == inner[name]:
                ends, mountings = (node, name), (Mounting((-x, -y, -z)), Mounting())
            else:
                ends, mountings = (name, node), (Mounting((x, y, z)), Mounting())
            joints.append(MultibodyJoint(f"{node}_elastic", "fixed", *ends, *mountings, deforms=True))
    return replace(
        model,
        bodies=tuple(bodies),
        joints=tuple(joints),
        springs=tuple(springs),
        ports=tuple(ports),
        surfaces=tuple(surfaces),
    )
