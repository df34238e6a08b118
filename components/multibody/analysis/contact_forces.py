"""Contacts of a model in a state: what touches, how deep, and the forces, by detection and law of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.multibody.analysis.results import ContactForce, TargetMotion
from dockfmu.components.multibody.contacts import detection
from dockfmu.components.multibody.contacts import forces as kernels
from dockfmu.components.multibody.contacts.ports import (
    hidden_groups,
    law_fields,
    pair_rows,
    run_fields,
    surface_fields,
    vertex_fields,
)
from dockfmu.components.multibody.model import BASE, Model
from dockfmu.components.multibody.model.surfaces import TARGET
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.physics.contact import list_forces
from dockfmu.components.physics.mechanics.rotation import from_quaternion


def _record(model: Model) -> Record:
    """Return the record of the surfaces and contacts of a model alone."""
    surfaces, contacts = max(1, len(model.surfaces)), max(1, len(model.contacts))
    return Record(
        Group("surface", *surface_fields(), count=surfaces),
        Group(
            "vertex", *vertex_fields("none.vertex_1", {}), count=max(1, sum(len(s.vertices) for s in model.surfaces))
        ),
        Group("law", *law_fields(None), count=contacts),
        *hidden_groups(model),
        Group("run", *run_fields(model)),
    )


def contact_forces(model: Model, motion: TreeMotion, target: TargetMotion) -> tuple[ContactForce, ...]:
    """Return the contacts that are closed in a state of motion, with their forces; friction is that of the sliding."""
    if not model.contacts:
        return ()
    record = _record(model)
    m = record.view(record.start.copy())
    _set_surfaces(m, model, motion, target)
    rows = pair_rows(model)
    face = 0
    place = {surface.name: k for k, surface in enumerate(model.surfaces)}
    for pair, row in zip(m.pair, rows, strict=False):
        pair.contact, pair.kind = row.contact, row.kind
        pair.first, pair.second = place[row.first.name], place[row.second.name]
        pair.first_vertex, pair.vertices, pair.first_face = row.first_vertex, row.vertices, face
        face += row.vertices
    for law, contact in zip(m.law, model.contacts, strict=False):
        for name in ("stiffness", "damping", "friction", "slip_velocity", "depth_limit"):
            setattr(law, name, getattr(contact, name))
    detection.set_faces(m.surface, m.vertex, m.face, m.pair, m.run)
    kernels.set_laws(m.kind, m.law, m.pair, m.run)
    detection.detect(m.surface, m.face, m.pair, m.kind, m.tally, m.run)
    list_forces.set_velocities(m.tally, 0.0, m.surface)
    list_forces.make_forces(m.tally, 0.0, m.kind, True)
    found = []
    for item in m.tally.contact[: int(m.tally.count)]:
        contact = model.contacts[int(item.pair) - 1]
        found.append(
            ContactForce(
                contact.name,
                (model.surfaces[int(item.link)].name, model.surfaces[int(item.other)].name),
                (model.surfaces[int(item.link)].body, model.surfaces[int(item.other)].body),
                float(item.penetration),
                np.array(item.position),
                np.array(item.force),
                float(item.normal_force),
                float(item.friction_force),
                float(item.stored_energy),
            )
        )
    return tuple(found)


def add_contacts(
    motion: TreeMotion, model: Model, contacts: Sequence[ContactForce], F: np.ndarray, L: np.ndarray
) -> None:
    """Add the forces of contacts to the forces and moments on the bodies; those on base and target have no effect."""
    number = {body.name: k for k, body in enumerate(model.bodies)}
    for contact in contacts:
        for body, force in zip(contact.bodies, (-contact.force, contact.force), strict=True):
            if body in number:
                k = number[body]
                F[k] += force
                L[k] += cross(contact.position - motion.r[k + 1], force)


def _set_surfaces(m: Any, model: Model, motion: TreeMotion, target: TargetMotion) -> None:
    """Set vertices, sizes and motions of all surfaces; A of a motion takes components to the base's axes."""
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    vertex = 0
    for own, surface in zip(m.surface, model.surfaces, strict=False):
        for x, r in surface.vertices:
            m.vertex[vertex].x, m.vertex[vertex].r = x, r
            vertex += 1
        if surface.body == TARGET:
            A = np.array(from_quaternion(tuple(map(float, target.quaternion)))).T
            center, arm = np.array(target.position, float), A @ np.array(surface.point)
            v, w = A @ np.array(target.velocity, float), A @ np.array(target.angular_velocity, float)
        else:
            body = number[surface.body]
            A, center, v, w = motion.A[body], motion.r[body], motion.v[body], motion.w[body]
            inside = np.array(model.bodies[body - 1].center) if body else np.zeros(3)
            arm = A @ (np.array(surface.point) - inside)
        own.rotation[:] = np.array(surface.rotation) @ A.T
        own.position[:] = center + arm
        own.velocity[:] = v + cross(w, arm)
        own.angular_velocity[:] = w
        own.radius = surface.radius
        own.reach[:] = A @ np.array(surface.along)
