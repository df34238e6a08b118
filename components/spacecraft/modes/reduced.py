"""Modes of a spacecraft from the files of `dockfmu reduce`: a whole structure, or appendages on a rigid craft.

An appendage is a body whose frame is tied to an interface node, at which no shape moves: the craft holds that node.
Its shapes, static ones included, are modes relative to the frame of the craft; ports and nozzles on the craft do not
move in them. The invariants are moved to the centre of mass of the whole craft (flexible 3.3): with p the place of the
origin of E and R its axes in S,

    J_rw' = R J_rw,  J_phiw' = R J_phiw + p x J_rw',
    N2_a' = R N2_a R^T + 2 p . t_a - p t_a^T - t_a p^T,  t_a = J_rw,a'.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.spacecraft.modes.inertia import InertialCoupling
from dockfmu.components.spacecraft.modes.model import ModalModel, Modes
from dockfmu.components.spacecraft.modes.sections import joined_sections, placed_sections, sections_at
from dockfmu.components.spacecraft.modes.wireframe import Wireframe, joined

NEAR = 1e-6
"""m: a port or nozzle this near to an interface node of an appendage is on it."""
STILL = 1e-9
"""Of the largest: what the fixed node of an appendage may move in a shape."""


def moved_coupling(body: ElasticBody, place: np.ndarray, R: np.ndarray) -> InertialCoupling:
    """Return the coupling of a body whose frame E has its origin at `place` in S, from the craft's centre of mass.

    `R` maps components in E to those in S.
    """
    own = body.invariants
    t = R @ own.translation
    along = np.einsum("i,ia->a", place, t)
    outer = np.einsum("ia,j->aij", t, place)
    shift = 2.0 * along[:, None, None] * np.eye(3) - outer - outer.transpose(0, 2, 1)
    return InertialCoupling(
        translation=t,
        rotation=R @ own.rotation + np.cross(place[:, None], t, axis=0),
        inertia=np.einsum("ik,akl,jl->aij", R, own.inertia_slope, R) + shift,
        curvature=np.einsum("ik,abkl,jl->abij", R, own.inertia_curvature, R),
        gyration=np.einsum("ik,akb->abi", R, own.gyration),
    )


def whole_model(body: ElasticBody) -> ModalModel:
    """Return a body in mean axes as the modal model of a whole craft, its centre of mass being the origin of S.

    Raises ValueError for another frame.
    """
    if body.frame != "mean":
        raise ValueError(
            f"{body.name} has its frame at node {body.frame}: declare it as one of the appendages, or reduce the "
            "structure of the whole craft with --frame mean"
        )
    coupling = moved_coupling(body, np.zeros(3), np.eye(3))
    lines = Wireframe(body.points, body.lines, body.point_shape)
    return ModalModel(body.frequency, body.nodes, body.shape, body.place, coupling, body.sections, lines)


def appendage_modes(
    appendages: Sequence[tuple[ElasticBody, Sequence[float], Sequence[float]]],
    ports: Sequence[Sequence[float]],
    thrusters: Sequence[Sequence[float]],
) -> Modes:
    """Return the modes of a rigid craft with appendages: (body, place of E in S, yaw, pitch, roll of E in S).

    Places are from the centre of mass of the whole craft. Ports and nozzles are positions in S: on an interface node of
    an appendage, or on the rigid craft. Raises ValueError for a body whose frame is not tied to a node.
    """
    frequencies, dampings, couplings, nodes, sections, wireframes = [], [], [], [], [], []
    for body, place, angles in appendages:
        if body.frame == "mean":
            raise ValueError(f"{body.name} is in mean axes, an appendage is held: reduce it with --frame NODE")
        root = list(body.nodes).index(int(body.frame))
        if np.abs(body.shape[root]).max(initial=0.0) > STILL * np.abs(body.shape).max(initial=1.0):
            raise ValueError(
                f"{body.name}: its node {body.frame} moves in its shapes; reduce it with --frame {body.frame}"
            )
        yaw, pitch, roll = map(float, angles)
        R = np.array(from_angles(yaw, pitch, roll)).T
        at = np.asarray(place, float)
        frequencies.append(body.frequency)
        dampings.append(body.damping)
        couplings.append(moved_coupling(body, at, R))
        wireframes.append(Wireframe(body.points, body.lines, body.point_shape).placed(at, R))
        both = np.kron(np.eye(2), R)
        places = at + body.place @ R.T
        nodes.append((places, np.einsum("ij,kja->kia", both, body.shape)))
        sections.append(
            sections_at(
                None if body.sections is None else placed_sections(body.sections, at, R),
                range(len(body.frequency)),
                [_near(places, point) for point in ports],
                [_near(places, point) for point in thrusters],
            )
        )
    sizes = [len(one) for one in frequencies]
    ends = np.cumsum([0, *sizes])
    n = int(ends[-1])
    inertia, curvature, gyration = np.zeros((n, 3, 3)), np.zeros((n, n, 3, 3)), np.zeros((n, n, 3))
    for k, one in enumerate(couplings):
        here = slice(ends[k], ends[k + 1])
        inertia[here], curvature[here, here], gyration[here, here] = one.inertia, one.curvature, one.gyration
    coupling = InertialCoupling(
        np.hstack([one.translation for one in couplings]),
        np.hstack([one.rotation for one in couplings]),
        inertia,
        curvature,
        gyration,
    )

    def shape_at(point: Sequence[float]) -> np.ndarray:
        found = np.zeros((6, n))
        for k, (position, shape) in enumerate(nodes):
            if (index := _near(position, point)) is not None:
                found[:, ends[k] : ends[k + 1]] = shape[index]
        return found

    frequency, damping = np.concatenate(frequencies), np.concatenate(dampings)
    ratio = damping / (2.0 * frequency)
    if np.any(ratio >= 1.0):
        raise ValueError(
            f"mode {int(np.argmax(ratio)) + 1} has the damping ratio {ratio.max():.3g}; below 1 it vibrates"
        )
    order = np.argsort(frequency, kind="stable")
    nozzles = [shape_at(point)[:, order] for point in thrusters]
    return Modes(
        frequency=frequency[order],
        decrement=(2.0 * np.pi * ratio / np.sqrt(1.0 - ratio**2))[order],
        port=np.stack([shape_at(point)[:, order] for point in ports]),
        thruster=np.stack([nozzle[:3] for nozzle in nozzles]),
        control=nozzles[0],
        coupling=coupling.select(list(order)),
        sections=joined_sections(sections, list(order), sizes),
        wireframe=joined(wireframes).select(list(order)),
    )


def _near(places: np.ndarray, point: Sequence[float]) -> int | None:
    """Return the index of the place that a point is on, None if there is none."""
    distance = np.linalg.norm(places - np.asarray(point, float), axis=1)
    return int(np.argmin(distance)) if distance.min() < NEAR else None


def is_elastic_body(file: Path) -> bool:
    """Return whether a .npz file is one of `dockfmu reduce`: it has the entry `about`."""
    try:
        with np.load(file, allow_pickle=False) as content:
            return "about" in content.files
    except (OSError, ValueError):
        return False
