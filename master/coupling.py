"""From a system and its instances to the tables of the compiled loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from master import loop
from master.fmu import Instance
from master.system import System

WHOLE = ("Integer", "Boolean", "String")
"""Types whose values are int32 in the loop; strings are numbers of `master.texts`."""

CAPACITY_BYTES = 16 << 20
"""Memory for the rows of one group between two returns to Python."""


@dataclass(frozen=True)
class Watch:
    """Log every change of a variable, or each crossing of `level` where one is given."""

    variable: str
    level: float | None = None


@dataclass(frozen=True)
class Sampling:
    """Take the values of `variables` (full names) at the start and after every `every` macro steps."""

    variables: tuple[str, ...]
    every: int = 1


class Group:
    """The rows of one Sampling; columns are in the order of its variables."""

    def __init__(self, system: System, sampling: Sampling, longest: int) -> None:
        self.sampling = sampling
        self.every = sampling.every
        self.variables = [system.resolve(name) for name in sampling.variables]
        # neighbours of one instance and type are read by one call
        places = sorted(range(len(self.variables)), key=lambda k: (self.variables[k][0], self.variables[k][1].storage))
        self.real_columns = [k for k in places if self.variables[k][1].storage == "Real"]
        self.whole_columns = [k for k in places if self.variables[k][1].storage in WHOLE]
        width = 8 * len(self.real_columns) + 4 * len(self.whole_columns)
        self.capacity = min(longest // self.every, CAPACITY_BYTES // max(width, 8)) + 3
        self.real = np.zeros((self.capacity, len(self.real_columns)))
        self.whole = np.zeros((self.capacity, len(self.whole_columns)), np.int32)

    def rows(self, count: int) -> np.ndarray:
        """A copy of the first `count` rows as float64, shape (count, variables)."""
        values = np.empty((count, len(self.variables)))
        values[:, _span(self.real_columns)] = self.real[:count]
        values[:, _span(self.whole_columns)] = self.whole[:count]
        return values


def _span(columns: list[int]) -> slice | list[int]:
    """The columns as a slice where they are neighbours: copying is several times faster then."""
    if columns and columns == list(range(columns[0], columns[0] + len(columns))):
        return slice(columns[0], columns[0] + len(columns))
    return columns


@dataclass
class _Calls:
    """Rows of a table of calls, and the arrays whose addresses stand in them."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    range: list[int] = field(default_factory=lambda: [0])
    kept: list[np.ndarray] = field(default_factory=list)

    def add(self, instance: Instance, function: str, references: Sequence[int], values: int, stride: int = 0) -> None:
        if references:
            block = np.array(references, np.uint32)
            self.kept.append(block)
            assert instance.component is not None
            address = instance.entry(function)
            self.rows.append((address, instance.component, block.ctypes.data, len(block), values, stride))

    def close(self) -> None:
        self.range.append(len(self.rows))

    def table(self) -> np.ndarray:
        return np.array(self.rows, np.int64).reshape(-1, 6)


class Coupling:
    """Buffers and tables for `instances`, given in execution order and cut into stages.

    `stages` are tuples of names of instances; `watches` and `samplings` are what observers ask for.
    """

    def __init__(
        self,
        system: System,
        instances: Mapping[str, Instance],
        stages: Sequence[Sequence[str]],
        watches: Sequence[Watch] = (),
        samplings: Sequence[Sampling] = (),
        stop_when: str | None = None,
        longest: int = 1 << 16,
    ) -> None:
        self.system = system
        self.order = [name for stage in stages for name in stage]
        self.instances = [instances[name] for name in self.order]
        self.component_index = {instance.component: i for i, instance in enumerate(self.instances)}
        self.watches = list(watches)
        self.groups = [Group(system, sampling, longest) for sampling in samplings]
        self._kept: list[np.ndarray] = []
        real, whole = self._read_variables(stop_when)
        self.real_names, self.whole_names = list(real), list(whole)
        edges = np.cumsum([0, *(len(stage) for stage in stages)])
        watched = [self._watched(watch, real, whole) for watch in self.watches]
        y_real, y_whole = np.zeros(len(real)), np.zeros(len(whole), np.int32)
        gets = self._get_calls(y_real, y_whole)
        inputs = _Inputs(self, real, whole)
        records = self._record_calls()
        count = len(self.instances)
        rows = max((group.capacity for group in self.groups), default=1)
        self.tables = loop.Tables(
            stages=edges.astype(np.uint64),
            component=np.array([instance.component for instance in self.instances], np.int64),
            do_step=np.array([instance.entry("fmi2DoStep") for instance in self.instances], np.int64),
            set_calls=inputs.calls.table(),
            set_range=np.array(inputs.calls.range, np.uint64),
            get_calls=gets.table(),
            get_range=np.array(gets.range, np.uint64),
            y_real=y_real,
            y_bits=y_real.view(np.int64),
            u_real=inputs.u_real,
            real_source=np.array(inputs.real_source, np.uint64),
            real_range=np.array(inputs.real_range, np.uint64),
            scaled=np.array([k for k, _, _ in inputs.scaled], np.uint64),
            factor=np.array([factor for _, factor, _ in inputs.scaled], float),
            offset=np.array([offset for _, _, offset in inputs.scaled], float),
            scaled_range=np.array(inputs.scaled_range, np.uint64),
            y_whole=y_whole,
            u_whole=inputs.u_whole,
            whole_source=np.array(inputs.whole_source, np.uint64),
            whole_range=np.array(inputs.whole_range, np.uint64),
            watch_kind=np.array([kind for kind, _, _ in watched], np.int64),
            watch_slot=np.array([slot for _, slot, _ in watched], np.uint64),
            watch_level=np.array([level for _, _, level in watched], float),
            watch_last=np.zeros(len(watched)),
            event=np.zeros((4096 + 2 * len(watched), 4)),
            stop_slot=np.array([whole[stop_when]] if stop_when else [], np.uint64),
            record_every=np.array([group.every for group in self.groups], np.int64),
            record_calls=records.table(),
            record_instance=np.array([self.component_index[row[1]] for row in records.rows], np.int64),
            record_range=np.array(records.range, np.uint64),
            record_rows=np.zeros(len(self.groups), np.int64),
            record_step=np.zeros((len(self.groups), rows), np.int64),
            warnings=np.zeros(count, np.int64),
            report=np.zeros(6, np.int64),
        )
        self._kept += [*inputs.calls.kept, *gets.kept, *records.kept]

    def _read_variables(self, stop_when: str | None) -> tuple[dict[str, int], dict[str, int]]:
        """Places of all variables that are read after each step, by full name: Real ones, and Integer and Boolean.

        They are sorted by instance and type, so that one call of an FMU fills one piece of the buffers.
        """
        wanted = {f"{c.source}.{c.output}" for c in self.system.connections}
        wanted.update(watch.variable for watch in self.watches)
        if stop_when:
            wanted.add(stop_when)
        self._read: dict[str, dict[str, list[str]]] = {n: {kind: [] for kind in ("Real", *WHOLE)} for n in self.order}
        for name in sorted(wanted):
            element, variable = self.system.resolve(name)
            self._read[element][variable.storage].append(variable.name)
        real = [f"{e}.{v}" for e in self.order for v in self._read[e]["Real"]]
        whole = [f"{e}.{v}" for e in self.order for kind in WHOLE for v in self._read[e][kind]]
        return {name: k for k, name in enumerate(real)}, {name: k for k, name in enumerate(whole)}

    def _get_calls(self, y_real: np.ndarray, y_whole: np.ndarray) -> _Calls:
        calls = _Calls()
        real = whole = 0
        for instance in self.instances:
            for kind, names in self._read[instance.name].items():
                references = [instance.variable(name).reference for name in names]
                if kind == "Real":
                    calls.add(instance, "fmi2GetReal", references, y_real.ctypes.data + 8 * real)
                    real += len(names)
                else:
                    calls.add(instance, f"fmi2Get{kind}", references, y_whole.ctypes.data + 4 * whole)
                    whole += len(names)
            calls.close()
        return calls

    def _record_calls(self) -> _Calls:
        calls = _Calls()
        for group in self.groups:
            for block, columns in ((group.real, group.real_columns), (group.whole, group.whole_columns)):
                # one call for each run of columns of one instance and type
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
                    instance = self.instances[self.order.index(element)]
                    calls.add(instance, f"fmi2Get{variable.storage}", references, address, block.strides[0])
                    start = end
            calls.close()
        return calls

    def _watched(self, watch: Watch, real: dict[str, int], whole: dict[str, int]) -> tuple[int, int, float]:
        if watch.variable in real:
            kind = loop.ANY_CHANGE_REAL if watch.level is None else loop.LEVEL_REAL
            return kind, real[watch.variable], watch.level or 0.0
        kind = loop.ANY_CHANGE_WHOLE if watch.level is None else loop.LEVEL_WHOLE
        return kind, whole[watch.variable], watch.level or 0.0

    def instance(self, name: str) -> Instance:
        return self.instances[self.order.index(name)]

    def not_finite(self) -> list[tuple[str, float]]:
        """Names and values of the coupled outputs that are infinite or NaN."""
        values = self.tables.y_real.tolist()
        return [(name, value) for name, value in zip(self.real_names, values, strict=True) if not math.isfinite(value)]

    def start_watching(self) -> None:
        """Take the present values as those from which changes count."""
        tables = self.tables
        for w, (kind, slot) in enumerate(zip(tables.watch_kind, tables.watch_slot, strict=True)):
            real = kind in (loop.ANY_CHANGE_REAL, loop.LEVEL_REAL)
            tables.watch_last[w] = tables.y_real[slot] if real else tables.y_whole[slot]


class _Inputs:
    """The connected inputs of all instances in execution order: buffers, sources, conversions, calls that set them."""

    def __init__(self, coupling: Coupling, real: dict[str, int], whole: dict[str, int]) -> None:
        system = coupling.system
        by_target: dict[str, dict[str, list[tuple[int, int, float, float]]]] = {
            name: {kind: [] for kind in ("Real", *WHOLE)} for name in coupling.order
        }
        for connection in system.connections:
            variable = system.description(connection.target).variables[connection.input]
            places = real if variable.storage == "Real" else whole
            source = places[f"{connection.source}.{connection.output}"]
            entry = (variable.reference, source, *system.transformation(connection))
            by_target[connection.target][variable.storage].append(entry)
        self.calls = _Calls()
        self.scaled: list[tuple[int, float, float]] = []
        self.scaled_range, self.real_range, self.whole_range = [0], [0], [0]
        self.real_source = [s for n in coupling.order for _, s, _, _ in by_target[n]["Real"]]
        self.whole_source = [s for n in coupling.order for kind in WHOLE for _, s, _, _ in by_target[n][kind]]
        self.u_real = np.zeros(len(self.real_source))
        self.u_whole = np.zeros(len(self.whole_source), np.int32)
        k_real = k_whole = 0
        for instance in coupling.instances:
            for kind, entries in by_target[instance.name].items():
                references = [reference for reference, *_ in entries]
                if kind == "Real":
                    self.calls.add(instance, "fmi2SetReal", references, self.u_real.ctypes.data + 8 * k_real)
                    for _, _, factor, offset in entries:
                        if (factor, offset) != (1.0, 0.0):
                            self.scaled.append((k_real, factor, offset))
                        k_real += 1
                else:
                    self.calls.add(instance, f"fmi2Set{kind}", references, self.u_whole.ctypes.data + 4 * k_whole)
                    k_whole += len(entries)
            self.calls.close()
            self.real_range.append(k_real)
            self.whole_range.append(k_whole)
            self.scaled_range.append(len(self.scaled))
