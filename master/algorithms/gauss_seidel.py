"""Gauss-Seidel coupling: each instance steps with the newest outputs, those of the end of the step if available."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockfmu.master.algorithms.algorithm import Scheme, one_by_one


@dataclass(frozen=True)
class GaussSeidel:
    """Step one instance after another, each with the newest values of those before it. First order.

    Parameters
    ----------
    linear : bool
        Interpolate inputs from instances that have stepped, and extrapolate the others over the step. Second order.
    """

    linear: bool = False

    @property
    def name(self) -> str:
        return "gauss_seidel_linear" if self.linear else "gauss_seidel"

    def scheme(self, order: Sequence[str]) -> Scheme:
        return Scheme(one_by_one(order), frozenset(order) if self.linear else frozenset())
