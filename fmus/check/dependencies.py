"""Checks of the dependencies and derivatives that the model description declares, by numerical experiments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from math import inf, isfinite
from random import Random

import numpy as np

from dockfmu.base.fmi import OK
from dockfmu.fmus.check.findings import Finding, error, warning
from dockfmu.fmus.check.subject import Subject, Value, same
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.description import Variable
from dockfmu.master.fmi.instance import FmuInstance

TRIALS = 60
"""Random pairs of points for each set of outputs with the same declared dependencies."""
AMPLITUDES = (1e-7, 1e-3, 0.1, 1.0, 10.0)
"""Distances of random points from the start in nominal values: large ones for branches, small ones for unit vectors."""
SHARES = (0.5, 0.1, 0.02)
"""Shares of the variables moved at once: large ones to find products, small ones for FMUs that refuse many points."""


def _another(variable: Variable, now: Value, amplitude: float, random: Random) -> Value:
    """Return a random value about `now` that the variable may take."""
    if variable.type == "Boolean":
        return random.random() < 0.5
    if variable.items:
        return random.choice(variable.items)[1]
    low = -inf if variable.minimum is None else variable.minimum
    high = inf if variable.maximum is None else variable.maximum
    if variable.type == "Real":
        value = now + amplitude * max(abs(now), variable.nominal or 1.0) * random.uniform(-1.0, 1.0)
        return min(max(value, low), high)
    return min(max(now + random.choice((-2, -1, 1, 2)), low), high)


class _Trial:
    """An instance that is moved from point to point, and replaced after a refusal, which may have damaged its state."""

    def __init__(self, subject: Subject, prepare: Callable[[], FmuInstance]) -> None:
        self.subject, self.prepare = subject, prepare
        self.instance = prepare()

    def outputs(self, point: Mapping[str, Value], names: list[str]) -> list[Value] | None:
        """Return the outputs `names` at a point, None if the FMU refuses it."""
        try:
            self.instance.set(dict(point))
            return self.instance.get(names or self.subject.outputs[:1])
        except MasterError:
            self.subject.drop(self.instance)
            self.instance = self.prepare()
            return None


class _Points:
    """Random points about the present values, with each variable moved no further than it accepts alone."""

    def __init__(self, trial: _Trial, knowns: list[Variable]) -> None:
        self.random = Random(0)
        self.now = {v.name: trial.instance.get([v.name])[0] for v in knowns}
        self.reach: dict[str, float] = {}
        for v in knowns:
            for amplitude in reversed(AMPLITUDES):
                point = self.now | {v.name: _another(v, self.now[v.name], amplitude, self.random)}
                if trial.outputs(point, []) is not None:
                    self.reach[v.name] = amplitude
                    break

    def move(self, point: dict[str, Value], knowns: list[Variable], amplitude: float, share: float) -> dict[str, Value]:
        """Return `point` with a share of `knowns` moved at once, the only way to reveal products and branches."""
        moved = [v for v in knowns if v.name in self.reach and self.random.random() < max(share, 2.0 / len(knowns))]
        return point | {
            v.name: _another(v, point[v.name], min(amplitude, self.reach[v.name]), self.random) for v in moved
        }


def _denied(
    subject: Subject,
    prepare: Callable[[], FmuInstance],
    knowns: list[Variable],
    stated: Mapping[str, tuple[str, ...] | None],
    where: str,
) -> Iterator[Finding]:
    """Yield a finding for each known that changes outputs whose declared dependencies lack it.

    From random points, several knowns outside the declared dependencies are moved at once. If an output changes, the
    knowns are moved one by one to find the cause.
    """
    groups: dict[frozenset[str], list[str]] = {}
    for name, dependencies in stated.items():
        if dependencies is not None:
            groups.setdefault(frozenset(dependencies), []).append(name)
    if not groups:
        return
    trial = _Trial(subject, prepare)
    points = _Points(trial, knowns)
    found: dict[str, dict[str, None]] = {}
    for depends, names in groups.items():
        denied = [v for v in knowns if v.name not in depends]
        for k in range(TRIALS if denied else 0):
            size = AMPLITUDES[k % len(AMPLITUDES)], SHARES[k % len(SHARES)]
            first = points.move(points.now, knowns, *size)
            second = points.move(first, denied, *size)
            before, after = trial.outputs(first, names), trial.outputs(second, names)
            if before is None or after is None or same(before, after):
                continue
            point = dict(first)
            for known in denied:
                if point[known.name] == second[known.name]:
                    continue
                point[known.name] = second[known.name]
                after = trial.outputs(point, names)
                if before is not None and after is not None:
                    changed = [n for n, a, b in zip(names, before, after, strict=True) if not same([a], [b])]
                    found.setdefault(known.name, {}).update(dict.fromkeys(changed))
                before = after
    subject.drop(trial.instance)
    for name, outputs in found.items():
        if outputs:
            yield error(
                subject.file,
                name,
                f"{', '.join(list(outputs)[:4])}{' ...' if len(outputs) > 4 else ''} depend on it {where}, which the "
                "description denies",
                "State the dependency, or leave `dependencies` out",
            )


def check_dependencies(subject: Subject) -> Iterator[Finding]:
    """Check that between steps no output changes with an input outside its declared dependencies."""

    def prepare() -> FmuInstance:
        instance = subject.running()
        subject.run(instance, 0, subject.before, trace=False)
        return instance

    yield from _denied(subject, prepare, subject.inputs, subject.fmu.description.outputs, "between steps")


def check_initial_dependencies(subject: Subject) -> Iterator[Finding]:
    """Check that in initialization mode outputs change only with the dependencies in InitialUnknowns."""

    def prepare() -> FmuInstance:
        instance = subject.instance()
        instance.enter_initialization(subject.start)
        return instance

    parameters = [v for v in subject.fmu.description.select("parameter") if v.type != "String"]
    outputs = {
        name: known for name, known in subject.fmu.description.initial_unknowns.items() if name in subject.outputs
    }
    yield from _denied(subject, prepare, subject.inputs + parameters, outputs, "in initialization mode")


def check_derivatives(subject: Subject) -> Iterator[Finding]:
    """Check that derivatives of inputs and outputs work up to the declared order, and not beyond."""
    description = subject.fmu.description
    instance = subject.running()
    subject.run(instance, 0, subject.before, trace=False)
    highest, time = description.max_output_derivative_order, subject.start + subject.before * subject.step
    inputs = [v for v in subject.inputs if v.type == "Real" and v.variability == "continuous"]
    outputs = [v for v in description.select("output") if v.type == "Real" and v.variability == "continuous"]

    def call(function: str, variables: list[Variable], order: int) -> tuple[int, np.ndarray]:
        references = np.array([v.reference for v in variables], np.uint32)
        orders, values = np.full(len(variables), order, np.int32), np.zeros(len(variables))
        pointers = (references.ctypes.data, ctypes.c_size_t(len(variables)), orders.ctypes.data, values.ctypes.data)
        return subject.fmu.functions[function](instance.component, *pointers), values

    if inputs and description.can_interpolate_inputs:
        status, _ = call("fmi2SetRealInputDerivatives", inputs, 1)
        if status != OK:
            yield error(
                subject.file,
                "fmi2SetRealInputDerivatives",
                f"derivatives of order 1 give status {status}",
                "Take them, or deny canInterpolateInputs",
            )
    instance.step(time, subject.step)
    if not outputs:
        subject.drop(instance)
        return
    for order in range(1, highest + 1):
        status, values = call("fmi2GetRealOutputDerivatives", outputs, order)
        bad = [v.name for v, value in zip(outputs, values, strict=True) if not isfinite(value)]
        if status != OK or bad:
            yield error(
                subject.file,
                "fmi2GetRealOutputDerivatives",
                f"order {order} gives status {status}" + (f" and no finite {', '.join(bad[:4])}" if bad else ""),
                "Give them, or state a lower maxOutputDerivativeOrder",
            )
    status, _ = call("fmi2GetRealOutputDerivatives", outputs, highest + 1)
    if status == OK:
        yield warning(
            subject.file,
            "fmi2GetRealOutputDerivatives",
            f"order {highest + 1} is given although maxOutputDerivativeOrder is {highest}",
            "Refuse it",
        )
    subject.drop(instance)
