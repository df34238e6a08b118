"""The tables of instances, signals and rates: the program of a macro step, and what its rows refer to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from dockfmu.master.loop.records import CALL, table_of
from dockfmu.master.loop.tables import CONVERT, COPY, COPY_INT, MAP_INT, STEP, InstanceTable, RateTable, SignalTable
from dockfmu.master.tables.calls import ranges, slots
from dockfmu.master.tables.layout import Layout


class StepProgram(NamedTuple):
    """Three fields of `dockfmu.master.loop.tables.InstanceTable`."""

    program: np.ndarray
    transfers: np.ndarray
    calls: np.ndarray


def instance_table(layout: Layout, *, rollback: bool) -> InstanceTable:
    """Return the table of the instances; with `rollback` steps may be repeated."""

    def addresses(function: str) -> np.ndarray:
        return np.array([i.entry(function) for i in layout.instances], np.int64)

    def entries(function: str) -> np.ndarray:
        return addresses(function) if rollback else np.zeros(0, np.int64)

    return InstanceTable(
        stages=slots(ranges(len(stage) for stage in layout.scheme.stages)),
        **_program(layout)._asdict(),
        component=np.array([instance.component for instance in layout.instances], np.int64),
        get_state=entries("fmi2GetFMUstate"),
        set_state=entries("fmi2SetFMUstate"),
        state=np.zeros((2, len(layout.instances)), np.int64),
        warnings=np.zeros(len(layout.instances), np.int64),
        real_status=addresses("fmi2GetRealStatus"),
        boolean_status=addresses("fmi2GetBooleanStatus"),
        answer=np.zeros(len(layout.instances), np.int32),
        end=np.full(len(layout.instances), np.inf),
        asked=np.zeros(1, np.int64),
        final=int(not rollback),
    )


def signal_table(layout: Layout) -> SignalTable:
    """Return the table of coupled and observed variables."""
    inputs, outputs = layout.inputs, layout.outputs
    return SignalTable(
        y_real=outputs.y_real,
        y_bits=outputs.y_real.view(np.int64),
        y_range=slots(outputs.real_range),
        u_real=inputs.u_real,
        u_range=slots(inputs.real_range),
        factor=inputs.factor,
        offset=inputs.offset,
        y_int=outputs.y_int,
        u_int=inputs.u_int,
        mapped=slots([k for k, _ in inputs.mapped]),
        mapping=np.array([row for _, mapping in inputs.mapped for row in mapping], np.int32).reshape(-1, 2),
        mapping_range=slots(ranges(len(mapping) for _, mapping in inputs.mapped)),
    )


def rate_table(layout: Layout) -> RateTable:
    """Return the table of rates, empty if all instances step once in each macro step."""
    elements = [layout.system.elements[name] for name in layout.order]
    used = any((element.substeps, element.every) != (1, 1) for element in elements)
    instances, inputs, outputs = (
        (len(elements), len(layout.inputs.real), len(layout.outputs.real)) if used else (0, 0, 0)
    )
    means = {f"{c.source}.{c.output}" for c in layout.system.connections if c.mean}
    owners = {c.source for c in layout.system.connections if c.mean}
    return RateTable(
        substeps=np.array([element.substeps for element in elements if used], np.int64),
        every=np.array([element.every for element in elements if used], np.int64),
        elapsed=np.zeros(instances, np.int64),
        start=np.zeros(instances),
        u_integral=np.zeros(inputs),
        has_means=np.array([name in owners for name in layout.order if used], np.uint8),
        is_mean=np.array([name in means for name in layout.outputs.real if used], np.uint8),
        y_integral=np.zeros(outputs),
    )


def _program(layout: Layout) -> StepProgram:
    """Return the rows of the program by stage: first the inputs of all its instances, then their steps."""
    rows: list[tuple[int, ...]] = []
    transfers, calls = [], []
    begin = 0
    sets, gets = layout.inputs.calls, layout.outputs.calls
    for stage in layout.scheme.stages:
        numbers = range(begin, begin + len(stage))
        for i in numbers:
            real, integer = _transfers(layout, i)
            transfers.append((len(rows), len(rows) + len(real), len(rows) + len(real) + len(integer)))
            rows += [*real, *integer]
        for i in numbers:
            instance = layout.instances[i]
            assert instance.component is not None
            step = (instance.entry("fmi2DoStep"), instance.component, 0, 0, 0, 0, STEP, i)
            called = [*sets.of(i), step, *gets.of(i)]
            calls.append((len(rows), len(rows) + len(sets.of(i)), len(rows) + len(called)))
            rows += called
        begin += len(stage)
    return StepProgram(
        table_of(CALL, rows),
        np.array(transfers, np.uint64).reshape(-1, 3),
        np.array(calls, np.uint64).reshape(-1, 3),
    )


def _transfers(layout: Layout, i: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the rows that transfer values to the Real inputs of instance i, and those to its int32 inputs."""
    inputs = layout.inputs
    first, last = inputs.real_range[i : i + 2]
    converted = (inputs.factor[first:last] != 1.0) | (inputs.offset[first:last] != 0.0)
    kinds = [CONVERT if k else COPY for k in converted]
    real = _bundles(inputs.real_source[first:last], first, kinds, i)
    first, last = inputs.integer_range[i : i + 2]
    integer = _bundles(inputs.integer_source[first:last], first, [COPY_INT] * (last - first), i)
    first, last = inputs.mapped_range[i : i + 2]
    if first < last:
        integer.append((0, first, 0, last - first, 0, 0, MAP_INT, i))
    return real, integer


def _bundles(sources: Sequence[int], first: int, kinds: Sequence[int], i: int) -> list[tuple[int, ...]]:
    """Return one row for each run of adjacent inputs, from `first` on, that come from adjacent outputs."""
    found: list[tuple[int, ...]] = []
    pairs = enumerate(zip(sources, kinds, strict=True), first)
    for (shift, kind), run in groupby(pairs, lambda pair: (pair[1][0] - pair[0], pair[1][1])):
        targets = [target for target, _ in run]
        found.append((targets[0] + shift, targets[0], 0, len(targets), 0, 0, kind, i))
    return found
