"""Reduction by Craig and Bampton to shapes in a frame at a node or in mean axes (flexible 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import csc_matrix
from scipy.sparse import linalg as sparse_linalg

from dockfmu.components.physics.elastic.body import MOST_SHAPES, ElasticBodyError
from dockfmu.elastic.model import FullModel, dense, is_sparse

GROUNDED = 1e-6
"""Largest force of a rigid motion, of what its parts make at the same node; of a free body it is zero."""


@dataclass(frozen=True)
class ReducedShapes:
    """The shapes of a reduction, mass-normalised and free of rigid motion.

    origin : (3,) of the frame
    rigid : (n, 6) rigid motions about it
    shape : (n, H)
    frequency : (H,) rad/s, ascending
    fixed : (m,) frequencies of the fixed-interface modes that were kept, rad/s
    """

    origin: np.ndarray
    rigid: np.ndarray
    shape: np.ndarray
    frequency: np.ndarray
    fixed: np.ndarray


def check_free(model: FullModel) -> tuple[float, float]:
    """Return the relative force and energy of rigid motions; raise ElasticBodyError for a grounded model."""
    motions = model.rigid(model.position.mean(axis=0))
    size = max(float(np.ptp(model.position, axis=0).max(initial=0.0)), 1e-9)
    motions = motions / np.array([1.0, 1.0, 1.0, size, size, size])
    force = model.stiffness @ motions
    bound = np.asarray(abs(model.stiffness) @ abs(motions))
    # of the stiffness in the same row: a soft spring to ground shows at a soft node, whatever is stiff elsewhere
    part = np.abs(force) / np.maximum(bound.max(axis=1, keepdims=True), 1e-9 * max(float(bound.max()), 1e-291))
    worst = float(part.max())
    energy = float(np.abs(np.diag(motions.T @ force)).max()) / float((abs(motions).T @ bound).max())
    if worst > GROUNDED:
        row, motion = np.unravel_index(int(np.argmax(part)), part.shape)
        direction = (
            "moves along x",
            "moves along y",
            "moves along z",
            "turns about x",
            "turns about y",
            "turns about z",
        )
        raise ElasticBodyError(
            f"{model.source}: the model is grounded: when it {direction[motion]} as a rigid body, "
            f"{model.place(int(row))} is held with {worst:.2g} of its stiffness; "
            "remove SPC, CELAS to ground, or give the right nodes and units"
        )
    return worst, energy


def craig_bampton(
    model: FullModel, interface: list[int], modes: int | None, cut_off: float | None, frame: int | None
) -> ReducedShapes:
    """Return static shapes of the interface nodes and fixed-interface modes, made orthonormal, without rigid motion.

    `modes` is the number of fixed-interface modes, `cut_off` their largest frequency in rad/s; `frame` is the node of
    the frame, None for mean axes. Raises ElasticBodyError.
    """
    boundary = np.concatenate([_six(model, node) for node in interface])
    inner = np.setdiff1d(np.arange(len(model.freedom)), boundary)
    static, normal, fixed = _inner_shapes(model, boundary, inner, modes, cut_off)
    count = len(boundary) + len(fixed)
    if count > MOST_SHAPES:
        raise ElasticBodyError(
            f"{model.source}: {count} shapes; up to {MOST_SHAPES}: give fewer modes or interface nodes"
        )
    raw = np.zeros((len(model.freedom), count))
    raw[boundary, : len(boundary)] = np.eye(len(boundary))
    raw[inner, : len(boundary)], raw[inner, len(boundary) :] = static, normal
    if frame is not None:
        held = set(model.rows_of(frame).tolist())
        raw = raw[:, [k for k in range(count) if k >= len(boundary) or int(boundary[k]) not in held]]
        origin = model.position[np.flatnonzero(model.nodes == frame)[0]]
    else:
        origin = _centre(model)
    if not raw.shape[1]:
        raise ElasticBodyError(f"{model.source}: no shape is left; ask for modes, or name more interface nodes")
    stiffness, mass = (raw.T @ (matrix @ raw) for matrix in (model.stiffness, model.mass))
    rigid = 0 if frame is not None else 6
    values, vectors = _eigen(model, stiffness, mass)
    if rigid and len(values) > rigid and not abs(values[rigid - 1]) < 1e-5 * values[rigid]:
        raise ElasticBodyError(
            f"{model.source}: the model has not six rigid motions at zero frequency; is a part loose?"
        )
    values, vectors = values[rigid:], vectors[:, rigid:]
    if not len(values) or values[0] <= 0.0:
        raise ElasticBodyError(f"{model.source}: a shape has no stiffness; a part of the model is loose, or add modes")
    shape = raw @ vectors
    shape = shape * np.sign(shape[np.argmax(np.abs(shape), axis=0), np.arange(shape.shape[1])])
    return ReducedShapes(origin, model.rigid(origin), shape, np.sqrt(values), fixed)


def free_frequencies(model: FullModel, count: int) -> np.ndarray:
    """Return the lowest elastic frequencies of the free model, rad/s, at most `count`."""
    if not is_sparse(model.stiffness):
        # the reciprocal problem, with the rigid motions made stiff: masses may be zero
        rigid = model.mass @ model.rigid(_centre(model))
        gram = model.rigid(_centre(model)).T @ rigid
        lift = rigid @ np.linalg.solve(gram, rigid.T)
        top = float(
            np.max(
                model.diagonal("stiffness") / np.maximum(model.diagonal("mass"), 1e-12 * model.diagonal("mass").max())
            )
        )
        values = linalg.eigh(model.mass, model.stiffness + min(top, 1e12) * lift, eigvals_only=True)[::-1]
        values = values[values > 1e-14 * values[0]]
        return np.asarray(np.sqrt(1.0 / values[:count]))
    count = min(count, model.stiffness.shape[0] - 8)
    scale = float(np.sum(model.diagonal("stiffness")) / np.sum(model.diagonal("mass")))
    found = sparse_linalg.eigsh(
        model.stiffness, k=count + 6, M=model.mass, sigma=-1e-8 * scale, return_eigenvectors=False,
        v0=np.ones(model.stiffness.shape[0]),
    )  # fmt: skip
    return np.asarray(np.sqrt(np.sort(found)[6:]))


def solve_held(model: FullModel, held: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Return the displacements (n, m) under forces (n, m) with the rows `held` fixed."""
    free = np.setdiff1d(np.arange(len(model.freedom)), held)
    found = np.zeros_like(forces)
    part = model.stiffness[free][:, free]
    found[free] = _solver(model, part, free)(forces[free])
    return found


def _six(model: FullModel, node: int) -> np.ndarray:
    rows = model.rows_of(node)
    if len(rows) != 6:
        if node not in model.nodes:
            listed = ", ".join(map(str, model.nodes[:8])) + (", ..." if len(model.nodes) > 8 else "")
            raise ElasticBodyError(f"{model.source}: interface node {node} is no node of the model, which has {listed}")
        raise ElasticBodyError(
            f"{model.source}: interface node {node} has {len(rows)} degrees of freedom with stiffness or mass, not "
            "six; tie it to the structure by a rigid element that takes its rotations"
        )
    return rows


def _centre(model: FullModel) -> np.ndarray:
    motions = model.rigid(np.zeros(3))
    block = motions.T @ (model.mass @ motions)
    if block[0, 0] <= 0.0:
        raise ElasticBodyError(
            f"{model.source}: the mass of the whole is {block[0, 0]:g}; give the masses of the model"
        )
    moment = np.array([block[5, 1] - block[4, 2], block[3, 2] - block[5, 0], block[4, 0] - block[3, 1]])
    return np.asarray(moment / (2.0 * block[0, 0]))


def _inner_shapes(
    model: FullModel, boundary: np.ndarray, inner: np.ndarray, modes: int | None, cut_off: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return static shapes, fixed-interface modes and their frequencies, on the inner degrees of freedom."""
    if not len(inner):
        return np.zeros((0, len(boundary))), np.zeros((0, 0)), np.zeros(0)
    stiffness = model.stiffness[inner][:, inner]
    mass = model.mass[inner][:, inner]
    coupling = model.stiffness[inner][:, boundary]
    solve = _solver(model, stiffness, inner)
    static = -solve(dense(coupling))
    wanted = len(inner) if modes is None else min(modes, len(inner))
    if is_sparse(stiffness):
        wanted = min(wanted, MOST_SHAPES, len(inner) - 2)
        if not wanted:
            return static, np.zeros((len(inner), 0)), np.zeros(0)
        start = np.ones(len(inner))
        size = wanted if cut_off is None else min(wanted, 40)
        while True:
            values, vectors = sparse_linalg.eigsh(stiffness, k=size, M=mass, sigma=0.0, v0=start)
            if cut_off is None or size == wanted or values.max() > cut_off**2:
                break
            size = min(2 * size, wanted)
    else:
        inverse, vectors = linalg.eigh(mass, stiffness)
        inverse, vectors = inverse[::-1], vectors[:, ::-1]
        massive = inverse > 1e-14 * max(inverse[0], 1e-300)
        values, vectors = 1.0 / inverse[massive], vectors[:, massive] / np.sqrt(inverse[massive])
    order = np.argsort(values)[:wanted]
    kept = order if cut_off is None else order[values[order] <= cut_off**2]
    return static, vectors[:, kept], np.sqrt(values[kept])


def _solver(model: FullModel, matrix: Any, rows: np.ndarray) -> Any:
    """Return a function that solves with a positive definite part of the stiffness; name a loose part."""
    loose = "is loose when the interface is held: join it to the structure, or remove it"
    if is_sparse(matrix):
        try:
            return sparse_linalg.splu(csc_matrix(matrix)).solve
        except RuntimeError as error:
            raise ElasticBodyError(f"{model.source}: a part of the model {loose} ({error})") from error
    scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    if values[0] < -1e-9 or np.any(matrix.diagonal() <= 0.0):
        row = int(np.argmax(np.abs(vectors[:, 0]))) if values[0] < -1e-9 else int(np.argmin(matrix.diagonal()))
        why = "stiffness is not positive there" if values[0] < -1e-9 else loose
        raise ElasticBodyError(f"{model.source}: {model.place(int(rows[row]))} {why}")
    if values[0] < 1e-14:
        row = int(np.argmax(np.abs(vectors[:, 0])))
        raise ElasticBodyError(f"{model.source}: {model.place(int(rows[row]))} {loose}")
    factor = linalg.cho_factor(matrix)
    return lambda right: linalg.cho_solve(factor, right)


def _eigen(model: FullModel, stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, ascending, and mass-normalised vectors; refuse masses that are not positive."""
    scale = 1.0 / np.sqrt(np.maximum(mass.diagonal(), 1e-300))
    square = np.outer(scale, scale)
    least = float(np.linalg.eigvalsh(mass * square)[0]) if np.all(mass.diagonal() > 0.0) else 0.0
    if least <= 1e-13:
        raise ElasticBodyError(
            f"{model.source}: the mass is not positive: a shape has a mass of {least:.2g} of its parts; give masses "
            "and inertia to the interface nodes, or fewer modes"
        )
    values, vectors = linalg.eigh(stiffness * square, mass * square)
    return values, vectors * scale[:, None]
