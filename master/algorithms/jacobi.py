"""Jacobi coupling: all instances step with the outputs at the start of the step; their order does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockfmu.master.algorithms.algorithm import Scheme


@dataclass(frozen=True)
class Jacobi:
    """Step all instances with the values of the start of the step. First order.

    Parameters
    ----------
    linear : bool
        Extrapolate all inputs over the step. Second order.
    """

    linear: bool = False

    @property
    def name(self) -> str:
        return "jacobi_linear" if self.linear else "jacobi"

    def scheme(self, order: Sequence[str]) -> Scheme:
        return Scheme((tuple(order),), frozenset(order) if self.linear else frozenset())
