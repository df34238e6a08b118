"""From the files of a finite-element model to an elastic body with its checks: `dockfmu.reduce`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError

from dockfmu.base.errors import DockfmuError
from dockfmu.components.physics.elastic.body import ElasticBody, ElasticBodyError
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.elastic import checks
from dockfmu.elastic.frame import read_frame
from dockfmu.elastic.model import FullModel, dense
from dockfmu.elastic.nastran import read_nastran
from dockfmu.elastic.neutral import read_matrix_market, read_npz
from dockfmu.elastic.reduction import ReducedShapes, check_free, craig_bampton
from dockfmu.elastic.sections import Cuts, section_loads

KINDS = (".toml", ".npz", ".mtx", ".op4", ".pch", ".dmig", ".bdf", ".dat", ".nas")
ASSUMED_DAMPING = 0.005
"""Damping ratio of structures, assumed; no source gives one."""


def reduce(
    model: str | Path,
    *,
    interface: Sequence[int],
    modes: int | None = None,
    cut_off: float | None = None,
    frame: int | str = "mean",
    units: str = "",
    mass: str = "",
    damping: float = ASSUMED_DAMPING,
    rayleigh: tuple[float, float] | None = None,
    nodes: str | Path | None = None,
    mass_file: str | Path | None = None,
    sections: Cuts | None = None,
) -> ElasticBody:
    """Return the elastic body that a finite-element model reduces to (flexible 3.2, 3.3).

    Parameters
    ----------
    model : path
        A frame model (.toml), a neutral file (.npz, .mtx) or NASTRAN files (.op4 with .asm, or DMIG cards).
    interface : sequence of int
        Nodes where joints, ports and forces act.
    modes, cut_off : int, float
        Number of fixed-interface modes, or their largest frequency, Hz; one of them must be given.
    frame : int or "mean"
        Interface node to which the frame of the body is tied, or mean axes about the centre of mass.
    units : str
        Units of length and mass of the files, such as "mm,t"; a frame model has its own.
    mass : str
        "bodies" (displaced rigid bodies, where element masses are known) or "matrix"; by default the first possible.
    damping, rayleigh : float, (float, float)
        Ratio of each shape, or the factors of stiffness, s, and mass, 1/s.
    nodes, mass_file : path
        Table of nodes, and the mass matrix of MatrixMarket files.
    sections : {str: [(int, int), ...]}
        Names of sections whose loads the body gives, and the pairs of nodes between which each cuts: at the first, on
        the way to the second.

    Raises
    ------
    ElasticBodyError, DeclarationError, UnitError, MissingPackageError
        The message names the file, the card or entry, and what to do.
    """
    file = Path(model)
    _check_options(file, modes, cut_off, frame, mass, damping)
    full, consistent = _read(file, units, nodes, mass_file)
    if mass == "matrix" and consistent is not None:
        full, consistent = consistent, None
    if mass == "bodies" and full.bodies is None:
        raise ElasticBodyError(
            f"{file}: has no element masses: displaced rigid bodies need a frame model; use mass matrix"
        )
    root = None if frame == "mean" else int(frame)
    if root is not None and root not in full.nodes:
        raise ElasticBodyError(f"{file}: frame node {root} is no node of the model; give one, or mean")
    joined = [int(node) for node in dict.fromkeys([*([] if root is None else [root]), *interface])]
    if not joined:
        raise ElasticBodyError(f"{file}: no interface node is given; name the nodes where joints, ports and forces act")
    with _computing(file):
        force, energy = check_free(full)
        top = None if cut_off is None else 2.0 * np.pi * cut_off
        shapes = craig_bampton(full, joined, modes, top, root)
        method = "bodies" if full.bodies is not None else "reduced" if full.reduced else "matrix"
        found, error = _invariants(full, shapes, method)
        residual, line = checks.residual_shapes(shapes, top)
        omega = shapes.frequency
        lines = [
            *checks.rigid_checks(force, energy),
            *checks.mass_checks(full, shapes, found),
            *checks.invariant_checks(method, found, error),
            *checks.frequency_checks(full, shapes, consistent),
            *checks.effective_masses(shapes, found, root),
            checks.static_check(full, shapes, joined, root),
            line,
        ]
        ids = np.array(joined)
        place = {int(node): at for node, at in zip(full.nodes, full.position, strict=True)}
        body = ElasticBody(
            name=full.name,
            frame="mean" if root is None else str(root),
            method=method,
            origin=shapes.origin,
            nodes=ids,
            place=np.array([place[int(node)] for node in ids]) - shapes.origin,
            shape=full.at_nodes(shapes.shape, ids),
            frequency=omega,
            damping=2.0 * damping * omega if rayleigh is None else rayleigh[0] * omega**2 + rayleigh[1],
            invariants=found,
            residual=residual,
            points=full.position - shapes.origin,
            point_shape=full.at_nodes(shapes.shape, full.nodes)[:, :3],
            lines=full.lines.reshape(-1, 2),
            checks=tuple(lines),
            source=_source(file, nodes, mass_file, units=units, modes=modes, cut_off=cut_off),
            sections=section_loads(full, shapes, joined, root, sections or {}),
        )
    _check_finite(file, body)
    return body


@contextmanager
def _computing(file: Path) -> Iterator[None]:
    """Convert what the numbers of a strange model raise to an ElasticBodyError."""
    try:
        with np.errstate(all="ignore"):
            yield
    except DockfmuError:
        raise
    except (ValueError, ArithmeticError, ArpackError) as error:
        raise ElasticBodyError(
            f"{file}: the model cannot be reduced in double precision ({error}); check its units, and whether a "
            "part is loose or far stiffer or lighter than the rest"
        ) from error


def _check_finite(file: Path, body: ElasticBody) -> None:
    """Raise ElasticBodyError, which names the quantity, if the numbers of a body are not finite."""
    parts = {field.name: getattr(body, field.name) for field in fields(body)}
    parts |= {field.name: getattr(body.invariants, field.name) for field in fields(body.invariants)}
    for name, values in parts.items():
        if isinstance(values, np.ndarray | float) and not np.all(np.isfinite(values)):
            raise ElasticBodyError(f"{file}: its {name.replace('_', ' ')} is not finite; check the units of the model")


def _check_options(
    file: Path, modes: int | None, cut_off: float | None, frame: int | str, mass: str, damping: float
) -> None:
    if modes is None and cut_off is None:
        raise ElasticBodyError(f"{file}: give the number of fixed-interface modes, or a cut-off frequency in Hz")
    if (modes is not None and modes < 0) or (cut_off is not None and not 0.0 < cut_off < float("inf")):
        raise ElasticBodyError(f"{file}: modes = {modes} and cut-off = {cut_off} must be non-negative numbers")
    if frame != "mean" and not (str(frame).isascii() and str(frame).isdecimal() and len(str(frame)) < 16):
        raise ElasticBodyError(f"{file}: frame {frame!r} must be the number of a node, or mean")
    if mass not in ("", "bodies", "matrix"):
        raise ElasticBodyError(f"{file}: mass {mass!r} must be bodies or matrix")
    if not 0.0 <= damping < 1.0:
        raise ElasticBodyError(f"{file}: damping = {damping:g} must be a ratio from 0 to below 1")
    if not file.is_file():
        raise ElasticBodyError(f"{file}: there is no such file")


def _read(
    file: Path, units: str, nodes: str | Path | None, mass_file: str | Path | None
) -> tuple[FullModel, FullModel | None]:
    """Return the model in SI, and with consistent masses if it has bodies."""
    kind = file.suffix.lower()
    table = None if nodes is None else Path(nodes)
    if kind == ".toml":
        return read_frame(file)
    if kind == ".npz":
        found = read_npz(file)
    elif kind == ".mtx":
        found = read_matrix_market(file, None if mass_file is None else Path(mass_file), table)
    elif kind in KINDS:
        found = read_nastran(file, table)
    else:
        raise ElasticBodyError(
            f"{file}: files {', '.join(KINDS)} are read; OP2 and .f06 have no matrices: write OP4 or "
            "DMIG, or give their modes to a Spacecraft"
        )
    with np.errstate(all="ignore"):  # what leaves the range is refused
        return found.in_si(units), None


def _invariants(model: FullModel, shapes: ReducedShapes, method: str) -> tuple[ElasticInvariants, float]:
    """Return the invariants, and the part of the momentum that a whole mass matrix has and they have not."""
    if model.bodies is not None:
        bodies, at = model.bodies, model.position - shapes.origin
        shape = model.at_nodes(shapes.shape, model.nodes)
        return ElasticInvariants.of_bodies(bodies.mass, at, bodies.offset, bodies.inertia, shape), 0.0
    count = shapes.shape.shape[1]
    moved = np.zeros((count, len(model.freedom), 3))
    if method == "matrix":
        displaced = model.at_nodes(shapes.shape, model.nodes)
        index = {int(node): k for k, node in enumerate(model.nodes)}
        for row, (node, component) in enumerate(model.freedom):
            if 1 <= component <= 3:
                x, y, z = displaced[index[int(node)], :3]
                none = np.zeros(count)
                moved[:, row] = np.array(((none, z, -y), (-z, none, x), (y, -x, none))[component - 1]).T
    found = ElasticInvariants.of_matrix(model.mass, shapes.rigid, shapes.shape, moved)
    if method != "matrix":
        return found, 0.0
    x, y, z = found.translation
    none = np.zeros(count)
    tilde = np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)
    carried = model.mass @ shapes.rigid[:, :3]
    carried = dense(carried)
    gap = np.einsum("ni,anj->aij", carried, moved) + tilde
    return found, float(np.abs(gap).max(initial=0.0) / np.sqrt(found.mass))


def _source(file: Path, nodes: str | Path | None, mass_file: str | Path | None, **options: Any) -> dict[str, str]:
    files = [file, *(Path(other) for other in (nodes, mass_file) if other is not None)]
    kept = {f"file {other.name}": f"sha256 {hashlib.sha256(other.read_bytes()).hexdigest()}" for other in files}
    return kept | {name: str(value) for name, value in options.items() if value not in (None, "")}
