"""Rows of values that observers take: what is wanted, the buffers, and the tables of the calls that fill them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from master.loop.tables import RECORD, Rows
from master.requests import Sampling
from master.system import System
from master.tables.calls import WHOLE, Calls, places
from master.tables.layout import Layout

CAPACITY_BYTES = 4 << 20
"""Memory for the rows of one group between two returns to Python."""


class Group:
    """The rows of one Sampling; columns are in the order of its variables."""

    def __init__(self, system: System, sampling: Sampling, longest: int) -> None:
        self.sampling = sampling
        self.every = sampling.every
        self.variables = [system.resolve(name) for name in sampling.variables]
        # neighbours of one instance and type are read by one call
        elements = list(dict.fromkeys(element for element, _ in self.variables))
        kinds = [(elements.index(element), variable.storage) for element, variable in self.variables]
        places = sorted(range(len(kinds)), key=kinds.__getitem__)
        self.real_columns = [k for k in places if kinds[k][1] == "Real"]
        self.whole_columns = [k for k in places if kinds[k][1] in WHOLE]
        width = 8 * len(self.real_columns) + 4 * len(self.whole_columns)
        self.capacity = max(1, min(longest // self.every, CAPACITY_BYTES // max(width, 8))) + 3
        self.real = np.zeros((self.capacity, len(self.real_columns)))
        self.whole = np.zeros((self.capacity, len(self.whole_columns)), np.int32)

    def rows(self, count: int) -> np.ndarray:
        """The first `count` rows as float64, shape (count, variables): the buffer itself where it has this form."""
        if self.real_columns == list(range(len(self.variables))):
            return self.real[:count]
        values = np.empty((count, len(self.variables)))
        for block, columns in ((self.real, self.real_columns), (self.whole, self.whole_columns)):
            for first, last in _runs(columns):
                values[:, columns[first] : columns[last] + 1] = block[:count, first : last + 1]
        return values


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """First and last places of columns that are neighbours: copied together they take a fraction of the time."""
    ends = [k for k in range(len(columns)) if k + 1 == len(columns) or columns[k + 1] != columns[k] + 1]
    return list(zip([0, *(end + 1 for end in ends)], ends, strict=False))


def record_calls(layout: Layout, groups: Sequence[Group]) -> Calls:
    """Return the calls that fill a row of each group: one for each run of columns of one instance and type."""
    calls = Calls(RECORD)
    for group in groups:
        for block, columns in ((group.real, group.real_columns), (group.whole, group.whole_columns)):
            start = 0
            while start < len(columns):
                element, variable = group.variables[columns[start]]
                end = start
                while end < len(columns):
                    other, candidate = group.variables[columns[end]]
                    if (other, candidate.storage) != (element, variable.storage):
                        break
                    end += 1
                references = [group.variables[k][1].reference for k in columns[start:end]]
                address = block.ctypes.data + block.itemsize * start
                i = layout.order.index(element)
                function = f"fmi2Get{variable.storage}"
                calls.add(layout.instances[i], i, function, references, address, block.strides[0])
                start = end
        calls.close()
    return calls


def row_tables(groups: Sequence[Group], records: Calls) -> Rows:
    capacity = max((group.capacity for group in groups), default=1)
    return Rows(
        every=np.array([group.every for group in groups], np.int64),
        calls=records.table(),
        range=places(records.range),
        filled=np.zeros(len(groups), np.int64),
        time=np.zeros((len(groups), capacity)),
    )
