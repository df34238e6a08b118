"""Bounds of a measure from runs that did not finish.

A largest value can only rise as a run continues, and a smallest value can only fall. The value that a run had reached
before it failed is therefore a bound of its measure, and may already decide a question. A craft that was captured
before its run failed is captured; one whose run failed before a capture might have been captured later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockfmu.campaign.description import Measure

if TYPE_CHECKING:
    import pandas

UNFINISHED = ("failed", "invalid", "time_limit", "crashed")
"""Outcomes of runs whose measures cover only a part of the run, or are missing. Runs that exceed a limit of the model
or miss are not among them: their measures describe what happened."""


def finished(table: pandas.DataFrame, measure: Measure) -> pandas.DataFrame:
    """Return the rows that have a measure, except those with an outcome in `UNFINISHED`."""
    return table[~table["outcome"].isin(UNFINISHED)].dropna(subset=[measure.name])


def reached(rows: pandas.DataFrame, measure: Measure) -> np.ndarray:
    """Return the values of a measure, shape (runs,); NaN where not even a bound is known.

    For runs that did not finish, these are the values reached so far: bounds of the largest or smallest values.
    """
    values = np.asarray(rows[measure.name], float)
    if measure.rises is None:
        return np.where(rows["outcome"].isin(UNFINISHED), np.nan, values)
    return values


def distance(rows: pandas.DataFrame, measure: Measure, bound: float, *, above: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of runs from a measure above (or below) a bound, and which runs leave it open.

    The distances, shape (runs,), are in the unit of the measure. They are negative where the measure is beyond the
    bound, and zero at the bound. Runs leave the question open if they did not finish or lack the measure, and what they
    had reached does not decide it. Their distance is never negative: it is the one at their end if continuing could
    only have brought them nearer, and infinity otherwise.
    """
    values = rows[measure.name].to_numpy(float)
    distances = bound - values if above else values - bound
    open_ = rows["outcome"].isin(UNFINISHED).to_numpy() | np.isnan(values)
    if measure.rises is None:
        return np.where(open_, np.inf, distances), open_
    if measure.rises == above:
        open_ &= ~(distances < 0.0)
        return np.where(np.isnan(distances), np.inf, distances), open_
    open_ &= ~(distances >= 0.0)
    return np.where(open_, np.inf, distances), open_
