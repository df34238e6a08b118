"""Checkpoints of a run in a file, from which it can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dockfmu.master.checkpoint import Checkpoint, check_states
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

KEEP_S = 0.5


class Checkpoints(Observer):
    """Writes `file` every `every` seconds of wall-clock time and at the end of the run.

    After a failure, the file holds the last good state, at most KEEP_S seconds old. Raises CheckpointError before the
    run if an FMU cannot serialise its state.
    """

    def __init__(self, file: Path, *, every: float = 10.0) -> None:
        self.file, self.every = Path(file), every
        self.reset()

    def reset(self) -> None:
        self._kept: Checkpoint | None = None
        self._written: Checkpoint | None = None

    def triggers(self, system: Structure) -> tuple[()]:
        check_states(system)
        return ()

    def begin(self, run: RunContext) -> None:
        self._take: Callable[[], Checkpoint] = run.snapshot
        self._kept, self._kept_at = self._take(), time.monotonic()
        self._written_at = self._kept_at

    def progress(self, time_: float, wall: float) -> None:
        now = time.monotonic()
        if now - self._kept_at >= min(KEEP_S, self.every):
            self._kept, self._kept_at = self._take(), now
        if now - self._written_at >= self.every:
            self._write()
            self._written_at = now

    def last(self) -> None:
        self._kept = self._take()

    def end(self, result: Result) -> None:
        self._write()

    def _write(self) -> None:
        if self._kept is not None and self._kept is not self._written:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write(self.file)
            self._written = self._kept
