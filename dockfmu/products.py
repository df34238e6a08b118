"""Products of systems and runs: one run at a time writes a folder, and files are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import Reserve, write_file
from dockfmu.base.locks import Lock
from dockfmu.base.numbers import finite
from dockfmu.declare.declaration import CHANGED
from dockfmu.master.observers.recording.journal import beside

RESERVE_BYTES = 1 << 18
"""Disk space reserved for the summary of a run that finds the disk full."""

LOCK, RESERVE = "run.lock", "run.reserve"

ORIGIN = "declared-in.txt"
"""File in a folder of FMUs that names the declaration to which the folder belongs."""


class ResultsFolder:
    """The results folder of one run: a context manager that holds its lock.

    The lock is released on exit, and by the operating system if the process ends before. Entering raises LockedError,
    which names the process that holds the lock, or DockfmuError if the folder cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock(path / LOCK, f"{path}")
        self._created: list[Path] = []
        self._reserve: Reserve | None = None

    def __enter__(self) -> ResultsFolder:
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._created = missing
            self._lock.take()
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release_reserve()
        self._lock.release()
        for folder in self._created:
            # a folder created for a run that was refused is still empty
            with suppress(OSError):
                folder.rmdir()

    def clear(self, names: Iterable[str], kept: Path | None) -> None:
        """Remove the files of an earlier run, except `kept`, from which this one continues; reserve disk space."""
        try:
            for file in (self.path / name for name in (*names, RESERVE)):
                if kept is None or file.resolve() != kept.resolve():
                    file.unlink(missing_ok=True)
            self._reserve = Reserve(self.path / RESERVE, RESERVE_BYTES)
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error

    def keep_recording(self, name: str, time: float) -> Path | None:
        """Rename the recording up to a checkpoint at `time`, s, together with the journal of its last rows.

        Returns the new path, which was not in use before, or None if there is no recording.
        """
        recording = self.path / name
        if not recording.is_file():
            return None
        new = recording.with_stem(f"{recording.stem}-until-{time:g}s")
        for k in count(2):
            if not new.exists():
                break
            new = recording.with_stem(f"{recording.stem}-until-{time:g}s-{k}")
        try:
            # the journal first: its rows are read only beside a recording of the same name
            if beside(recording).exists():
                beside(recording).rename(beside(new))
            return recording.rename(new)
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error

    def release_reserve(self) -> None:
        """Release the reserved disk space, for the summary."""
        if self._reserve is not None:
            self._reserve.release()

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file. Raises WriteError, which names the file."""
        write_file(self.path / name, (json.dumps(finite(content), indent=1) + "\n").encode())


@dataclass(frozen=True)
class Products:
    """Files built for a declared system: `fmus` and an .ssp, in a private folder.

    `origin` is the file of a user's system, None for a system of dockfmu; `changed` says whether the .ssp holds
    settings that differ from the declaration.
    """

    name: str
    origin: Path | None
    folder: Path
    changed: bool

    def name_in(self, build: Path) -> str:
        """Return the name of the system's folders in `build`: NAME, or NAME with a digest of the path of its file.

        The digest is added if the folder already belongs to another file that declares a system of the same name.
        """
        if self.origin is None:
            return self.name
        origin_file = build / "fmus" / self.name / ORIGIN
        declared_in = os.fsencode(self.origin.resolve())
        free = not origin_file.is_file() or origin_file.read_bytes() == declared_in
        return self.name if free else f"{self.name}-{hashlib.sha256(declared_in).hexdigest()[:8]}"

    def publish(self, build: Path, ssp: Path | None = None) -> None:
        """Copy the FMUs to `build`/fmus/NAME and the .ssp to `build`/ssp, or to `ssp`; each file is written whole.

        Raises WriteError, which names a file that cannot be written.
        """
        name, built = self.name_in(build), self.folder / "fmus"
        if self.origin is not None:
            _put(build / "fmus" / name / ORIGIN, os.fsencode(self.origin.resolve()))
        for file in sorted(built.glob("**/*.fmu")):
            _put(build / "fmus" / name / file.relative_to(built), file.read_bytes())
        package = f"{name}{CHANGED if self.changed else ''}.ssp"
        _put((ssp or build / "ssp") / package, (self.folder / f"{self.name}.ssp").read_bytes())


def _put(file: Path, data: bytes) -> None:
    """Write `data` to `file` unless it already holds them. Raises WriteError."""
    if not (file.is_file() and file.read_bytes() == data):
        write_file(file, data)
