"""The library of an FMU: its functions, under the names and with the arguments of FMI 2.0."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any, Protocol

from dockfmu.base.fmi import ACCESS_TYPES
from dockfmu.master.errors import FmuError
from dockfmu.master.fmi import log
from dockfmu.master.fmi.unloading import is_left_running, other_threads

_C, _D, _I, _N, _P, _S = (
    ctypes.c_void_p,
    ctypes.c_double,
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_char_p,
)

# types of the arguments, fmi2Component first; all but the first four functions return fmi2Status
FUNCTIONS: dict[str, tuple[Any, ...]] = {
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
    **{f"fmi2Get{kind}": (_C, _P, _N, _P) for kind in ACCESS_TYPES},
    **{f"fmi2Set{kind}": (_C, _P, _N, _P) for kind in ACCESS_TYPES},
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


class FmuLibrary(Protocol):
    """The functions of a library. Components are addresses; `key` is the number of a log, see `log.register`."""

    functions: dict[str, Any]

    def instantiate(self, name: str, key: int, logging: bool) -> int | None:
        """Return a new component, None if the FMU refuses."""
        ...

    def spoken(self, word: str) -> str:
        """Return the name of a function or status of FMI 2.0 in the version of the FMU."""
        ...

    def close(self) -> None:
        """Unload the library."""
        ...


_threads_before: dict[int, frozenset[int]] = {}
"""Threads from before a library was loaded, by its handle."""


def opened(path: Path, owner: str) -> ctypes.CDLL:
    """Load the library of an FMU. Raises FmuError."""
    before = other_threads()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise FmuError(owner, f"its library cannot be loaded: {error}") from error
    _threads_before.setdefault(library._handle, before)
    return library


def unload(library: ctypes.CDLL) -> None:
    """Unload a library, unless it has left code running in this process, which would crash without it."""
    if is_left_running(library._name, _threads_before.pop(library._handle, frozenset())):
        return
    if sys.platform == "win32":
        ctypes.windll.kernel32.FreeLibrary(ctypes.c_void_p(library._handle))
    else:
        ctypes.CDLL(None).dlclose(ctypes.c_void_p(library._handle))


def demand(library: ctypes.CDLL, names: list[str], owner: str, version: str) -> None:
    """Raise FmuError if functions are missing."""
    missing = [name for name in names if not hasattr(library, name)]
    if missing:
        raise FmuError(owner, f"its library lacks {', '.join(missing)}, which FMI {version} requires")


def with_signatures(library: ctypes.CDLL, names: list[str]) -> dict[str, Any]:
    """Return functions with the types of their arguments, to be called from Python."""
    functions: dict[str, Any] = {}
    for name in names:
        functions[name] = function = getattr(library, name)
        function.argtypes, function.restype = FUNCTIONS[name], _RETURNS.get(name, ctypes.c_int)
    return functions


class _Callbacks(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("logger", "allocate_memory", "free_memory", "step_finished", "component_environment")
    )


class LibraryFmi2:
    """The library of an FMU of FMI 2.0."""

    def __init__(self, path: Path, owner: str, guid: str, resources: Path) -> None:
        """Load the library. Raises FmuError for a missing function or another version of FMI."""
        self._library = opened(path, owner)
        demand(self._library, list(FUNCTIONS), owner, "2.0")
        self.functions = with_signatures(self._library, list(FUNCTIONS))
        self._guid, self._resources = guid, resources
        self._callbacks: dict[int, _Callbacks] = {}
        version, types = self.functions["fmi2GetVersion"](), self.functions["fmi2GetTypesPlatform"]()
        if version != b"2.0" or types != b"default":
            said = ", types ".join(repr((word or b"").decode("utf-8", "replace")) for word in (version, types))
            raise FmuError(owner, f"its description says FMI 2.0, its library version {said}")

    def instantiate(self, name: str, key: int, logging: bool) -> int | None:
        memory = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        calloc, free = (ctypes.cast(getattr(memory, f), ctypes.c_void_p).value for f in ("calloc", "free"))
        # the FMU keeps the pointer to this structure
        callbacks = self._callbacks.setdefault(key, _Callbacks(log.logger(), calloc, free, None, key))
        return self.functions["fmi2Instantiate"](
            name.encode(),
            1,
            self._guid.encode(),
            self._resources.as_uri().encode(),
            ctypes.addressof(callbacks),
            0,
            int(logging),
        )

    def spoken(self, word: str) -> str:
        return word

    def close(self) -> None:
        unload(self._library)
