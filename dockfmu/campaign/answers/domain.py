"""Where a measure is negative, over two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from dockfmu.campaign.answers.answer import Answer, Question
from dockfmu.campaign.answers.chart import Chart, Mark, Points, Polyline
from dockfmu.campaign.answers.evaluation import Evaluations, unfinished
from dockfmu.campaign.answers.fixed_values import check_free, check_values, fixed_values
from dockfmu.campaign.cluster.execution import Execution
from dockfmu.campaign.description import short_name
from dockfmu.campaign.folder import CampaignFolder
from dockfmu.campaign.methods.domain import check_cells, refine_domain
from dockfmu.campaign.sampling.vary import number_in, unit_text
from dockfmu.declare.toml.tables import DeclarationError, Table

ENTRIES = ("measure", "parameters", "first", "second", "cells", "divisions", "values")


def read(campaign: CampaignFolder, name: str, row: Table) -> Question:
    """Read the question for the domain where a measure is negative, over two parameters."""
    fixed, system = fixed_values(campaign, row)
    parameters = row.texts("parameters", size=2)
    where = row.where
    spans = []
    for parameter, key in zip(parameters, ("first", "second"), strict=True):
        ends = row.items(key)
        if len(ends) != 2:
            raise DeclarationError(f"{where}: {key} must be the two ends of {parameter}")
        first, last = (number_in(end, parameter, system, f"{where}: {key}") for end in ends)
        if not 0.0 < last - first < inf:
            text = "the first end must be below the second, and their difference a number"
            raise DeclarationError(f"{where}: {key} = [{first:g}, {last:g}]: {text}")
        spans.append([first, last])
    low, high = np.array(spans).T
    measure = campaign.study.measure(row.text("measure"))
    cells, divisions = row.whole("cells", 8), row.whole("divisions", 3, least=0)
    check_cells(cells, divisions)
    check_free(campaign, fixed, parameters, where)

    def values_of(point: np.ndarray) -> dict[str, Any]:
        return fixed | dict(zip(parameters, (low + point * (high - low)).tolist(), strict=True))

    check_values(campaign, system, [values_of(np.array(at)) for at in ((0, 0), (0, 1), (1, 0), (1, 1), (0.5, 0.5))])

    def answer(cluster: Execution) -> Answer:
        with Evaluations(campaign, cluster, name) as runs:

            def margin(points: np.ndarray) -> np.ndarray:
                return runs.distance([values_of(point) for point in points], measure, 0.0, above=False)

            found = refine_domain(margin, first=cells, divisions=divisions)
        labels = [f"{short_name(varied)}, {unit_text(varied, system)}" for varied in parameters]
        full = (found.resolution + 1) ** 2
        return Answer(
            name,
            f"Where {measure.name} is below 0, over {' and '.join(map(short_name, parameters))}",
            (
                f"share of the rectangle inside: {found.area:.4f}, between {found.low:.4f} and {found.high:.4f}",
                f"{found.runs} runs; a full grid of the same cells would need {full}",
                *unfinished(runs, "outside the domain"),
            ),
            chart=Chart(
                [
                    *_points(low + found.points * (high - low), found.margins, np.array(runs.left_open, bool)),
                    _border([low + piece * (high - low) for piece in found.boundary]),
                ],
                x=labels[0],
                y=labels[1],
            ),
        )

    return answer


def _points(points: np.ndarray, margins: np.ndarray, left_open: np.ndarray) -> list[Points]:
    """Return the points of a domain, shape (n, 2), in three groups: inside, outside, and undecided."""
    groups: dict[str, tuple[Mark, np.ndarray]] = {
        "below 0": ("circle", margins < 0.0),
        "0 or above": ("diamond", (margins >= 0.0) & ~left_open),
        "undecided": ("cross", (margins >= 0.0) & left_open),
    }
    return [
        Points(name, points[mask, 0].tolist(), points[mask, 1].tolist(), shape, margins[mask].tolist())
        for name, (shape, mask) in groups.items()
        if mask.any()
    ]


def _border(pieces: Sequence[np.ndarray]) -> Polyline:
    """Return pieces of a boundary, each of shape (2, 2), as one line with gaps."""
    ends = [row for piece in pieces for row in (*piece, (np.nan, np.nan))]
    x, y = np.array(ends).reshape(-1, 2).T
    return Polyline("boundary", x.tolist(), y.tolist(), border=True)
