"""Windows of an ensemble smoother: up to when data are assimilated next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from dockfmu.reconstruct.ensemble_step import SPARE, EnsembleError, regression

STRAIGHT = 3.0
"""Mean variance of noise and of what is not linear, over that of the noise, up to which a window grows."""
LEAST = 4
"""Fewest data of a window that grows."""
MOST = 20
"""Most windows: none is shorter than this part of the time of the data."""
FEWEST = 5
"""Fewest windows: none is longer than this part of the time of the data."""


class Members(Protocol):
    """Stand for members at work: unknowns, shape (members, n), and their outputs, shape (members, data)."""

    unknowns: np.ndarray
    outputs: np.ndarray

    def reach(self, until: float) -> None:
        """Have the outputs at data up to a time, s."""


def given_windows(windows: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """Return the masks of windows that are given; one of all data if none is. Raises EnsembleError."""
    masks = [np.asarray(window, bool) for window in windows] or [np.ones(count, bool)]
    if any(mask.shape != (count,) for mask in masks) or np.sum(masks, axis=0).max() > 1:
        raise EnsembleError("windows must be masks of the data, and a datum lies in one of them")
    return [mask for mask in masks if mask.any()]


def growing_windows(members: Members, time: np.ndarray, deviation: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the masks of windows, each as long as the outputs of the members are a straight line of their unknowns.

    Small differences grow in each impact, so that outputs far ahead are no function that a wide ensemble can see. The
    data of each window make the members alike, and the next one reaches further. It does not reach too far: members
    that are more alike than the posterior, as they are before all have arrived, see a straight line everywhere.
    """
    taken = np.zeros(len(time), bool)
    whole = float(np.ptp(time)) if len(time) else 0.0
    while not taken.all():
        left = np.flatnonzero(~taken)
        left = left[np.argsort(time[left], kind="stable")]
        members.reach(float(time[left[0]]) + whole / FEWEST)
        end = max(_straight(members, left, deviation), min(LEAST, len(left)))
        until = float(np.clip(time[left[end - 1]], time[left[0]] + whole / MOST, time[left[0]] + whole / FEWEST))
        mask = ~taken & (time <= until)
        taken |= mask
        yield mask


def _straight(members: Members, left: np.ndarray, deviation: np.ndarray) -> int:
    """Return how many of the data in `left` the members tell by a straight line."""
    there = np.isfinite(members.outputs[:, left])
    enough = members.unknowns.shape[1] + 1 + SPARE
    # as far as there are outputs of members enough
    reach = int(np.sum(np.logical_and.accumulate(there, axis=1).sum(axis=0) >= max(enough, len(there) / 2)))
    if len(there) < enough:
        return len(left)
    if not reach:
        return 0
    own = left[:reach]
    valid = there[:, :reach].all(axis=1)
    _, variance = regression(members.unknowns[valid], members.outputs[valid][:, own] / deviation[own])
    mean = np.cumsum(variance) / np.arange(1, reach + 1)
    return int(np.flatnonzero(mean <= STRAIGHT)[-1]) + 1 if (mean <= STRAIGHT).any() else 0
