"""FMI 2.0 co-simulation FMUs in this process: unpack, load, instantiate, call.

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
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from master import archive, log
from master.description import Description, Variable, library_name, read_description, this_platform
from master.errors import FmuError
from master.log import STATUS

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3

_C, _D, _I, _N, _P, _S = (
    ctypes.c_void_p,
    ctypes.c_double,
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_char_p,
)

# fmi2Component and arguments; all return fmi2Status but the first four
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "fmi2GetTypesPlatform": (),
    "fmi2GetVersion": (),
    "fmi2Instantiate": (_S, _I, _S, _S, _P, _I, _I),
    "fmi2FreeInstance": (_C,),
    "fmi2SetDebugLogging": (_C, _I, _N, _P),
    "fmi2SetupExperiment": (_C, _I, _D, _D, _I, _D),
    "fmi2EnterInitializationMode": (_C,),
    "fmi2ExitInitializationMode": (_C,),
    "fmi2Terminate": (_C,),
    "fmi2Reset": (_C,),
    **{f"fmi2Get{kind}": (_C, _P, _N, _P) for kind in ("Real", "Integer", "Boolean", "String")},
    **{f"fmi2Set{kind}": (_C, _P, _N, _P) for kind in ("Real", "Integer", "Boolean", "String")},
    "fmi2GetFMUstate": (_C, _P),
    "fmi2SetFMUstate": (_C, _P),
    "fmi2FreeFMUstate": (_C, _P),
    "fmi2SerializedFMUstateSize": (_C, _P, _P),
    "fmi2SerializeFMUstate": (_C, _P, _P, _N),
    "fmi2DeSerializeFMUstate": (_C, _P, _N, _P),
    "fmi2GetDirectionalDerivative": (_C, _P, _N, _P, _N, _P, _P),
    "fmi2SetRealInputDerivatives": (_C, _P, _N, _P, _P),
    "fmi2GetRealOutputDerivatives": (_C, _P, _N, _P, _P),
    "fmi2DoStep": (_C, _D, _D, _I),
    "fmi2CancelStep": (_C,),
    "fmi2GetStatus": (_C, _I, _P),
    "fmi2GetRealStatus": (_C, _I, _P),
    "fmi2GetIntegerStatus": (_C, _I, _P),
    "fmi2GetBooleanStatus": (_C, _I, _P),
    "fmi2GetStringStatus": (_C, _I, _P),
}  # fmt: skip

_RETURNS = {
    "fmi2GetTypesPlatform": ctypes.c_char_p,
    "fmi2GetVersion": ctypes.c_char_p,
    "fmi2Instantiate": ctypes.c_void_p,
    "fmi2FreeInstance": None,
}

_COMPLAINTS = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")

_DTYPE = {"Real": np.float64, "Integer": np.int32, "Boolean": np.int32}


_python_modules: dict[str, tuple[str, str]] = {}
"""of FMUs of pythonfmu: module -> (digest of the file, its name)"""


class _Callbacks(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("logger", "allocate_memory", "free_memory", "step_finished", "component_environment")
    )


class Fmu:
    """An unpacked FMU and its library. Close it, or use it as a context manager: it owns a temporary folder."""

    def __init__(self, file: Path) -> None:
        """Raises ArchiveError, DescriptionError, or FmuError for a library that is missing or not what it should be."""
        self.file = Path(file)
        self.instances: list[Instance] = []
        self._folder = Path(tempfile.mkdtemp(prefix="fmu-"))
        self._library: ctypes.CDLL | None = None
        try:
            archive.extract(self.file, self._folder)
            self.description = read_description(self._folder)
            self._check_python_module()
            self.functions = self._load()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Fmu:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_python_module(self) -> None:
        """Two scripts of one name in a process: pythonfmu would run the first for both, without a word."""
        marker = self._folder / "resources" / "slavemodule.txt"
        if not marker.is_file():
            return
        module = marker.read_text(encoding="utf-8").strip()
        content = archive.digest(self.file)
        first, name = _python_modules.setdefault(module, (content, self.file.name))
        if first != content:
            raise FmuError(
                self.file.name,
                f"its Python module {module!r} has the name of that of {name}, which this process has loaded, and "
                "pythonfmu would run that one instead; rename the script and export it again",
            )

    def _load(self) -> dict[str, Any]:
        platform, identifier = this_platform(), self.description.identifier
        path = self._folder / "binaries" / platform / library_name(identifier)
        if not path.is_file():
            found = sorted(p.relative_to(self._folder).as_posix() for p in self._folder.glob("binaries/*/*"))
            raise FmuError(
                self.file.name,
                f"has no {path.relative_to(self._folder).as_posix()} for modelIdentifier {identifier!r}; "
                + (f"it holds {', '.join(found)}" if found else "it holds no binaries at all"),
            )
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise FmuError(self.file.name, f"its library cannot be loaded: {error}") from error
        missing = [name for name in _FUNCTIONS if not hasattr(self._library, name)]
        if missing:
            raise FmuError(self.file.name, f"its library lacks {', '.join(missing)}, which FMI 2.0 demands")
        functions: dict[str, Any] = {}
        for name, arguments in _FUNCTIONS.items():
            functions[name] = function = getattr(self._library, name)
            function.argtypes, function.restype = arguments, _RETURNS.get(name, ctypes.c_int)
        version, types = functions["fmi2GetVersion"](), functions["fmi2GetTypesPlatform"]()
        if version != b"2.0" or types != b"default":
            raise FmuError(
                self.file.name,
                f"its description says FMI 2.0, its library version {_text(version)!r}, types {_text(types)!r}",
            )
        return functions

    def address(self, function: str) -> int:
        """Where a function lies in this process."""
        value = ctypes.cast(self.functions[function], ctypes.c_void_p).value
        assert value is not None
        return value

    def instantiate(self, name: str, *, logging: bool = False) -> Instance:
        """A new instance. Raises FmuError, with what the FMU says, where it refuses."""
        if self.description.only_one_per_process and self.instances:
            raise FmuError(name, f"{self.file.name} can be instantiated only once per process, and is already in use")
        instance = Instance(self, name, logging)
        self.instances.append(instance)
        return instance

    @property
    def resources(self) -> str:
        """URI of the unpacked resources."""
        return (self._folder / "resources").as_uri()

    def close(self) -> None:
        """Free the instances, unload the library, remove the folder. An FMU that ended fatally stays loaded."""
        dead = any(instance.dead for instance in self.instances)
        for instance in reversed(self.instances):
            instance.free()
        self.instances.clear()
        if self._library is not None and not dead:
            handle, self._library = self._library._handle, None
            if sys.platform == "win32":
                ctypes.windll.kernel32.FreeLibrary(ctypes.c_void_p(handle))
            else:
                ctypes.CDLL(None).dlclose(ctypes.c_void_p(handle))
        shutil.rmtree(self._folder, ignore_errors=True)


class Instance:
    """One instance of an FMU, by its name in a system.

    Values are addressed by name; every failing call raises FmuError with what the FMU said last.
    """

    def __init__(self, fmu: Fmu, name: str, logging: bool) -> None:
        self.fmu = fmu
        self.name = name
        # pythonfmu tells of an exception only to who wants to hear everything
        logging = logging or fmu.description.needs_execution_tool
        self.dead = False
        self.log = log.Log(self._translate)
        self._key = log.register(self.log)
        self._arrays: dict[tuple[str, ...], list[tuple[str, np.ndarray, list[int]]]] = {}
        memory = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        address = {f: ctypes.cast(getattr(memory, f), ctypes.c_void_p).value for f in ("calloc", "free")}
        # the FMU keeps the pointer to this structure
        self._callbacks = _Callbacks(log.logger(), address["calloc"], address["free"], None, self._key)
        self.component: int | None = fmu.functions["fmi2Instantiate"](
            name.encode(), 1, self.description.guid.encode(), fmu.resources.encode(),
            ctypes.addressof(self._callbacks), 0, int(logging),
        )  # fmt: skip
        self._running = False
        if not self.component:
            raise FmuError(
                name,
                f"{fmu.file.name} refuses to be instantiated (fmi2Instantiate gives no component); "
                f"its library may not belong to its description, GUID {self.description.guid}",
                function="fmi2Instantiate",
                message=self.log.last,
            )
        if not logging:
            self._ask_for_complaints()

    def _ask_for_complaints(self) -> None:
        """Switch on the messages about failures, which some FMUs keep to themselves otherwise."""
        wanted = [name.encode() for name in self.description.log_categories if name in _COMPLAINTS]
        if wanted:
            self.call("fmi2SetDebugLogging", 1, len(wanted), (ctypes.c_char_p * len(wanted))(*wanted))

    @property
    def description(self) -> Description:
        return self.fmu.description

    def variable(self, name: str) -> Variable:
        try:
            return self.description.variables[name]
        except KeyError:
            raise FmuError(self.name, f"has no variable {name!r}") from None

    def failure(self, function: str, status: int, time: float | None = None, detail: str = "") -> FmuError:
        """The error that tells of a call that returned `status`."""
        word = STATUS[status] if 0 <= status < len(STATUS) else f"the unknown status {status}"
        text = f"{function} gave {word}" + detail
        self.dead = self.dead or status == FATAL
        # after an error only fmi2FreeInstance and fmi2Reset may be called
        self._running = self._running and status < ERROR
        return FmuError(self.name, text, function=function, status=word, time=time, message=self.log.last)

    def call(self, function: str, *arguments: Any, time: float | None = None, detail: str = "") -> None:
        """Call an FMI function that returns a status; raises FmuError unless it is OK or a warning."""
        if self.dead:
            raise FmuError(self.name, f"{function} cannot be called after fmi2Fatal")
        status = self.fmu.functions[function](self.component, *arguments)
        if status not in (OK, WARNING):
            raise self.failure(function, status, time, detail)

    def enter_initialization(
        self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None
    ) -> None:
        self.call(
            "fmi2SetupExperiment",
            int(tolerance is not None), tolerance or 0.0, start, int(stop is not None), stop or 0.0,
        )  # fmt: skip
        self.call("fmi2EnterInitializationMode")

    def exit_initialization(self) -> None:
        self.call("fmi2ExitInitializationMode")
        self._running = True

    def initialize(self, start: float = 0.0, stop: float | None = None) -> None:
        """Initialise an instance that is not coupled to others."""
        self.enter_initialization(start, stop)
        self.exit_initialization()

    def step(self, t: float, h: float) -> None:
        """Advance from `t` by `h`; raises FmuError, also where the FMU asks for a shorter step."""
        self.call("fmi2DoStep", t, h, 1, time=t)

    def last_successful_time(self) -> float | None:
        """How far the last step came that ended in fmi2Discard, where the FMU tells."""
        value = ctypes.c_double()
        function = self.fmu.functions["fmi2GetRealStatus"]
        status = function(self.component, LAST_SUCCESSFUL_TIME, ctypes.byref(value))
        return value.value if status == OK else None

    def wants_to_terminate(self) -> bool:
        """Whether the FMU says, after fmi2Discard, that it asks to end the simulation."""
        value = ctypes.c_int()
        status = self.fmu.functions["fmi2GetBooleanStatus"](self.component, TERMINATED, ctypes.byref(value))
        return status == OK and bool(value.value)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set variables by name."""
        names = tuple(values)
        for kind, references, places in self._group(names):
            chosen = [values[names[place]] for place in places]
            if kind == "String":
                block: Any = (ctypes.c_char_p * len(chosen))(*(str(value).encode() for value in chosen))
            else:
                block = np.array(chosen, _DTYPE[kind])
            self._access(f"fmi2Set{kind}", references, block, [names[place] for place in places], chosen)

    def get(self, names: Sequence[str]) -> list[Any]:
        """Values of variables by name, in the order asked for."""
        names = tuple(names)
        found: list[Any] = [None] * len(names)
        for kind, references, places in self._group(names):
            count = len(places)
            block: Any = (ctypes.c_char_p * count)() if kind == "String" else np.zeros(count, _DTYPE[kind])
            self._access(f"fmi2Get{kind}", references, block, [names[place] for place in places])
            given = [_text(value) for value in block] if kind == "String" else block.tolist()
            for place, value in zip(places, given, strict=True):
                found[place] = bool(value) if kind == "Boolean" else value
        return found

    def _access(
        self, function: str, references: np.ndarray, block: Any, names: list[str], values: list[Any] | None = None
    ) -> None:
        """Call fmi2Get... or fmi2Set...; a failure tells the names, and the values that were to be set."""
        try:
            self.call(function, _pointer(references), len(references), _pointer(block))
        except FmuError as error:
            shown = names if values is None else [f"{name} = {v!r}" for name, v in zip(names, values, strict=True)]
            listed = ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")
            raise FmuError(
                self.name, f"{function} gave {error.status} for {listed}",
                function=function, status=error.status, message=error.message,
            ) from None  # fmt: skip

    def _group(self, names: tuple[str, ...]) -> list[tuple[str, np.ndarray, list[int]]]:
        """(type, value references, places in `names`) for each FMI function that `names` need."""
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
        """Save the state of the instance; hand it to `set_state`, and to `free_state` when done."""
        state = ctypes.c_void_p()
        self.call("fmi2GetFMUstate", ctypes.byref(state))
        if not state.value:
            raise FmuError(self.name, "fmi2GetFMUstate gave no state", function="fmi2GetFMUstate")
        return state.value

    def set_state(self, state: int) -> None:
        self.call("fmi2SetFMUstate", state)

    def free_state(self, state: int) -> None:
        self.call("fmi2FreeFMUstate", ctypes.byref(ctypes.c_void_p(state)))

    def serialize(self, state: int) -> bytes:
        """The bytes of a saved state."""
        size = ctypes.c_size_t()
        self.call("fmi2SerializedFMUstateSize", state, ctypes.byref(size))
        block = ctypes.create_string_buffer(size.value)
        self.call("fmi2SerializeFMUstate", state, block, size.value)
        return block.raw

    def deserialize(self, data: bytes) -> int:
        """A state from its bytes."""
        state = ctypes.c_void_p()
        self.call("fmi2DeSerializeFMUstate", data, len(data), ctypes.byref(state))
        if not state.value:
            raise FmuError(self.name, "fmi2DeSerializeFMUstate gave no state", function="fmi2DeSerializeFMUstate")
        return state.value

    def terminate(self) -> None:
        """End the simulation of this instance, if it runs."""
        if self._running and not self.dead:
            self._running = False
            self.call("fmi2Terminate")

    def free(self) -> None:
        """Free the instance; nothing else may be called afterwards."""
        if self.component and not self.dead:
            if self._running:
                self.fmu.functions["fmi2Terminate"](self.component)
            self.fmu.functions["fmi2FreeInstance"](self.component)
        self.component, self._running = None, False
        log.forget(self._key)

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


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode("utf-8", "replace")
