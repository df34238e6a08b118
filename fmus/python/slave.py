"""The class behind a pythonfmu FMU of a component: the same record and kernels as the native FMU, run in Python.

pythonfmu turns any exception into fmi2Fatal and leaves the instance in a state where the next call may crash the
importer. Therefore no method raises: a call that the native FMU would refuse is logged, and the next step returns
fmi2Discard.
pythonfmu shows the log only if logging is on, and takes messages as format strings of printf.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

from dockfmu.base.fmi import outcome_category
from dockfmu.components.core.component import Component
from dockfmu.fmus.folders import import_folder
from dockfmu.fmus.identity import fingerprint
from dockfmu.fmus.native.tables import is_computed

_REAL, _INTEGER, _BOOLEAN = 1, 2, 3
_KINDS = {"Real": _REAL, "Integer": _INTEGER, "Enumeration": _INTEGER, "Boolean": _BOOLEAN}

Method = Callable[..., Any]


class _KernelError(RuntimeError):
    """A kernel has returned a code; `outcome` is what it decides."""

    def __init__(self, slave: ComponentSlave, code: int, where: str = "") -> None:
        super().__init__(f"{where}{slave.component.explain(code, slave.block)}")
        message = slave.component.messages.get(code)
        self.outcome = message.outcome if message is not None else ""


def _category(outcome: str, otherwise: str) -> str:
    return outcome_category(outcome) if outcome else otherwise


def _guarded(otherwise: Any) -> Callable[[Method], Method]:
    """Return a decorator that logs an exception of a method, refuses further steps, and returns `otherwise(...)`."""

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def run(self: ComponentSlave, *arguments: Any) -> Any:
            try:
                return method(self, *arguments)
            except Exception as error:
                self.refuse(f"{method.__name__}: {error}", getattr(error, "outcome", ""))
                return otherwise(*arguments)

        return run

    return decorate


@functools.cache
def load_component(resources: str) -> Component:
    """Return the component that `resources/component.json` names, from an installed package or a folder.

    Raises RuntimeError if the FMU was built from another version of it, FolderError if the folder is gone.
    """
    content = json.loads((Path(resources) / "component.json").read_text(encoding="utf-8"))
    where = content.get("module") or content["folder"]
    module = import_module(where) if "module" in content else import_folder(Path(where))
    component: Component = module.component(**content["options"])
    if fingerprint(component) != content["fingerprint"]:
        raise RuntimeError(f"the FMU was built from another version of {where}; build it again")
    return component


class ComponentSlave(Fmi2Slave):  # type: ignore[misc]  # pythonfmu has no types
    """One instance; `get_real` and the like are called by pythonfmu's library with lists of value references."""

    log_categories: ClassVar[dict[str, str]] = {}

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        # pythonfmu adds the folder to the path for each instance and never removes it
        sys.path[:] = [entry for entry in sys.path if entry != self.resources]
        self.refusal = self.outcome = ""
        self.component = load_component(str(self.resources))
        record = self.component.record
        self.block = self.component.start()
        self.template = self.block[: record.state_size].copy()
        self.saved = np.concatenate([np.arange(span.first, span.first + span.count) for span in record.saved])
        self.kinds = np.zeros(record.state_size, np.int8)
        self.settable = np.zeros(record.state_size, np.int8)
        self.low = np.full(record.state_size, -np.finfo(float).max)
        self.high = -self.low
        self.computed = np.array([slot.index for slot in record.variables if is_computed(slot)], np.intp)
        self.places: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for slot in record.variables:
            self.kinds[slot.index] = _KINDS[slot.field.type.fmi]
            if slot.field.causality in ("parameter", "input"):
                self.settable[slot.index] = 2 if slot.field.variability != "fixed" else 1
            low, high = slot.bounds
            if low is not None:
                self.low[slot.index] = low
            if high is not None:
                self.high[slot.index] = high
        self.time = 0.0
        self.initializing = False
        self.initialize_needed = True
        self.stepping = False

    def refuse(self, text: str, outcome: str = "") -> None:
        """Log an error, which may decide the `outcome` of the run; from now on every step is discarded."""
        if not self.refusal:
            self.refusal, self.outcome = text, outcome
        self.log(text.replace("%", "%%"), Fmi2Status.error, _category(outcome, "logStatusError"))

    @_guarded(lambda *_: None)
    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Take the start time, s."""
        self.time = start_time

    @_guarded(lambda *_: None)
    def enter_initialization_mode(self) -> None:
        """Enter initialization mode."""
        self.initializing = True

    @_guarded(lambda *_: None)
    def exit_initialization_mode(self) -> None:
        """Initialize if anything was set since the last time, and allow steps."""
        self._update()
        self.initializing = False
        self.stepping = True

    def _update(self) -> None:
        """Make the outputs consistent with what was set in initialization mode."""
        if not (self.initializing and self.initialize_needed):
            return
        computed = self.settable == 0
        self.block[: len(computed)][computed] = self.template[computed]
        self.component.record.set_start_time(self.block, self.time)
        code = self.component.kernels.initialize(self.block)
        if code:
            raise _KernelError(self, code)
        self._check_finite()
        self.initialize_needed = False

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Advance by `step_size` s from `current_time`; return False, which discards the step, after a refusal."""
        if not self.refusal:
            self._step(current_time, step_size)
        if self.refusal:
            text = f"step discarded: {self.refusal}".replace("%", "%%")
            self.log(text, Fmi2Status.discard, _category(self.outcome, "logStatusDiscard"))
        return not self.refusal

    @_guarded(lambda *_: None)
    def _step(self, t: float, h: float) -> None:
        if not (self.stepping and h > 0.0 and abs(t - self.time) <= 1e-3 * h + 1e-15 * abs(self.time)):
            raise ValueError(f"no step of {h:g} s can be done at t = {t:g} s; the FMU is at t = {self.time:g} s")
        code = self.component.kernels.step(self.block, t, h)
        if code:
            raise _KernelError(self, code, f"t = {t:g} s, h = {h:g} s: ")
        self._check_finite()
        self.time = t + h

    def _check_finite(self) -> None:
        """Raise ArithmeticError if a kernel has computed a value that is infinite or NaN."""
        wrong = np.flatnonzero(~np.isfinite(self.block[self.computed]))
        if len(wrong):
            slot = self.component.record.slots[self.computed[wrong[0]]]
            raise ArithmeticError(f"{slot.name} = {self.block[slot.index]:g} is not finite")

    def _places(self, references: list[int], kind: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return references as an array, and the bounds of their variables; importers repeat them each step."""
        key = (kind, *references)
        if (entry := self.places.get(key)) is None:
            places = np.array(references, np.intp)
            if not (self.kinds[places] == kind).all():
                raise KeyError(f"value references {references} are not all of the requested type")
            entry = self.places[key] = places, self.low[places], self.high[places]
        return entry

    def _get(self, references: list[int], kind: int) -> np.ndarray:
        self._update()
        values: np.ndarray = self.block[self._places(references, kind)[0]]
        return values

    @_guarded(lambda references: [0.0] * len(references))
    def get_real(self, references: list[int]) -> list[float]:
        """Return the values of Real variables."""
        return [float(value) for value in self._get(references, _REAL)]

    @_guarded(lambda references: [0] * len(references))
    def get_integer(self, references: list[int]) -> list[int]:
        """Return the values of Integer and Enumeration variables."""
        return [int(value) for value in self._get(references, _INTEGER)]

    @_guarded(lambda references: [False] * len(references))
    def get_boolean(self, references: list[int]) -> list[bool]:
        """Return the values of Boolean variables."""
        return [bool(value) for value in self._get(references, _BOOLEAN)]

    @_guarded(lambda references: [""] * len(references))
    def get_string(self, references: list[int]) -> list[str]:
        """Refuse: there are no String variables."""
        raise KeyError("there are no variables of type String")

    def _set(self, references: list[int], values: list[Any], kind: int) -> None:
        places, low, high = self._places(references, kind)
        numbers = np.array(values, np.float64)
        # no bound is beyond the largest number: infinities and NaN fail here too
        right = (numbers >= low) & (numbers <= high) & (self.settable[places] > self.stepping)
        if not right.all():
            wrong = int(np.argmin(right))
            slot = references[wrong]
            raise ValueError(
                f"{self.component.record.slots[slot].name} = {values[wrong]} is refused: it cannot be set now or "
                f"lies outside [{self.low[slot]:g}, {self.high[slot]:g}]"
            )
        self.block[places] = numbers
        self.initialize_needed = True

    @_guarded(lambda *_: None)
    def set_real(self, references: list[int], values: list[float]) -> None:
        """Set Real variables; refuse all values if one may not be set now or is out of range."""
        self._set(references, values, _REAL)

    @_guarded(lambda *_: None)
    def set_integer(self, references: list[int], values: list[int]) -> None:
        """Set Integer and Enumeration variables; refuse all values if one may not be set now or is out of range."""
        self._set(references, values, _INTEGER)

    @_guarded(lambda *_: None)
    def set_boolean(self, references: list[int], values: list[bool]) -> None:
        """Set Boolean variables; refuse all values if one may not be set now or is out of range."""
        self._set(references, [bool(value) for value in values], _BOOLEAN)

    @_guarded(lambda *_: None)
    def set_string(self, references: list[int], values: list[str]) -> None:
        """Refuse: there are no String variables."""
        raise KeyError("there are no variables of type String")

    def _get_fmu_state(self) -> dict[str, Any]:
        """Return the whole state: the saved slots of the record, private ones included, and the instance's phase."""
        return {
            "record": self.block[self.saved],
            "standing": (self.time, self.initializing, self.initialize_needed, self.stepping),
            "refusal": (self.refusal, self.outcome),
        }

    @_guarded(lambda *_: None)
    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        if len(state.get("record", ())) != len(self.saved):
            raise ValueError("these bytes are not a state of this FMU")
        self.block[self.saved] = state["record"]
        self.time, self.initializing, self.initialize_needed, self.stepping = state["standing"]
        self.refusal, self.outcome = state["refusal"]

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        head = json.dumps({"standing": state["standing"], "refusal": state["refusal"]}).encode()
        body: bytes = state["record"].astype("<f8").tobytes()
        return head + b"\n" + body

    @staticmethod
    def _fmu_state_from_bytes(data: bytes) -> dict[str, Any]:
        """Return the state that was serialised, or one that `_set_fmu_state` refuses if the bytes are damaged."""
        try:
            head, _, body = data.partition(b"\n")
            return {**json.loads(head), "record": np.frombuffer(body, "<f8")}
        except (ValueError, TypeError):
            return {}
