"""A secret key of this user on this machine, by which files written here are told from those of others."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from dockfmu.base.cache import cache_root

LENGTH = 32
"""Length of the key, bytes."""


def private_key() -> bytes | None:
    """Return the key, made at the first call; None where none can be kept, or where others may know it."""
    file = cache_root() / "key"
    with suppress(OSError):
        _create(file)
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        others = os.name == "posix" and (about.st_uid != os.getuid() or about.st_mode & 0o077)
        key = stream.read(LENGTH + 1)
    return key if len(key) == LENGTH and not others else None


def _create(file: Path) -> None:
    """Write a new key to a file that only this user may read, unless there is one. Raises OSError."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}-{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(LENGTH))
        # unlike a rename, a link does not replace the key that another process has made meanwhile
        os.link(unfinished, file)
    finally:
        unfinished.unlink()
