"""The form of an answer, as text and for the report."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dockfmu.campaign.answers.chart import Chart
from dockfmu.campaign.cluster.execution import Execution


@dataclass(frozen=True)
class Link:
    """A cell of a table that leads to a file, relative to the folder of the campaign."""

    text: str
    target: str


@dataclass(frozen=True)
class Command:
    """A cell of a table that is a command to type."""

    command: str


@dataclass(frozen=True)
class Answer:
    """An answer: its question, sentences, rows of a table, and its chart."""

    name: str
    question: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    table: tuple[tuple[Any, ...], ...] = ()
    chart: Chart | None = None


Question = Callable[[Execution], Answer]
"""A checked question: a function that takes a cluster, for the runs that it needs, and returns the answer."""


def as_json(answers: Sequence[Answer]) -> str:
    """Return answers as JSON text; non-finite numbers, which JSON lacks, become null.

    Each part of a chart has an entry `part` with its form: "bars", "polyline", "band" or "points".
    """
    content = [asdict(answer) for answer in answers]
    for answer, entry in zip(answers, content, strict=True):
        if answer.chart is not None:
            entry["chart"]["parts"] = [{"part": type(p).__name__.lower(), **asdict(p)} for p in answer.chart.parts]
    return json.dumps(plain(content), indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value converted to types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)
