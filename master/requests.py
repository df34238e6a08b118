"""What observers request of a run: triggers on variables, and variables to sample."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trigger:
    """Report every change of a variable, or each crossing of `level` where one is given."""

    variable: str
    level: float | None = None


@dataclass(frozen=True)
class Sampling:
    """Take the values of `variables` (full names) at the start and after every `every` macro steps."""

    variables: tuple[str, ...]
    every: int = 1
