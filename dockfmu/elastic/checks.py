"""Checks of a reduction: mass, rigid motion, frequencies, effective masses, static exactness, residual shapes."""

from __future__ import annotations

import numpy as np

from dockfmu.components.physics.elastic.body import ElasticCheck
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.elastic.model import FullModel
from dockfmu.elastic.reduction import GROUNDED, ReducedShapes, free_frequencies, solve_held

MASS_LIMIT = 1e-9
"""Relative error of mass, static moment and inertia: sums of a model's size, in double precision."""
STATIC_LIMIT = 1e-7
"""Relative error of displacements under forces at interface nodes: exact in theory, a condition of 1e9 in numbers."""
COMPARED = 8
"""Number of frequencies that are held against the full model."""


def mass_checks(model: FullModel, shapes: ReducedShapes, found: ElasticInvariants) -> list[ElasticCheck]:
    """Hold the rigid part of the invariants against the mass matrix of the model."""
    block = shapes.rigid.T @ (model.mass @ shapes.rigid)
    own = found.mass_matrix(np.zeros(found.count))[:6, :6]
    size = float(np.sqrt(max(np.trace(block[3:, 3:]), 0.0) / block[0, 0])) or 1.0
    scale = block[0, 0]
    return [
        ElasticCheck("mass", abs(own[0, 0] - block[0, 0]) / scale, MASS_LIMIT, f"{block[0, 0]:.9g} kg"),
        ElasticCheck("static moment", float(np.abs(own[3:, :3] - block[3:, :3]).max()) / (scale * size), MASS_LIMIT),
        ElasticCheck("inertia", float(np.abs(own[3:, 3:] - block[3:, 3:]).max()) / (scale * size**2), MASS_LIMIT),
        ElasticCheck(
            "shapes orthonormal",
            float(np.abs(found.modal_mass - np.eye(found.count)).max()),
            1e-7,
            "J_ww against the identity",
        ),
    ]


def rigid_checks(force: float, energy: float) -> list[ElasticCheck]:
    """Return the lines on rigid motion."""
    return [
        ElasticCheck("grounding", force, GROUNDED, "force of rigid motions, of the stiffness"),
        ElasticCheck("rigid-body energy", energy, GROUNDED, "of the energy that the parts of the motion have"),
    ]


def frequency_checks(model: FullModel, shapes: ReducedShapes, consistent: FullModel | None) -> list[ElasticCheck]:
    """Hold the free frequencies of the reduced body against those of the full model: never below them."""
    basis = np.hstack([shapes.rigid, shapes.shape])
    mass = basis.T @ (model.mass @ basis)
    flexible = mass[6:, 6:] - mass[6:, :6] @ np.linalg.solve(mass[:6, :6], mass[:6, 6:])
    scale = 1.0 / shapes.frequency
    inverse = np.linalg.eigvalsh(0.5 * (flexible + flexible.T) * np.outer(scale, scale))[::-1]
    own = np.sqrt(1.0 / inverse[inverse > 1e-14 * inverse[0]])[:COMPARED]
    full = free_frequencies(model, len(own))
    own = own[: len(full)]
    error = own / full - 1.0
    below = float(max(-error.min(), 0.0)) if len(error) else 0.0
    lines = [
        ElasticCheck(
            f"free frequency {j}", value, None, f"{at / (2 * np.pi):.7g} Hz; full {exact / (2 * np.pi):.7g} Hz"
        )
        for j, (value, at, exact) in enumerate(zip(error.tolist(), own, full, strict=True), 1)
    ]
    lines.append(ElasticCheck("frequencies below those of the full model", below, 1e-6, "reduction gives upper bounds"))
    if consistent is not None:
        other = free_frequencies(consistent, len(full))[: len(full)]
        gap = float(np.abs(full[: len(other)] / other - 1.0).max())
        note = "lowest ones, displaced rigid bodies against the mass matrix of the elements"
        lines.append(ElasticCheck("frequencies by the mass model", gap, None, note))
    return lines


def effective_masses(shapes: ReducedShapes, found: ElasticInvariants, frame: int | None) -> list[ElasticCheck]:
    """Return the parts of the mass that the shapes move in each direction; in mean axes none, which is checked."""
    if frame is None:
        size = float(np.sqrt(found.mass))
        coupling = float(np.abs(found.translation).max(initial=0.0)) / size
        return [ElasticCheck("momentum of the shapes", coupling, 1e-5, "J_rw is zero in mean axes, of sqrt(m)")]
    part = (found.translation**2).sum(axis=1) / found.mass
    lines = [
        ElasticCheck(f"effective mass {axis}", float(p), 1.0 + 1e-9, "of the mass, all shapes")
        for axis, p in zip("xyz", part, strict=True)
    ]
    inertia = np.diag(found.inertia)
    turned = (found.rotation**2).sum(axis=1) / np.where(inertia > 0.0, inertia, 1.0)
    return lines + [
        ElasticCheck(f"effective inertia {axis}", float(p), 1.0 + 1e-9, "of the inertia about E, all shapes")
        for axis, p in zip("xyz", turned, strict=True)
    ]


def static_check(model: FullModel, shapes: ReducedShapes, interface: list[int], frame: int | None) -> ElasticCheck:
    """Hold displacements under unit forces and moments at interface nodes against the full model.

    One interface node is held, that of the frame or the first; the interface displacements of the others are compared.
    """
    root = interface[0] if frame is None else frame
    rows = [model.rows_of(node) for node in interface if node != root]
    if not rows:
        return ElasticCheck("static exactness", 0.0, None, "one interface node alone: nothing to compare")
    loaded, held = np.concatenate(rows), model.rows_of(root)
    forces = np.zeros((len(model.freedom), len(loaded)))
    forces[loaded, np.arange(len(loaded))] = 1.0
    exact = solve_held(model, held, forces)[loaded]
    # the held node fixes the rigid motion: q = -R(root)^-1 H(root) w
    tied = shapes.shape - shapes.rigid @ np.linalg.solve(shapes.rigid[held], shapes.shape[held])
    flexible = tied[loaded] / shapes.frequency
    own = flexible @ flexible.T
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    error = float((np.abs(own - exact) / scale).max())
    return ElasticCheck("static exactness", error, STATIC_LIMIT, f"unit loads at interface nodes, node {root} held")


def residual_shapes(shapes: ReducedShapes, cut_off: float | None) -> tuple[np.ndarray, ElasticCheck]:
    """Return which shapes serve static flexibility only, above all modes that are kept, and the line on them."""
    top = cut_off if cut_off is not None else (float(shapes.fixed.max()) if len(shapes.fixed) else 0.0)
    residual = shapes.frequency > top
    note = f"shapes above {top / (2 * np.pi):.5g} Hz: static flexibility, no vibration"
    return residual, ElasticCheck("residual shapes", float(residual.sum()), None, note)


def invariant_checks(method: str, found: ElasticInvariants, matrix_error: float) -> list[ElasticCheck]:
    """Say what the invariants leave out, with a bound."""
    if method == "bodies":
        return []
    if method == "matrix":
        note = "part of the momentum matrix that depends on w and has no place in the invariants, of I1"
        return [ElasticCheck("error of the invariants", matrix_error, None, note)]
    least = float(np.linalg.eigvalsh(found.inertia)[0])
    bound = 2.0 * float(np.sqrt(0.5 * np.trace(found.inertia))) / max(least, 1e-300)
    note = "bound: relative change of the inertia per unit modal coordinate, which is left out"
    return [ElasticCheck("error of the invariants", bound, None, note)]
