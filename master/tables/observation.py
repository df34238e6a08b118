"""The tables of what observers request from the loop: rows of values with their buffers and calls, and triggers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.master.loop.tables import (
    ANY_CHANGE_INT,
    ANY_CHANGE_REAL,
    LEVEL_INT,
    LEVEL_REAL,
    RECORD,
    RecordingTable,
    TriggerTable,
)
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.system import Structure
from dockfmu.master.tables.calls import FmiCalls, slots
from dockfmu.master.tables.layout import INT32_TYPES, Layout, OutputLayout

CAPACITY_BYTES = 8 << 20
"""Memory for the rows of one group between two returns to Python, bytes. A return costs as much as 50 macro steps."""


class RowGroup:
    """The buffers for the rows of one Sampling; columns are in the order of its variables."""

    def __init__(self, system: Structure, sampling: Sampling, longest: int) -> None:
        self.sampling = sampling
        self.every = sampling.every
        self.variables = [system.resolve(name) for name in sampling.variables]
        # sort the variables: adjacent ones of one instance and type are read by one call
        elements = list(dict.fromkeys(element for element, _ in self.variables))
        kinds = [(elements.index(element), variable.storage) for element, variable in self.variables]
        order = sorted(range(len(kinds)), key=kinds.__getitem__)
        self.real_columns = [k for k in order if kinds[k][1] == "Real"]
        self.int_columns = [k for k in order if kinds[k][1] in INT32_TYPES]
        width = 8 * len(self.real_columns) + 4 * len(self.int_columns)
        self.capacity = max(1, min(longest // self.every, CAPACITY_BYTES // max(width, 8))) + 3
        self.reals = np.zeros((self.capacity, len(self.real_columns)))
        self.integers = np.zeros((self.capacity, len(self.int_columns)), np.int32)
        self._copies = [
            (block, columns[first], first, last + 1)
            for block, columns in ((self.reals, self.real_columns), (self.integers, self.int_columns))
            for first, last in _runs(columns)
        ]
        """Runs of columns: the buffer, the first column of the rows, first column and end in the buffer."""
        all_real = self.real_columns == list(range(len(self.variables)))
        self._rows = self.reals if all_real else np.empty((self.capacity, len(self.variables)))

    def rows(self, count: int) -> np.ndarray:
        """Return the first `count` rows as float64, shape (count, variables), in memory that the next rows reuse."""
        values = self._rows[:count]
        if self._rows is not self.reals:
            for block, column, first, end in self._copies:
                values[:, column : column + end - first] = block[:count, first:end]
        return values


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last index of each run of adjacent columns, which are copied together."""
    ends = [k for k in range(len(columns)) if k + 1 == len(columns) or columns[k + 1] != columns[k] + 1]
    return list(zip([0, *(end + 1 for end in ends)], ends, strict=False))


def record_calls(layout: Layout, groups: Sequence[RowGroup]) -> FmiCalls:
    """Return the calls that fill a row of each group: one for each run of columns of one instance and type."""
    calls = FmiCalls(RECORD)
    for group in groups:
        for block, columns in ((group.reals, group.real_columns), (group.integers, group.int_columns)):
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
        calls.end_range()
    return calls


def recording_table(groups: Sequence[RowGroup], calls: FmiCalls) -> RecordingTable:
    """Return the table of the rows of all groups, which `calls` fill."""
    capacity = max((group.capacity for group in groups), default=1)
    return RecordingTable(
        every=np.array([group.every for group in groups], np.int64),
        calls=calls.table(),
        range=slots(calls.range),
        filled=np.zeros(len(groups), np.int64),
        time=np.zeros((len(groups), capacity)),
    )


def trigger_table(
    outputs: OutputLayout, triggers: Sequence[Trigger], located: Sequence[Trigger], stop_when: str | None
) -> TriggerTable:
    """Return the table of triggers: `triggers` are logged, and steps must not jump over changes of `located`.

    `stop_when` is the full name of the output that ends the run.
    """
    found = [_resolved(outputs, trigger) for trigger in (*triggers, *located)]
    logged = np.arange(len(found)) < len(triggers)
    return TriggerTable(
        kind=np.array([kind for kind, _, _ in found], np.int64),
        slot=slots([slot for _, slot, _ in found]),
        level=np.array([level for _, _, level in found], float),
        last=np.zeros(len(found)),
        located=(~logged).astype(np.uint8),
        logged=logged.astype(np.uint8),
        prompt=np.array([trigger.prompt for trigger in (*triggers, *located)], np.uint8),
        event=np.zeros((4096 + 2 * len(found), 4)),
        stop_slot=slots([outputs.integer[stop_when]] if stop_when else []),
    )


def _resolved(outputs: OutputLayout, trigger: Trigger) -> tuple[int, int, float]:
    """Return (kind, slot, level) of a trigger."""
    if trigger.variable in outputs.real:
        kind = ANY_CHANGE_REAL if trigger.level is None else LEVEL_REAL
        return kind, outputs.real[trigger.variable], trigger.level or 0.0
    kind = ANY_CHANGE_INT if trigger.level is None else LEVEL_INT
    return kind, outputs.integer[trigger.variable], trigger.level or 0.0


def arm_triggers(triggers: TriggerTable, outputs: OutputLayout) -> None:
    """Take the present values as the reference for changes."""
    for w, (kind, slot) in enumerate(zip(triggers.kind, triggers.slot, strict=True)):
        real = kind in (ANY_CHANGE_REAL, LEVEL_REAL)
        triggers.last[w] = outputs.y_real[slot] if real else outputs.y_int[slot]
