"""Plastic impulses on whole finite-element bodies, node by node: numpy, and nothing that the kernels share.

Each node carries a rigid body with six velocities of its own. Elastic forces are no impulses; what is left are the
masses of the nodes, the motions that the shapes allow them, and the joints as rows on the velocities of nodes. After a
plastic impulse the velocities are the projection of those before on what all joints and the closed lock allow, in the
metric of the masses of the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag, eigh, null_space
from scipy.spatial.transform import Rotation

from dockfmu.components.multibody.model import BASE, Model, MultibodyJoint, RigidBody
from dockfmu.components.multibody.model.vectors import Vector
from dockfmu.components.multibody.reference.elastic import ElasticState
from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.elastic.frame import read_frame


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """Return the matrix of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass(frozen=True)
class NodalBody:
    """Rigid bodies at the nodes of a body, in axes of its frame.

    Places of nodes (n, 3), masses (n,), offsets (n, 3) of their centres, central inertias (n, 3, 3), and displacements
    and rotations of the nodes in each shape (n, 6, H).
    """

    place: np.ndarray
    mass: np.ndarray
    offset: np.ndarray
    inertia: np.ndarray
    shape: np.ndarray

    @property
    def masses(self) -> np.ndarray:
        """Return the mass matrix of the twists of all nodes' bodies (6 n, 6 n)."""
        blocks = [block_diag(m * np.eye(3), J) for m, J in zip(self.mass, self.inertia, strict=True)]
        return block_diag(*blocks)

    def centers(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the displaced centres of mass of the nodes' bodies (n, 3)."""
        moved = self.shape @ coordinates
        return self.place + self.offset + moved[:, :3] + np.cross(moved[:, 3:], self.offset)

    def motions(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the twists of all nodes' bodies by unit twists of the frame and unit modal rates (6 n, 6 + H)."""
        rows = []
        for c, offset, shape in zip(self.centers(coordinates), self.offset, self.shape, strict=True):
            slides = shape[:3] - cross_matrix(offset) @ shape[3:]
            rows.append(np.block([[np.eye(3), -cross_matrix(c), slides], [np.zeros((3, 3)), np.eye(3), shape[3:]]]))
        return np.vstack(rows)

    def point_motion(self, point: Vector, state: ElasticState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (rotation of the node to I, place in I, its twist in I by unit rates (6, 6 + H)) at a point."""
        apart = np.linalg.norm(self.place - point, axis=1)
        k = int(np.argmin(apart))
        rigid = np.array(point) - self.place[k]
        assert not self.shape.size or apart[k] < 1e-9
        moved = self.shape[k] @ state.coordinates
        angle = np.linalg.norm(moved[3:])
        turning = cross_matrix(moved[3:])
        # the angular velocity of a rotation vector that changes
        left = np.eye(3)
        if angle > 0.0:
            left = left + (1.0 - np.cos(angle)) / angle**2 * turning
            left = left + (angle - np.sin(angle)) / angle**3 * turning @ turning
        d = self.place[k] + rigid + moved[:3]
        J = np.block([
            [np.eye(3), -cross_matrix(d), self.shape[k, :3]],
            [np.zeros((3, 3)), np.eye(3), left @ self.shape[k, 3:]],
        ])  # fmt: skip
        turn = state.A @ Rotation.from_rotvec(moved[3:]).as_matrix()
        return turn, state.r + state.A @ d, np.kron(np.eye(2), state.A) @ J


def rigid_nodal_body(body: RigidBody) -> NodalBody:
    """Return a rigid body as one node at its centre of mass."""
    whole = np.array([body.mass]), np.zeros((1, 3)), np.array([body.inertia])
    return NodalBody(np.array([body.center]), *whole, np.zeros((1, 6, 0)))


def nodal_body(file: Path, body: ElasticBody, modes: int) -> NodalBody:
    """Return a body of a frame model whose frame is tied to an interface node, with its shapes at all nodes.

    The motions that static shapes and `modes` modes with the interface held allow are found from the model; the
    combinations that the file calls its shapes are those that displace its interface nodes and its points alike.
    """
    full, _ = read_frame(file)
    K, M, n = np.array(full.stiffness), np.array(full.mass), len(full.nodes)
    index = [int(np.flatnonzero(full.nodes == node)[0]) for node in body.nodes]
    edge = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in index])
    inner = np.setdiff1d(np.arange(6 * n), edge)
    span = np.zeros((6 * n, len(edge) + modes))
    span[edge, : len(edge)] = np.eye(len(edge))
    if len(inner):
        span[inner, : len(edge)] = -np.linalg.solve(K[np.ix_(inner, inner)], K[np.ix_(inner, edge)])
        span[inner, len(edge) :] = eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)])[1][:, :modes]
    points = np.concatenate([np.arange(6 * k, 6 * k + 3) for k in range(n)])
    shown = np.vstack((np.vstack(list(body.shape)), np.vstack(list(body.point_shape))))
    known = np.concatenate((edge, points))
    found, _, rank, _ = np.linalg.lstsq(span[known], shown, rcond=None)
    assert rank == span.shape[1]
    shape = span @ found
    np.testing.assert_allclose(shape[known], shown, atol=1e-9 * np.abs(shown).max())
    np.testing.assert_allclose(shape.T @ M @ shape, np.eye(shape.shape[1]), atol=1e-9)
    bodies = full.bodies
    assert bodies is not None
    place = full.position - body.origin
    return NodalBody(place, bodies.mass, bodies.offset, bodies.inertia, shape.reshape(n, 6, -1))


HELD: dict[str, tuple[int, ...]] = {
    "free": (),
    "spherical": (0, 1, 2),
    "revolute": (0, 1, 2, 3, 4),
    "prismatic": (0, 1, 3, 4, 5),
    "cylindrical": (0, 1, 3, 4),
    "screw": (0, 1, 3, 4),
    "fixed": (0, 1, 2, 3, 4, 5),
}
"""Velocities (three, then three angular) in axes of the first joint frame that a joint does not allow."""
LOCKED: dict[str, tuple[tuple[int, ...], ...]] = {
    "free": ((0, 1, 2, 3, 4, 5),),
    "spherical": ((3, 4, 5),),
    "revolute": ((5,),),
    "prismatic": ((2,),),
    "cylindrical": ((5,), (2,)),
    "screw": ((5,),),
}
"""Those that a lock stops, by the coordinate that is locked."""


@dataclass(frozen=True)
class NodalImpact:
    """Rates of each body after an impulse (twist of its frame, modal rates), kinetic energy before it and lost in it.

    `work` is that of what drives prescribed coordinates.
    The impulse of the lock has a component for each velocity that the lock stops, in axes of the first joint frame;
    `rate` is what these were. Momenta (linear, angular about the origin of I) are those before and after; `nodes` are
    the twists of all bodies at nodes after it.
    """

    rates: list[np.ndarray]
    nodes: list[np.ndarray]
    kinetic: float
    work: float
    lost: float
    impulse: np.ndarray
    rate: np.ndarray
    momenta: tuple[np.ndarray, np.ndarray]


def own_rates(state: ElasticState) -> np.ndarray:
    """Return the twist of the frame, in its axes, and the modal rates of a body."""
    return np.concatenate((state.A.T @ state.v, state.w, state.rates))


def nodal_momenta(bodies: Sequence[NodalBody], states: Sequence[ElasticState], twists: list[np.ndarray]) -> np.ndarray:
    """Return momentum and angular momentum about the origin of I of all nodes."""
    total = np.zeros(6)
    for body, state, twist in zip(bodies, states, twists, strict=True):
        parts = (body.masses @ twist).reshape(-1, 6)
        for center, part in zip(body.centers(state.coordinates), parts, strict=True):
            p, spin = state.A @ part[:3], state.A @ part[3:]
            total += np.concatenate((p, spin + np.cross(state.r + state.A @ center, p)))
    return total


def relative_rows(model: Model, bodies: Sequence[NodalBody], states: Sequence[ElasticState], joint: MultibodyJoint):
    """Return the velocities in a joint by the rates of all bodies, in axes of its first frame (6, rates)."""
    sizes = [6 + body.shape.shape[2] for body in bodies]
    ends = np.cumsum([0, *sizes])
    names = [body.name for body in model.bodies]
    sides = []
    for name, mounting in ((joint.predecessor, joint.on_predecessor), (joint.successor, joint.on_successor)):
        whole = np.zeros((6, ends[-1]))
        if name == BASE:
            sides.append((np.array(mounting.rotation).T, np.array(mounting.point), whole))
            continue
        k = names.index(name)
        turn, place, J = bodies[k].point_motion(mounting.point, states[k])
        whole[:, ends[k] : ends[k + 1]] = J
        sides.append((turn @ np.array(mounting.rotation).T, place, whole))
    (axes, start, one), (_, end, other) = sides
    slide = other[:3] - one[:3] + cross_matrix(end - start) @ one[3:]
    rows = np.vstack((axes.T @ slide, axes.T @ (other[3:] - one[3:])))
    if joint.kind == "screw":
        # along the axis it moves with its turns: a row of its own
        rows[2] -= joint.pitch / (2.0 * np.pi) * rows[5]
    return rows


def joint_rows(model: Model, bodies: Sequence[NodalBody], states: Sequence[ElasticState]) -> dict[str, np.ndarray]:
    """Return the rows of all joints on the rates of all bodies: velocities that they do not allow."""
    found = {}
    for joint in model.joints:
        held = HELD[joint.kind] + ((2,) if joint.kind == "screw" else ())
        found[joint.name] = relative_rows(model, bodies, states, joint)[list(held)]
    return found


def nodal_impact(
    model: Model, bodies: Sequence[NodalBody], states: Sequence[ElasticState], name: str, coordinate: int = 0
) -> NodalImpact:
    """Return what happens when the joint `name` is locked; `states` are those of all bodies before it.

    Prescribed coordinates keep their rates; their work in the impulse is not lost.
    """
    motions = [body.motions(state.coordinates) for body, state in zip(bodies, states, strict=True)]
    factor = np.linalg.cholesky(block_diag(*(body.masses for body in bodies)))
    before = np.concatenate([own_rates(state) for state in states])
    weighted = factor.T @ block_diag(*motions)
    rows = np.vstack(list(joint_rows(model, bodies, states).values()))
    driven, lock = np.zeros((0, len(before))), np.zeros((0, len(before)))
    for joint in model.joints:
        moving = relative_rows(model, bodies, states, joint)
        for number in joint.motions:
            driven = np.vstack((driven, moving[list(LOCKED[joint.kind][number])]))
        if joint.name == name:
            lock = moving[list(LOCKED[joint.kind][coordinate])]
    G = np.vstack((rows, driven, lock))
    wanted = np.concatenate((-rows @ before, np.zeros(len(driven)), -lock @ before))
    # the least change in the metric of the masses: any that is enough, less its projection on what is free
    enough = np.linalg.lstsq(G, wanted, rcond=1e-11)[0]
    free = null_space(G, rcond=1e-11)
    change = enough - free @ np.linalg.lstsq(weighted @ free, weighted @ enough, rcond=None)[0]
    after = before + change
    # of redundant rows, the least impulses
    multipliers = np.linalg.lstsq(G.T, weighted.T @ (weighted @ change), rcond=1e-11)[0]
    work = float(multipliers[len(rows) : len(rows) + len(driven)] @ (driven @ before))
    kinetic = 0.5 * float(np.sum((weighted @ before) ** 2))
    lost = kinetic + work - 0.5 * float(np.sum((weighted @ after) ** 2))
    ends = np.cumsum([motion.shape[1] for motion in motions])[:-1]
    rates = np.split(after, ends)
    twists = [motion @ rate for motion, rate in zip(motions, rates, strict=True)]
    earlier = [motion @ rate for motion, rate in zip(motions, np.split(before, ends), strict=True)]
    sums = tuple(nodal_momenta(bodies, states, one) for one in (earlier, twists))
    return NodalImpact(rates, twists, kinetic, work, lost, multipliers[-len(lock) :], lock @ before, (sums[0], sums[1]))
