"""Co-simulation FMUs of FMI 2.0 and 3.0 in this process: unpack, load, instantiate, call.

>>> with Fmu(Path("Oscillator.fmu")) as fmu:        # doctest: +SKIP
...     mass = fmu.instantiate("mass")
...     mass.set({"parameters.mass": 2.0})
...     mass.initialize(start=0.0)
...     mass.step(0.0, 1e-3)
...     mass.get(["position", "velocity"])
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from dockfmu.base.fmi import ERROR, FATAL, LAST_SUCCESSFUL_TIME, OK, STATUS_NAMES, TERMINATED, WARNING
from dockfmu.base.messages import shown
from dockfmu.base.platforms import library_name, this_platform
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.fmi import archive, callbacks, log, python_modules
from dockfmu.master.fmi.description import Description, Variable, read_description
from dockfmu.master.fmi.libraries import UNPACKED
from dockfmu.master.fmi.library import FmuLibrary, LibraryFmi2
from dockfmu.master.fmi.library_fmi3 import LibraryFmi3

_FAILURE_CATEGORIES = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")

DTYPE = {"Real": np.float64, "Integer": np.int32, "Boolean": np.int32}


class Fmu:
    """An unpacked FMU and its library. Close it, or use it as a context manager: it owns a temporary folder."""

    def __init__(self, file: Path, structure: Mapping[str, int] | None = None) -> None:
        """Unpack and load an FMU; `structure` are values of structural parameters (FMI 3.0).

        Raises ArchiveError, DescriptionError, or FmuError for a library that is missing or unsuitable.
        """
        self.file = Path(file)
        self.instances: list[FmuInstance] = []
        self.dead = False
        """Whether one of its instances gave fmi2Fatal: then no function of the library may be called any more."""
        self._unpacked = TemporaryFolder(UNPACKED)
        self.structure = dict(structure or {})
        self._library: FmuLibrary | None = None
        try:
            archive.extract(self.file, self._unpacked.path)
            self.description = read_description(self._unpacked.path, structure)
            clash = python_modules.clash(self.file)
            if clash:
                raise FmuError(self.file.name, f"{clash}; it must run in a separate process")
            python_modules.register(self.file)
            self._library = self._load()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Fmu:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _load(self) -> FmuLibrary:
        description, resources = self.description, self._unpacked.path / "resources"
        platform = this_platform(description.fmi_version)
        path = self._unpacked.path / "binaries" / platform / library_name(description.identifier)
        if not path.is_file():
            found = sorted(
                p.relative_to(self._unpacked.path).as_posix() for p in self._unpacked.path.glob("binaries/*/*")
            )
            raise FmuError(
                self.file.name,
                f"has no {path.relative_to(self.folder).as_posix()} for modelIdentifier {description.identifier!r}; "
                + (f"it holds {', '.join(found)}" if found else "it holds no binaries at all")
                + self._other_version(path.name, found),
            )
        if description.fmi_version == "2.0":
            return LibraryFmi2(path, self.file.name, description.guid, resources)
        return LibraryFmi3(path, self.file.name, description, resources)

    def _other_version(self, name: str, found: Sequence[str]) -> str:
        """Return a hint on a library for this platform under its name in the other version of FMI."""
        other = "3.0" if self.description.fmi_version == "2.0" else "2.0"
        if f"binaries/{this_platform(other)}/{name}" not in found:
            return ""
        return (
            f"; {this_platform(other)} is the name of this platform in FMI {other}, but the description is of FMI "
            f"{self.description.fmi_version}"
        )

    @property
    def folder(self) -> Path:
        """The folder in which the FMU is unpacked."""
        return self._unpacked.path

    @property
    def library(self) -> FmuLibrary:
        """Return the loaded library."""
        assert self._library is not None, "the FMU is closed"
        return self._library

    @property
    def functions(self) -> dict[str, Any]:
        """Functions of the library, under the names of FMI 2.0."""
        return self.library.functions

    def instantiate(self, name: str, *, listener: Callable[[str, str], None] | None = None) -> FmuInstance:
        """Create an instance; `listener` is that of its `Log`. Raises FmuError with the FMU's message."""
        if self.description.only_one_per_process and self.instances:
            raise FmuError(name, f"{self.file.name} can be instantiated only once per process, and is already in use")
        instance = FmuInstance(self, name, listener)
        self.instances.append(instance)
        return instance

    def close(self) -> None:
        """Free the instances, unload the library, remove the folder. An FMU that ended fatally stays loaded."""
        for instance in reversed(self.instances):
            instance.free()
        self.instances.clear()
        if self._library is not None and not self.dead:
            self._library.close()
            self._library = None
        self._unpacked.remove()


class FmuInstance:
    """One instance of an FMU, under its name in a system.

    Values are addressed by name; every failing call raises FmuError with the last message of the FMU.
    """

    def __init__(self, fmu: Fmu, name: str, listener: Callable[[str, str], None] | None = None) -> None:
        self.fmu = fmu
        self.name = name
        # pythonfmu logs exceptions only if every category is logged
        self._logging = fmu.description.needs_execution_tool
        self.log = log.Log(self._translate, listener)
        self._key = log.register(self.log)
        self._arrays: dict[tuple[str, ...], list[tuple[str, np.ndarray, list[int]]]] = {}
        self._entries: dict[str, Any] = {}
        self.component: int | None = None
        self._running = False
        try:
            self._instantiate()
        except BaseException:
            self.free()
            raise

    def _instantiate(self) -> None:
        self.component = self.fmu.library.instantiate(self.name, self._key, self._logging)
        if not self.component:
            raise self._refusal()
        if not self._logging:
            self._log_failures()
        if self.fmu.structure:
            self.set(self.fmu.structure)

    def _refusal(self) -> FmuError:
        return FmuError(
            self.name,
            f"{self.fmu.file.name} refuses to be instantiated ({self.fmu.library.spoken('fmi2Instantiate')} gives no "
            f"component); its library may not belong to its description, GUID {self.description.guid}"
            + (", or the tool that it needs is missing" if self.description.needs_execution_tool else ""),
            function="fmi2Instantiate",
            file=self.file.name,
            message=self.log.last,
        )

    def _log_failures(self) -> None:
        """Enable the messages about failures, which some FMUs otherwise suppress."""
        categories = [name.encode() for name in self.description.log_categories if name in _FAILURE_CATEGORIES]
        if categories:
            self.call("fmi2SetDebugLogging", 1, len(categories), (ctypes.c_char_p * len(categories))(*categories))

    @property
    def description(self) -> Description:
        """Return the model description."""
        return self.fmu.description

    @property
    def file(self) -> Path:
        """The file of the FMU."""
        return self.fmu.file

    @property
    def remote(self) -> bool:
        """Return whether it runs in a separate process."""
        return False

    @property
    def renewable(self) -> bool:
        """Return whether `renew` is allowed."""
        return not self.description.only_one_per_process

    @property
    def dead(self) -> bool:
        """Return whether nothing may be called any more."""
        return self.fmu.dead

    def variable(self, name: str) -> Variable:
        """Return a variable by name. Raises FmuError."""
        try:
            return self.description.variables[name]
        except KeyError:
            raise FmuError(self.name, f"has no variable {shown(name)}") from None

    def failure(self, function: str, status: int, time: float | None = None, detail: str = "") -> FmuError:
        """Return the error of a call that returned `status`."""
        function = self.fmu.library.spoken(function)
        known = 0 <= status < len(STATUS_NAMES)
        word = self.fmu.library.spoken(STATUS_NAMES[status]) if known else f"the unknown status {status}"
        self.fmu.dead = self.fmu.dead or status == FATAL
        # after an error only fmi2FreeInstance and fmi2Reset may be called
        self._running = self._running and status < ERROR
        text = f"{function} gave {word}" + detail
        return FmuError(
            self.name,
            text,
            function=function,
            status=word,
            time=time,
            file=self.file.name,
            message=self.log.last,
            category=self.log.last_message.category,
        )

    def entry(self, function: str) -> int:
        """Return the address at which the compiled loop calls a function, with `component` as its first argument.

        The loop passes strings as numbers, see `dockfmu.master.fmi.strings`.
        """
        if function not in self._entries:
            functions = self.fmu.library.functions
            self._entries[function] = callbacks.callback(self, function, functions) or functions[function]
        address = ctypes.cast(self._entries[function], ctypes.c_void_p).value
        assert address is not None
        return address

    def function_at(self, address: int) -> str:
        """Return the name of the function whose `entry` is `address`."""
        return next(name for name in self._entries if self.entry(name) == address)

    def call(self, function: str, *arguments: Any) -> None:
        """Call an FMI function that returns a status. Raises FmuError unless the status is OK or a warning."""
        self._check_alive(function)
        self._check(function, self.fmu.library.functions[function](self.component, *arguments))

    def _check_alive(self, function: str) -> None:
        if self.dead:
            raise FmuError(self.name, f"{function} cannot be called after fmi2Fatal")

    def _check(self, function: str, status: int, time: float | None = None) -> None:
        if status not in (OK, WARNING):
            raise self.failure(function, status, time)

    def enter_initialization(
        self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None
    ) -> None:
        """Set up the experiment and enter initialisation mode; times in s."""
        self.call(
            "fmi2SetupExperiment",
            int(tolerance is not None),
            tolerance or 0.0,
            start,
            int(stop is not None),
            stop or 0.0,
        )
        self.call("fmi2EnterInitializationMode")

    def exit_initialization(self) -> None:
        """Leave initialisation mode."""
        self.call("fmi2ExitInitializationMode")
        self._running = True

    def initialize(self, start: float = 0.0, stop: float | None = None) -> None:
        """Initialise an instance that is not coupled to others."""
        self.enter_initialization(start, stop)
        self.exit_initialization()

    def step(self, t: float, h: float) -> None:
        """Advance from `t` by `h`. Raises FmuError, also if the FMU requests a shorter step."""
        self._check_alive("fmi2DoStep")
        self.entry("fmi2DoStep")
        self._check("fmi2DoStep", self._entries["fmi2DoStep"](self.component, t, h, 1), t)

    def last_successful_time(self) -> float | None:
        """Return the time that a discarded step reached, None if the FMU does not report it."""
        value = ctypes.c_double()
        function = self.fmu.library.functions["fmi2GetRealStatus"]
        status = function(self.component, LAST_SUCCESSFUL_TIME, ctypes.byref(value))
        return value.value if status == OK else None

    def asks_to_end(self, error: MasterError) -> bool:
        """Return whether the FMU has discarded the step that raised `error` because it asks to end the simulation."""
        if not isinstance(error, FmuError) or error.function != self.fmu.library.spoken("fmi2DoStep"):
            return False
        value = ctypes.c_int()
        status = self.fmu.library.functions["fmi2GetBooleanStatus"](self.component, TERMINATED, ctypes.byref(value))
        return status == OK and value.value != 0

    def set(self, values: Mapping[str, Any]) -> None:
        """Set variables by name."""
        names = tuple(values)
        for kind, references, places in self._group(names):
            chosen = [values[names[place]] for place in places]
            if kind == "String":
                block: Any = _c_strings(chosen)
            else:
                block = np.array(chosen, DTYPE[kind])
            self._access(f"fmi2Set{kind}", references, block, [names[place] for place in places], chosen)

    def get(self, names: Sequence[str]) -> list[Any]:
        """Return values of variables by name, in the order of `names`."""
        names = tuple(names)
        found: list[Any] = [None] * len(names)
        for kind, references, places in self._group(names):
            count = len(places)
            block: Any = (ctypes.c_char_p * count)() if kind == "String" else np.zeros(count, DTYPE[kind])
            self._access(f"fmi2Get{kind}", references, block, [names[place] for place in places])
            given = [_decoded(value) for value in block] if kind == "String" else block.tolist()
            for place, value in zip(places, given, strict=True):
                found[place] = bool(value) if kind == "Boolean" else value
        return found

    def _access(
        self, function: str, references: np.ndarray, block: Any, names: list[str], values: list[Any] | None = None
    ) -> None:
        """Call fmi2Get... or fmi2Set...; the FmuError of a failure names the variables, and the values to be set."""
        self._check_alive(function)
        try:
            self.call(function, _pointer(references), len(references), _pointer(block))
        except FmuError as error:
            shown = names if values is None else [f"{name} = {v!r}" for name, v in zip(names, values, strict=True)]
            listed = ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
            raise FmuError(
                self.name,
                f"{error.function} gave {error.status} for {listed}",
                function=error.function,
                status=error.status,
                file=error.file,
                message=error.message,
                category=error.category,
            ) from None

    def read_strings(self, references: Sequence[int]) -> tuple[int, list[str]]:
        """Read strings by their value references; return (status, strings)."""
        block = (ctypes.c_char_p * len(references))()
        numbers = np.array(references, np.uint32)
        function = self.fmu.library.functions["fmi2GetString"]
        return function(self.component, _pointer(numbers), len(numbers), block), [_decoded(value) for value in block]

    def write_strings(self, references: Sequence[int], values: Sequence[str]) -> int:
        """Set strings by their value references; return the status."""
        numbers = np.array(references, np.uint32)
        function = self.fmu.library.functions["fmi2SetString"]
        return function(self.component, _pointer(numbers), len(numbers), _c_strings(values))

    def _group(self, names: tuple[str, ...]) -> list[tuple[str, np.ndarray, list[int]]]:
        """Return (type, value references, indices in `names`) for each FMI function that `names` need."""
        if names not in self._arrays:
            places: dict[str, list[int]] = {}
            for place, name in enumerate(names):
                places.setdefault(self.variable(name).storage, []).append(place)
            self._arrays[names] = [
                (kind, np.array([self.variable(names[p]).reference for p in chosen], np.uint32), chosen)
                for kind, chosen in places.items()
            ]
        return self._arrays[names]

    def get_state(self) -> int:
        """Save the state of the instance, for `set_state`; pass it to `free_state` when done."""
        state = ctypes.c_void_p()
        self.call("fmi2GetFMUstate", ctypes.byref(state))
        if not state.value:
            raise FmuError(self.name, "fmi2GetFMUstate gave no state", function="fmi2GetFMUstate")
        return state.value

    def set_state(self, state: int) -> None:
        """Restore a saved state."""
        self.call("fmi2SetFMUstate", state)

    def free_state(self, state: int) -> None:
        """Free a state, unless nothing of the FMU may be called any more."""
        if not self.dead:
            self.call("fmi2FreeFMUstate", ctypes.byref(ctypes.c_void_p(state)))

    def serialize(self, state: int) -> bytes:
        """Return the bytes of a saved state."""
        size = ctypes.c_size_t()
        self.call("fmi2SerializedFMUstateSize", state, ctypes.byref(size))
        block = ctypes.create_string_buffer(size.value)
        self.call("fmi2SerializeFMUstate", state, block, size.value)
        return block.raw

    def deserialize(self, data: bytes) -> int:
        """Create a state from its bytes."""
        state = ctypes.c_void_p()
        self.call("fmi2DeSerializeFMUstate", data, len(data), ctypes.byref(state))
        if not state.value:
            raise FmuError(self.name, "fmi2DeSerializeFMUstate gave no state", function="fmi2DeSerializeFMUstate")
        return state.value

    def renew(self) -> None:
        """Return to the state after instantiation, with a new `component` of the loaded library.

        This is the purpose of fmi2Reset, but fmi2Reset does nothing in some FMUs, whereas every importer frees and
        instantiates. Raises FmuError if the FMU refuses.
        """
        self._free_component()
        self.log.clear()
        self._instantiate()

    def terminate(self) -> None:
        """End the simulation of this instance, if it runs."""
        if self._running and not self.dead:
            self._running = False
            self.call("fmi2Terminate")

    def free(self) -> None:
        """Free the instance; nothing else may be called afterwards."""
        self._free_component()
        log.forget(self._key)

    def _free_component(self) -> None:
        with suppress(FmuError):
            self.terminate()
        if self.component and not self.dead:
            self.fmu.library.functions["fmi2FreeInstance"](self.component)
        self.component, self._running = None, False

    def _translate(self, text: str) -> str:
        """Replace the placeholders `#r12#` of FMI by names of variables."""
        if "#" not in text:
            return text
        kinds = {"r": "Real", "i": "Integer", "b": "Boolean", "s": "String"}

        def name(match: re.Match[str]) -> str:
            kind, reference = kinds[match[1]], int(match[2])
            found = (
                v.name for v in self.description.variables.values() if (v.storage, v.reference) == (kind, reference)
            )
            return next(found, match[0])

        return re.sub(r"#([ribs])(\d+)#", name, text).replace("##", "#")


def _pointer(block: Any) -> Any:
    return block.ctypes.data if isinstance(block, np.ndarray) else block


def _c_strings(values: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * len(values))(*(str(value).encode() for value in values))


def _decoded(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")
