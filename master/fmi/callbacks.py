"""Python functions with the signatures of FMI 2.0, for what the compiled loop cannot do itself.

Strings pass through the loop as numbers (`dockfmu.master.fmi.strings`), and a step that an FMU takes in the background
is awaited.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from dockfmu.base.fmi import DO_STEP_STATUS, ERROR, FATAL, PENDING, WARNING
from dockfmu.master.fmi import strings
from dockfmu.master.fmi.log import Log
from dockfmu.master.fmi.variables import Description

POLL_S = 20e-6

_Access = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_Step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_double, ctypes.c_double, ctypes.c_int)


class Callee(Protocol):
    """The part of an instance that callbacks need."""

    log: Log

    @property
    def description(self) -> Description: ...

    def read_strings(self, references: Sequence[int]) -> tuple[int, list[str]]: ...

    def write_strings(self, references: Sequence[int], values: Sequence[str]) -> int: ...


def callback(instance: Callee, function: str, library: Mapping[str, Any] | None = None) -> Any:
    """Return the Python function that replaces `function` of an instance, None if the FMU's own is called.

    Given the functions of its `library`, fmi2DoStep waits for a step that the FMU may take in the background. Keep the
    returned function as long as its address is in use.
    """
    if function == "fmi2GetString":
        return _Access(_guarded(instance, _get_strings(instance)))
    if function == "fmi2SetString":
        return _Access(_guarded(instance, _set_strings(instance)))
    if library is not None and function == "fmi2DoStep" and instance.description.can_run_asynchronously:
        return _Step(_guarded(instance, _awaited_step(library)))
    return None


def _guarded(instance: Callee, function: Callable[..., int]) -> Callable[..., int]:
    """Wrap a function so that an exception, including that of a second Ctrl-C, is logged and ends the run."""

    def call(*arguments: Any) -> int:
        try:
            return function(*arguments)
        except BaseException as error:
            instance.log.add(ERROR, "master", f"{type(error).__name__}: {error}")
            return ERROR

    return call


def _get_strings(instance: Callee) -> Callable[..., int]:
    def get(_: int, references: int, count: int, values: int) -> int:
        status, found = instance.read_strings(list((ctypes.c_uint32 * count).from_address(references)))
        if status <= WARNING:
            (ctypes.c_int32 * count).from_address(values)[:] = [strings.number(string) for string in found]
        return status

    return get


def _set_strings(instance: Callee) -> Callable[..., int]:
    def set_(_: int, references: int, count: int, values: int) -> int:
        given = [strings.string(number) for number in (ctypes.c_int32 * count).from_address(values)]
        return instance.write_strings(list((ctypes.c_uint32 * count).from_address(references)), given)

    return set_


def _awaited_step(functions: Mapping[str, Any]) -> Callable[..., int]:
    def step(component: int, t: float, h: float, no_set_state_prior: int) -> int:
        status = functions["fmi2DoStep"](component, t, h, no_set_state_prior)
        pending = ctypes.c_int(PENDING)
        while status == PENDING:
            answer = functions["fmi2GetStatus"](component, DO_STEP_STATUS, ctypes.byref(pending))
            if answer > WARNING:
                return FATAL if answer == FATAL else ERROR
            status = pending.value
            if status == PENDING:
                time.sleep(POLL_S)
        return status

    return step
