"""Implicit coupling by substitution, relaxed by Aitken's method: for loops that are not much stiffer than the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from master.algorithms.algorithm import Implicit, Scheme, one_by_one


@dataclass(frozen=True)
class FixedPoint:
    """`linear` inputs make the coupling of second order; those held at the step's end of first, and damped."""

    tolerance: float = 1e-8
    sweeps: int = 50
    relaxation: float = 1.0
    linear: bool = True
    name: str = "fixed_point"

    def scheme(self, order: Sequence[str]) -> Scheme:
        implicit = Implicit("aitken", self.tolerance, self.sweeps, self.relaxation)
        return Scheme(one_by_one(order), frozenset(order) if self.linear else frozenset(), implicit=implicit)
