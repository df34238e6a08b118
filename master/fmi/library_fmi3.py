"""The library of an FMU of FMI 3.0 behind the functions of FMI 2.0 (master/fmi/native/fmi3.c)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.master.fmi import log
from dockfmu.master.fmi.library import FUNCTIONS, demand, opened, unload, with_signatures
from dockfmu.master.fmi.native import build
from dockfmu.master.fmi.variables import Array, Description

_ARRAY = np.dtype([(name, np.uint32) for name in ("reference", "type", "first", "size", "structural", "known")])

_TYPES = (
    "Float64", "Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean", "String",
)  # fmt: skip
"""Types in the order of fmi3.c."""

_NUMPY = {name: np.dtype(name.lower()) for name in _TYPES[:-2]} | {"Boolean": np.dtype(np.uint8)}

_ABSENT = (
    "fmi2GetTypesPlatform", "fmi2GetVersion", "fmi2Instantiate", "fmi2SetRealInputDerivatives", "fmi2CancelStep",
    "fmi2GetStatus", "fmi2GetIntegerStatus", "fmi2GetStringStatus",
)  # fmt: skip
"""Functions of FMI 2.0 without a counterpart in FMI 3.0."""

_SPOKEN = {
    "fmi2GetReal": "fmi3GetFloat64", "fmi2SetReal": "fmi3SetFloat64",
    "fmi2GetInteger": "fmi3GetInt...", "fmi2SetInteger": "fmi3SetInt...",
}  # fmt: skip

_Instantiate = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_bool,
    ctypes.c_bool,
    ctypes.c_bool,
    ctypes.c_bool,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


class LibraryFmi3:
    """The library of an FMU of FMI 3.0, without event mode and without early return."""

    def __init__(self, path: Path, owner: str, description: Description, resources: Path) -> None:
        """Load the library. Raises FmuError for a missing function."""
        self._adapter = build.library("fmi3")
        self._library = opened(path, owner)
        # functions that the description does not require may be missing
        names = self._names()
        optional = {name for name in names if name.startswith(("fmi3Get", "fmi3Set")) or "State" in name}
        optional |= {"fmi3EnterConfigurationMode", "fmi3ExitConfigurationMode"}
        used = {f"fmi3{verb}{_call_type(a.type)}" for a in description.arrays for verb in ("Get", "Set")}
        if any(array.structural for array in description.arrays):
            used |= {"fmi3EnterConfigurationMode", "fmi3ExitConfigurationMode"}
        if description.can_get_and_set_state:
            used |= {"fmi3GetFMUState", "fmi3SetFMUState", "fmi3FreeFMUState"}
        needed = [name for name in names if name not in optional or name in used]
        demand(self._library, ["fmi3GetVersion", "fmi3InstantiateCoSimulation", *needed], owner, "3.0")
        self._addresses = (ctypes.c_void_p * len(names))(*(self._address(name) for name in names))
        self.functions = with_signatures(self._adapter, [name for name in FUNCTIONS if name not in _ABSENT])
        self._description, self._resources = description, resources
        self._kept: dict[int, list[Any]] = {}

    def _names(self) -> list[str]:
        """Return the functions that the adapter needs, in its order."""
        table = (ctypes.c_char_p * 100).in_dll(self._adapter, "fmi3_function_names")
        names: list[str] = []
        for name in table:
            if name is None:
                return names
            names.append(name.decode())
        raise AssertionError("the table of names is not terminated")

    def _address(self, name: str) -> int | None:
        return (
            ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value if hasattr(self._library, name) else None
        )

    def instantiate(self, name: str, key: int, logging: bool) -> int | None:
        create = _Instantiate(self._address("fmi3InstantiateCoSimulation") or 0)
        folder = str(self._resources.absolute()) + os.sep
        instance = create(
            name.encode(),
            self._description.guid.encode(),
            os.fsencode(folder),
            False,
            logging,
            False,
            False,
            None,
            0,
            key,
            log.plain_logger(),
            None,
        )
        return self._wrap(instance, key) if instance else None

    def _wrap(self, instance: int, key: int) -> int | None:
        arrays = self._description.arrays
        table = np.array(
            [
                (a.reference, _TYPES.index(_call_type(a.type)), a.first, a.size, a.structural, bool(a.start))
                for a in arrays
            ],
            _ARRAY,
        )
        owner = np.repeat(np.arange(len(arrays), dtype=np.uint32), [a.size for a in arrays])
        strings: list[Any] = []
        cache = b"".join(_cell(array, k, strings) for array in arrays for k in range(array.size))
        self._kept[key] = [table, owner]
        wrap = self._adapter.fmi3_wrap
        wrap.restype = ctypes.c_void_p
        return wrap(
            ctypes.c_void_p(instance),
            self._addresses,
            ctypes.c_void_p(table.ctypes.data),
            len(arrays),
            ctypes.c_void_p(owner.ctypes.data),
            len(owner),
            cache,
            ctypes.c_void_p(log.plain_logger()),
            ctypes.c_size_t(key),
        )

    def spoken(self, word: str) -> str:
        return _SPOKEN.get(word, word.replace("fmi2", "fmi3").replace("FMUstate", "FMUState"))

    def close(self) -> None:
        unload(self._library)


def _call_type(kind: str) -> str:
    """Return the type whose functions get and set a variable of this type."""
    return "Int64" if kind == "Enumeration" else kind


def _cell(array: Array, element: int, strings: list[Any]) -> bytes:
    """Return the start value of an element as eight bytes of the cache of the adapter.

    Where the description has none, the adapter reads the values from the FMU before it sets single elements.
    """
    if not array.start:
        return bytes(8)
    value = array.start[element]
    if array.type == "String":
        strings.append(ctypes.create_string_buffer(value.encode()))
        return ctypes.addressof(strings[-1]).to_bytes(8, "little")
    return np.array(value, _NUMPY[_call_type(array.type)]).tobytes().ljust(8, b"\0")
