"""Real eigenvectors from the binary output (.op2) of NASTRAN, solution 103 with PARAM,POST,-1, read by pyyeti."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.extras import load_extra
from dockfmu.base.nastran_files import bounded_size, guarded
from dockfmu.components.spacecraft.modes.model import ModalModel

VECTORS = ("OUGV1", "OUGV1PAT", "OUG1", "BOPHIG", "BOUGV1")
"""Names of tables of displacements."""
SAME = 1e-5
"""Relative difference of the eigenvalues of both tables: those of the eigenvectors have single precision."""


class OP2Error(DockfmuError, ValueError):
    """A file that is no OP2 of NASTRAN, or lacks required tables; names the file, the table and what to do."""


def read_op2(file: Path, *, length: float = 1.0, mass: float = 1.0) -> ModalModel:
    """Return the mass-normalised modes of a free-free model at its grid points, including rigid-body modes.

    `length` and `mass` are the model's units in m and kg (1e-3 and 1e3 for mm and t). The basic axes of the model must
    be axes S. Where the file has the grid points (tables BGPDT and EQEXIN), displacements are turned from the output
    coordinate system of each point (field CD of GRID) to the basic one, and ports and nozzles can be given by
    positions; without them the displacements must be in axes S. Shapes are divided by the square root of the
    generalized mass, so any normalisation is accepted. Raises OP2Error or MissingPackageError.
    """
    file = Path(file)
    bounded_size(file, OP2Error)
    reader = load_extra("pyyeti.nastran.op2", f"{file}: OP2", "elastic")
    tables, written, vectors = guarded(file, "OP2 tables", OP2Error, lambda: _tables(file, reader))
    values = tables.get("lama", [])
    for name, count in (("LAMA", len(values)), ("OUGV1", len(written))):
        if count > 1:
            raise OP2Error(f"{file}: has {count} tables {name}; write one subcase to a file of its own")
    if not values or not vectors or vectors[0] is None:
        missing = "table LAMA" if not values else "real eigenvectors (table OUGV1)"
        raise OP2Error(f"{file}: has no {missing}; run solution 103 with PARAM,POST,-1 and DISPLACEMENT(PLOT) = ALL")
    return modal_model(file, np.asarray(values[0], float), vectors[0], tables.get("uset"), length, mass)


def _tables(file: Path, reader: Any) -> tuple[dict[str, Any], list[str], list[Any]]:
    """Return (tables of the eigenvalues and grid points, names of those of displacements, the first of these)."""
    with reader.OP2(str(file)) as opened:
        if "EQEXIN" in _bare(opened.dbnames) and "BGPDT" not in _bare(opened.dbnames):
            raise OP2Error(f"{file}: has table EQEXIN, but no BGPDT with the grid points; write it, or print an .f06")
        tables = opened.rdparampost(get_mats=False, get_dr_tables=False, which="all")
        written = [name for name, blocks in opened.dbnames.items() if name in VECTORS for _ in blocks]
        return tables, written, [opened.rdop2oug(name) for name in written[:1]]


def _bare(names: Iterable[str]) -> set[str]:
    """Return names of tables without the S that those of the residual structure end with."""
    return {name.removesuffix("S") for name in names}


def modal_model(
    file: Path, values: np.ndarray, vectors: Any, grids: Any, length: float = 1.0, mass: float = 1.0
) -> ModalModel:
    """Return the modes of tables as pyyeti reads them.

    `values` are rows of LAMA (mode, order, eigenvalue, rad/s, Hz, generalized mass and stiffness), `vectors` the frame
    of OUGV1 by point and component, `grids` the frame USET of all grid points or None.
    """
    hertz = np.array([frequency for _, frequency in vectors.columns], float)
    if len(hertz) != len(values):
        raise OP2Error(f"{file}: OUGV1 has {len(hertz)} modes, LAMA {len(values)}; write the eigenvectors of all modes")
    if np.any(np.abs(hertz**2 - values[:, 4] ** 2) > SAME * np.max(values[:, 4] ** 2, initial=0.0)):
        raise OP2Error(f"{file}: OUGV1 and LAMA have different frequencies; write one solution to a file")
    masses = values[:, 5]
    if not np.all(masses > 0.0):
        worst = int(np.argmin(masses))
        raise OP2Error(f"{file}: mode {int(values[worst, 0])} has generalized mass {masses[worst]:g}")
    freedom = np.array([(int(point), int(component)) for point, component in vectors.index], int).reshape(-1, 2)
    points = freedom[freedom[:, 1] == 1, 0]
    grid = np.isin(freedom[:, 0], points) & (freedom[:, 1] > 0)  # scalar points have one component, 0
    if not np.array_equal(
        freedom[grid], np.column_stack([np.repeat(points, 6), np.tile(np.arange(1, 7), len(points))])
    ):
        raise OP2Error(f"{file}: OUGV1 has grid points without all six components")
    shape = vectors.to_numpy(dtype=float)[grid].reshape(len(points), 6, len(hertz))
    if not np.all(np.isfinite(shape)):
        raise OP2Error(f"{file}: OUGV1 has values that are not finite")
    position = None
    if grids is not None:
        turns, position = _axes(file, grids, points)
        shape = np.concatenate([np.einsum("pji,pjn->pin", turns, part) for part in np.split(shape, 2, axis=1)], axis=1)
    return ModalModel.of_nastran(values[:, 3].copy(), masses, points, shape, position, (length, mass))


def _axes(file: Path, grids: Any, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations, (k, 3, 3), from basic to output axes, and places, (k, 3), of grid points."""
    geometry = load_extra("pyyeti.nastran.n2p", f"{file}: OP2", "elastic")
    row_of = {int(point): k for k, (point, component) in enumerate(grids.index) if component == 1}
    if missing := [int(point) for point in points if int(point) not in row_of]:
        raise OP2Error(f"{file}: grid point {missing[0]} of OUGV1 is not in table BGPDT")
    rows = [row_of[int(point)] for point in points]
    motions = guarded(file, "coordinate systems", OP2Error, lambda: geometry.rbgeom_uset(grids))
    places = grids.loc[:, "x":"z"].to_numpy(dtype=float)
    return np.array([motions[row : row + 3, :3] for row in rows]), places[rows]
