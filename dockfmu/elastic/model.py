"""A finite-element model as its readers give it: matrices, degrees of freedom, nodes, element masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from dockfmu.base.units import UnitError, conversion, parse_quantity, parse_unit
from dockfmu.components.physics.elastic.body import ElasticBodyError
from dockfmu.components.physics.elastic.sections import rigid_motion

MOST_FREEDOMS = 60_000
"""Largest number of degrees of freedom that is reduced."""
DENSE = 1200
"""Number of degrees of freedom up to which matrices are dense."""
ASYMMETRY = 1e-8
"""Largest asymmetry of a matrix, of its largest entry: ten times what files of nine digits leave."""


@dataclass(frozen=True)
class NodeBodies:
    """Rigid bodies at nodes, one each: masses (k,), offsets of their centres (k, 3), central inertias (k, 3, 3)."""

    mass: np.ndarray
    offset: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class FullModel:
    """A model before its reduction, in SI units and one set of axes after `in_si`.

    name, source : of the model; the file, for messages
    stiffness, mass : (n, n) symmetric, dense or sparse
    freedom : (n, 2) number of the node and component 1 to 6; component 0 is a scalar point (a modal coordinate)
    nodes, position : (k,), (k, 3) numbers and positions of the nodes
    lines : (l, 2) indices of nodes that a line of the picture joins
    bodies : masses of elements at the nodes; None where only the matrix is known
    reduced : whether the matrices are already reduced, so that masses between the nodes are not known
    members : whether all stiffness is of members between two nodes, as in a frame model
    """

    name: str
    source: str
    stiffness: Any
    mass: Any
    freedom: np.ndarray
    nodes: np.ndarray
    position: np.ndarray
    lines: np.ndarray
    bodies: NodeBodies | None = None
    reduced: bool = False
    members: bool = False

    def __post_init__(self) -> None:
        """Check shapes, finite values, symmetry and signs; drop what has neither stiffness nor mass."""
        n = len(self.freedom)
        if not 0 < n <= MOST_FREEDOMS:
            raise ElasticBodyError(f"{self.source}: {n} degrees of freedom; from 1 to {MOST_FREEDOMS} are reduced")
        if len(np.unique(self.nodes)) != len(self.nodes):
            raise ElasticBodyError(f"{self.source}: node {_doubled(self.nodes)} is given twice; remove one")
        degrees, counts = np.unique(self.freedom, axis=0, return_counts=True)
        if counts.max() > 1:
            node, component = degrees[np.argmax(counts)]
            raise ElasticBodyError(
                f"{self.source}: component {component} of node {node} is given twice in the degrees of freedom; remove "
                "one, with its row and column of the matrices"
            )
        known = set(self.nodes.tolist())
        for node, component in self.freedom:
            if component and int(node) not in known:
                raise ElasticBodyError(
                    f"{self.source}: node {node} of the matrices has no position; add it to the nodes"
                )
        for name in ("stiffness", "mass"):
            matrix = getattr(self, name)
            if matrix.shape != (n, n):
                raise ElasticBodyError(
                    f"{self.source}: {name} is {matrix.shape[0]} x {matrix.shape[1]}, but the nodes have {n} degrees "
                    "of freedom; give the nodes of these matrices, in their order"
                )
            data = matrix.data if is_sparse(matrix) else matrix
            if np.iscomplexobj(data) or not np.all(np.isfinite(data)):
                raise ElasticBodyError(f"{self.source}: {name} has entries that are not finite real numbers")
            matrix = _stored(matrix)
            self._check_symmetry(name, matrix)
            object.__setattr__(self, name, 0.5 * (matrix + matrix.T))
            diagonal = self.diagonal(name)
            if np.any(diagonal < -1e-12 * max(float(np.max(np.abs(diagonal))), 1e-300)):
                where = self.place(int(np.argmin(diagonal)))
                raise ElasticBodyError(f"{self.source}: {name} is not positive: {diagonal.min():.6g} at {where}")
        self._drop_empty()

    def _check_symmetry(self, name: str, matrix: Any) -> None:
        gap = abs(matrix - matrix.T)
        largest, scale = float(gap.max()), float(abs(matrix).max())
        if largest > ASYMMETRY * scale:
            entries = sparse.coo_array(gap)
            row, column = (places[int(np.argmax(entries.data))] for places in entries.coords)
            raise ElasticBodyError(
                f"{self.source}: {name} is not symmetric: {largest:.3g} between {self.place(int(row))} and "
                f"{self.place(int(column))}; give a symmetric matrix (both halves, no gyroscopic or follower terms)"
            )

    def _drop_empty(self) -> None:
        """Drop rows of neither stiffness nor mass, such as rotations of solid elements."""
        rows = np.asarray(abs(self.stiffness).sum(axis=1)).ravel() + np.asarray(abs(self.mass).sum(axis=1)).ravel()
        kept = np.flatnonzero(rows > 0.0)
        if 0 < len(kept) < len(self.freedom):
            for name in ("stiffness", "mass"):
                object.__setattr__(self, name, getattr(self, name)[kept][:, kept])
            object.__setattr__(self, "freedom", self.freedom[kept])

    def diagonal(self, name: str) -> np.ndarray:
        """Return the diagonal of the matrix `name`."""
        return np.asarray(getattr(self, name).diagonal(), float)

    def place(self, row: int) -> str:
        """Return the name of a degree of freedom for messages."""
        node, component = self.freedom[row]
        return f"node {node} component {component}" if component else f"scalar point {node}"

    def rows_of(self, node: int) -> np.ndarray:
        """Return the rows of a node, by component."""
        rows = np.flatnonzero((self.freedom[:, 0] == node) & (self.freedom[:, 1] > 0))
        return rows[np.argsort(self.freedom[rows, 1])]

    def rigid(self, origin: np.ndarray) -> np.ndarray:
        """Return the rigid motions about `origin`, (n, 6): three displacements, three rotations."""
        motions = np.zeros((len(self.freedom), 6))
        index = {int(node): k for k, node in enumerate(self.nodes)}
        for row, (node, component) in enumerate(self.freedom):
            if component:
                motions[row] = rigid_motion(self.position[index[int(node)]] - origin)[component - 1]
        return motions

    def at_nodes(self, shape: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Return the displacements and rotations of nodes in shapes (n, H): (len(nodes), 6, H), 0 where unknown."""
        found = np.zeros((len(nodes), 6, shape.shape[1]))
        index = {int(node): k for k, node in enumerate(nodes)}
        for row, (node, component) in enumerate(self.freedom):
            if component and int(node) in index:
                found[index[int(node)], component - 1] = shape[row]
        return found

    def in_si(self, units: str) -> FullModel:
        """Return the model in SI, from units such as "mm,t"; time is in seconds.

        Raises ElasticBodyError where `units` are not told: they are never guessed.
        """
        length, mass = unit_factors(units, self.source)
        # entries of displacements scale by the mass alone, those of rotations by the length too: energy is mass L2 / s2
        scale = np.where(self.freedom[:, 1] > 3, length, 1.0)
        turned = sparse.diags_array(scale) if is_sparse(self.mass) else np.diag(scale)
        bodies = self.bodies
        if bodies is not None:
            bodies = NodeBodies(bodies.mass * mass, bodies.offset * length, bodies.inertia * (mass * length**2))
        return replace(
            self,
            stiffness=mass * (turned @ self.stiffness @ turned),
            mass=mass * (turned @ self.mass @ turned),
            position=self.position * length,
            bodies=bodies,
        )


def is_sparse(matrix: Any) -> bool:
    """Return whether a matrix is one of scipy.sparse."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> Any:
    """Return a matrix as an array."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def unit_factors(units: str, source: str) -> tuple[float, float]:
    """Return what one unit of length, in m, and one of mass, in kg, of a model is."""
    told = [word.strip() for word in units.split(",") if word.strip()]
    ask = "give --units LENGTH,MASS, such as m,kg or mm,t or 0.0254m,175.126836kg; time is in seconds"
    if len(told) != 2:
        raise ElasticBodyError(f"{source}: the units of the model are not told and are never guessed: {ask}")
    factors = []
    for word, own in zip(told, ("m", "kg"), strict=True):
        try:
            quantity = parse_quantity(word if word[0].isdigit() or word[0] == "." else f"1{word}")
            if quantity is None or quantity[1] is None or not 0.0 < quantity[0] < float("inf"):
                raise UnitError(f"{word!r} is no unit")
            factors.append(quantity[0] * conversion(quantity[1], parse_unit(own))[0])
        except UnitError as error:
            raise ElasticBodyError(f"{source}: units {units!r}: {error}; {ask}") from error
    return factors[0], factors[1]


def _stored(matrix: Any) -> Any:
    """Return a matrix dense or sparse, by its size."""
    if matrix.shape[0] <= DENSE:
        return np.asarray(dense(matrix), float)
    return sparse.csc_array(matrix, dtype=float)


def _doubled(nodes: np.ndarray) -> int:
    values, counts = np.unique(nodes, return_counts=True)
    return int(values[np.argmax(counts)])
