"""Checks of the state machine of FMI 2.0, section 4.2.4: each function in each phase that any FMU can reach."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from dockfmu.base.fmi import ACCESS_TYPES, DISCARD, OK, WARNING
from dockfmu.fmus.check.findings import Finding, error, warning
from dockfmu.fmus.check.subject import Subject, first_difference, same
from dockfmu.master.fmi.description import Description
from dockfmu.master.fmi.instance import FmuInstance

PHASES = ("instantiated", "initialization mode", "step complete", "terminated")

ALLOWED: dict[str, frozenset[str]] = {
    name: frozenset(PHASES[place] for place in places)
    for names, places in (
        ("SetDebugLogging GetFMUstate Reset", (0, 1, 2, 3)),
        ("SetupExperiment EnterInitializationMode", (0,)),
        ("ExitInitializationMode", (1,)),
        ("DoStep Terminate", (2,)),
        ("CancelStep", ()),
        ("GetReal GetInteger GetBoolean GetString GetDirectionalDerivative", (1, 2, 3)),
        ("SetReal SetInteger SetBoolean SetString SetRealInputDerivatives", (0, 1, 2)),
        ("GetRealOutputDerivatives GetStatus GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus", (2, 3)),
    )
    for name in names.split()
}
"""Phases in which the standard allows a function, without its restrictions to some variables."""

_STATUS_KIND = {"GetStatus": 0, "GetStringStatus": 1, "GetRealStatus": 2, "GetIntegerStatus": 0, "GetBooleanStatus": 3}


def _offered(function: str, description: Description) -> bool:
    """Return whether the FMU declares an optional function; true for all other functions."""
    return {
        "GetFMUstate": description.can_get_and_set_state,
        "GetDirectionalDerivative": description.can_provide_directional_derivatives,
        "SetRealInputDerivatives": description.can_interpolate_inputs,
        "GetRealOutputDerivatives": description.max_output_derivative_order > 0,
        "GetIntegerStatus": False,  # no kind of status is an Integer
    }.get(function, True)


def _arguments(function: str, subject: Subject, room: ctypes.Array[ctypes.c_char]) -> tuple[Any, ...]:
    """Return arguments without effect, such as empty arrays, or the experiment and the step that are due."""
    if function == "SetupExperiment":
        return 0, 0.0, subject.start, 0, 0.0
    if function == "DoStep":
        return subject.start, subject.step, 1
    if function == "SetDebugLogging":
        return 0, 0, None
    if function == "GetDirectionalDerivative":
        return None, 0, None, 0, None, None
    if function in ("SetRealInputDerivatives", "GetRealOutputDerivatives"):
        return None, 0, None, None
    if function == "GetFMUstate":
        return (ctypes.byref(room),)
    if function in _STATUS_KIND:
        return _STATUS_KIND[function], ctypes.byref(room)
    return (None, 0, None) if function[3:] in ACCESS_TYPES else ()


def _instance_in(subject: Subject, phase: str) -> FmuInstance:
    """Return a new instance in a phase."""
    instance = subject.instance()
    if phase != "instantiated":
        instance.enter_initialization(subject.start)
    if phase in ("step complete", "terminated"):
        instance.exit_initialization()
    if phase == "terminated":
        instance.terminate()
    return instance


def check_state_machine(subject: Subject) -> Iterator[Finding]:
    """Check that each function is accepted in the phases where the standard allows it, and refused in others."""
    lax: list[str] = []
    for function, allowed in ALLOWED.items():
        for phase in PHASES:
            if not _offered(function, subject.fmu.description):
                continue
            instance = _instance_in(subject, phase)
            if function == "EnterInitializationMode" and phase == "instantiated":
                instance.call("fmi2SetupExperiment", 0, 0.0, subject.start, 0, 0.0)
            call: Callable[..., int] = subject.fmu.functions[f"fmi2{function}"]
            room = ctypes.create_string_buffer(16)
            status = call(instance.component, *_arguments(function, subject, room))
            good = (OK, WARNING, DISCARD) if function in _STATUS_KIND else (OK, WARNING)
            if phase in allowed and status not in good:
                yield error(
                    subject.file,
                    f"fmi2{function}",
                    f"the function is refused in the phase {phase!r} (status {status})",
                    "Section 4.2.4 of the standard allows it there",
                )
            elif phase not in allowed and status in (OK, WARNING):
                lax.append(f"fmi2{function} in {phase!r}")
            if function == "GetFMUstate" and status == OK:
                instance.free_state(int.from_bytes(room.raw[:8], "little"))
            subject.drop(instance)
    if lax:
        yield warning(
            subject.file, "", f"calls are accepted that the state machine forbids: {', '.join(lax)}", "Refuse them"
        )


def check_reset(subject: Subject) -> Iterator[Finding]:
    """Check that after fmi2Reset an instance runs like a new one."""
    instance = subject.running()
    expected = subject.run(instance, 0, subject.before)
    for phase in ("between steps", "after fmi2Terminate"):
        if phase != "between steps":
            instance.terminate()
        instance.call("fmi2Reset")
        instance.initialize(subject.start)
        for k, (one, two) in enumerate(zip(subject.run(instance, 0, subject.before), expected, strict=True)):
            if not same(one, two):
                yield error(
                    subject.file,
                    "fmi2Reset",
                    f"after a reset {phase}, step {k + 1} differs from that of a new "
                    f"instance: {first_difference(subject.outputs, one, two)}",
                    "Reset everything to its start value",
                )
                break
    subject.drop(instance)
