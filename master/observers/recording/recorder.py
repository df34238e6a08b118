"""Recording to an HDF5 file that can be read at any time, even after this process was killed.

Layout: `/time`; `/<element>/<variable>`, one dataset each with the attributes unit, description, causality, type
(String variables hold indices into `/strings`); `/extremes`, the extremes of Real variables between two rows, see
envelope.ENTRY; `/parameters/<element>`, a table of name, value, unit; `/fmus/<element>`, attributes that identify the
FMU. Attributes of the file itself are system, algorithm, step, status and whatever the caller adds. Datasets are
chunked, shuffled and compressed.

The file is written for a single writer and many readers (SWMR): whole chunks only, in an order that keeps the file
consistent, and in a separate thread while the run goes on. Rows that are not yet in the file wait in a journal beside
it, which is removed at the end of the run.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from dockfmu.base.files import Reserve
from dockfmu.base.fmi import NUMERIC_TYPES
from dockfmu.base.locks import Lock
from dockfmu.base.messages import storable
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import Variable
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.observers.recording import checksum, journal
from dockfmu.master.observers.recording.datasets import Column, Columns, StringTable
from dockfmu.master.observers.recording.envelope import ENTRY, EXTREMES, NAMES, Envelope
from dockfmu.master.observers.recording.results import LIBVER, fit_for_group, lock_beside
from dockfmu.master.observers.recording.selection import Dense, Selection
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

CHUNK_ROWS = 2048
"""Number of rows in a chunk. A compressor clears 200 KB for each chunk, whatever its length."""
BLOCK_ROWS = CHUNK_ROWS
"""Number of rows that are passed to HDF5 at once: whole chunks."""
FLUSH_S = 0.5
RESERVE_BYTES = 1 << 16
"""Space reserved to close the file when the disk is full."""
COLUMN_BYTES = 8192
"""Space for what HDF5 stores besides the values of a variable: its attributes, the index of its chunks."""

_DTYPE = {"Real": np.float64, "Integer": np.int32, "Enumeration": np.int32, "Boolean": np.bool_, "String": np.int32}


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
        self._selection = None if dense is None else Selection(dense, every)
        self._envelope: Envelope | None = None
        self._sampled: tuple[np.ndarray, np.ndarray] | None = None
        """Rows for which the preceding steps are still to come."""
        self._new_entries: list[np.ndarray] = []
        """Extremes of the rows in the block, after those of `_entries`."""
        self._merged_entries = np.empty(0, ENTRY)
        self._fields: dict[str, Column] = {}
        """Datasets of the extremes."""
        self._out: h5py.File | None = None
        self._lock = Lock(lock_beside(self.file), str(self.file))
        self._reserved: Reserve | None = None
        self._journal: journal.Journal | None = None
        self._rows = 0
        """Rows in the block that is being filled."""
        self._in_journal = 0
        """Rows of that block that are in the journal."""
        self._submitted = 0
        """Rows before that block: in the HDF5 file, or being written to it by `_writer`."""
        self._total = 0
        """Rows in all."""
        self._writer = ThreadPoolExecutor(1, "recorder")
        self._pending_write: Future[None] | None = None
        self._flushed = 0.0
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
            self._create(run)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert a write failure to a MasterError, after which nothing more is written."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            self._failed = True
            raise MasterError(f"{self.file}: cannot be written ({error})") from error

    def _create(self, run: RunContext) -> None:
        journal.beside(self.file).unlink(missing_ok=True)
        self.file.write_bytes(b"")
        try:
            beside = self.file.with_name(f"{self.file.name}.reserve")
            self._reserved = Reserve(beside, RESERVE_BYTES + len(self._resolved) * 256)
            self._reserve(0, 0)
        except OSError:
            self.file.unlink()
            raise
        self._out = out = h5py.File(self.file, "w", libver=LIBVER)
        recording = uuid.uuid4().hex
        out.attrs["recording"] = recording
        out.attrs["system"] = run.system.name
        out.attrs["algorithm"] = run.algorithm
        out.attrs["step"] = run.step
        out.attrs["record_every"] = self.every
        out.attrs["created"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        out.attrs["status"] = "running"
        for name, value in self.attributes.items():
            # a command may hold bytes of file names that are not UTF-8
            out.attrs[name] = storable(value) if isinstance(value, str) else value
        columns = Columns(out, CHUNK_ROWS, self.compression)
        self._time = columns.create("/", "time", np.float64, {"unit": "s"})
        self._columns = []
        for element, variable in self._resolved:
            column = columns.create(element, variable.name, _DTYPE[variable.type], _about(variable))
            if variable.items:
                column.dataset.attrs["items"] = [f"{value}={name}" for name, value in variable.items]
            self._columns.append(column)
        if self._envelope is not None:
            names = np.array([self._names[k].encode() for k in self._real], "S")
            out.create_dataset(f"{EXTREMES}/{NAMES}", data=names, **_checked(names))
            self._fields = {name: columns.create(EXTREMES, name, ENTRY[name]) for name in ENTRY.names or ()}
        for element in run.system.elements:
            self._write_fmu(out, run, element)
            self._write_parameters(out, run, element)
        self._string_columns = [k for k, (_, variable) in enumerate(self._resolved) if variable.type == "String"]
        if self._string_columns:
            self._strings = StringTable(out, self._reserve_for_strings)
        # from here on only rows can be added
        out.swmr_mode = True
        self._journal = journal.Journal(journal.beside(self.file), self._names, recording)
        self._start_block()
        self._flushed = time.monotonic()

    def _write_fmu(self, out: h5py.File, run: RunContext, element: str) -> None:
        description, file = run.descriptions[element], run.system.elements[element].file
        group = out.require_group(f"fmus/{element}")
        group.attrs["file"] = file.name
        group.attrs["sha256"] = archive.digest(file)
        group.attrs["guid"] = description.guid
        group.attrs["model_name"] = description.model_name
        group.attrs["description"] = description.description
        group.attrs["generation_tool"] = description.generation_tool
        group.attrs["fmi_version"] = description.fmi_version

    def _write_parameters(self, out: h5py.File, run: RunContext, element: str) -> None:
        """Write the values of all parameters, as the FMU reports them."""
        chosen = [v for v in run.descriptions[element].select("parameter") if v.type != "String"]
        values = run.read([f"{element}.{v.name}" for v in chosen])
        text = h5py.string_dtype()
        table = np.array(
            [(v.name, float(value), v.unit or "1") for v, value in zip(chosen, values, strict=True)],
            np.dtype([("name", text), ("value", np.float64), ("unit", text)]),
        )
        out.require_group("parameters").create_dataset(element, data=table, **_checked(table))

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
        with self._writing():
            self._add(time_, values, entries)
            if self._pending_write is not None and self._pending_write.done():
                self._await_writer()
            if time.monotonic() - self._flushed > FLUSH_S:
                self._write_journal()

    def _add(self, time_: np.ndarray, values: np.ndarray, entries: np.ndarray | None = None) -> None:
        """Add rows to the block with their extremes, and submit it to the writer when it is full."""
        self._total += len(time_)
        if entries is not None:
            self._new_entries.append(entries)
        while len(time_):
            rows = slice(self._rows, min(self._rows + len(time_), BLOCK_ROWS))
            count = rows.stop - rows.start
            times, block = self._times[rows], self._values[rows]
            times[:], block[:] = time_[:count], values[:count]
            for k in self._string_columns:
                block[:, k] = self._strings.indices(block[:, k])
            self._note_not_finite(times, block)
            self._rows = rows.stop
            if self._rows == BLOCK_ROWS:
                self._submit_block()
            time_, values = time_[count:], values[count:]

    def _note_not_finite(self, times: np.ndarray, block: np.ndarray) -> None:
        finite = np.isfinite(block)
        if finite.all():
            return
        for column in np.flatnonzero(~finite.all(axis=0)):
            row = np.flatnonzero(~finite[:, column])[0]
            self._not_finite.setdefault(self._names[column], float(times[row]))

    def _start_block(self) -> None:
        self._times, self._values = np.empty(BLOCK_ROWS), np.empty((BLOCK_ROWS, len(self._names)))
        self._rows = self._in_journal = 0

    def _submit_block(self) -> None:
        """Submit the block to the writer, once it has written the one before."""
        self._await_writer()
        self._write_journal()
        entries, self._merged_entries = np.split(self._entries, [self._entries_before(self._rows)])
        self._pending_write = self._writer.submit(self._write, self._times, self._values, entries)
        self._submitted += self._rows
        self._start_block()

    @property
    def _entries(self) -> np.ndarray:
        """Extremes of the rows in the block."""
        if self._new_entries:
            self._merged_entries = np.concatenate([self._merged_entries, *self._new_entries])
            self._new_entries.clear()
        return self._merged_entries

    def _entries_before(self, row: int) -> int:
        """Return the number of entries of the rows before a row of the block."""
        return int(np.searchsorted(self._entries["row"], self._submitted + row))

    def _await_writer(self) -> None:
        """Wait for the writer, and drop the rows from the journal that it wrote. Raises the writer's exception."""
        if self._pending_write is None:
            return
        self._pending_write.result()
        self._pending_write = None
        assert self._journal is not None
        rows = slice(0, self._in_journal)
        entries = self._entries[: self._entries_before(self._in_journal)]
        self._journal.restart(self._submitted + 1, self._times[rows], self._values[rows], entries)

    def _write_journal(self) -> None:
        """Write the rows that are not on disk yet to the journal."""
        assert self._journal is not None
        rows = slice(self._in_journal, self._rows)
        entries = self._entries[self._entries_before(rows.start) : self._entries_before(rows.stop)]
        self._journal.append(self._submitted + 1 + rows.start, self._times[rows], self._values[rows], entries)
        self._in_journal = self._rows
        self._flushed = time.monotonic()

    def _write(self, times: np.ndarray, values: np.ndarray, entries: np.ndarray) -> None:
        """Write rows to the HDF5 file, one dataset for each variable, and their extremes."""
        assert self._out is not None
        # whole chunks only: repeat the last entry to fill the chunk
        padding = np.repeat(entries[-1:], -len(entries) % CHUNK_ROWS)
        entries = np.concatenate([entries, padding])
        self._reserve(self._out.id.get_filesize(), 8 * len(times), entries.nbytes)
        for k, column in enumerate(self._columns):
            column.append(values[:, k])
        for name, column in self._fields.items():
            column.append(entries[name])
        # the time comes last: the rows that it counts are complete and on disk
        self._out.flush()
        self._time.append(times)
        self._out.flush()

    def _reserve_for_strings(self, count: int) -> None:
        """Reserve `count` bytes for strings, after the writer has finished."""
        self._await_writer()
        assert self._out is not None
        self._reserve(self._out.id.get_filesize(), count)

    def _reserve(self, used: int, column: int, extremes: int = 0) -> None:
        """Allocate as many bytes on disk as HDF5 may need for the next rows, `column` bytes for each variable.

        After a failed write, HDF5 cannot close the file and crashes the process. Raises OSError.
        """
        if hasattr(os, "posix_fallocate"):
            with self.file.open("r+b") as out:
                columns = (len(self._resolved) + 1) * (column + COLUMN_BYTES)
                os.posix_fallocate(out.fileno(), used, columns + extremes + len(self._fields) * COLUMN_BYTES)

    def _finish(self) -> None:
        """Write all remaining rows to the HDF5 file."""
        with self._writing():
            if self._selection is not None:
                self._add(*self._select(*self._selection.rest()))
            if self._sampled is not None:
                # the last row repeats a time whose steps have already been taken
                self.steps(self._sampled[0], self._sampled[1][:, self._real])
            if self._envelope is not None:
                self._new_entries.append(self._envelope.rest())
            self._await_writer()
            if self._rows or len(self._entries):
                self._write(self._times[: self._rows], self._values[: self._rows], self._entries)

    def end(self, result: Result) -> None:
        try:
            if self._out is not None:
                self._end(self._out, result)
        finally:
            if self._reserved is not None:
                self._reserved.release()
            self._lock.release()

    def _end(self, out: h5py.File, result: Result) -> None:
        try:
            if not self._failed:
                self._finish()
        except MasterError as error:
            if result.status != "failed":
                result.status, result.message, result.error = "failed", str(error), error
        for name, first in self._not_finite.items():
            result.warnings.append(f"{name} is not finite from t = {first:.9g} s on, at least for a time")
        self._writer.shutdown()
        self._out = None
        assert self._reserved is not None
        self._reserved.release()
        if self._journal is None:
            # `begin` has failed: there are no rows
            with suppress(OSError, RuntimeError, ValueError):
                out.close()
            self.file.unlink(missing_ok=True)
            return
        with self._writing():
            out.close()
            with h5py.File(self.file, "r+", libver=LIBVER) as out:
                out.attrs["status"], out.attrs["message"] = result.status, storable(result.message)
                out.attrs["outcome"], out.attrs["t_end"] = storable(result.outcome), result.t_end
            checksum.append(self.file)
        if self._failed:
            # write the latest rows to the space that is left
            with suppress(OSError):
                self._write_journal()
            lost = self._total - self._journal.last
            if lost > 0:
                result.warnings.append(f"{self.file}: the last {lost} rows are lost: they could not be written")
        self._journal.close(remove=not self._failed)


class _AllSteps(Observer):
    """Passes the values of all steps to a recorder that keeps few of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def sampling(self, system: Structure) -> Sampling:
        variables = self._recorder.variables or ()
        return Sampling(tuple(name for name in variables if system.resolve(name)[1].type == "Real"))

    def sample(self, time_: np.ndarray, values: np.ndarray) -> None:
        self._recorder.steps(time_, values)


def _checked(table: np.ndarray) -> dict[str, Any]:
    """Return the options of a dataset with a checksum that detects damage."""
    return {"chunks": table.shape, "fletcher32": True} if len(table) else {}


def _about(variable: Variable) -> dict[str, str]:
    """Return the attributes of a variable's dataset."""
    about = {
        "unit": variable.unit or ("1" if variable.type == "Real" else ""),
        "description": variable.description,
        "causality": variable.causality,
        "variability": variable.variability,
        "type": variable.type,
    }
    return about | {"display_unit": variable.display_unit} if variable.display_unit else about
