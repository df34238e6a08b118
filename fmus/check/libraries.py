"""Checks of the shared libraries that need no loading."""

from __future__ import annotations

import ctypes
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

_EXTENSIONS = {"linux": ".so", "win": ".dll", "darwin": ".dylib"}
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
        system = platform.name.removeprefix("aarch64-").rstrip("3264")
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
        elif known := _SYSTEMS.get(platform.name.removeprefix("aarch64-")):
            findings += _check_library(place, (folder / place).read_bytes(), known, with_tool)
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
_SYSTEMS = {"linux64": _LINUX, "linux": _LINUX, "win64": _WINDOWS, "darwin64": _MACOS, "darwin": _MACOS}


def _check_library(place: str, data: bytes, system: _System, with_tool: bool) -> Iterator[Finding]:
    try:
        library = system.read(data)
    except LibraryError as fault:
        yield error(place, "", str(fault), "Export the FMU again")
        return
    for name in sorted(FUNCTIONS - library.defined):
        yield error(place, name, "the library does not export this function", "Every FMU has all functions of FMI 2.0")
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
