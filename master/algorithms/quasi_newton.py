"""Implicit coupling by Broyden's method on the outputs that close a loop: for stiff loops.

What is learned of the Jacobian in one step serves in the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from master.algorithms.algorithm import Implicit, Scheme, one_by_one


@dataclass(frozen=True)
class QuasiNewton:
    """`linear` as for FixedPoint; with `derivatives` the first Jacobian comes from the FMUs, else it is learned."""

    tolerance: float = 1e-8
    sweeps: int = 50
    linear: bool = True
    derivatives: bool = True
    name: str = "quasi_newton"

    def scheme(self, order: Sequence[str]) -> Scheme:
        implicit = Implicit("broyden", self.tolerance, self.sweeps, derivatives=self.derivatives)
        return Scheme(one_by_one(order), frozenset(order) if self.linear else frozenset(), implicit=implicit)
