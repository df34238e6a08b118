"""The program of a macro step for the compiled loop: what is carried where, and which calls follow each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from master.loop.tables import CARRY, CARRY_WHOLE, CONVERT, STEP, TRANSLATE
from master.tables.calls import call_table
from master.tables.layout import Layout


class Program(NamedTuple):
    """Three fields of `master.loop.tables.Instances`."""

    program: np.ndarray
    carries: np.ndarray
    calls: np.ndarray


def program_tables(layout: Layout) -> Program:
    """Return the rows stage by stage: first the inputs of all its instances, then their steps."""
    rows: list[tuple[int, ...]] = []
    carries, calls = [], []
    begin = 0
    sets, gets = layout.inputs.calls, layout.outputs.calls
    for stage in layout.scheme.stages:
        numbers = range(begin, begin + len(stage))
        for i in numbers:
            real, whole = _carried(layout, i)
            carries.append((len(rows), len(rows) + len(real), len(rows) + len(real) + len(whole)))
            rows += [*real, *whole]
        for i in numbers:
            instance = layout.instances[i]
            assert instance.component is not None
            step = (instance.entry("fmi2DoStep"), instance.component, 0, 0, 0, 0, STEP, i)
            called = [*sets.of(i), step, *gets.of(i)]
            calls.append((len(rows), len(rows) + len(sets.of(i)), len(rows) + len(called)))
            rows += called
        begin += len(stage)
    return Program(
        call_table(rows),
        np.array(carries, np.uint64).reshape(-1, 3),
        np.array(calls, np.uint64).reshape(-1, 3),
    )


def _carried(layout: Layout, i: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Rows that carry to instance i: Real inputs, others."""
    inputs = layout.inputs
    first, last = inputs.real_range[i : i + 2]
    converted = (inputs.factor[first:last] != 1.0) | (inputs.offset[first:last] != 0.0)
    kinds = [CONVERT if k else CARRY for k in converted]
    real = _bundles(inputs.real_source[first:last], first, kinds, i)
    first, last = inputs.whole_range[i : i + 2]
    whole = _bundles(inputs.whole_source[first:last], first, [CARRY_WHOLE] * (last - first), i)
    first, last = inputs.tabled_range[i : i + 2]
    if first < last:
        whole.append((0, first, 0, last - first, 0, 0, TRANSLATE, i))
    return real, whole


def _bundles(sources: Sequence[int], first: int, kinds: Sequence[int], i: int) -> list[tuple[int, ...]]:
    """One row for each run of inputs side by side, from `first` on, that come from outputs side by side."""
    found: list[tuple[int, ...]] = []
    places = enumerate(zip(sources, kinds, strict=True), first)
    for (shift, kind), run in groupby(places, lambda place: (place[1][0] - place[0], place[1][1])):
        targets = [target for target, _ in run]
        found.append((targets[0] + shift, targets[0], 0, len(targets), 0, 0, kind, i))
    return found
