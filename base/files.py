"""Atomic writing of files, locks between processes, and disk space kept in reserve."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from base.errors import FAILED, DockfmuError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class WriteError(DockfmuError, OSError):
    """A file cannot be written."""

    exit_status = FAILED


@contextmanager
def atomic_file(file: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces `file` at the end of the block.

    Other processes see the old file or the new one, never a part of it; after an exception the old one stays. Raises
    WriteError that names `file`, at once if it is a folder.
    """
    try:
        # the name is empty for the current folder and for the root
        if not file.name or file.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file")
        unfinished = file.with_name(f".{os.getpid()}-{threading.get_native_id()}.{file.name}")
        try:
            yield unfinished
            unfinished.replace(file)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{file}: cannot be written ({error.strerror or error})") from error


def write_file(file: Path, data: bytes, *, durable: bool = True) -> Path:
    """Write `data` to `file` atomically, create its folder if there is none, and return `file`.

    With `durable`, wait until the data are on disk, which the cache does not need. Raises WriteError that names `file`.
    """
    with atomic_file(file) as unfinished:
        file.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
    return file


class Reserve:
    """A file that holds disk space in reserve, for what must still be written when the disk is full."""

    def __init__(self, file: Path, size: int) -> None:
        """Allocate `size` bytes. Raises OSError if the disk has less space."""
        self.file = file
        with file.open("wb") as out:
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(out.fileno(), 0, size)
                else:
                    out.write(bytes(size))
            except OSError:
                out.close()
                file.unlink(missing_ok=True)
                raise

    def release(self) -> None:
        """Give the space back; a second call does nothing."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


TRIES = 10
"""Attempts to take a lock, because a process that calls `is_held` holds the lock for a moment."""


class LockedError(DockfmuError):
    """Another process holds the lock."""


class Lock:
    """A lock file that one process at a time holds; the operating system releases it when the process ends."""

    def __init__(self, file: Path, what: str) -> None:
        """Set the file of the lock, and `what` it protects, for messages."""
        self.file, self.what = file, what
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock. Raises LockedError that names the process holding it, OSError if the file cannot be made."""
        tries = TRIES
        while self._descriptor is None:
            descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                tries -= 1
                if not _lock(descriptor):
                    if tries > 0:
                        time.sleep(0.02)
                        continue
                    raise LockedError(f"{self.what} is being written by {_holder(self.file)}; wait for it or end it")
                # the previous holder may have just removed the file: then this lock protects nothing
                if _is_at(descriptor, self.file):
                    about = {
                        "pid": os.getpid(), "host": socket.gethostname(), "command": " ".join(sys.argv)[:500],
                        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
                    }  # fmt: skip
                    os.ftruncate(descriptor, 0)
                    with suppress(OSError):  # a full disk: the lock is held nevertheless
                        os.write(descriptor, json.dumps(about).encode())
                    self._descriptor, descriptor = descriptor, -1
            finally:
                if descriptor >= 0:
                    os.close(descriptor)

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        if sys.platform == "win32":
            os.close(descriptor)  # a file that is open cannot be removed there
            self.file.unlink(missing_ok=True)
            return
        with suppress(OSError):
            if _is_at(descriptor, self.file):
                self.file.unlink()
        os.close(descriptor)


def is_held(file: Path) -> bool:
    """Return whether a process holds the lock `file`."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Try to lock an open file; return whether it worked, which it always does on file systems without locks."""
    try:
        if sys.platform == "win32":
            # a byte far beyond the content, which other processes must be able to read
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _is_at(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False


def _holder(file: Path) -> str:
    """Return a description of the process that holds a lock."""
    try:
        about: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        where = "" if about["host"] == socket.gethostname() else f" on {about['host']}"
        return f"process {about['pid']}{where}, since {about['since']} ({about['command']})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
