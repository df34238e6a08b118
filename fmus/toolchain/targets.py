"""The platforms that FMUs can be built for; a new one is a line of this table."""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.base.platforms import X86_64_BASELINE, Machine, this_platform


@dataclass(frozen=True)
class Target:
    """A platform, as the FMI standard, LLVM and zig name it.

    `flags` are options of the linker. `libraries` are prefixes of the names of shared libraries that are on every
    machine of the platform; an FMU contains everything else that it needs: `support` is a folder beside this
    file with what these libraries lack, in C, `library.c` and `program.c`.
    """

    folder: str
    machine: Machine
    zig: str
    extension: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    support: str = ""


_LINUX = ("libc.so.6", "libm.so.6")
# all symbols are those of libc and libm: without its runtimes, zig has little to compile before it links
_NO_RUNTIME = ("-rtlib=none", "-fno-sanitize=undefined")
_LINUX_FLAGS = ("-lm", "-Wl,-z,defs", *_NO_RUNTIME)
_WINDOWS = ("KERNEL32.dll", "api-ms-win-crt-")
_WINDOWS_PARTS = ("heap", "math", "private", "runtime", "stdio", "string", "utility")
# of the C library only what Windows has itself: zig would compile 430 files of MinGW first
_WINDOWS_FLAGS = (
    "-nostdlib",
    *_NO_RUNTIME,
    *(f"-lapi-ms-win-crt-{part}-l1-1-0" for part in _WINDOWS_PARTS),
    "-lkernel32",
)

TARGETS = {
    target.folder: target
    for target in (
        Target(
            "linux64",
            Machine("x86_64-unknown-linux-gnu", X86_64_BASELINE),
            "x86_64-linux-gnu.2.17",
            ".so",
            _LINUX_FLAGS,
            _LINUX,
        ),
        Target(
            "aarch64-linux",
            Machine("aarch64-unknown-linux-gnu", "generic"),
            "aarch64-linux-gnu.2.17",
            ".so",
            _LINUX_FLAGS,
            _LINUX,
        ),
        Target(
            "win64",
            Machine("x86_64-pc-windows-gnu", X86_64_BASELINE),
            "x86_64-windows-gnu",
            ".dll",
            _WINDOWS_FLAGS,
            _WINDOWS,
            "windows",
        ),
        Target(
            "darwin64",
            Machine("x86_64-apple-macosx11.0", X86_64_BASELINE),
            "x86_64-macos.11.0",
            ".dylib",
            _NO_RUNTIME,
            ("/usr/lib/libSystem.B.dylib",),
        ),
        Target(
            "aarch64-darwin",
            Machine("arm64-apple-macosx11.0", "apple-m1"),
            "aarch64-macos.11.0",
            ".dylib",
            _NO_RUNTIME,
            ("/usr/lib/libSystem.B.dylib",),
        ),
    )
}

SOURCES = "sources"
"""Name for the C sources of the component in a list of platforms."""

HOST = TARGETS.get(this_platform(), TARGETS["linux64"])
"""The platform that the exporter runs on; it runs the code of the kernels itself."""
