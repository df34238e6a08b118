"""What the model description says of dependencies and derivatives, held against numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from math import isfinite

import numpy as np

from fmus.validate.finding import Finding, error, warning
from fmus.validate.subject import BEFORE, Subject, Value
from master.description import Variable
from master.errors import MasterError
from master.fmu import OK, Instance


def _other_value(variable: Variable, now: Value) -> Value | None:
    """A value near `now` that the variable may take; None where there is none."""
    if variable.type == "Boolean":
        return not now
    step = 1e-3 * abs(now) + 1e-3 if variable.type == "Real" else 1
    for value in (now + step, now - step):
        if (variable.minimum is None or value >= variable.minimum) and (
            variable.maximum is None or value <= variable.maximum
        ):
            return value
    return None


def _denied(
    subject: Subject,
    prepare: Callable[[], Instance],
    knowns: list[Variable],
    stated: Mapping[str, tuple[str, ...] | None],
    where: str,
) -> Iterator[Finding]:
    """Outputs that change with a known of which the description says that they do not depend on it."""
    names = [name for name, dependencies in stated.items() if dependencies is not None]
    instance = prepare()
    before = instance.get(names)
    for known in knowns:
        (value,) = instance.get([known.name])
        other = _other_value(known, value)
        if other is None:
            continue
        try:
            instance.set({known.name: other})
            after = instance.get(names)
            instance.set({known.name: value})
            instance.get(names)
        except MasterError:  # no value for this variable alone; a refusal may have spoilt the instance
            subject.drop(instance)
            instance = prepare()
            continue
        changed = [n for n, a, b in zip(names, before, after, strict=True) if a != b and known.name not in stated[n]]  # type: ignore[operator]
        if changed:
            yield error(
                subject.file, known.name,
                f"{', '.join(changed[:4])} depend on it {where}, which the description denies",
                "State the dependency, or leave `dependencies` out",
            )  # fmt: skip
    subject.drop(instance)


def check_dependencies(subject: Subject) -> Iterator[Finding]:
    """No output changes with an input on which the description says it does not depend, between steps."""

    def prepare() -> Instance:
        instance = subject.running()
        subject.run(instance, 0, BEFORE, trace=False)
        return instance

    yield from _denied(subject, prepare, subject.inputs, subject.fmu.description.outputs, "between steps")


def check_initial_dependencies(subject: Subject) -> Iterator[Finding]:
    """No output changes with an input or parameter that InitialUnknowns denies, in initialization mode."""

    def prepare() -> Instance:
        instance = subject.instance()
        instance.enter_initialization(subject.start)
        return instance

    parameters = [v for v in subject.fmu.description.select("parameter") if v.type != "String"]
    outputs = {name: known for name, known in subject.fmu.description.initial_unknowns.items()
               if name in subject.outputs}  # fmt: skip
    yield from _denied(subject, prepare, subject.inputs + parameters, outputs, "in initialization mode")


def check_derivatives(subject: Subject) -> Iterator[Finding]:
    """Derivatives of inputs and outputs are taken and given up to the order that is promised, and no further."""
    description = subject.fmu.description
    instance = subject.running()
    subject.run(instance, 0, BEFORE, trace=False)
    order, time = description.max_output_derivative_order, subject.start + BEFORE * subject.step
    inputs = [v for v in subject.inputs if v.type == "Real" and v.variability == "continuous"]
    outputs = [v for v in description.select("output") if v.type == "Real" and v.variability == "continuous"]

    def ask(function: str, variables: list[Variable], wanted: int) -> tuple[int, np.ndarray]:
        references = np.array([v.reference for v in variables], np.uint32)
        orders, values = np.full(len(variables), wanted, np.int32), np.zeros(len(variables))
        pointers = (references.ctypes.data, ctypes.c_size_t(len(variables)), orders.ctypes.data, values.ctypes.data)
        return subject.fmu.functions[function](instance.component, *pointers), values

    if inputs and description.can_interpolate_inputs:
        status, _ = ask("fmi2SetRealInputDerivatives", inputs, 1)
        if status != OK:
            yield error(
                subject.file, "fmi2SetRealInputDerivatives", f"derivatives of order 1 give status {status}",
                "Take them, or deny canInterpolateInputs",
            )  # fmt: skip
    instance.step(time, subject.step)
    if not outputs:
        subject.drop(instance)
        return
    for wanted in range(1, order + 1):
        status, values = ask("fmi2GetRealOutputDerivatives", outputs, wanted)
        bad = [v.name for v, value in zip(outputs, values, strict=True) if not isfinite(value)]
        if status != OK or bad:
            yield error(
                subject.file, "fmi2GetRealOutputDerivatives",
                f"order {wanted} gives status {status}" + (f" and no finite {', '.join(bad[:4])}" if bad else ""),
                "Give them, or state a lower maxOutputDerivativeOrder",
            )  # fmt: skip
    status, _ = ask("fmi2GetRealOutputDerivatives", outputs, order + 1)
    if status == OK:
        yield warning(
            subject.file, "fmi2GetRealOutputDerivatives",
            f"order {order + 1} is given although maxOutputDerivativeOrder is {order}", "Refuse it",
        )  # fmt: skip
    subject.drop(instance)
