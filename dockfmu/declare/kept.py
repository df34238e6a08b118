"""Systems of dockfmu that were made before: FMUs and .ssp, kept by the content of all that they are made of.

To know that an FMU has been built takes its component, and to place the crafts takes its kernels: modules and a
compiler that a run does not need. What is kept here is found by a digest of all source files of dockfmu, whatever they
are for.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
import zipfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from base.cache import ROOT, cache_root, keep
from base.cache import kept as kept_file

_PACKAGES = ("base", "components", "dockfmu", "fmus", "master", "ssp")
_TOOLS = ("fmpy", "llvmlite", "lxml", "numba", "numpy", "pythonfmu", "scipy", "ziglang")

_IMPORTED = time.time()
MARGIN_S = 10.0
"""Time within which the modules of dockfmu are imported."""


@cache
def _sources() -> tuple[Path, ...]:
    """Return all files of dockfmu."""
    found: list[str] = []
    for package in _PACKAGES:
        for folder, below, names in os.walk(ROOT / package):
            below[:] = [name for name in below if name != "__pycache__"]
            found += [f"{folder}{os.sep}{name}" for name in names]
    return tuple(map(Path, sorted(found)))


def key(name: str) -> str:
    """Return a digest of all that the system `name` of dockfmu is made of, with its own values."""
    total = hashlib.sha256(f"{name} {sys.version} {sys.platform}\0".encode())
    for tool in _TOOLS:
        total.update(f"{tool} {version(tool)}\0".encode())
    # settings of the compiler
    for variable in sorted(variable for variable in os.environ if variable.startswith("NUMBA_")):
        total.update(f"{variable}={os.environ[variable]}\0".encode())
    settings = Path(".numba_config.yaml")
    total.update(settings.read_bytes() if settings.is_file() else b"\0")
    root = len(os.fsencode(ROOT))
    for file in _sources():
        total.update(hashlib.sha256(file.read_bytes()).digest() + os.fsencode(file)[root:] + b"\0")
    return total.hexdigest()


def restore(name: str, key: str, folder: Path) -> bool:
    """Write what `store` has kept to `folder`; return whether there is anything."""
    data = kept_file(_place(name, key), key)
    if data is None:
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return True


def store(name: str, key: str, folder: Path) -> None:
    """Keep all files of `folder`, unless sources are so new that this process may have been started with others."""
    if max(file.stat().st_mtime for file in _sources()) > _IMPORTED - MARGIN_S:
        return
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    keep(_place(name, key), key, stream.getvalue())


def _place(name: str, key: str) -> Path:
    return cache_root() / "systems" / f"{name}-{key[:24]}"
