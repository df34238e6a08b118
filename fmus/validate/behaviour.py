"""Checks that run the FMU, in a process of its own: a library that crashes or hangs is a finding and not the end."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from math import isfinite, sin
from pathlib import Path
from typing import Any

from fmus.validate.finding import Finding, error, warning
from master.description import Variable, read_description, this_platform
from master.errors import MasterError
from master.fmu import OK, Fmu, Instance

TIME_LIMIT = 600.0
STEPS_BEFORE, STEPS = 100, 1000

Value = Any


class Subject:
    """The FMU under test, with what several checks need."""

    def __init__(self, fmu: Fmu) -> None:
        self.fmu = fmu
        description = fmu.description
        self.file = f"binaries/{this_platform()}/{description.identifier}"
        self.inputs = [v for v in description.select("input") if v.type != "String"]
        self.outputs = [v.name for v in description.select("output") if v.type != "String"]
        self.step = description.experiment.step or 1e-3
        self.start = description.experiment.start or 0.0
        self.amplitude = 0.0

    def instance(self) -> Instance:
        return self.fmu.instantiate("validated")

    def running(self) -> Instance:
        """A new instance after initialisation with the start values of the library."""
        made = self.instance()
        made.initialize(self.start)
        return made

    def drop(self, instance: Instance) -> None:
        instance.free()
        self.fmu.instances.remove(instance)

    def excitation(self, k: int) -> dict[str, Value]:
        """Inputs for step k: Real ones that are bounded by nothing move about their start values."""
        return {
            v.name: float(v.start or 0.0) + self.amplitude * (v.nominal or 1.0) * sin(0.1 * k + i)
            for i, v in enumerate(self.inputs)
            if v.type == "Real" and v.variability == "continuous" and v.minimum is None and v.maximum is None
        }

    def run(self, instance: Instance, first: int, last: int, trace: bool = True) -> list[list[Value]]:
        """Steps `first` to `last` of the default step, with the excitation; the outputs after each."""
        found = []
        for k in range(first, last):
            if inputs := self.excitation(k):
                instance.set(inputs)
            instance.step(self.start + k * self.step, self.step)
            if trace:
                found.append(instance.get(self.outputs))
        return found


def _same(a: Sequence[Value], b: Sequence[Value]) -> bool:
    """Equal to the bit: two NaN are the same, two zeros of different sign are not."""
    return [float(x).hex() for x in a] == [float(x).hex() for x in b]


def _first_difference(names: Sequence[str], a: Sequence[Value], b: Sequence[Value]) -> str:
    for name, x, y in zip(names, a, b, strict=True):
        if float(x).hex() != float(y).hex():
            return f"{name} = {x!r} and {y!r}"
    return "nothing"


def check_guid(subject: Subject) -> Iterator[Finding]:
    """The library belongs to the model description, and to no other."""
    fmu, right = subject.fmu, subject.fmu.description
    try:
        subject.drop(subject.instance())
    except MasterError as fault:
        yield error(
            subject.file, "fmi2Instantiate", f"the library refuses the GUID and resources of its own FMU ({fault})",
            "Build library and model description together",
        )  # fmt: skip
        return
    fmu.description = replace(right, guid="{00000000-0000-0000-0000-000000000000}")
    try:
        subject.drop(subject.instance())
    except MasterError:
        return
    finally:
        fmu.description = right
    yield warning(
        subject.file, "fmi2Instantiate", "the library accepts a foreign GUID",
        "Compare the GUID, or a stale library will run with a newer description",
    )  # fmt: skip


def check_start(subject: Subject) -> Iterator[Finding]:
    """The FMU can be initialised and stepped as it comes; finds the excitation for the checks that follow."""
    for amplitude in (1e-2, 0.0):
        subject.amplitude = amplitude
        try:
            instance = subject.running()
            subject.run(instance, 0, STEPS_BEFORE + STEPS, trace=False)
            subject.drop(instance)
            return
        except MasterError as fault:
            failure = str(fault)
    yield error(
        subject.file, "", f"the FMU does not run with its start values ({failure})", "Give start values that work"
    )


def check_readable(subject: Subject) -> Iterator[Finding]:
    """Every variable can be read with the function of its type; start values are those of the description."""
    instance = subject.running()
    for variable in subject.fmu.description.variables.values():
        try:
            (value,) = instance.get([variable.name])
        except MasterError as fault:
            yield error(
                subject.file, variable.name, f"the variable cannot be read as {variable.type} ({fault})",
                "Correct its value reference or type",
            )  # fmt: skip
            continue
        settable = variable.causality in ("input", "parameter")
        if settable and variable.start is not None and value != variable.start:
            yield error(
                subject.file, variable.name,
                f"the start value is {value!r} in the library and {variable.start!r} in the model description",
                "Build library and model description together",
            )  # fmt: skip
        if isinstance(value, float) and not isfinite(value):
            yield warning(subject.file, variable.name, f"the value after initialisation is {value}", "Make it finite")
    subject.drop(instance)


def check_settable(subject: Subject) -> Iterator[Finding]:
    """What is declared settable can be set when it may be, and nothing else can."""

    def tries(phase: str, prepare: Callable[[], Instance], may: Callable[[Variable], bool]) -> Iterator[Finding]:
        forbidden: list[str] = []
        instance = prepare()
        for variable in subject.fmu.description.variables.values():
            if variable.start is None or not may(variable):
                continue
            try:
                instance.set({variable.name: variable.start})
            except MasterError as fault:
                yield error(
                    subject.file, variable.name, f"a {variable.causality} cannot be set {phase} ({fault})",
                    "Accept it, or declare the variable otherwise",
                )  # fmt: skip
        subject.drop(instance)
        # refused calls may leave an FMU in an error state: last, in an instance of their own
        instance = prepare()
        for variable in subject.fmu.description.variables.values():
            if variable.type == "String" or may(variable) or variable.causality == "independent":
                continue
            value = variable.start if variable.start is not None else {"Real": 0.0}.get(variable.type, 1)
            try:
                instance.set({variable.name: value})
                forbidden.append(variable.name)
            except MasterError:
                continue
        subject.drop(instance)
        if forbidden:
            yield warning(
                subject.file, ", ".join(forbidden[:5]) + (" ..." if len(forbidden) > 5 else ""),
                f"{len(forbidden)} variables can be set {phase} although the description forbids it", "Refuse it",
            )  # fmt: skip

    yield from tries(
        "before initialisation", subject.instance,
        lambda v: v.variability != "constant" and (v.causality == "input" or v.initial in ("exact", "approx")),
    )  # fmt: skip
    yield from tries(
        "between steps", subject.running,
        lambda v: v.causality == "input" or (v.causality == "parameter" and v.variability == "tunable"),
    )  # fmt: skip


def check_initial_outputs(subject: Subject) -> Iterator[Finding]:
    """Outputs are consistent in initialization mode and do not depend on when within it inputs were set."""
    early = subject.instance()
    early.set(subject.excitation(1))
    early.enter_initialization(subject.start)
    early.exit_initialization()
    expected = early.get(subject.outputs)
    subject.drop(early)
    late = subject.instance()
    late.enter_initialization(subject.start)
    late.get(subject.outputs)
    late.set(subject.excitation(1))
    during = late.get(subject.outputs)
    late.exit_initialization()
    after = late.get(subject.outputs)
    subject.drop(late)
    for values, text in (
        (during, "between initialization mode and its end"),
        (after, "with the moment at which inputs are set"),
    ):
        if not _same(values, expected):
            yield error(
                subject.file, "", f"outputs differ {text}: {_first_difference(subject.outputs, values, expected)}",
                "Compute the outputs from what is set when they are asked for",
            )  # fmt: skip


def check_determinism(subject: Subject) -> Iterator[Finding]:
    """Two runs with the same inputs give the same bits."""
    traces = []
    for _ in range(2):
        instance = subject.running()
        traces.append(subject.run(instance, 0, STEPS_BEFORE))
        subject.drop(instance)
    for k, (one, two) in enumerate(zip(*traces, strict=True)):
        if not _same(one, two):
            yield error(
                subject.file, "fmi2DoStep",
                f"two equal runs differ after step {k + 1}: {_first_difference(subject.outputs, one, two)}",
                "Look for memory that is not initialised or shared by instances",
            )  # fmt: skip
            return


def check_state(subject: Subject) -> Iterator[Finding]:
    """A restored state, also one that was serialised, reproduces the next 1000 steps bit for bit."""
    description = subject.fmu.description
    if not description.can_get_and_set_state:
        return
    instance = subject.running()
    subject.run(instance, 0, STEPS_BEFORE, trace=False)
    state = instance.get_state()
    data = instance.serialize(state) if description.can_serialize_state else None
    expected = subject.run(instance, STEPS_BEFORE, STEPS_BEFORE + STEPS)

    def compare(how: str, restored: Instance) -> Iterator[Finding]:
        for k, (one, two) in enumerate(
            zip(subject.run(restored, STEPS_BEFORE, STEPS_BEFORE + STEPS), expected, strict=True)
        ):
            if not _same(one, two):
                yield error(
                    subject.file, "fmi2SetFMUstate",
                    f"{k + 1} steps after a state was {how}, the outputs differ from the first run: "
                    + _first_difference(subject.outputs, one, two),
                    "Save all memory that the FMU keeps from step to step",
                )  # fmt: skip
                return

    instance.set_state(state)
    yield from compare("restored", instance)
    instance.free_state(state)
    subject.drop(instance)
    if data is not None:
        other = subject.running()
        copy = other.deserialize(data)
        other.set_state(copy)
        yield from compare("restored from its bytes", other)
        other.free_state(copy)
        subject.drop(other)


def check_step_size(subject: Subject) -> Iterator[Finding]:
    """Ten steps of 2h come out near twenty of h; a step that is not positive is refused."""
    if not subject.fmu.description.can_vary_step:
        return
    reals = [
        v.name for v in subject.fmu.description.select("output") if v.type == "Real" and v.variability == "continuous"
    ]
    ends = []
    for factor in (2, 1):
        instance = subject.running()
        before = instance.get(reals)
        instance.set(subject.excitation(0))
        for k in range(20 // factor):
            instance.step(subject.start + k * factor * subject.step, factor * subject.step)
        ends.append(instance.get(reals))
        subject.drop(instance)
    for name, start, coarse, fine in zip(reals, before, *ends, strict=True):
        change = abs(fine - start)
        if abs(coarse - fine) > 0.25 * change + 1e-9 * max(1.0, abs(fine)):
            yield warning(
                subject.file, name,
                f"10 steps of {2 * subject.step:g} s end at {coarse:.9g}, 20 of {subject.step:g} s at {fine:.9g}",
                "Use the step size that is given, or deny canHandleVariableCommunicationStepSize",
            )  # fmt: skip
    instance = subject.running()
    function = subject.fmu.functions["fmi2DoStep"]
    if function(instance.component, ctypes.c_double(subject.start), ctypes.c_double(-subject.step), 1) == OK:
        yield warning(subject.file, "fmi2DoStep", "a negative step size is accepted", "Refuse it with fmi2Error")
    subject.drop(instance)


_CHECKS = (
    check_guid, check_start, check_readable, check_settable, check_initial_outputs, check_determinism, check_state,
    check_step_size,
)  # fmt: skip
_ESSENTIAL = (check_guid, check_start)


def run_checks(path: Path, say: Callable[[dict[str, Any]], None]) -> None:
    """All checks in this process: `say` is told each check that begins, and each finding."""
    try:
        if this_platform() not in read_description(path).binaries:
            nothing = warning(path.name, "binaries/", f"there is no library for {this_platform()}", "Nothing was run")
            say({"finding": asdict(nothing)})
            return
        with Fmu(path) as fmu:
            subject = Subject(fmu)
            for check in _CHECKS:
                say({"check": check.__name__})
                found = []
                try:
                    for finding in check(subject):
                        found.append(finding)
                        say({"finding": asdict(finding)})
                except MasterError as fault:
                    found.append(error(subject.file, check.__name__, str(fault), "See the message of the FMU"))
                    say({"finding": asdict(found[-1])})
                if check in _ESSENTIAL and any(finding.severity == "error" for finding in found):
                    return
    except MasterError as fault:
        say({"finding": asdict(error(path.name, "", str(fault), "Export the FMU again"))})


def check_in_process(path: Path) -> list[Finding]:
    """Findings about the behaviour of the FMU at `path`, where it has a library for this platform."""
    advice = "Run it under a debugger"
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fmus.validate", str(path)],
            capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return [error(path.name, "", f"the FMU has not finished its checks after {TIME_LIMIT:g} s", advice)]
    findings, check = [], "loading"
    for line in done.stdout.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue  # the FMU writes to standard output
        if not isinstance(said, dict):
            continue
        check = said.get("check", check)
        if "finding" in said:
            findings.append(Finding(**said["finding"]))
    if done.returncode:
        what = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        last = done.stderr.strip().splitlines()[-1:] or [""]
        findings.append(
            error(path.name, check, f"the process that ran the FMU ended with {what} {last[0]}".strip(), advice)
        )
    return findings
