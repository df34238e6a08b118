"""Where systems and runs leave their products: folders that one run at a time writes, files that are whole."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

from base.errors import DockfmuError
from base.files import Lock, Reserve, write_file
from base.numbers import finite
from dockfmu.declare.declaration import CHANGED
from master.observers.recording.journal import beside

RESERVE_BYTES = 1 << 18
"""Room for the summary of a run that found the disk full."""

LOCK, RESERVE = "run.lock", "run.reserve"

ORIGIN = "declared-in.txt"
"""File in a folder of FMUs that names the declaration to which it belongs."""


class ResultsFolder:
    """The folder of one run, a context manager. Nobody else gets it until it is left, whatever happens to the process.

    Raises LockedError that names the process which has it, DockfmuError where it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock(path / LOCK, f"{path}")
        self._made: list[Path] = []
        self._reserve: Reserve | None = None

    def __enter__(self) -> ResultsFolder:
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._made = missing
            self._lock.take()
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release_reserve()
        self._lock.release()
        for folder in self._made:
            # that of a run which was refused is empty again
            with suppress(OSError):
                folder.rmdir()

    def clear(self, names: Iterable[str], kept: Path | None) -> None:
        """Remove what an earlier run left, but for the file that this one goes on from, and put room by for the end."""
        try:
            for file in (self.path / name for name in (*names, RESERVE)):
                if kept is None or file.resolve() != kept.resolve():
                    file.unlink(missing_ok=True)
            self._reserve = Reserve(self.path / RESERVE, RESERVE_BYTES)
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error

    def keep_recording(self, name: str, time: float) -> Path | None:
        """Rename the recording of the part before a checkpoint at `time`, s, with the journal of its last rows.

        Returns its new path, under which nothing was before; None where there is no recording.
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
            # the journal first: its rows are read only beside the recording of the same name
            if beside(recording).exists():
                beside(recording).rename(beside(new))
            return recording.rename(new)
        except OSError as error:
            raise DockfmuError(f"{self.path}: cannot be written ({error.strerror})") from error

    def release_reserve(self) -> None:
        """Give the room back, for the last words."""
        if self._reserve is not None:
            self._reserve.release()

    def write_json(self, name: str, content: Any) -> None:
        """Write a file of JSON. Raises WriteError that names it."""
        write_file(self.path / name, (json.dumps(finite(content), indent=1) + "\n").encode())


class PrivateFolder:
    """A temporary folder that is removed when nothing refers to this object any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="dockfmu-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class Products:
    """Files made of a declared system: `fmus` and an .ssp in a private folder.

    `origin` is the file of a system that does not come with dockfmu; `changed` says that the .ssp holds other settings
    than those of the declaration.
    """

    name: str
    origin: Path | None
    folder: Path
    changed: bool

    def name_in(self, build: Path) -> str:
        """Return the name of the system's folders in `build`: NAME, or NAME with a digest of the path of its file.

        The digest is there where a file elsewhere, which declares a system of the same name, was there first.
        """
        if self.origin is None:
            return self.name
        mark = build / "fmus" / self.name / ORIGIN
        whose = str(self.origin.resolve())
        free = not mark.is_file() or mark.read_text(encoding="utf-8") == whose
        return self.name if free else f"{self.name}-{hashlib.sha256(whose.encode()).hexdigest()[:8]}"

    def publish(self, build: Path, ssp: Path | None = None) -> None:
        """Copy the FMUs to `build`/fmus/NAME and the .ssp to `build`/ssp, or to `ssp`, each file whole.

        Raises WriteError that names a file which cannot be written.
        """
        name, made = self.name_in(build), self.folder / "fmus"
        if self.origin is not None:
            _put(build / "fmus" / name / ORIGIN, str(self.origin.resolve()).encode())
        for file in sorted(made.glob("**/*.fmu")):
            _put(build / "fmus" / name / file.relative_to(made), file.read_bytes())
        package = f"{name}{CHANGED if self.changed else ''}.ssp"
        _put((ssp or build / "ssp") / package, (self.folder / f"{self.name}.ssp").read_bytes())


def _put(file: Path, data: bytes) -> None:
    """Write `data` to `file` if it holds anything else. Raises WriteError."""
    if not (file.is_file() and file.read_bytes() == data):
        write_file(file, data)
