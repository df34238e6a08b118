"""What a coupling algorithm decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Algorithm(Protocol):
    """A fixed-step algorithm: how the instances are cut into stages.

    The instances of a stage exchange their values, then all step; the next stage sees what they give.
    """

    @property
    def name(self) -> str: ...

    def stages(self, order: Sequence[str]) -> list[tuple[str, ...]]:
        """The stages of one macro step, from the instances in execution order."""
        ...
