"""Each instance steps with the newest values: those after it still of the step's start, those before it of its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class GaussSeidel:
    name: str = "gauss_seidel"

    def stages(self, order: Sequence[str]) -> list[tuple[str, ...]]:
        return [(name,) for name in order]
