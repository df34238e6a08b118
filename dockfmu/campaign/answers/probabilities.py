"""Answers that are the probabilities of what happens in a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.chart import Bars, Chart
from dockfmu.campaign.methods import estimates

if TYPE_CHECKING:
    import pandas

_CAVEATS = {
    "grid": "the runs form a grid and are not draws: these are shares of the grid, not probabilities",
    **dict.fromkeys(
        ("sobol", "latin_hypercube"),
        "the intervals are those of independent draws; for this sampling they are too wide",
    ),
}
"""Caveats on the intervals, by sampling."""


def probabilities(
    name: str,
    question: str,
    noun: str,
    happened: Iterable[tuple[str, np.ndarray]],
    sampling: str,
    sentences: Iterable[str] = (),
) -> Answer:
    """Return the probability of each of `happened`, a word and the truth values of the runs, as a table and bars.

    `noun` says what the words are, and `sampling` how the values of the runs were chosen.
    """
    rows: list[tuple[Any, ...]] = []
    for word, mask in happened:
        estimate = estimates.probability(mask)
        rows.append((word, int(mask.sum()), estimate.value, estimate.low, estimate.high))
    words, _, y, low, high = zip(*rows, strict=True) if rows else ((),) * 5
    bars = Bars("probability", [str(word).replace("_", " ") for word in words], y, low, high)
    # one word is a bar as wide as the page that says nothing more than the table
    chart = Chart([bars], y="probability") if len(rows) > 1 else None
    caveats = [_CAVEATS[sampling]] if sampling in _CAVEATS else []
    head = (noun, "runs", "probability", "95 % from", "to")
    return Answer(name, question, (*caveats, *sentences), head, tuple(rows), chart)


def counted(outcomes: pandas.Series) -> str:
    """Return how often each word of a column occurs, the most frequent first."""
    return ", ".join(f"{count} {str(word).replace('_', ' ')}" for word, count in outcomes.value_counts().items())
