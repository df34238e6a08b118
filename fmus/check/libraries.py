"""Checks of the shared libraries that need no loading."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lxml import etree

from dockfmu.fmus.check.findings import Finding, error, warning
from dockfmu.fmus.toolchain.libraries import (
    ALLOWED,
    FUNCTIONS,
    LibraryError,
    LibraryInterface,
    read_elf,
    read_macho,
    read_pe,
)

_FMI3 = """
    GetVersion SetDebugLogging InstantiateModelExchange InstantiateCoSimulation InstantiateScheduledExecution
    FreeInstance EnterInitializationMode ExitInitializationMode EnterEventMode Terminate Reset GetFloat32 GetFloat64
    GetInt8 GetUInt8 GetInt16 GetUInt16 GetInt32 GetUInt32 GetInt64 GetUInt64 GetBoolean GetString GetBinary GetClock
    SetFloat32 SetFloat64 SetInt8 SetUInt8 SetInt16 SetUInt16 SetInt32 SetUInt32 SetInt64 SetUInt64 SetBoolean
    SetString SetBinary SetClock GetNumberOfVariableDependencies GetVariableDependencies GetFMUState SetFMUState
    FreeFMUState SerializedFMUStateSize SerializeFMUState DeserializeFMUState GetDirectionalDerivative
    GetAdjointDerivative EnterConfigurationMode ExitConfigurationMode GetIntervalDecimal GetIntervalFraction
    GetShiftDecimal GetShiftFraction SetIntervalDecimal SetIntervalFraction SetShiftDecimal SetShiftFraction
    EvaluateDiscreteStates UpdateDiscreteStates EnterStepMode GetOutputDerivatives DoStep
"""
FUNCTIONS_FMI3 = frozenset(f"fmi3{name}" for name in _FMI3.split())
"""All functions of FMI 3.0 for co-simulation: a library has those of other kinds too, which may do nothing."""

_EXTENSIONS = {"linux": ".so", "win": ".dll", "windows": ".dll", "darwin": ".dylib"}
_WINDOWS_LIBRARIES = (
    "kernel32.",
    "user32.",
    "advapi32.",
    "shell32.",
    "ws2_32.",
    "ntdll.",
    "msvcrt.",
    "ucrtbase.",
    "api-ms-win-",
)
_SYSTEM = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2")


def check_libraries(folder: Path, root: etree._Element) -> list[Finding]:
    """Return the findings about the libraries of the FMU unpacked in `folder`; `root` is its model description."""
    simulation = root.find("CoSimulation")
    assert simulation is not None
    identifier = simulation.get("modelIdentifier", "")
    with_tool = simulation.get("needsExecutionTool") == "true"
    platforms = sorted(path for path in folder.glob("binaries/*") if path.is_dir())
    if not platforms and not (folder / "sources").is_dir():
        return [error("binaries/", "", "there is no library for any platform", "Export the FMU again")]
    findings: list[Finding] = []
    for platform in platforms:
        system = re.sub(r"^(aarch64|x86|x86_64)-|(32|64)$", "", platform.name)
        name = identifier + _EXTENSIONS.get(system, ".so")
        place = f"binaries/{platform.name}/{name}"
        if not (folder / place).is_file():
            findings.append(
                error(
                    place,
                    "",
                    f"the library that modelIdentifier {identifier!r} names is missing",
                    "Rename the library or correct modelIdentifier",
                )
            )
        elif known := _SYSTEMS.get(system):
            data = (folder / place).read_bytes()
            findings += _check_library(place, data, known, with_tool, root.get("fmiVersion", "2.0"))
    return findings


@cache
def _offered(symbol: str) -> bool:
    """Return whether libc or libm of this machine has the symbol."""
    if symbol in ALLOWED:
        return True
    if not sys.platform.startswith("linux"):
        return False
    return any(hasattr(ctypes.CDLL(name), symbol) for name in ("libc.so.6", "libm.so.6"))


@dataclass(frozen=True)
class _System:
    """Format of the libraries of an operating system, and which libraries every machine has."""

    read: Callable[[bytes], LibraryInterface]
    has: Callable[[str], bool]


_LINUX = _System(read_elf, _SYSTEM.__contains__)
_WINDOWS = _System(read_pe, lambda name: name.lower().startswith(_WINDOWS_LIBRARIES))
_MACOS = _System(read_macho, lambda name: name.startswith(("/usr/lib/", "/System/Library/")))
_SYSTEMS = {"linux": _LINUX, "win": _WINDOWS, "windows": _WINDOWS, "darwin": _MACOS}


def _check_library(place: str, data: bytes, system: _System, with_tool: bool, version: str) -> Iterator[Finding]:
    try:
        library = system.read(data)
    except LibraryError as fault:
        yield error(place, "", str(fault), "Export the FMU again")
        return
    if version == "2.0":
        missing, advice = sorted(FUNCTIONS - library.defined), "Every FMU has all functions of FMI 2.0"
    else:
        # this master runs it without those that the description does not promise; other importers do not
        lacking = sorted(FUNCTIONS_FMI3 - library.defined)
        missing, advice = [", ".join(lacking)] * bool(lacking), "Every FMU has all functions of FMI 3.0"
    for name in missing:
        yield error(place, name, "the library does not export this function", advice)
    foreign = [name for name in library.needed if not system.has(name)]
    if foreign and not with_tool:
        yield warning(
            place, ", ".join(foreign), "the library needs libraries that not every machine has", "Link them statically"
        )
    if system is not _LINUX:
        return
    if library.text_relocations:
        yield warning(place, "", "the library is not position-independent", "Compile with -fPIC")
    unknown = sorted(symbol for symbol in library.undefined if not _offered(symbol))
    if unknown and not foreign and not with_tool:
        yield error(
            place,
            ", ".join(unknown),
            "neither libc nor libm has these symbols, and nothing else is needed",
            "Link with -Wl,-z,defs to find them",
        )
