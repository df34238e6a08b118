"""Coupling algorithms, one file each."""

from __future__ import annotations

from collections.abc import Callable

from dockfmu.base.messages import shown
from dockfmu.master.algorithms.algorithm import Algorithm
from dockfmu.master.algorithms.fixed_point import FixedPoint
from dockfmu.master.algorithms.gauss_seidel import GaussSeidel
from dockfmu.master.algorithms.jacobi import Jacobi
from dockfmu.master.algorithms.midpoint import Midpoint
from dockfmu.master.algorithms.quasi_newton import QuasiNewton
from dockfmu.master.errors import StructureError

__all__ = [
    "ALGORITHMS", "Algorithm", "FixedPoint", "GaussSeidel", "Jacobi", "Midpoint", "QuasiNewton", "by_name", "described",
]  # fmt: skip  # fmt: skip

ALGORITHMS: dict[str, Callable[[], Algorithm]] = {
    "gauss_seidel": GaussSeidel,
    "gauss_seidel_linear": lambda: GaussSeidel(linear=True),
    "jacobi": Jacobi,
    "jacobi_linear": lambda: Jacobi(linear=True),
    "midpoint": Midpoint,
    "fixed_point": FixedPoint,
    "quasi_newton": QuasiNewton,
}


def by_name(name: str) -> Algorithm:
    """Return the algorithm called `name`. Raises StructureError for an unknown name."""
    if name not in ALGORITHMS:
        raise StructureError([f"there is no algorithm {shown(name)}; there are {', '.join(ALGORITHMS)}"])
    return ALGORITHMS[name]()


def described(algorithm: Algorithm) -> str:
    """Return the name of an algorithm, or its `repr` if its settings are not those that the name stands for."""
    made = ALGORITHMS.get(algorithm.name)
    return algorithm.name if made is None or made() == algorithm else repr(algorithm)
