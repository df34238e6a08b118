"""Temporary folders, of which a process that was killed leaves none for long: the next one removes them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import time
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

from dockfmu.base.locks import Lock, is_abandoned

PREFIX = "dockfmu-"
_OWNER, _CONTENT = "owner", "content"
_TRIES, _RETRY_S = 4, 0.05
"""Attempts to remove a folder, because a process that was killed may write for a moment yet, and the time between."""
SCARCE = 64 << 20
"""Bytes in which the FMUs of a system may have no place."""
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
REMNANT_S = 86400.0
"""Age at which a folder without an owner is removed, s."""


class TemporaryFolder:
    """A folder of this user alone, under a name that nobody can foresee.

    It is removed by `remove`, by the end of a `with` block (which yields its path), with this object, or when the
    process ends. A lock tells whether the process still runs: folders of processes that were killed are removed when a
    later process makes its first folder. Copies of this object in forked processes remove nothing.
    """

    def __init__(self, purpose: str) -> None:
        """Make the folder; its name contains `purpose`. Raises OSError if it cannot be made."""
        place = tempfile.gettempdir()
        _remove_abandoned(place)
        outer = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=place))
        lock = Lock(outer / _OWNER, str(outer))
        self.path = outer / _CONTENT
        """The folder, empty at first."""
        self._remove = weakref.finalize(self, _remove, outer, lock, os.getpid())
        try:
            lock.take()
            self.path.mkdir()
        except BaseException:
            self._remove()
            raise

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder and what is in it; a second call does nothing."""
        self._remove()


def folder_for_others(purpose: str) -> Path:
    """Return a new folder of this user alone for other processes, of which one shall call `remove_given`.

    If none does, a later process removes the folder after REMNANT_S. Raises OSError if it cannot be made.
    """
    path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-")) / _CONTENT
    path.mkdir(mode=0o700)
    return path


def remove_given(path: Path) -> None:
    """Remove a folder of `folder_for_others`."""
    shutil.rmtree(path.parent, ignore_errors=True)


def room_left(error: OSError) -> str:
    """Return what to do about an error that may come from a full folder for temporary files; empty if it does not."""
    if error.errno not in _FULL:
        return ""
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    if free > SCARCE:
        return ""
    return f": {place}, for temporary files, has {free >> 10} KiB left: make room, or name another folder as TMPDIR"


def _remove(outer: Path, lock: Lock, owner: int) -> None:
    """Remove a folder in the process that has made it; raise an interruption when the folder is gone."""
    if os.getpid() != owner:
        return
    interruption: KeyboardInterrupt | None = None
    for attempt in range(_TRIES):
        try:
            time.sleep(attempt * _RETRY_S)
            shutil.rmtree(outer / _CONTENT, ignore_errors=True)
            lock.release()
            shutil.rmtree(outer, ignore_errors=True)
            if not outer.exists():
                break
        except KeyboardInterrupt as error:
            interruption = error
    if interruption is not None:
        raise interruption


@cache
def _remove_abandoned(place: str) -> None:
    """Remove the folders in `place` which processes of this user have left there, once in a process."""
    with suppress(OSError):
        for entry in sorted(Path(place).glob(f"{PREFIX}*")):
            if _is_own_folder(entry) and (is_abandoned(entry / _OWNER) or _is_remnant(entry)):
                # the owner last: a folder that is half removed is abandoned still
                shutil.rmtree(entry / _CONTENT, ignore_errors=True)
                shutil.rmtree(entry, ignore_errors=True)


def _is_remnant(entry: Path) -> bool:
    """Return whether a folder is one whose making or removal was cut short, or one for others, of an earlier day.

    Such a folder has at most a content, and no owner who could be asked.
    """
    try:
        names = os.listdir(entry)  # noqa: PTH208  # a list of names
        return time.time() - entry.lstat().st_mtime > REMNANT_S and (
            not names or (names == [_CONTENT] and stat.S_ISDIR((entry / _CONTENT).lstat().st_mode))
        )
    except OSError:
        return False


def _is_own_folder(entry: Path) -> bool:
    """Return whether `entry` is a folder, and no link to one, which no other user can have filled."""
    try:
        found = entry.lstat()
    except OSError:
        return False
    own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return entry.is_dir() and not entry.is_symlink() and own
