"""Platforms: their names in FMI, their libraries, and the baseline processor that machine code is compiled for."""

from __future__ import annotations

import platform
import struct
import sys
from dataclasses import dataclass

X86_64_BASELINE = "x86-64-v2"
"""LLVM's name for the processors of 2009 and later: SSE4.2, no AVX and no fused multiply-add."""

BASELINE = {"x86_64": X86_64_BASELINE, "AMD64": X86_64_BASELINE}.get(platform.machine(), "generic")
"""LLVM's name for the processor that machine code is compiled for on this machine, instead of the host processor."""


@dataclass(frozen=True)
class Machine:
    """Name what LLVM makes code for: a platform, and the oldest processor that runs the code."""

    triple: str
    cpu: str


def this_platform(fmi_version: str = "2.0") -> str:
    """Return the name of this process's platform in a version of FMI, such as `linux64` or `x86_64-linux`."""
    system = {"win32": "win", "darwin": "darwin"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    arm = machine in ("arm64", "aarch64")
    if fmi_version.startswith("3."):
        architecture = "aarch64" if arm else {"amd64": "x86_64"}.get(machine, machine)
        return f"{architecture}-{'windows' if system == 'win' else system}"
    return f"aarch64-{system}" if arm else f"{system}{8 * struct.calcsize('P')}"


def library_name(identifier: str) -> str:
    """Return the file name of the shared library of a model on this platform."""
    return identifier + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
