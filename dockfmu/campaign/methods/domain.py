"""The domain of an outcome over two parameters: only the cells that the boundary crosses are divided.

The margin is continuous, and negative inside the domain, such as that of capture. Its sign decides, and its magnitude
locates the boundary between two corners.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dockfmu.errors import OptionError

Margin = Callable[[np.ndarray], np.ndarray]
"""Function from points in the unit square, shape (n, 2), to margins, shape (n,); infinity where a run gives none."""


@dataclass(frozen=True)
class Domain:
    """The domain within the unit square.

    Attributes
    ----------
    points, margins : ndarray
        All runs, shapes (n, 2) and (n,).
    area : float
        Share of the square inside the domain, by linear interpolation in the cells of the boundary.
    low, high : float
        Share without and with all cells that the boundary crosses: the stated error. Islands smaller than the cells of
        the first grid are not detected.
    cells : ndarray
        Cells of the boundary, shape (k, 3): lower corner and size.
    boundary : list of ndarray
        Pieces of the boundary, each of shape (2, 2).
    resolution : int
        Number of cells of the finest size along one side.
    """

    points: np.ndarray
    margins: np.ndarray
    area: float
    low: float
    high: float
    cells: np.ndarray
    boundary: list[np.ndarray] = field(repr=False)
    resolution: int = 0

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.points)


def refine_domain(margin: Margin, *, first: int = 8, divisions: int = 3) -> Domain:
    """Return the domain where the margin is negative, over the unit square.

    Parameters
    ----------
    margin : callable
        See `Margin`; it is called once for each division, with a batch of points for a cluster.
    first : int
        Cells of the first grid along one side; they must be smaller than the smallest island.
    divisions : int
        How often cells of the boundary are halved along each side.

    Raises
    ------
    OptionError
        for fewer than two cells, or for a negative number of divisions
    """
    check_cells(first, divisions)
    resolution = first << divisions
    known: dict[tuple[int, int], float] = {}

    def evaluate(corners: list[tuple[int, int]]) -> None:
        fresh = [corner for corner in dict.fromkeys(corners) if corner not in known]
        if fresh:
            margins = margin(np.array(fresh, float) / resolution)
            known.update(zip(fresh, map(float, margins), strict=True))

    size = 1 << divisions
    cells = [(i * size, j * size) for i in range(first) for j in range(first)]
    inside = 0
    for _ in range(divisions + 1):
        evaluate([corner for cell in cells for corner in _corners(cell, size)])
        mixed = []
        for cell in cells:
            signs = {known[corner] < 0.0 for corner in _corners(cell, size)}
            if len(signs) == 2:
                mixed.append(cell)
            elif signs == {True}:
                inside += size * size
        if size == 1:
            break
        # the neighbours of a crossed cell too: the boundary may touch a cell without changing its corners
        near = _with_neighbours(mixed, set(cells), size)
        inside -= sum(size * size for cell in near if cell not in set(mixed) and known[cell] < 0.0)
        size //= 2
        cells = [(i + a, j + b) for i, j in near for a in (0, size) for b in (0, size)]
    pieces, shares = _interpolate(mixed, size, known, resolution)
    total = resolution * resolution
    return Domain(
        np.array(list(known), float) / resolution,
        np.array(list(known.values())),
        (inside + shares * size * size) / total,
        inside / total,
        (inside + len(mixed) * size * size) / total,
        np.array([(i, j, size) for i, j in mixed], float).reshape(-1, 3) / resolution,
        pieces,
        resolution,
    )


MOST_CELLS, MOST_DIVISIONS = 1000, 20
"""Largest numbers of cells along one side, all corners of which are runs, and of divisions."""


def check_cells(first: int, divisions: int) -> None:
    """Raise OptionError for numbers of cells along one side, and of divisions, with which no domain can be found."""
    if not 2 <= first <= MOST_CELLS or not 0 <= divisions <= MOST_DIVISIONS:
        raise OptionError(
            [
                f"a domain needs 2 cells or more, {MOST_CELLS} at most, and 0 to {MOST_DIVISIONS} divisions, not "
                f"{first} and {divisions}"
            ]
        )


def _corners(cell: tuple[int, int], size: int) -> list[tuple[int, int]]:
    i, j = cell
    return [(i, j), (i + size, j), (i + size, j + size), (i, j + size)]


def _with_neighbours(mixed: list[tuple[int, int]], cells: set[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return the crossed cells and those of their neighbours that have this size."""
    found = dict.fromkeys(mixed)
    for i, j in mixed:
        for a, b in ((-size, 0), (size, 0), (0, -size), (0, size)):
            if (i + a, j + b) in cells:
                found[i + a, j + b] = None
    return list(found)


def _interpolate(
    mixed: list[tuple[int, int]], size: int, known: dict[tuple[int, int], float], resolution: int
) -> tuple[list[np.ndarray], float]:
    """Return (pieces of the boundary, sum of the inner shares of crossed cells), interpolated along the edges."""
    pieces, total = [], 0.0
    for cell in mixed:
        corners = np.array(_corners(cell, size), float)
        values = np.array([known[corner] for corner in _corners(cell, size)])
        polygon: list[np.ndarray] = []
        crossings: list[np.ndarray] = []
        for k in range(4):
            a, b, va, vb = corners[k], corners[(k + 1) % 4], values[k], values[(k + 1) % 4]
            if va < 0.0:
                polygon.append(a)
            if (va < 0.0) != (vb < 0.0):
                # for an unknown margin (infinity) take the midpoint
                crossing = a + (b - a) * (va / (va - vb) if np.isfinite(va - vb) and va != vb else 0.5)
                polygon.append(crossing)
                crossings.append(crossing)
        x, y = np.array(polygon).T
        total += 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / size**2
        pieces += [np.array(crossings[k : k + 2]) / resolution for k in range(0, len(crossings) - 1, 2)]
    return pieces, total
