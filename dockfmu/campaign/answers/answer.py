"""The form of an answer, for people and for the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Answer:
    """An answer: its question, sentences, rows of a table, and what `figure` is drawn of; `kind` says by which form."""

    name: str
    kind: str
    question: str
    sentences: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    table: tuple[tuple[Any, ...], ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)


def as_json(answers: Sequence[Answer]) -> str:
    """Return answers as text in JSON."""
    return json.dumps([asdict(answer) for answer in answers], indent=1, default=_plain)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
