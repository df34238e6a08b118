"""Checks of behaviour: start values, inputs, time and states."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite

from dockfmu.base.fmi import OK
from dockfmu.base.platforms import library_name, this_platform
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.check.findings import Finding, error, warning
from dockfmu.fmus.check.subject import FEWEST, Subject, first_difference, same
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import Variable
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.fmi.library import FmuLibrary, LibraryFmi2
from dockfmu.master.fmi.library_fmi3 import LibraryFmi3

_FOREIGN = "{00000000-0000-0000-0000-000000000000}"


def check_guid(subject: Subject) -> Iterator[Finding]:
    """Check that the library belongs to the model description, and to no other."""
    fmu = subject.fmu
    try:
        subject.drop(subject.instance())
    except MasterError as fault:
        yield error(
            subject.file,
            "fmi2Instantiate",
            f"the library refuses the GUID and resources of its own FMU ({fault})",
            "Build library and model description together",
        )
        return
    with TemporaryFolder("validate") as folder:
        archive.extract(fmu.file, folder)
        description, owner, resources = fmu.description, fmu.file.name, folder / "resources"
        path = folder / "binaries" / this_platform(description.fmi_version) / library_name(description.identifier)
        stranger: FmuLibrary
        if description.fmi_version == "2.0":
            stranger = LibraryFmi2(path, owner, _FOREIGN, resources)
        else:
            stranger = LibraryFmi3(path, owner, replace(description, guid=_FOREIGN), resources)
        accepted = stranger.instantiate("stranger", 0, False)
        if accepted:
            stranger.functions["fmi2FreeInstance"](accepted)
        stranger.close()
    if not accepted:
        return
    yield warning(
        subject.file,
        "fmi2Instantiate",
        "the library accepts a foreign GUID",
        "Compare the GUID, or a stale library will run with a newer description",
    )


def check_start(subject: Subject) -> Iterator[Finding]:
    """Check that the FMU runs with its start values.

    Sets the amplitude of the excitation for the checks that follow: 0 if the FMU runs only with constant inputs.
    """
    failure = ""
    for amplitude in (1e-2, 0.0):
        subject.amplitude = amplitude
        try:
            instance = subject.running()
        except MasterError as fault:
            failure = str(fault)
            continue
        for k in range(subject.most):
            try:
                subject.run(instance, k, k + 1, trace=False)
            except MasterError as fault:
                failure = str(fault)
                if not instance.asks_to_end(fault) or k < FEWEST:
                    break
                subject.drop(instance)
                subject.ends_after(k)
                yield warning(
                    subject.file,
                    "fmi2DoStep",
                    f"the FMU asks to end the simulation after {k} steps of {subject.step:g} s, and is checked up to "
                    "there",
                    "Give start values with which it goes on, if more is to be checked",
                )
                return
        else:
            subject.drop(instance)
            return
    yield error(
        subject.file, "", f"the FMU does not run with its start values ({failure})", "Give start values that work"
    )


def check_readable(subject: Subject) -> Iterator[Finding]:
    """Check that every variable can be read by its type and has the start value of the description."""
    instance = subject.running()
    for variable in subject.fmu.description.variables.values():
        try:
            (value,) = instance.get([variable.name])
        except MasterError as fault:
            # a limit of this master, not a fault of the FMU
            wide = subject.version != "2" and "needs more than 32 bits" in str(fault)
            yield (warning if wide else error)(
                subject.file,
                variable.name,
                f"the variable cannot be read as {variable.type} ({fault})",
                "Correct its value reference or type",
            )
            continue
        settable = variable.causality in ("input", "parameter")
        if settable and variable.start is not None and value != variable.start:
            yield error(
                subject.file,
                variable.name,
                f"the start value is {value!r} in the library and {variable.start!r} in the model description",
                "Build library and model description together",
            )
        if isinstance(value, float) and not isfinite(value):
            yield warning(subject.file, variable.name, f"the value after initialisation is {value}", "Make it finite")
    subject.drop(instance)


def check_settable(subject: Subject) -> Iterator[Finding]:
    """Check that variables can be set when the description allows it, and only then."""

    def tries(phase: str, prepare: Callable[[], FmuInstance], may: Callable[[Variable], bool]) -> Iterator[Finding]:
        forbidden: list[str] = []
        instance = prepare()
        for variable in subject.fmu.description.variables.values():
            if variable.start is None or not may(variable):
                continue
            try:
                instance.set({variable.name: variable.start})
            except MasterError as fault:
                yield error(
                    subject.file,
                    variable.name,
                    f"a {variable.causality} cannot be set {phase} ({fault})",
                    "Accept it, or declare the variable otherwise",
                )
        subject.drop(instance)
        # refused calls may leave an FMU in an error state: make them last, in a separate instance
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
                subject.file,
                ", ".join(forbidden[:5]) + (" ..." if len(forbidden) > 5 else ""),
                f"{len(forbidden)} variables can be set {phase} although the description forbids it",
                "Refuse it",
            )

    yield from tries(
        "before initialisation",
        subject.instance,
        lambda v: v.variability != "constant" and (v.causality == "input" or v.initial in ("exact", "approx")),
    )
    yield from tries(
        "between steps",
        subject.running,
        lambda v: v.causality == "input" or (v.causality == "parameter" and v.variability == "tunable"),
    )


def check_initial_outputs(subject: Subject) -> Iterator[Finding]:
    """Check that outputs are consistent in initialization mode, no matter when inputs are set."""
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
        if not same(values, expected):
            yield error(
                subject.file,
                "",
                f"outputs differ {text}: {first_difference(subject.outputs, values, expected)}",
                "Compute the outputs from what is set when they are read",
            )


def check_determinism(subject: Subject) -> Iterator[Finding]:
    """Check that two runs with the same inputs are bitwise equal."""
    traces = []
    for _ in range(2):
        instance = subject.running()
        traces.append(subject.run(instance, 0, subject.before))
        subject.drop(instance)
    for k, (one, two) in enumerate(zip(*traces, strict=True)):
        if not same(one, two):
            yield error(
                subject.file,
                "fmi2DoStep",
                f"two equal runs differ after step {k + 1}: {first_difference(subject.outputs, one, two)}",
                "Look for memory that is not initialised or shared by instances",
            )
            return


def check_state(subject: Subject) -> Iterator[Finding]:
    """Check that a restored state, serialised or not, reproduces the next 1000 steps bitwise."""
    description = subject.fmu.description
    if not description.can_get_and_set_state:
        return
    instance = subject.running()
    subject.run(instance, 0, subject.before, trace=False)
    state = instance.get_state()
    data = instance.serialize(state) if description.can_serialize_state else None
    expected = subject.run(instance, subject.before, subject.most)

    def compare(how: str, restored: FmuInstance) -> Iterator[Finding]:
        for k, (one, two) in enumerate(zip(subject.run(restored, subject.before, subject.most), expected, strict=True)):
            if not same(one, two):
                yield error(
                    subject.file,
                    "fmi2SetFMUstate",
                    f"{k + 1} steps after a state was {how}, the outputs differ from the first run: "
                    + first_difference(subject.outputs, one, two),
                    "Save all memory that the FMU keeps from step to step",
                )
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


def _step_dependent(subject: Subject, excited: bool) -> dict[str, tuple[float, float]]:
    """Return continuous Real outputs that differ after ten steps of 2h and twenty of h: name -> the two values."""
    reals = [
        v.name for v in subject.fmu.description.select("output") if v.type == "Real" and v.variability == "continuous"
    ]
    ends = []
    steps = min(10, subject.most // 2)
    for factor in (2, 1):
        instance = subject.running()
        before = instance.get(reals)
        if excited:
            instance.set(subject.excitation(0))
        for k in range(2 * steps // factor):
            instance.step(subject.start + k * factor * subject.step, factor * subject.step)
        ends.append(instance.get(reals))
        subject.drop(instance)
    return {
        name: (coarse, fine)
        for name, start, coarse, fine in zip(reals, before, *ends, strict=True)
        if abs(coarse - fine) > 0.25 * abs(fine - start) + 1e-9 * max(1.0, abs(fine))
    }


def check_step_size(subject: Subject) -> Iterator[Finding]:
    """Check that ten steps of 2h end near twenty of h, and that a step that is not positive is refused."""
    if not subject.fmu.description.can_vary_step:
        return
    steps = min(10, subject.most // 2)
    differing = _step_dependent(subject, excited=True)
    if differing:
        # constant inputs that contradict each other, such as a pose and its velocity, have the same effect
        differing = _step_dependent(subject, excited=False)
    for name, (coarse, fine) in differing.items():
        yield warning(
            subject.file,
            name,
            f"{steps} steps of {2 * subject.step:g} s end at {coarse:.9g}, {2 * steps} of {subject.step:g} s at "
            f"{fine:.9g}",
            "Use the step size that is given, or deny canHandleVariableCommunicationStepSize",
        )
    instance = subject.running()
    function = subject.fmu.functions["fmi2DoStep"]
    if function(instance.component, ctypes.c_double(subject.start), ctypes.c_double(-subject.step), 1) == OK:
        yield warning(subject.file, "fmi2DoStep", "a negative step size is accepted", "Refuse it with fmi2Error")
    subject.drop(instance)
