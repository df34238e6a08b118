"""Cache of systems of dockfmu, FMUs and .ssp, by the content of everything from which they are built.

To know whether an FMU is up to date requires its component, and to place the craft requires its kernels: modules and a
compiler that a run does not need. This cache is keyed instead by a digest of all source files of dockfmu, whether or
not they affect the system.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
import zipfile
from functools import cache
from pathlib import Path

from dockfmu.base.cache import COMPILERS, ROOT, cache_root, load_cached, store_cached, versions

_PACKAGES = ("base", "components", "dockfmu", "fmus", "master", "ssp")
_TOOLS = (*COMPILERS, "fmpy", "lxml", "pythonfmu", "scipy", "ziglang")

_IMPORTED = time.time()
MARGIN_S = 10.0
"""Allowance for the time that the import of dockfmu's modules takes."""


@cache
def _sources() -> tuple[Path, ...]:
    """Return all files of dockfmu."""
    files: list[str] = []
    # a wheel has all packages inside dockfmu, which is ROOT then
    places = [ROOT / package for package in _PACKAGES] if (ROOT / "dockfmu").is_dir() else [ROOT]
    for place in places:
        for folder, subfolders, names in os.walk(place):
            subfolders[:] = [name for name in subfolders if name != "__pycache__"]
            files += [f"{folder}{os.sep}{name}" for name in names]
    return tuple(map(Path, sorted(files)))


def key(name: str) -> str:
    """Return a digest of everything from which the system `name` of dockfmu, with its own values, is built."""
    digest = hashlib.sha256(f"{name} {sys.platform} {versions(_TOOLS)}\0".encode())
    # settings of the compiler
    for variable in sorted(variable for variable in os.environ if variable.startswith("NUMBA_")):
        digest.update(os.fsencode(f"{variable}={os.environ[variable]}\0"))
    settings = Path(".numba_config.yaml")
    digest.update(settings.read_bytes() if settings.is_file() else b"\0")
    root = len(os.fsencode(ROOT))
    for file in _sources():
        digest.update(hashlib.sha256(file.read_bytes()).digest() + os.fsencode(file)[root:] + b"\0")
    return digest.hexdigest()


def restore(name: str, key: str, folder: Path) -> bool:
    """Write the files kept by `store` to `folder`; return whether there are any."""
    data = load_cached(_place(name, key), key)
    if data is None:
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return True


def store(name: str, key: str, folder: Path) -> None:
    """Keep all files of `folder`, unless a source is so new that this process may have imported its old version."""
    if max(file.stat().st_mtime for file in _sources()) > _IMPORTED - MARGIN_S:
        return
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    store_cached(_place(name, key), key, stream.getvalue())


def _place(name: str, key: str) -> Path:
    return cache_root() / "systems" / f"{name}-{key[:24]}"
