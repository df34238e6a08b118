"""Functions with the signatures of FMI 2.0 that are Python, for what the compiled loop cannot do itself.

Strings pass through the loop as numbers (`master.fmi.strings`), and a step that an FMU does in the background is
waited for.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from base.fmi import ERROR, FATAL, PENDING, WARNING
from master.fmi import strings as texts

if TYPE_CHECKING:
    from master.fmi.instance import Instance

DO_STEP_STATUS = 0
POLL_S = 20e-6

_Access = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_Step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_double, ctypes.c_double, ctypes.c_int)


def detour(instance: Instance, function: str, *, waits: bool = True) -> Any:
    """The function that takes the place of `function` of an instance; None where it needs none.

    A step is waited for if `waits` and the FMU may do it in the background. Keep what this gives as long as its address
    is in use.
    """
    if function == "fmi2GetString":
        return _Access(_guarded(instance, _get_texts(instance)))
    if function == "fmi2SetString":
        return _Access(_guarded(instance, _set_texts(instance)))
    if waits and function == "fmi2DoStep" and instance.description.can_run_asynchronously:
        return _Step(_guarded(instance, _awaited_step(instance)))
    return None


def _guarded(instance: Instance, function: Callable[..., int]) -> Callable[..., int]:
    """An exception, also that of a second Ctrl-C, ends the run: through C it cannot pass, but into the log."""

    def call(*arguments: Any) -> int:
        try:
            return function(*arguments)
        except BaseException as error:
            instance.log.add(ERROR, "master", f"{type(error).__name__}: {error}")
            return ERROR

    return call


def _get_texts(instance: Instance) -> Callable[..., int]:
    def get(_: int, references: int, count: int, values: int) -> int:
        status, found = instance.read_texts(list((ctypes.c_uint32 * count).from_address(references)))
        if status <= WARNING:
            (ctypes.c_int32 * count).from_address(values)[:] = [texts.number(text) for text in found]
        return status

    return get


def _set_texts(instance: Instance) -> Callable[..., int]:
    def set_(_: int, references: int, count: int, values: int) -> int:
        given = [texts.text(number) for number in (ctypes.c_int32 * count).from_address(values)]
        return instance.write_texts(list((ctypes.c_uint32 * count).from_address(references)), given)

    return set_


def _awaited_step(instance: Instance) -> Callable[..., int]:
    def step(component: int, t: float, h: float, no_set_state_prior: int) -> int:
        functions = instance.fmu.library.functions
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
