"""The cache folder: files that can be regenerated, each with a digest that reveals damage."""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import WriteError, write_file
from dockfmu.base.locks import RETRY_S, Lock, LockedError

ROOT = Path(__file__).resolve().parents[1]

_DIGEST = hashlib.sha256().digest_size

COMPILERS = ("numba", "llvmlite", "numpy")
"""Packages on which the machine code of a Python function depends."""

PATIENCE = 600.0
"""Longest time to wait for another process that makes a file of the cache, s; then the file is made here too."""


class CacheError(DockfmuError):
    """The cache folder cannot be used."""


def cache_root() -> Path:
    """Return the cache folder: `$DOCKFMU_CACHE`, `build/cache` of a checkout, or the user's cache folder.

    Raises CacheError for a folder that other users may write: they could run code as this one.
    """
    folder = _cache_folder()
    _refuse_others(folder)
    return folder


def _cache_folder() -> Path:
    if chosen := os.environ.get("DOCKFMU_CACHE"):
        return Path(chosen).absolute()
    if (ROOT / "pyproject.toml").is_file():
        return ROOT / "build" / "cache"
    users = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # the standard of XDG ignores relative folders
    if users.is_absolute():
        return users / "dockfmu"
    try:
        return Path.home() / ".cache" / "dockfmu"
    except RuntimeError as error:
        raise CacheError("the cache has no place, because this user has no home folder: set DOCKFMU_CACHE") from error


def elsewhere(file: Path) -> str:
    """Return what to do about `file`, which cannot be written, if it lies in the cache; an empty string otherwise."""
    with suppress(CacheError):
        if file.absolute().is_relative_to(_cache_folder()):
            return ": this is the cache; make room there, or set DOCKFMU_CACHE to another folder"
    return ""


def _refuse_others(folder: Path) -> None:
    """Raise CacheError if a folder belongs to another user, or if others may write to it or put another in its place.

    A folder that does not exist yet is looked at again: somebody else may make it first.
    """
    if sys.platform != "win32" and folder.exists():
        _look_at(folder)


@functools.cache
def _look_at(folder: Path) -> None:
    about = folder.stat()
    # many systems give each user a group of the same name, which has no other members
    writable = stat.S_IWOTH | (stat.S_IWGRP if about.st_gid != os.getgid() or os.getgid() != os.getuid() else 0)
    if about.st_uid not in (os.getuid(), 0) or about.st_mode & writable:
        raise CacheError(
            f"{folder}: other users may write to this cache, and could run code as you: take their right away "
            f"(chmod go-w {folder}) after you have emptied it, or set DOCKFMU_CACHE to a folder of your own"
        )
    for parent in folder.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise CacheError(
                f"{folder}: other users may put another folder in its place, because they may write to {parent}: take "
                f"their right away (chmod o-w {parent}), or set DOCKFMU_CACHE to a folder elsewhere"
            )


def versions(packages: Iterable[str] = COMPILERS) -> str:
    """Return the versions of Python and of packages, for the key of what they make."""
    return "\n".join([sys.version, *(f"{package} {version(package)}" for package in packages)])


def digest_of_files(files: Iterable[Path]) -> str:
    """Return a digest of the contents of files, in their order, for the key of what is made of them."""
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def digest_of_sources(folder: Path) -> str:
    """Return a digest of the Python files of a folder."""
    return digest_of_files(sorted(folder.glob("*.py")))


def store_cached(file: Path, key: str, data: bytes) -> None:
    """Write `data` to `file` in the cache, with a digest of the data and of the `key` under which they are kept.

    Raises WriteError that says what to do.
    """
    try:
        write_file(file, _seal(key, data) + data, durable=False)
    except WriteError as error:
        raise WriteError(f"{error}{elsewhere(file)}") from error


def load_cached(file: Path, key: str) -> bytes | None:
    """Return what `store_cached` wrote to `file` under `key`; None if it is missing, damaged, or of another key."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    seal, data = content[:_DIGEST], content[_DIGEST:]
    return data if seal == _seal(key, data) else None


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Let one process at a time make a file of the cache: wait for another that does, and have others wait."""
    lock = Lock(file.with_name(f".{file.name}.lock"), str(file))
    # OSError: the cache cannot be written, which `store_cached` reports
    with suppress(LockedError, OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.take(round(PATIENCE / RETRY_S))
    try:
        yield
    finally:
        lock.release()


def load_or_make(file: Path, key: str, make: Callable[[], bytes]) -> bytes:
    """Return what the cache has in `file` under `key`; if it has nothing, store there what `make` returns.

    Of several processes that need it, one makes it.
    """
    data = load_cached(file, key)
    if data is None:
        with alone(file):
            data = load_cached(file, key)
            if data is None:
                data = make()
                store_cached(file, key, data)
    return data


def seal(file: Path) -> None:
    """Write a digest of `file` beside it, which marks the file as complete."""
    write_file(_seal_of(file), _digest_of(file), durable=False)


def is_whole(file: Path) -> bool:
    """Return whether `file` exists and is unchanged since it was sealed."""
    try:
        return _seal_of(file).read_bytes() == _digest_of(file)
    except OSError:
        return False


def _seal_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _digest_of(file: Path) -> bytes:
    # the digest covers the names of the file and its folder too: a file swapped for another is not whole
    name = f"{file.parent.name}/{file.name}"
    return hashlib.sha256(name.encode() + b"\0" + file.read_bytes()).hexdigest().encode()


def _seal(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + data).digest()
