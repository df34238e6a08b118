"""The platforms that FMUs can be built for: a new one is a line of this table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A platform, as the FMI standard, LLVM and zig name it.

    `libraries` are the shared libraries that the FMU may need on that platform; everything else must be in it.
    """

    folder: str
    triple: str
    cpu: str
    zig: str
    extension: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]


TARGETS = {
    target.folder: target
    for target in (
        Target("linux64", "x86_64-unknown-linux-gnu", "x86-64-v2", "x86_64-linux-gnu.2.17", ".so",
               ("-lm", "-Wl,-z,defs"), ("libc.so.6", "libm.so.6")),
    )
}  # fmt: skip

HOST = TARGETS["linux64"]
"""The platform that FMUs are built on; its code also runs in the exporter."""
