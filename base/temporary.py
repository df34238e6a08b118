"""Temporary folders, of which a process that was killed leaves none for long: the next one removes them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType

from dockfmu.base.locks import Lock, is_abandoned

PREFIX = "dockfmu-"
_OWNER, _CONTENT = "owner", "content"


class TemporaryFolder:
    """A folder of this user alone, under a name that nobody can foresee.

    It is removed by `remove`, by the end of a `with` block (which yields its path), with this object, or when the
    process ends. A lock tells whether the process still runs: folders of processes that were killed are removed when a
    later process makes its first folder.
    """

    def __init__(self, purpose: str) -> None:
        """Make the folder; its name contains `purpose`. Raises OSError if it cannot be made."""
        place = tempfile.gettempdir()
        _remove_abandoned(place)
        outer = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-", dir=place))
        lock = Lock(outer / _OWNER, str(outer))
        self.path = outer / _CONTENT
        """The folder, empty at first."""
        self._remove = weakref.finalize(self, _remove, outer, lock)
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


def _remove(outer: Path, lock: Lock) -> None:
    shutil.rmtree(outer / _CONTENT, ignore_errors=True)
    lock.release()
    shutil.rmtree(outer, ignore_errors=True)


@cache
def _remove_abandoned(place: str) -> None:
    """Remove the folders in `place` which processes of this user have left there, once in a process."""
    with suppress(OSError):
        for entry in sorted(Path(place).glob(f"{PREFIX}*")):
            if _is_own_folder(entry) and is_abandoned(entry / _OWNER):
                shutil.rmtree(entry, ignore_errors=True)


def _is_own_folder(entry: Path) -> bool:
    """Return whether `entry` is a folder, and no link to one, which no other user can have filled."""
    try:
        found = entry.lstat()
    except OSError:
        return False
    own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return entry.is_dir() and not entry.is_symlink() and own
