"""Tables of calls of FMI functions, in the form that the loop takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.loop.records import CALL, table_of


@dataclass
class FmiCalls:
    """A table of calls of one kind (see `dockfmu.master.loop.records`), in ranges.

    `buffers` are the arrays whose addresses are in the rows.
    """

    kind: int
    rows: list[tuple[int, ...]] = field(default_factory=list)
    range: list[int] = field(default_factory=lambda: [0])
    buffers: list[np.ndarray] = field(default_factory=list)

    def add(
        self, instance: FmuInstance, number: int, function: str, references: Sequence[int], values: int, stride: int = 0
    ) -> None:
        """Add a call of `function` of the instance with this number; `values` is the address of its buffer."""
        if references:
            block = np.array(references, np.uint32)
            self.buffers.append(block)
            assert instance.component is not None
            call = (instance.entry(function), instance.component, block.ctypes.data, len(block))
            self.rows.append((*call, values, stride, self.kind, number))

    def end_range(self) -> None:
        """End the present range, so that further calls belong to the next one."""
        self.range.append(len(self.rows))

    def of(self, number: int) -> list[tuple[int, ...]]:
        """Return the rows of a range."""
        return self.rows[self.range[number] : self.range[number + 1]]

    def table(self) -> np.ndarray:
        """Return the rows as records, shape (calls,)."""
        return table_of(CALL, self.rows)


def slots(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return slots or ranges in the type that the loop takes."""
    return np.array(values, np.uint64)


def ranges(counts: Iterable[int]) -> tuple[int, ...]:
    """Return the ranges of items from the number of each: item i has range[i] to range[i + 1]."""
    return tuple(accumulate(counts, initial=0))
