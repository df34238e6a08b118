"""Coupling algorithms, one file each."""

from __future__ import annotations

from master.algorithms.algorithm import Algorithm
from master.algorithms.gauss_seidel import GaussSeidel
from master.algorithms.jacobi import Jacobi
from master.errors import StructureError

ALGORITHMS: dict[str, type[GaussSeidel] | type[Jacobi]] = {"gauss_seidel": GaussSeidel, "jacobi": Jacobi}


def by_name(name: str) -> Algorithm:
    """The algorithm called `name`. Raises StructureError for others."""
    if name not in ALGORITHMS:
        raise StructureError([f"there is no algorithm {name!r}; there are {', '.join(ALGORITHMS)}"])
    return ALGORITHMS[name]()
