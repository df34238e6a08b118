"""What is known of a measure in runs that did not come to an end.

A largest value can only rise as a run goes on, a smallest one only fall: what a run had reached before it failed is a
bound of its measure, and may decide a question all the same. A craft that was captured before its run failed is
captured, and one whose run failed before may have been.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockfmu.campaign.description import Measure

if TYPE_CHECKING:
    import pandas

UNFINISHED = ("failed", "invalid", "time_limit", "crashed")
"""Outcomes of runs whose measures are those of a part of the run, or none. Runs that exceed a limit of the model or
miss are not among them: their measures are those of what happened."""


def finished(table: pandas.DataFrame, measure: Measure) -> pandas.DataFrame:
    """Return the rows that have a measure, but for those with an outcome in `UNFINISHED`."""
    return table[~table["outcome"].isin(UNFINISHED)].dropna(subset=[measure.name])


def only_rises(measure: Measure) -> bool | None:
    """Return whether a measure can only rise as a run goes on; False: it can only fall, None: it does both."""
    return {"min": False, "final": None}.get(measure.kind, True)


def reached(rows: pandas.DataFrame, measure: Measure) -> np.ndarray:
    """Return the values of a measure, shape (runs,), NaN where not even a bound is known.

    Of runs that did not come to an end they are what was reached until then: bounds of largest and smallest values.
    """
    values = np.asarray(rows[measure.name], float)
    if only_rises(measure) is None:
        return np.where(rows["outcome"].isin(UNFINISHED), np.nan, values)
    return values


def distance(
    rows: pandas.DataFrame, measure: Measure, bound: float, *, above: bool
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return how far runs are from a measure above a bound, or below it, and which runs leave it open.

    The distances, shape (runs,), are in the unit of the measure, and negative where the measure is beyond the bound,
    at which it is not. Runs that leave it open, because they did not come to an end or do not have the measure, have
    no negative one: how far they were when they ended, where going on could only have brought them nearer, and
    infinity otherwise.
    """
    values = rows[measure.name].to_numpy(float)
    found = bound - values if above else values - bound
    open_ = rows["outcome"].isin(UNFINISHED).to_numpy() | np.isnan(values)
    rises = only_rises(measure)
    if rises is None:
        return np.where(open_, np.inf, found), open_
    if rises == above:
        open_ &= ~(found < 0.0)
        return np.where(np.isnan(found), np.inf, found), open_
    open_ &= ~(found >= 0.0)
    return np.where(open_, np.inf, found), open_
