"""Inputs that a function gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from master.drivers.driver import Driver


class Function(Driver):
    """Asks `function(time)` for new values of `inputs`, by full names, before every `every` macro steps.

    >>> Function(["craft.force[1]"], lambda t: {"craft.force[1]": 10.0 if t < 1.0 else 0.0})      # doctest: +SKIP
    """

    def __init__(
        self, inputs: Sequence[str], function: Callable[[float], Mapping[str, Any]], *, every: int = 1
    ) -> None:
        self.inputs, self.every = tuple(inputs), every
        self._function = function

    def values(self, time: float) -> Mapping[str, Any]:
        return self._function(time)
