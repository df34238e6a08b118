"""zig: one C compiler and linker for every platform, from PyPI."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from base.cache import cache_root
from base.errors import FAILED, DockfmuError
from fmus.toolchain.targets import Target

FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-g0")
"""Options for the C sources of a library."""


class LinkError(DockfmuError, RuntimeError):
    """The C compiler or the linker failed; the message is theirs."""

    exit_status = FAILED


def zig(target: Target, *arguments: str, folder: Path) -> None:
    """Run `zig cc` for `target` in `folder`. Raises LinkError with the messages of zig.

    Relative names in a fixed folder keep the paths of this machine out of what zig writes.
    """
    # zig believes what it finds in its caches: objects of ours are in none, only those of its C libraries
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache_root() / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / ".zig")}
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, *arguments],
        cwd=folder, env={**os.environ, **caches}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise LinkError(f"zig cc for {target.folder} failed:\n{done.stderr.strip()}")


def compile_objects(target: Target, sources: Sequence[Path], headers: Path, folder: Path) -> None:
    """Compile each C source to an object of the same stem in `folder`. Raises LinkError."""
    # one by one: for Windows zig takes no more
    for source in sources:
        zig(target, *FLAGS, "-I", str(headers), "-c", str(source), "-o", f"{source.stem}.o", folder=folder)


def link_program(source: Path, headers: Path, file: Path, target: Target) -> None:
    """Compile one C source, which includes from the folder `headers`, to the program `file`. Raises LinkError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as made:
        folder = Path(made)
        libraries = ("-ldl",) if target.extension == ".so" else ()
        zig(target, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(headers), str(source), "-o",
            file.name, *libraries, folder=folder)  # fmt: skip
        (folder / file.name).rename(file)
