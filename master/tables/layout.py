"""The layout of all coupled variables in memory, from which all tables of the loop are made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from master.algorithms.algorithm import Scheme
from master.errors import StructureError
from master.fmi.instance import FmuInstance
from master.loop.tables import GET, SET
from master.order import loops
from master.system import Connection, Structure

INT32_TYPES = ("Integer", "Boolean", "String")
"""Types whose values are int32 in the loop; strings are passed as the numbers of `master.fmi.strings`."""


@dataclass
class FmiCalls:
    """A table of calls of one kind (see `master.loop.tables`), in ranges.

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
        """Return the rows as an array, shape (calls, 8)."""
        return call_table(self.rows)


def call_table(rows: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return rows of calls as an array, shape (calls, 8)."""
    return np.array(rows, np.int64).reshape(-1, 8)


def slots(values: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return slots or ranges in the type that the loop takes."""
    return np.array(values, np.uint64)


class OutputLayout:
    """Names, slots and buffers of all variables that are read after each step, and the calls that read them.

    They are sorted by instance and type, so that one call of an FMU fills a contiguous piece of a buffer: `y_real` of
    Real variables, `y_int` of others. `names` has the names by instance and type, `real` and `integer` the slots by
    full name.
    """

    def __init__(self, system: Structure, instances: Sequence[FmuInstance], observed: Iterable[str]) -> None:
        """Lay out what connections read from `instances`, in their order, and what is `observed` (full names)."""
        order = [instance.name for instance in instances]
        # sort by target, so that the sources of adjacent inputs are adjacent
        coupled = sorted(system.connections, key=lambda c: order.index(c.target))
        needed = dict.fromkeys([*(f"{c.source}.{c.output}" for c in coupled), *sorted(observed)])
        self.names: dict[str, dict[str, list[str]]] = {
            name: {"Real": [], **{kind: [] for kind in INT32_TYPES}} for name in order
        }
        for name in needed:
            element, variable = system.resolve(name)
            self.names[element][variable.storage].append(variable.name)
        self.real_names = [f"{e}.{v}" for e in order for v in self.names[e]["Real"]]
        self.integer_names = [f"{e}.{v}" for e in order for kind in INT32_TYPES for v in self.names[e][kind]]
        self.real = {name: k for k, name in enumerate(self.real_names)}
        self.integer = {name: k for k, name in enumerate(self.integer_names)}
        self.real_range = np.cumsum([0, *(len(self.names[name]["Real"]) for name in order)])
        self.y_real, self.y_int = np.zeros(len(self.real)), np.zeros(len(self.integer), np.int32)
        self.calls = self._calls(instances)

    def _calls(self, instances: Sequence[FmuInstance]) -> FmiCalls:
        calls = FmiCalls(GET)
        real = integer = 0
        for i, instance in enumerate(instances):
            for kind, names in self.names[instance.name].items():
                references = [instance.variable(name).reference for name in names]
                if kind == "Real":
                    calls.add(instance, i, "fmi2GetReal", references, self.y_real.ctypes.data + 8 * real)
                    real += len(names)
                else:
                    calls.add(instance, i, f"fmi2Get{kind}", references, self.y_int.ctypes.data + 4 * integer)
                    integer += len(names)
            calls.end_range()
        return calls

    def not_finite(self) -> list[tuple[str, float]]:
        """Return the names and values of outputs that are infinite or NaN."""
        values = self.y_real.tolist()
        return [(name, value) for name, value in zip(self.real_names, values, strict=True) if not math.isfinite(value)]


class InputLayout:
    """The connected inputs of all instances in order of execution: buffers, sources, conversions, calls that set them.

    `connections` has the connections by instance and type; `mapped` holds pairs of a slot in `u_int` and its mapping of
    values.
    """

    def __init__(self, system: Structure, instances: Sequence[FmuInstance], outputs: OutputLayout) -> None:
        order = [instance.name for instance in instances]
        self.connections: dict[str, dict[str, list[Connection]]] = {
            name: {"Real": [], **{kind: [] for kind in INT32_TYPES}} for name in order
        }
        for connection in system.connections:
            variable = system.description(connection.target).variables[connection.input]
            self.connections[connection.target][variable.storage].append(connection)
        self.real = [c for name in order for c in self.connections[name]["Real"]]
        integer = [c for name in order for kind in INT32_TYPES for c in self.connections[name][kind]]
        self.real_source = [outputs.real[f"{c.source}.{c.output}"] for c in self.real]
        self.integer_source = [outputs.integer[f"{c.source}.{c.output}"] for c in integer]
        transformations = np.array([system.transformation(c) for c in self.real], float).reshape(-1, 2)
        self.factor, self.offset = transformations.T.copy()
        self.mapped: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        self.mapped_range, self.real_range, self.integer_range = [0], [0], [0]
        self.u_real, self.u_int = np.zeros(len(self.real)), np.zeros(len(integer), np.int32)
        self.calls = FmiCalls(SET)
        self._add_calls(instances)

    def _add_calls(self, instances: Sequence[FmuInstance]) -> None:
        real = integer = 0
        for i, instance in enumerate(instances):
            for kind, found in self.connections[instance.name].items():
                references = [instance.variable(c.input).reference for c in found]
                if kind == "Real":
                    self.calls.add(instance, i, "fmi2SetReal", references, self.u_real.ctypes.data + 8 * real)
                    real += len(found)
                else:
                    self.calls.add(instance, i, f"fmi2Set{kind}", references, self.u_int.ctypes.data + 4 * integer)
                    for c in found:
                        if c.table:
                            self.mapped.append((integer, c.table))
                        integer += 1
            self.calls.end_range()
            self.real_range.append(real)
            self.integer_range.append(integer)
            self.mapped_range.append(len(self.mapped))


@dataclass(frozen=True)
class Layout:
    """Instances in order of execution, and the slots of their coupled variables.

    `derivatives` maps an output to the output that is its derivative; `feedback` are the outputs that an implicit
    scheme iterates over.
    """

    system: Structure
    scheme: Scheme
    instances: tuple[FmuInstance, ...]
    outputs: OutputLayout
    inputs: InputLayout
    derivatives: Mapping[str, str]
    feedback: frozenset[str]

    @property
    def order(self) -> list[str]:
        """Names of the instances."""
        return [instance.name for instance in self.instances]

    def instance(self, name: str) -> FmuInstance:
        """Return the instance of an element."""
        return self.instances[self.order.index(name)]

    def can_roll_back(self) -> bool:
        """Return whether the states of all instances can be saved and restored."""
        return all(instance.description.can_get_and_set_state for instance in self.instances)


def lay_out(system: Structure, instances: Mapping[str, FmuInstance], scheme: Scheme, observed: Iterable[str]) -> Layout:
    """Lay out `instances`, coupled according to `scheme`; `observed` are further outputs to read.

    Raises StructureError for FMUs that lack a capability that the scheme requires.
    """
    ordered = tuple(instances[name] for stage in scheme.stages for name in stage)
    derivatives = known_derivatives(system, scheme)
    outputs = OutputLayout(system, ordered, {*observed, *derivatives.values()})
    return Layout(
        system=system,
        scheme=scheme,
        instances=ordered,
        outputs=outputs,
        inputs=InputLayout(system, ordered, outputs),
        derivatives=derivatives,
        feedback=frozenset(feedback(system, scheme)),
    )


def known_derivatives(system: Structure, scheme: Scheme) -> dict[str, str]:
    """Return {output: output that is its derivative} of the outputs connected to predicted instances.

    Raises StructureError for derivatives of the scheme that are not Real outputs.
    """
    found = {}
    for source in {(c.source, c.output) for c in system.connections if c.target in scheme.predicted}:
        element, output = source
        for variable in system.description(element).variables.values():
            if variable.derivative == output and variable.causality == "output":
                found[f"{element}.{output}"] = f"{element}.{variable.name}"
    for output, derivative in scheme.derivatives.items():
        for name in (output, derivative):
            _, variable = system.resolve(name)
            if (variable.causality, variable.storage) != ("output", "Real"):
                raise StructureError([f"derivatives: {name} is not a Real output"])
        found[output] = derivative
    return found


def feedback(system: Structure, scheme: Scheme) -> set[str]:
    """Return the Real outputs that an instance of their loop uses before they are known: those of its stage and later.

    Raises StructureError if the scheme iterates over them and an FMU does not support rollback.
    """
    if scheme.implicit is None:
        return set()
    stage_of = {name: k for k, stage in enumerate(scheme.stages) for name in stage}
    found = loops(tuple(stage_of), {(c.source, c.target) for c in system.connections})
    loop_of = {name: k for k, names in enumerate(found) for name in names}
    closing = {
        f"{c.source}.{c.output}"
        for c in system.connections
        if system.description(c.target).variables[c.input].storage == "Real"
        and c.source in loop_of
        and loop_of[c.source] == loop_of.get(c.target)
        and stage_of[c.source] >= stage_of[c.target]
    }
    lacking = [name for name in stage_of if not system.description(name).can_get_and_set_state]
    if closing and lacking:
        raise StructureError(
            [f"implicit coupling needs rollback, which {', '.join(lacking)} cannot do (canGetAndSetFMUstate)"]
        )
    return closing
