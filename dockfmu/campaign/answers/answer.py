"""The form of an answer, as text and for the report."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from dockfmu.campaign.cluster.execution import Execution


@dataclass(frozen=True)
class Answer:
    """An answer: its question, sentences, rows of a table, and data of its `figure`; `kind` selects how to draw it."""

    name: str
    kind: str
    question: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    table: tuple[tuple[Any, ...], ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)


Question = Callable[[Execution], Answer]
"""A checked question: a function that takes a cluster, for the runs that it needs, and returns the answer."""


def figure_text(value: float) -> str:
    """Return a number with four significant digits, without an exponent if it is of ordinary size."""
    if math.isinf(value):
        return "∞" if value > 0.0 else "-∞"
    return f"{float(f'{value:.4g}'):.10g}"


def as_json(answers: Sequence[Answer]) -> str:
    """Return answers as JSON text; non-finite numbers, which JSON lacks, become null."""
    return json.dumps([plain(asdict(answer)) for answer in answers], indent=1, allow_nan=False)


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
