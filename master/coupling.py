"""From a system and its instances to the tables of the compiled loop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from master.algorithms.algorithm import Scheme
from master.calls import Calls
from master.errors import FmuError
from master.fmu import Instance
from master.implicit import feedback, iteration_tables
from master.loop import tables
from master.loop.packing import pack
from master.pace import pace_tables
from master.prediction import prediction_tables, rates_of
from master.program import program_tables
from master.step_control import StepControl, control_tables, located_signals
from master.system import Connection, System

WHOLE = ("Integer", "Boolean", "String")
"""Types whose values are int32 in the loop; strings are numbers of `master.texts`."""

CAPACITY_BYTES = 4 << 20
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
        elements = list(dict.fromkeys(element for element, _ in self.variables))
        kinds = [(elements.index(element), variable.storage) for element, variable in self.variables]
        places = sorted(range(len(kinds)), key=kinds.__getitem__)
        self.real_columns = [k for k in places if kinds[k][1] == "Real"]
        self.whole_columns = [k for k in places if kinds[k][1] in WHOLE]
        width = 8 * len(self.real_columns) + 4 * len(self.whole_columns)
        self.capacity = min(longest // self.every, CAPACITY_BYTES // max(width, 8)) + 3
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


class Coupling:
    """Buffers and tables for `instances`, coupled as `scheme` says; `control` makes the steps vary.

    `watches` and `samplings` are what observers ask for. Raises StructureError for FMUs that cannot do what is asked.
    """

    def __init__(
        self,
        system: System,
        instances: Mapping[str, Instance],
        scheme: Scheme,
        watches: Sequence[Watch] = (),
        samplings: Sequence[Sampling] = (),
        stop_when: str | None = None,
        longest: int = 1 << 16,
        control: StepControl | None = None,
    ) -> None:
        self.system = system
        self.scheme = scheme
        self.order = [name for stage in scheme.stages for name in stage]
        self.instances = [instances[name] for name in self.order]
        self.watches = list(watches)
        self.groups = [Group(system, sampling, longest) for sampling in samplings]
        self.located = located_signals(system, control) if control is not None else []
        self.rates = rates_of(system, scheme)
        self.feedback = feedback(system, scheme)
        self._kept: list[np.ndarray] = []
        self._read_variables(stop_when)
        y_real, y_whole = np.zeros(len(self.real)), np.zeros(len(self.whole), np.int32)
        gets = self._get_calls(y_real, y_whole)
        self.inputs = inputs = Inputs(self)
        self.signals = self._signals(y_real, y_whole)
        records = self._record_calls()
        rollback = bool(self.feedback) or (control is not None and self.can_roll_back())
        pace, prediction = pace_tables(self), prediction_tables(self)
        content = tables.Tables(
            instances=self._instance_tables(gets, rollback),
            signals=self.signals,
            pace=pace,
            prediction=prediction,
            backup=self._backup(rollback, pace, prediction),
            iteration=iteration_tables(self),
            control=control_tables(self, control),
            watches=self._watch_tables(stop_when),
            rows=self._row_tables(records),
            report=np.zeros(6, np.int64),
        )
        self.tables, self.packed = content, pack(content)
        self._kept += [*inputs.calls.kept, *gets.kept, *records.kept]

    def can_roll_back(self) -> bool:
        """Whether the states of all instances can be saved and set."""
        return all(instance.description.can_get_and_set_state for instance in self.instances)

    def keep(self, blocks: Iterable[np.ndarray]) -> None:
        """Let arrays whose addresses stand in the tables live as long as these."""
        self._kept += blocks

    def _read_variables(self, stop_when: str | None) -> None:
        """Places of all variables that are read after each step, by full name: Real ones, and Integer and Boolean.

        They are sorted by instance and type, so that one call of an FMU fills one piece of the buffers.
        """
        # in the order of the inputs that they go to: what lies side by side there does so here
        coupled = sorted(self.system.connections, key=lambda c: self.order.index(c.target))
        watched = {watch.variable for watch in self.watches} | {*self.located, *self.rates.values()}
        if stop_when:
            watched.add(stop_when)
        wanted = dict.fromkeys([*(f"{c.source}.{c.output}" for c in coupled), *sorted(watched)])
        self.read: dict[str, dict[str, list[str]]] = {
            n: {"Real": [], **{kind: [] for kind in WHOLE}} for n in self.order
        }
        for name in wanted:
            element, variable = self.system.resolve(name)
            self.read[element][variable.storage].append(variable.name)
        self.real_names = [f"{e}.{v}" for e in self.order for v in self.read[e]["Real"]]
        self.whole_names = [f"{e}.{v}" for e in self.order for kind in WHOLE for v in self.read[e][kind]]
        self.real = {name: k for k, name in enumerate(self.real_names)}
        self.whole = {name: k for k, name in enumerate(self.whole_names)}

    def _get_calls(self, y_real: np.ndarray, y_whole: np.ndarray) -> Calls:
        calls = Calls(tables.GET)
        real = whole = 0
        for i, instance in enumerate(self.instances):
            for kind, names in self.read[instance.name].items():
                references = [instance.variable(name).reference for name in names]
                if kind == "Real":
                    calls.add(instance, i, "fmi2GetReal", references, y_real.ctypes.data + 8 * real)
                    real += len(names)
                else:
                    calls.add(instance, i, f"fmi2Get{kind}", references, y_whole.ctypes.data + 4 * whole)
                    whole += len(names)
            calls.close()
        return calls

    def _record_calls(self) -> Calls:
        calls = Calls(tables.RECORD)
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
                    i = self.order.index(element)
                    function = f"fmi2Get{variable.storage}"
                    calls.add(self.instances[i], i, function, references, address, block.strides[0])
                    start = end
            calls.close()
        return calls

    def _signals(self, y_real: np.ndarray, y_whole: np.ndarray) -> tables.Signals:
        inputs = self.inputs
        return tables.Signals(
            y_real=y_real,
            y_bits=y_real.view(np.int64),
            y_range=places(np.cumsum([0, *(len(self.read[name]["Real"]) for name in self.order)])),
            u_real=inputs.u_real,
            real_range=places(inputs.real_range),
            factor=inputs.factor,
            offset=inputs.offset,
            y_whole=y_whole,
            u_whole=inputs.u_whole,
            tabled=places([k for k, _ in inputs.tabled]),
            table=np.array([row for _, table in inputs.tabled for row in table], np.int32).reshape(-1, 2),
            table_range=places(np.cumsum([0, *(len(table) for _, table in inputs.tabled)])),
        )

    def _instance_tables(self, gets: Calls, rollback: bool) -> tables.Instances:
        def entries(function: str) -> np.ndarray:
            return np.array([i.entry(function) for i in self.instances] if rollback else [], np.int64)

        return tables.Instances(
            stages=places(np.cumsum([0, *(len(stage) for stage in self.scheme.stages)])),
            **program_tables(self, self.inputs.calls, gets)._asdict(),
            component=np.array([instance.component for instance in self.instances], np.int64),
            get_state=entries("fmi2GetFMUstate"),
            set_state=entries("fmi2SetFMUstate"),
            state=np.zeros((2, len(self.instances)), np.int64),
            warnings=np.zeros(len(self.instances), np.int64),
            final=int(not rollback),
        )

    def _backup(self, rollback: bool, pace: tables.Pace, prediction: tables.Prediction) -> tables.Backup:
        def two(live: np.ndarray) -> np.ndarray:
            return np.zeros((2 if rollback else 0, len(live)), live.dtype)

        return tables.Backup(
            y_real=two(self.signals.y_real),
            y_whole=two(self.signals.y_whole),
            slope=two(prediction.slope),
            waited=two(pace.waited),
            begun=two(pace.begun),
            u_sum=two(pace.u_sum),
        )

    def _watch_tables(self, stop_when: str | None) -> tables.Watches:
        watched = [self._watched(watch) for watch in self.watches]
        watched += [self._watched(Watch(name)) for name in self.located]
        logged = np.arange(len(watched)) < len(self.watches)
        return tables.Watches(
            kind=np.array([kind for kind, _, _ in watched], np.int64),
            slot=places([slot for _, slot, _ in watched]),
            level=np.array([level for _, _, level in watched], float),
            last=np.zeros(len(watched)),
            located=(~logged).astype(np.uint8),
            logged=logged.astype(np.uint8),
            event=np.zeros((4096 + 2 * len(watched), 4)),
            stop_slot=places([self.whole[stop_when]] if stop_when else []),
        )

    def _row_tables(self, records: Calls) -> tables.Rows:
        capacity = max((group.capacity for group in self.groups), default=1)
        return tables.Rows(
            every=np.array([group.every for group in self.groups], np.int64),
            calls=records.table(),
            range=places(records.range),
            filled=np.zeros(len(self.groups), np.int64),
            time=np.zeros((len(self.groups), capacity)),
        )

    def _watched(self, watch: Watch) -> tuple[int, int, float]:
        if watch.variable in self.real:
            kind = tables.ANY_CHANGE_REAL if watch.level is None else tables.LEVEL_REAL
            return kind, self.real[watch.variable], watch.level or 0.0
        kind = tables.ANY_CHANGE_WHOLE if watch.level is None else tables.LEVEL_WHOLE
        return kind, self.whole[watch.variable], watch.level or 0.0

    def instance(self, name: str) -> Instance:
        return self.instances[self.order.index(name)]

    def not_finite(self) -> list[tuple[str, float]]:
        """Names and values of the coupled outputs that are infinite or NaN."""
        values = self.signals.y_real.tolist()
        return [(name, value) for name, value in zip(self.real_names, values, strict=True) if not math.isfinite(value)]

    def start_watching(self) -> None:
        """Take the present values as those from which changes count."""
        watches = self.tables.watches
        for w, (kind, slot) in enumerate(zip(watches.kind, watches.slot, strict=True)):
            real = kind in (tables.ANY_CHANGE_REAL, tables.LEVEL_REAL)
            watches.last[w] = self.signals.y_real[slot] if real else self.signals.y_whole[slot]

    def free_states(self) -> list[str]:
        """Give the states that the loop has saved back to the instances; what failed in words."""
        saved, notes = self.tables.instances.state, []
        for level, i in zip(*np.nonzero(saved), strict=True):
            try:
                self.instances[i].free_state(int(saved[level, i]))
            except FmuError as error:
                notes.append(str(error))
        saved[:] = 0
        return notes


def places(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Places or ranges as the loop wants them."""
    return np.array(values, np.uint64)


class Inputs:
    """The connected inputs of all instances in execution order: buffers, sources, conversions, calls that set them."""

    def __init__(self, coupling: Coupling) -> None:
        system = coupling.system
        self.connections: dict[str, dict[str, list[Connection]]] = {
            name: {"Real": [], **{kind: [] for kind in WHOLE}} for name in coupling.order
        }
        for connection in system.connections:
            variable = system.description(connection.target).variables[connection.input]
            self.connections[connection.target][variable.storage].append(connection)
        self.real = [c for name in coupling.order for c in self.connections[name]["Real"]]
        whole = [c for name in coupling.order for kind in WHOLE for c in self.connections[name][kind]]
        self.real_source = [coupling.real[f"{c.source}.{c.output}"] for c in self.real]
        self.whole_source = [coupling.whole[f"{c.source}.{c.output}"] for c in whole]
        transformations = np.array([system.transformation(c) for c in self.real], float).reshape(-1, 2)
        self.factor, self.offset = transformations.T.copy()
        self.tabled: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        self.tabled_range, self.real_range, self.whole_range = [0], [0], [0]
        self.u_real, self.u_whole = np.zeros(len(self.real)), np.zeros(len(whole), np.int32)
        self.calls = Calls(tables.SET)
        k_real = k_whole = 0
        for i, instance in enumerate(coupling.instances):
            for kind, found in self.connections[instance.name].items():
                references = [instance.variable(c.input).reference for c in found]
                if kind == "Real":
                    self.calls.add(instance, i, "fmi2SetReal", references, self.u_real.ctypes.data + 8 * k_real)
                    k_real += len(found)
                else:
                    self.calls.add(instance, i, f"fmi2Set{kind}", references, self.u_whole.ctypes.data + 4 * k_whole)
                    for c in found:
                        if c.table:
                            self.tabled.append((k_whole, c.table))
                        k_whole += 1
            self.calls.close()
            self.real_range.append(k_real)
            self.whole_range.append(k_whole)
            self.tabled_range.append(len(self.tabled))
