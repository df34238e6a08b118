"""Tables of calls of fmi2Get... and fmi2Set... for the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from master.fmi.instance import Instance

WHOLE = ("Integer", "Boolean", "String")
"""Types whose values are int32 in the loop; strings are numbers of `master.fmi.strings`."""


@dataclass
class Calls:
    """Rows of one kind (see `master.loop.tables`), in ranges, and the arrays whose addresses stand in them."""

    kind: int
    rows: list[tuple[int, ...]] = field(default_factory=list)
    range: list[int] = field(default_factory=lambda: [0])
    kept: list[np.ndarray] = field(default_factory=list)

    def add(
        self, instance: Instance, owner: int, function: str, references: Sequence[int], values: int, stride: int = 0
    ) -> None:
        """`owner` is the number of the instance."""
        if references:
            block = np.array(references, np.uint32)
            self.kept.append(block)
            assert instance.component is not None
            called = (instance.entry(function), instance.component, block.ctypes.data, len(block))
            self.rows.append((*called, values, stride, self.kind, owner))

    def close(self) -> None:
        """The end of a range."""
        self.range.append(len(self.rows))

    def of(self, number: int) -> list[tuple[int, ...]]:
        """The rows of a range."""
        return self.rows[self.range[number] : self.range[number + 1]]

    def table(self) -> np.ndarray:
        return call_table(self.rows)


def call_table(rows: Sequence[tuple[int, ...]]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 8)


def places(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Places or ranges as the loop wants them."""
    return np.array(values, np.uint64)
