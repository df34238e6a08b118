"""The layout of all coupled variables in memory, from which all tables of the loop are made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.loop.tables import GET, SET
from dockfmu.master.order import loops
from dockfmu.master.system import Connection, Structure
from dockfmu.master.tables.calls import FmiCalls, ranges

T = TypeVar("T")

INT32_TYPES = ("Integer", "Boolean", "String")
"""Types whose values are int32 in the loop; strings are passed as the numbers of `dockfmu.master.fmi.strings`."""


@dataclass(frozen=True)
class OutputLayout:
    """All variables that are read after each step: names, slots and buffers, and the calls that read them.

    They are sorted by instance and type, so that one call of an FMU fills a contiguous piece of a buffer: `y_real` of
    Real variables, `y_int` of others. `real_names` are in the order of `y_real`, and instance i has `real_range[i]` to
    `real_range[i + 1]` of them: `real_of` has their names without that of the instance. `real` and `integer` map a full
    name to its slot.
    """

    real_names: tuple[str, ...]
    real_of: Mapping[str, Sequence[str]]
    real: Mapping[str, int]
    integer: Mapping[str, int]
    real_range: tuple[int, ...]
    y_real: np.ndarray
    y_int: np.ndarray
    calls: FmiCalls

    def not_finite(self) -> list[tuple[str, float]]:
        """Return the names and values of outputs that are infinite or NaN."""
        values = self.y_real.tolist()
        return [(name, value) for name, value in zip(self.real_names, values, strict=True) if not math.isfinite(value)]


@dataclass(frozen=True)
class InputLayout:
    """The connected inputs of all instances: buffers, sources, conversions, and the calls that set them.

    They are sorted by instance and type, as outputs are. `connections` has the connections by instance and type, `real`
    those of `u_real`. `mapped` holds pairs of a slot in `u_int` and its mapping of values. The ranges are those of each
    instance in `u_real`, `u_int` and `mapped`.
    """

    connections: Mapping[str, Mapping[str, Sequence[Connection]]]
    real: tuple[Connection, ...]
    real_source: tuple[int, ...]
    integer_source: tuple[int, ...]
    factor: np.ndarray
    offset: np.ndarray
    mapped: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    mapped_range: tuple[int, ...]
    real_range: tuple[int, ...]
    integer_range: tuple[int, ...]
    u_real: np.ndarray
    u_int: np.ndarray
    calls: FmiCalls


def _by_instance_and_type(
    instances: Sequence[FmuInstance], items: Iterable[tuple[str, str, T]]
) -> dict[str, dict[str, list[T]]]:
    """Sort (instance, type, item) by instance and type of storage, otherwise in the order given."""
    found: dict[str, dict[str, list[T]]] = {i.name: {kind: [] for kind in ("Real", *INT32_TYPES)} for i in instances}
    for name, kind, item in items:
        found[name][kind].append(item)
    return found


def _buffer_calls(
    kind: int,
    prefix: str,
    instances: Sequence[FmuInstance],
    names: Mapping[str, Mapping[str, Sequence[str]]],
    reals: np.ndarray,
    integers: np.ndarray,
) -> FmiCalls:
    """Return the calls of `prefix` + type, one range an instance, for variables in their order in two buffers."""
    calls = FmiCalls(kind)
    real, integer = reals.ctypes.data, integers.ctypes.data
    for i, instance in enumerate(instances):
        for storage, found in names[instance.name].items():
            references = [instance.variable(name).reference for name in found]
            if storage == "Real":
                calls.add(instance, i, prefix + storage, references, real)
                real += reals.itemsize * len(references)
            else:
                calls.add(instance, i, prefix + storage, references, integer)
                integer += integers.itemsize * len(references)
        calls.end_range()
    return calls


def _outputs(system: Structure, instances: Sequence[FmuInstance], observed: Iterable[str]) -> OutputLayout:
    """Lay out what connections read from `instances`, in their order, and what is `observed` (full names)."""
    order = [instance.name for instance in instances]
    # sort by target, so that the sources of adjacent inputs are adjacent
    coupled = sorted(system.connections, key=lambda c: order.index(c.target))
    needed = dict.fromkeys([*(f"{c.source}.{c.output}" for c in coupled), *sorted(observed)])
    resolved = map(system.resolve, needed)
    names = _by_instance_and_type(instances, ((element, v.storage, v.name) for element, v in resolved))
    real = [f"{name}.{variable}" for name in order for variable in names[name]["Real"]]
    integer = [f"{name}.{variable}" for name in order for kind in INT32_TYPES for variable in names[name][kind]]
    y_real, y_int = np.zeros(len(real)), np.zeros(len(integer), np.int32)
    return OutputLayout(
        real_names=tuple(real),
        real_of={name: names[name]["Real"] for name in order},
        real={name: k for k, name in enumerate(real)},
        integer={name: k for k, name in enumerate(integer)},
        real_range=ranges(len(names[name]["Real"]) for name in order),
        y_real=y_real,
        y_int=y_int,
        calls=_buffer_calls(GET, "fmi2Get", instances, names, y_real, y_int),
    )


def _inputs(system: Structure, instances: Sequence[FmuInstance], outputs: OutputLayout) -> InputLayout:
    """Lay out the connected inputs of `instances`, in their order."""
    order = [instance.name for instance in instances]
    resolved = ((system.description(c.target).variables[c.input], c) for c in system.connections)
    connections = _by_instance_and_type(instances, ((c.target, variable.storage, c) for variable, c in resolved))
    real = tuple(c for name in order for c in connections[name]["Real"])
    integer = {name: [c for kind in INT32_TYPES for c in connections[name][kind]] for name in order}
    integers = [c for name in order for c in integer[name]]
    factor, offset = np.array([system.transformation(c) for c in real], float).reshape(-1, 2).T.copy()
    u_real, u_int = np.zeros(len(real)), np.zeros(len(integers), np.int32)
    names = {name: {kind: [c.input for c in found] for kind, found in connections[name].items()} for name in order}
    return InputLayout(
        connections=connections,
        real=real,
        real_source=tuple(outputs.real[f"{c.source}.{c.output}"] for c in real),
        integer_source=tuple(outputs.integer[f"{c.source}.{c.output}"] for c in integers),
        factor=factor,
        offset=offset,
        mapped=tuple((k, c.table) for k, c in enumerate(integers) if c.table),
        mapped_range=ranges(sum(bool(c.table) for c in integer[name]) for name in order),
        real_range=ranges(len(connections[name]["Real"]) for name in order),
        integer_range=ranges(len(integer[name]) for name in order),
        u_real=u_real,
        u_int=u_int,
        calls=_buffer_calls(SET, "fmi2Set", instances, names, u_real, u_int),
    )


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

    @cached_property
    def numbered(self) -> dict[str, int]:
        """The slots of int32 outputs except strings, whose numbers are valid in this process only."""
        return {name: k for name, k in self.outputs.integer.items() if self.system.resolve(name)[1].type != "String"}

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
    outputs = _outputs(system, ordered, {*observed, *derivatives.values()})
    return Layout(
        system=system,
        scheme=scheme,
        instances=ordered,
        outputs=outputs,
        inputs=_inputs(system, ordered, outputs),
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
