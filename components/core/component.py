"""Components: a record and two kernels, with a name and a table of messages."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.components.core.kernel import Kernel, kernel
from dockfmu.components.core.machine_code import Kernels, kernels_in_process
from dockfmu.components.core.parameters import ParameterSet, check_value
from dockfmu.components.core.record import Memory, ParameterError, Record


@dataclass(frozen=True)
class Message:
    """Text of a failure. `{name}` or `{name:.3g}` inserts a variable of the record, at most eight in one text.

    `discard` marks a failure that a shorter step could avoid (fmi2Discard instead of fmi2Error). `outcome` is one
    of dockfmu.base.fmi.OUTCOMES if the failure decides the outcome of a run; FMUs report it as the category of the
    message.
    """

    text: str
    discard: bool = False
    outcome: str = ""

    @cached_property
    def pieces(self) -> tuple[tuple[str, str | None, str], ...]:
        """Return (literal text, name of the variable that follows or None, its format specification), in order."""
        return tuple((text, name, spec or "") for text, name, spec, _ in string.Formatter().parse(self.text))


def combined(*tables: Mapping[int, Message]) -> dict[int, Message]:
    """Return the messages of a component that consists of parts. Raises ValueError if two parts use one code."""
    messages: dict[int, Message] = {}
    for table in tables:
        if common := messages.keys() & table.keys():
            raise ValueError(f"the codes {sorted(common)} have two meanings; give each part its own range of codes")
        messages |= table
    return messages


class ComponentError(DockfmuError, RuntimeError):
    """A kernel reported a failure; the message names component, time, variables and values."""

    exit_status = FAILED


@dataclass(frozen=True)
class Component:
    """A subsystem that can be exported.

    `initialize(m) -> int` makes the outputs consistent with the parameters, at the time in the record's slot
    `start_time` if it has one; `step(m, t, h) -> int` advances from t by h > 0. Both return 0 or a key of `messages`.
    `module` is the file that declares it: the root of its sources. `options` are the arguments with which its factory
    makes the same component again, where it has any. `shapes` are shapes of its scene that follow from its options.
    `called_apart` says that what the kernels call is the same for many components; it is compiled apart, once for all.
    """

    name: str
    description: str
    record: Record
    initialize: Callable[[Any], int]
    step: Callable[[Any, float, float], int]
    messages: Mapping[int, Message]
    module: Path
    default_step: float = 1e-3
    default_stop: float = 10.0
    parameter_sets: tuple[ParameterSet, ...] = ()
    resources: Mapping[str, np.ndarray] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    shapes: tuple[Mapping[str, Any], ...] = ()
    called_apart: bool = False

    @cached_property
    def kernels(self) -> Kernels | Interpreted:
        """The two kernels, called on blocks of memory: the code of the component's FMU, linked into this process.

        Functions that are not compiled, as all are with NUMBA_DISABLE_JIT, are called as they are.
        """
        compiled = isinstance(self.initialize, Kernel) and isinstance(self.step, Kernel)
        return kernels_in_process(self) if compiled else Interpreted(self)

    def start(self, *sets: ParameterSet, **values: Any) -> np.ndarray:
        """Return the start values of all slots, shape (record.size,), overridden by parameter sets and single values.

        Raises ParameterError for a name that does not exist, a wrong shape, or a value out of range.
        """
        block = self.record.start.copy()
        entries = {name: (value, entry.file) for entry in sets for name, value in entry.values.items()}
        entries |= {name: (value, "the call") for name, value in values.items()}
        for name, (value, origin) in entries.items():
            for slot_name, number in self.record.expand(name, value, origin):
                slot = self.record.slots[self.record.index[slot_name]]
                if slot.field.causality not in ("parameter", "input"):
                    raise ParameterError(f"{origin}: {slot_name} is not a parameter but {slot.field.causality}")
                check_value(slot, number, origin)
                block[slot.index] = number
        for resource in self.record.resources:
            data = np.asarray(self.resources[resource.file], np.float64).ravel()
            if len(data) != resource.count:
                raise ParameterError(
                    f"resource {resource.file} holds {len(data)} values, the record needs {resource.count}"
                )
            block[resource.first : resource.first + resource.count] = data
        return block

    def origin(self, parameter: str) -> str:
        """Return where the start value of a parameter is from, a scalar by its name in the record."""
        return f"assumed: default of {self.name}"

    def explain(self, code: int, memory: Memory | np.ndarray) -> str:
        """Return the message of `code`, with values of the record inserted."""
        block = memory if isinstance(memory, np.ndarray) else np.frombuffer(np.void.tobytes(memory))
        message = self.messages.get(code)
        if message is None:
            return f"{self.name}: unknown status {code}"
        out = []
        for text, name, spec in message.pieces:
            out.append(text)
            if name is not None:
                out.append(format(float(block[self.record.index[name]]), spec or "g"))
        return "".join(out)


class Interpreted:
    """The two kernels as Python functions, called as `Kernels` are."""

    def __init__(self, component: Component) -> None:
        self._component = component

    def initialize(self, block: np.ndarray) -> int:
        """Call `initialize` on a block of float64, shape (record.size,), and return the code of its message."""
        return self._component.initialize(self._component.record.view(block))

    def step(self, block: np.ndarray, t: float, h: float) -> int:
        """Call `step` likewise."""
        return self._component.step(self._component.record.view(block), t, h)


class Instance:
    """One instance of a component in this process, without FMI: for tests, initial conditions and direct runs.

    `block` is the memory, `m` names its parts.

    >>> craft = Instance(component, {"parameters.mass": 7000.0})   # doctest: +SKIP
    >>> craft.step(0.0, 1e-3)
    >>> craft.m.body.position
    """

    def __init__(self, component: Component, *sets: ParameterSet, start_time: float = 0.0, **values: Any) -> None:
        self.component = component
        self.block = component.start(*sets, **values)
        component.record.set_start_time(self.block, start_time)
        self.m = component.record.view(self.block)
        self.initialize()

    def initialize(self) -> None:
        """Make outputs consistent with what the memory holds. Raises ComponentError if the kernel reports a failure."""
        self._check(self.component.kernels.initialize(self.block), "initialize")

    def step(self, t: float, h: float) -> None:
        """Advance from `t` by `h`. Raises ComponentError if the kernel reports a failure."""
        self._check(self.component.kernels.step(self.block, t, h), f"step at t = {t:g} s, h = {h:g} s")

    def _check(self, code: int, where: str) -> None:
        if code:
            raise ComponentError(f"{self.component.name}, {where}: {self.component.explain(code, self.block)}")


@kernel
def fail(status, code, value, index):
    """Set the status and return the code, to leave a kernel: `return fail(m.status, CODE, value, 0)`."""
    status.code = code
    status.value = value
    status.index = index
    return code


@kernel
def pass_on(status, code, part):
    """Return the `code` of a part of a component, and copy its status `part` if it has failed."""
    if code:
        return fail(status, code, part.value, part.index)
    return 0
