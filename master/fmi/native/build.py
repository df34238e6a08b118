"""Compile the C sources of this folder to libraries for this machine, at first use, and keep them in the cache."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from dockfmu.base.cache import cache_root, is_whole, seal
from dockfmu.base.processes import python_command
from dockfmu.master.errors import MasterError

HERE = Path(__file__).parent
# on Linux zig would first compile runtimes that nothing here needs
_RUNTIMES = ("-rtlib=none",) if sys.platform == "linux" else ()
# the cache may be shared by machines
_FLAGS = (
    "-mcpu=baseline", "-std=c11", "-O2", "-fPIC", "-shared", "-s", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
    *_RUNTIMES,
)  # fmt: skip


@cache
def library(name: str) -> ctypes.CDLL:
    """Load the library of `<name>.c`, compiled if needed. Raises MasterError with the messages of the compiler."""
    source = (HERE / f"{name}.c").read_bytes()
    key = hashlib.sha256(
        f"zig {version('ziglang')} {_FLAGS} {sys.platform} {platform.machine()}".encode() + source
    ).hexdigest()[:16]
    file = cache_root() / "master" / f"{name}-{key}{'.dll' if sys.platform == 'win32' else '.so'}"
    if not is_whole(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            compiled = Path(folder) / file.name
            _compile(HERE / f"{name}.c", compiled)
            compiled.replace(file)  # atomic: another process may do the same
        seal(file)
    return ctypes.CDLL(str(file))


def _compile(source: Path, target: Path) -> None:
    # zig trusts whatever is in its caches
    cache = str(target.with_name(".zig"))
    done = subprocess.run(
        python_command("-m", "ziglang", "cc", *_FLAGS, "-o", str(target), str(source)),
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MasterError(f"{source.name} cannot be compiled:\n{done.stderr.strip()}")
