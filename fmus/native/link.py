"""Objects to shared libraries with zig, one C compiler for every platform, and a check of what they need."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from base.cache import cache_root, is_whole, seal
from base.errors import FAILED, DockfmuError
from fmus.native.targets import Target

SHIM = Path(__file__).parent / "shim"
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-g0")


class LinkError(DockfmuError, RuntimeError):
    """The C compiler or the linker refused; the message is theirs."""

    exit_status = FAILED


@cache
def shim_digest() -> str:
    """Digest of the shim's sources, the compiler and its flags."""
    total = hashlib.sha256(f"zig {version('ziglang')} {_FLAGS}".encode())
    for file in sorted(SHIM.iterdir()):
        total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _zig(target: Target, *arguments: str, folder: Path) -> None:
    # zig believes what it finds in its caches: objects of ours are in none, only those of its C libraries
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache_root() / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / ".zig")}
    # relative names and a fixed folder: nothing of this machine reaches the output
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, *arguments],
        cwd=folder, env={**os.environ, **caches}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise LinkError(f"zig cc for {target.folder} failed:\n{done.stderr.strip()}")


def _compile(target: Target, sources: list[Path], folder: Path) -> None:
    """Objects of `sources` into `folder`. One by one: for Windows zig takes no more."""
    for source in sources:
        _zig(target, *_FLAGS, "-I", str(SHIM), "-c", str(source), "-o", f"{source.stem}.o", folder=folder)


def shim_objects(target: Target) -> list[Path]:
    """The compiled shim for `target`; it knows nothing of any component and is made once."""
    folder = cache_root() / "fmus" / f"shim-{target.folder}-{shim_digest()[:16]}"
    sources = sorted(SHIM.glob("*.c"))
    objects = [folder / f"{source.stem}.o" for source in sources]
    if not all(map(is_whole, objects)):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            _compile(target, sources, Path(work))
            for file in objects:  # at once: another process may do the same
                (Path(work) / file.name).replace(file)
                seal(file)
    return objects


def link(name: str, tables: str, kernels: bytes, target: Target) -> bytes:
    """The shared library `name` for `target` of one component. Raises LinkError, also for undefined symbols."""
    objects = shim_objects(target)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "tables.c").write_text(tables, encoding="utf-8")
        (folder / "kernels.o").write_bytes(kernels)
        _compile(target, [Path("tables.c")], folder)
        library = f"{name}{target.extension}"
        _zig(target, "-shared", "-s", "-o", library, "tables.o", "kernels.o", *map(str, objects), *target.flags,
             folder=folder)  # fmt: skip
        return (folder / library).read_bytes()


def link_program(source: Path, file: Path, target: Target) -> None:
    """Compile a program of one C source that includes the shim's headers into `file`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as made:
        folder = Path(made)
        libraries = ("-ldl",) if target.extension == ".so" else ()
        _zig(target, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(SHIM), str(source), "-o", file.name,
             *libraries, folder=folder)  # fmt: skip
        (folder / file.name).rename(file)
