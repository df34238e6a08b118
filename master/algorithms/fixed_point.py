"""Implicit coupling by fixed-point iteration with Aitken relaxation: for loops that are not stiff at this step size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockfmu.master.algorithms.algorithm import Implicit, Scheme, check_iteration, one_by_one


@dataclass(frozen=True)
class FixedPoint:
    """Repeat the step until outputs and inputs agree, relaxed by Aitken's method. All FMUs must support rollback.

    Parameters
    ----------
    tolerance : float
        Largest difference between an output before and after a sweep, relative to the largest magnitude that outputs
        of its instance and unit have had.
    sweeps : int
        Largest number of sweeps in a step. A step that has not converged by then is accepted and counted.
    relaxation : float
        Relaxation factor of the first correction in a step.
    linear : bool
        Whether inputs are lines over the step: second order. Otherwise they are held at their values at the end of the
        step: first order, damped.

    Raises
    ------
    StructureError
        for a tolerance, a number of sweeps or a relaxation factor that is not positive
    """

    tolerance: float = 1e-8
    sweeps: int = 50
    relaxation: float = 1.0
    linear: bool = True
    name: str = "fixed_point"

    def __post_init__(self) -> None:
        check_iteration(self.name, self.tolerance, self.sweeps, self.relaxation)

    def scheme(self, order: Sequence[str]) -> Scheme:
        implicit = Implicit("aitken", self.tolerance, self.sweeps, self.relaxation)
        return Scheme(one_by_one(order), frozenset(order) if self.linear else frozenset(), implicit=implicit)
