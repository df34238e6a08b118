"""Recording to an HDF5 file that can be read at any time, even after this process was killed.

`recording_file` has the layout of the file, and `row_writer` the way of a row to the disk. Here is the observer, which
chooses the rows and computes the extremes between them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dockfmu.base.fmi import NUMERIC_TYPES
from dockfmu.base.locks import Lock
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.observers.recording import journal
from dockfmu.master.observers.recording.envelope import Envelope
from dockfmu.master.observers.recording.recording_file import RecordingFile
from dockfmu.master.observers.recording.results import fit_for_group, lock_beside
from dockfmu.master.observers.recording.row_writer import RowWriter
from dockfmu.master.observers.recording.selection import Dense, Selection
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure


class Recorder(Observer):
    """Writes `variables` (full names) at the start and after every `every` macro steps.

    By default these are all outputs except strings; the variables of `more` come after them, without extremes. With
    `extremes`, Real variables are read in all steps, and their extremes between two rows are written too: see
    `Results.envelope`. With `dense`, all rows around its events are kept, and `every` applies elsewhere. Rows reach the
    disk at most FLUSH_S seconds later, whatever happens to the process. `compression` is the level of gzip, from 1
    (fast) to 9, or None. A value that is not finite is recorded as it is, and reported in result.warnings.
    """

    def __init__(
        self,
        file: Path,
        variables: Sequence[str] | None = None,
        *,
        more: Sequence[str] = (),
        every: int = 1,
        dense: Dense | None = None,
        extremes: bool = True,
        compression: int | None = 1,
        attributes: Mapping[str, str | float | int] | None = None,
    ) -> None:
        self.file = Path(file)
        self.variables = None if variables is None else tuple(variables)
        self.more = tuple(more)
        self.every = every
        self.dense = dense
        self.extremes = extremes
        self.compression = compression
        self.attributes = dict(attributes or {})
        self._lock = Lock(lock_beside(self.file), str(self.file))
        self._selection = None if dense is None else Selection(dense, every)
        self._envelope: Envelope | None = None
        self._sampled: tuple[np.ndarray, np.ndarray] | None = None
        """Rows for which the preceding steps are still to come."""
        self._out: tuple[RecordingFile, journal.Journal, RowWriter] | None = None
        """Where rows go, from the beginning of the run on."""
        self._failed = False
        """Whether rows could not be written."""
        self._not_finite: dict[str, float] = {}

    def sampling(self, system: Structure) -> Sampling:
        if self.variables is None:
            self.variables = tuple(system.select(types=NUMERIC_TYPES))
        self._names = (*self.variables, *(name for name in self.more if name not in self.variables))
        self._resolved = [system.resolve(name) for name in self._names]
        bad = [f"an element called {name!r}" for name in system.elements if not fit_for_group(name)]
        if bad:
            raise MasterError(f"cannot be recorded: {', '.join(bad)}")
        chosen = self._resolved[: len(self.variables)]
        self._real = [k for k, (_, variable) in enumerate(chosen) if variable.type == "Real"]
        self._envelope = Envelope(len(self._real)) if self.extremes else None
        return Sampling(self._names, 1 if self.dense else self.every)

    @property
    def companions(self) -> Sequence[Observer]:
        return [_AllSteps(self)] if self.extremes and self.dense is None and self.every > 1 else ()

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        return [event.trigger(system) for event in self.dense.events] if self.dense else ()

    def event(self, trigger: int, time_: float, old: float, new: float) -> None:
        assert self.dense is not None
        assert self._selection is not None
        if self.dense.events[trigger].happened(old, new):
            self._selection.event(time_)

    def open(self) -> None:
        """Lock the file for this process. Raises LockedError that names the process that writes it."""
        with self._writing():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._lock.take()

    def reset(self) -> None:
        raise MasterError("Recorder observes one run only: create another simulation")

    def begin(self, run: RunContext) -> None:
        with self._writing():
            journal.beside(self.file).unlink(missing_ok=True)
            recording = uuid.uuid4().hex
            attributes: dict[str, str | float] = {
                "recording": recording,
                "system": run.system.name,
                "algorithm": run.algorithm,
                "step": run.step,
                "record_every": self.every,
                **self.attributes,
            }
            extremes = [self._names[k] for k in self._real] if self.extremes else None
            out = RecordingFile(self.file, self._resolved, extremes, self.compression, attributes)
            try:
                out.describe(run)
                kept = journal.Journal(journal.beside(self.file), self._names, recording)
                texts = [k for k, (_, variable) in enumerate(self._resolved) if variable.type == "String"]
                rows = RowWriter(out, kept, len(self._names), texts, self._note_not_finite)
                out.start()
            except BaseException:
                out.abandon()
                journal.beside(self.file).unlink(missing_ok=True)
                raise
            self._out = out, kept, rows
        if self._selection is not None and self.dense is not None:
            self._selection.begin(run.macro_steps)
            # an event that holds at the start is one, as for `Events`
            for event in self.dense.events:
                if event.holds(*run.read([event.signal])):
                    self._selection.event(run.start)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert a write failure to a MasterError, after which nothing more is written."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            self._failed = True
            raise MasterError(f"{self.file}: cannot be written ({error})") from error

    def sample(self, time_: np.ndarray, values: np.ndarray) -> None:
        if self._selection is not None:
            self._record(*self._select(*self._selection.push(time_, values)))
        elif self.companions:
            self._sampled = time_.copy(), values.copy()
        else:
            self._record(time_, values)

    def steps(self, time_: np.ndarray, values: np.ndarray) -> None:
        """Process the Real variables, shape (n, variables), of all steps up to the rows of the last `sample`."""
        assert self._envelope is not None
        times, rows = self._sampled or (np.empty(0), np.empty((0, len(self._names))))
        self._sampled = None
        # a step that failed has no values here, though it may have a row
        keep = np.zeros(len(time_) + 1, bool)
        keep[np.searchsorted(time_, times)] = True
        self._record(times, rows, self._envelope.fold(values, keep[:-1]))

    def _select(
        self, time_: np.ndarray, values: np.ndarray, keep: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the rows to keep, and their extremes."""
        entries = self._envelope.fold(values[:, self._real], keep) if self._envelope and len(time_) else None
        return time_[keep], values[keep], entries

    def _record(self, time_: np.ndarray, values: np.ndarray, entries: np.ndarray | None = None) -> None:
        assert self._out is not None
        *_, rows = self._out
        with self._writing():
            rows.add(time_, values, entries)
            rows.flush()

    def _note_not_finite(self, times: np.ndarray, values: np.ndarray) -> None:
        finite = np.isfinite(values)
        if finite.all():
            return
        for column in np.flatnonzero(~finite.all(axis=0)):
            row = np.flatnonzero(~finite[:, column])[0]
            self._not_finite.setdefault(self._names[column], float(times[row]))

    def _finish(self, rows: RowWriter) -> None:
        """Write all remaining rows to the HDF5 file."""
        with self._writing():
            if self._selection is not None:
                rows.add(*self._select(*self._selection.rest()))
            if self._sampled is not None:
                # the last row repeats a time whose steps have already been taken
                self.steps(self._sampled[0], self._sampled[1][:, self._real])
            if self._envelope is not None:
                rows.add(np.empty(0), np.empty((0, len(self._names))), self._envelope.rest())
            rows.finish()

    def end(self, result: Result) -> None:
        try:
            if self._out is not None:
                self._end(*self._out, result)
        finally:
            self._out = None
            self._lock.release()

    def _end(self, out: RecordingFile, kept: journal.Journal, rows: RowWriter, result: Result) -> None:
        try:
            if not self._failed:
                self._finish(rows)
        except MasterError as error:
            if result.status != "failed":
                result.status, result.message, result.error = "failed", str(error), error
        for name, first in self._not_finite.items():
            result.warnings.append(f"{name} is not finite from t = {first:.9g} s on, at least for a time")
        rows.stop()
        with self._writing():
            out.close(result)
        if self._failed and (lost := rows.rescue()):
            result.warnings.append(f"{self.file}: the last {lost} rows are lost: they could not be written")
        kept.close(remove=not self._failed)


class _AllSteps(Observer):
    """Passes the values of all steps to a recorder that keeps few of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def sampling(self, system: Structure) -> Sampling:
        variables = self._recorder.variables or ()
        return Sampling(tuple(name for name in variables if system.resolve(name)[1].type == "Real"))

    def sample(self, time_: np.ndarray, values: np.ndarray) -> None:
        self._recorder.steps(time_, values)
