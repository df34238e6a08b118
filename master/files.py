"""Files that are whole or not there, a folder that one process at a time writes into, and room for the last words."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from base.errors import FAILED
from master.errors import MasterError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class WriteError(MasterError):
    """A file cannot be written."""

    exit_status = FAILED


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A file to write in the place of `file`, whose name it gets in the end: that is the old one or the new, and whole.

    Raises WriteError that names `file`.
    """
    unfinished = file.with_name(f".{os.getpid()}.{file.name}")
    try:
        yield unfinished
        unfinished.replace(file)
    except OSError as error:
        raise WriteError(f"{file}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(file: Path, data: bytes) -> Path:
    """Write a file that is whole at every moment, and on the disk, and its folder. Raises WriteError that names it."""
    with whole(file) as unfinished:
        file.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    return file


class Reserve:
    """Bytes of a disk that are kept until there is nothing else left, for what must be written then."""

    def __init__(self, file: Path, size: int) -> None:
        """Raises OSError where the disk does not have them."""
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
        """Give them back. It does no harm to do so twice."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


TRIES = 10
"""Attempts to get a lock: who looks whether it is held has it for a moment."""


class LockedError(MasterError):
    """Another process writes where this one was to."""


class Lock:
    """A file that one process at a time holds. The operating system lets go of it when the process ends, however."""

    def __init__(self, file: Path, what: str) -> None:
        """`what` is protected by it, in words."""
        self.file, self.what = file, what
        self._descriptor: int | None = None

    def take(self) -> None:
        """Raises LockedError that names the process which has it, or OSError where there can be no file."""
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
                # who had it may have removed the file just before: then the lock is on nothing
                if _is_at(descriptor, self.file):
                    about = {
                        "pid": os.getpid(), "host": socket.gethostname(), "command": " ".join(sys.argv)[:500],
                        "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
                    }  # fmt: skip
                    os.ftruncate(descriptor, 0)
                    with suppress(OSError):  # a full disk: it is held all the same
                        os.write(descriptor, json.dumps(about).encode())
                    self._descriptor, descriptor = descriptor, -1
            finally:
                if descriptor >= 0:
                    os.close(descriptor)

    def release(self) -> None:
        """Let others have it. It does no harm to do so twice."""
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
    """Return whether a process holds the lock of that file."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Return whether it is ours now. File systems that know no locks give it to everybody."""
    try:
        if sys.platform == "win32":
            # a byte far behind the content, which others are to read
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
    """The process that holds a lock, in words."""
    try:
        about: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        where = "" if about["host"] == socket.gethostname() else f" on {about['host']}"
        return f"process {about['pid']}{where}, since {about['since']} ({about['command']})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
