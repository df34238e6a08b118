"""Lock files, which one process at a time holds."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.given_files import read_json

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

TRIES = 10
"""Attempts to take a lock, because a process that calls `is_held` holds the lock for a moment."""
LONGEST = 1 << 14
"""Bytes of the longest content of a lock: whoever may write to its folder can have put anything in its place."""
RETRY_S = 0.02
"""Time between two attempts, s."""


class LockedError(DockfmuError):
    """Another process holds the lock."""


class Lock:
    """A lock file that one process at a time holds; the operating system releases it when the process ends."""

    def __init__(self, file: Path, what: str) -> None:
        """Set the file of the lock, and `what` it protects, for messages."""
        self.file, self.what = file, what
        self._descriptor: int | None = None

    def take(self, tries: int = TRIES) -> None:
        """Take the lock. Raises LockedError that names the process holding it, OSError if the file cannot be made."""
        while self._descriptor is None:
            # its name is known to all: a link at its place would let others choose which file is overwritten
            descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
            try:
                tries -= 1
                if _lock(descriptor) is False:
                    if tries > 0:
                        time.sleep(RETRY_S)
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
        with suppress(OSError):  # an FMU may have closed it
            os.close(descriptor)


def is_held(file: Path) -> bool:
    """Return whether a process holds the lock `file`."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        return _lock(descriptor) is False
    finally:
        os.close(descriptor)


def is_abandoned(file: Path) -> bool:
    """Return whether a process of this machine held the lock `file`, and has ended without releasing it.

    The lock decides, for the number of that process may be another's by now. On file systems without locks the number
    does.
    """
    try:
        about = read_json(file, LONGEST)
        same_machine, pid = about["host"] == socket.gethostname(), int(about["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    if not same_machine:
        return False
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        locked = _lock(descriptor)
    finally:
        os.close(descriptor)
    return not _is_running(pid) if locked is None else locked


def _lock(descriptor: int) -> bool | None:
    """Try to lock an open file; return whether it worked, None on file systems without locks."""
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
        return None
    return True


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return False  # its file systems have locks, and os.kill would interrupt the process
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _is_at(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False


def _holder(file: Path) -> str:
    """Return a description of the process that holds a lock."""
    try:
        about: dict[str, Any] = read_json(file, LONGEST)
        where = "" if about["host"] == socket.gethostname() else f" on {about['host']}"
        return f"process {about['pid']}{where}, since {about['since']} ({about['command']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
