"""Rows on their way to the disk: in a block in memory, in the journal, and in the HDF5 file when the block is full.

The file is written for a single writer and many readers (SWMR): whole chunks only, in an order that keeps the file
consistent, and in a separate thread while the run goes on. Rows that have waited for FLUSH_S are written to a journal
beside it, which is removed at the end of the run; a run that fills a block in less time needs no journal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import numpy as np

from dockfmu.master.observers.recording.envelope import ENTRY
from dockfmu.master.observers.recording.journal import Journal
from dockfmu.master.observers.recording.recording_file import CHUNK_ROWS, RecordingFile

BLOCK_ROWS = CHUNK_ROWS
"""Number of rows that are passed to HDF5 at once: whole chunks."""
FLUSH_S = 0.5
"""Longest time for which rows are neither in the journal nor in the file, s."""


class RowWriter:
    """Writes rows of `columns` values, and the extremes between them, to a file.

    The columns in `texts` hold the numbers of strings, see `dockfmu.master.fmi.strings`. `watch` is called with each
    part of a block that has been filled, times of shape (n,) and values of shape (n, columns). All methods raise
    OSError, RuntimeError or ValueError if the files cannot be written.
    """

    def __init__(
        self,
        out: RecordingFile,
        journal: Journal,
        columns: int,
        texts: Sequence[int],
        watch: Callable[[np.ndarray, np.ndarray], None],
    ) -> None:
        self._out, self._journal, self._columns, self._watch = out, journal, columns, watch
        self._texts = tuple(texts)
        self._strings = out.string_table(self._await_thread) if texts else None
        self._thread = ThreadPoolExecutor(1, "recorder")
        self._pending: Future[None] | None = None
        """What the thread writes, until it is known to be in the file."""
        self._sent: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        """Times, values and extremes of the block that the thread writes."""
        self._sent_since = self._since = 0.0
        """Times at which the first row came that is not in the journal, of what the thread writes and of the block."""
        self._given = 0
        """Rows in all."""
        self._submitted = 0
        """Rows before the block: in the file, or being written to it by the thread."""
        self._new_entries: list[np.ndarray] = []
        """Extremes of the rows in the block, after those of `_merged_entries`."""
        self._merged_entries = np.empty(0, ENTRY)
        self._spare = self._new_block()
        self._start_block()
        self._spare = self._new_block()

    def _new_block(self) -> tuple[np.ndarray, np.ndarray]:
        return np.empty(BLOCK_ROWS), np.empty((BLOCK_ROWS, self._columns))

    def _start_block(self) -> None:
        """Start a block in the memory of the one before the last, which is in the file."""
        self._times, self._values = self._spare
        self._rows = 0
        """Rows in the block."""
        self._in_journal = 0
        """Rows of the block that are in the journal."""

    def add(self, time_: np.ndarray, values: np.ndarray, entries: np.ndarray | None = None) -> None:
        """Add rows to the block with their extremes, and submit it to the thread when it is full."""
        self._given += len(time_)
        if entries is not None:
            self._new_entries.append(entries)
        while len(time_):
            if self._rows == self._in_journal:
                self._since = time.monotonic()
            rows = slice(self._rows, min(self._rows + len(time_), BLOCK_ROWS))
            count = rows.stop - rows.start
            times, block = self._times[rows], self._values[rows]
            times[:], block[:] = time_[:count], values[:count]
            if self._strings is not None:
                for k in self._texts:
                    block[:, k] = self._strings.indices(block[:, k])
            self._watch(times, block)
            self._rows = rows.stop
            if self._rows == BLOCK_ROWS:
                self._submit_block()
            time_, values = time_[count:], values[count:]

    def flush(self) -> None:
        """Write rows to the journal if some have waited for long."""
        if self._pending is not None and self._pending.done():
            self._await_thread()
        if self._waited() >= FLUSH_S:
            self._write_journal()

    def _waited(self) -> float:
        """Return the time for which the first row has waited that is not on disk yet, -1 if there is none."""
        if self._sent is not None and self._journal.last < self._submitted:
            return time.monotonic() - self._sent_since
        return time.monotonic() - self._since if self._rows > self._in_journal else -1.0

    def finish(self) -> None:
        """Write all remaining rows to the file."""
        self._await_thread()
        if self._rows or len(self._entries):
            self._out.write(self._times[: self._rows], self._values[: self._rows], self._entries)

    def stop(self) -> None:
        """End the thread, after what it is writing."""
        self._thread.shutdown()

    def rescue(self) -> int:
        """Write the rows that could not be written to the file to the journal; return the number of lost ones."""
        with suppress(OSError):
            self._write_journal()
        return max(self._given - self._journal.last, 0)

    def _submit_block(self) -> None:
        """Submit the block to the thread, once it has written the one before."""
        self._await_thread()
        entries, self._merged_entries = np.split(self._entries, [self._entries_before(self._rows)])
        self._sent = self._times, self._values, entries
        self._sent_since = self._since
        self._pending = self._thread.submit(self._out.write, *self._sent)
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

    def _await_thread(self) -> None:
        """Wait for the thread, and drop the rows from the journal that it wrote. Raises the thread's exception."""
        if self._pending is None:
            return
        self._pending.result()
        assert self._sent is not None
        self._spare = self._sent[:2]
        self._pending = self._sent = None
        rows = slice(0, self._in_journal)
        entries = self._entries[: self._entries_before(self._in_journal)]
        self._journal.restart(self._submitted + 1, self._times[rows], self._values[rows], entries)

    def _write_journal(self) -> None:
        """Write the rows that are not on disk yet to the journal."""
        if self._sent is not None:
            times, values, entries = self._sent
            self._journal.append(self._submitted + 1 - len(times), times, values, entries)
        rows = slice(self._in_journal, self._rows)
        entries = self._entries[self._entries_before(rows.start) : self._entries_before(rows.stop)]
        self._journal.append(self._submitted + 1 + rows.start, self._times[rows], self._values[rows], entries)
        self._in_journal = self._rows
