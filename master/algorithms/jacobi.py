"""All instances step with the values of the step's start; the order does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Jacobi:
    name: str = "jacobi"

    def stages(self, order: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(order)]
