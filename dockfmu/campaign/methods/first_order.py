"""First-order reliability method (FORM) with OpenTURNS: a probability from the point of the event nearest to the mean.

It is exact if the boundary of the event is one plane. For a curved boundary or several regions it is wrong without any
warning: for two opposite regions it gives half the probability. Report it beside a simulation, never alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.base.extras import load_extra
from dockfmu.campaign.methods.subset_simulation import Performance

DIFFERENCE = 0.05
"""Step of finite-difference gradients, in standard deviations; smaller steps would pick up the noise of a peak."""
SWEEPS = 20
"""Largest number of iterations."""
TOLERANCE = 1e-3
"""Tolerance of the distance to the mean, and of the performance relative to that of the mean."""
ABSENT = 10.0
"""Performance, relative to that of the mean, assigned to a point that has none: no event, and far from it."""


@dataclass(frozen=True)
class FirstOrder:
    """The nearest point of an event, shape (dimension,), its distance `beta` to the mean, and the probability."""

    probability: float
    beta: float
    point: np.ndarray
    runs: int


def openturns() -> Any:
    """Return the module of OpenTURNS. Raises MissingPackageError where it is not installed."""
    return load_extra("openturns", "FORM", "rare")


def estimate(performance: Performance, start: np.ndarray) -> FirstOrder | None:
    """Return the first-order estimate of the probability that the performance is negative.

    Return None where the search finds no point on the boundary of the event within `SWEEPS` iterations.

    Parameters
    ----------
    performance : callable
        See `dockfmu.campaign.methods.subset_simulation.Performance`.
    start : ndarray
        Point where the search begins, shape (dimension,): a sample of the event. Not the mean, because performance
        functions of simulations are flat there.

    Raises
    ------
    MissingPackageError
        if OpenTURNS is not installed
    Exception
        any error of `performance`
    """
    ot = openturns()
    n, runs = len(start), 1
    fault: BaseException | None = None
    mean = abs(float(performance(np.zeros((1, n)))[0]))
    scale = mean if 0.0 < mean < np.inf else 1.0

    def evaluate(points: object) -> list[list[float]]:
        nonlocal runs, fault
        given = np.array(points, float)
        runs += len(given)
        try:
            found = performance(given) / scale
        except BaseException as error:
            fault = error
            raise
        return [[value] for value in np.where(np.isfinite(found), found, ABSENT).tolist()]

    function = ot.PythonFunction(n, 1, func_sample=evaluate)
    function.setGradient(ot.CenteredFiniteDifferenceGradient([DIFFERENCE] * n, function.getEvaluation()))
    event = ot.ThresholdEvent(
        ot.CompositeRandomVector(ot.Function(function), ot.RandomVector(ot.Normal(n))), ot.Less(), 0.0
    )
    search = ot.AbdoRackwitz()
    search.setMaximumIterationNumber(SWEEPS)
    for limit in ("AbsoluteError", "RelativeError", "ResidualError", "ConstraintError"):
        getattr(search, f"setMaximum{limit}")(TOLERANCE)
    search.setCheckStatus(False)
    search.setStartingPoint(start.tolist())
    method = ot.FORM(search, event)
    try:
        method.run()
    except (RuntimeError, TypeError):
        if fault is not None:
            # OpenTURNS turns whatever a run raises, even Ctrl-C, into a RuntimeError
            raise fault from None
        return None
    result = method.getResult()
    optimum = result.getOptimizationResult()
    # OpenTURNS does not check its status, so that a search that ends without a point raises nothing
    if optimum.getIterationNumber() >= SWEEPS or optimum.getConstraintError() > TOLERANCE:
        return None
    point = np.array(result.getStandardSpaceDesignPoint())
    beta = float(result.getHasoferReliabilityIndex())
    return FirstOrder(float(result.getEventProbability()), beta, point, runs)
