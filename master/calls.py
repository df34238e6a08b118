"""Tables of calls of fmi2Get... and fmi2Set... for the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from master.fmu import Instance


@dataclass
class Calls:
    """Rows of a table of calls, and the arrays whose addresses stand in them."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    range: list[int] = field(default_factory=lambda: [0])
    kept: list[np.ndarray] = field(default_factory=list)

    def add(self, instance: Instance, function: str, references: Sequence[int], values: int, stride: int = 0) -> None:
        if references:
            block = np.array(references, np.uint32)
            self.kept.append(block)
            assert instance.component is not None
            row = (instance.entry(function), instance.component, block.ctypes.data, len(block), values, stride)
            self.rows.append(row)

    def close(self) -> None:
        self.range.append(len(self.rows))

    def table(self) -> np.ndarray:
        return np.array(self.rows, np.int64).reshape(-1, 6)
