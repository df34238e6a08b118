"""Implicit coupling by Broyden's method on the outputs that close a loop: for stiff loops.

The Jacobian of one step is the first guess for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockfmu.master.algorithms.algorithm import Implicit, Scheme, check_iteration, one_by_one


@dataclass(frozen=True)
class QuasiNewton:
    """Solve for the outputs that close loops by Broyden's method. All FMUs must support rollback.

    Parameters
    ----------
    tolerance : float
        Largest difference between an output before and after a sweep, relative to the largest magnitude that outputs
        of its instance and unit have had.
    sweeps : int
        Largest number of sweeps in a step. A step that has not converged by then is accepted and counted.
    linear : bool
        Whether inputs are lines over the step: second order. Otherwise they are held at their values at the end of the
        step: first order, damped.
    derivatives : bool
        Whether the first Jacobian comes from directional derivatives of the FMUs; otherwise it is learned from the
        steps.

    Raises
    ------
    StructureError
        for a tolerance or a number of sweeps that is not positive
    """

    tolerance: float = 1e-8
    sweeps: int = 50
    linear: bool = True
    derivatives: bool = True
    name: str = "quasi_newton"

    def __post_init__(self) -> None:
        check_iteration(self.name, self.tolerance, self.sweeps)

    def scheme(self, order: Sequence[str]) -> Scheme:
        implicit = Implicit("broyden", self.tolerance, self.sweeps, derivatives=self.derivatives)
        return Scheme(one_by_one(order), frozenset(order) if self.linear else frozenset(), implicit=implicit)
