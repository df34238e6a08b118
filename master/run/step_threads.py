"""The threads that step instances beside the thread that runs the loop: see `dockfmu.master.loop.threads`."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from dockfmu.master import loop
from dockfmu.master.fmi.surroundings import modes, undo_modes
from dockfmu.master.loop.packing import pack
from dockfmu.master.loop.tables import QUIT, LoopTables


def _serve(tables: Any, mode: bytes) -> bool:
    """Step instances in this thread for one chunk; return whether they changed its rounding or denormal mode."""
    undo_modes(mode)
    loop.serve(tables)
    return undo_modes(mode)


class StepThreads:
    """The threads that step instances beside the thread that runs the loop.

    They poll while this context is entered, for one chunk of steps. Each thread has its own tables, which share
    everything except the report.
    """

    def __init__(self, content: LoopTables) -> None:
        self._words = content.threads.words
        reports = content.threads.reports
        self._tables = [pack(content._replace(report=reports[w : w + 1])) for w in range(len(reports))]
        self._pool = ThreadPoolExecutor(len(self._tables), thread_name_prefix="step")
        self._serving: list[Future[bool]] = []
        self.disturbed = False
        """Whether an FMU has changed the rounding or denormal mode of one of these threads in the last chunk."""
        self._words[QUIT] = 1
        loop.serve(self._tables[0])  # compiles, and returns

    def __enter__(self) -> None:
        self._words[QUIT] = 0
        # each thread has its own rounding and denormal mode: it is that of this one
        self._serving = [self._pool.submit(_serve, tables, modes()) for tables in self._tables]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._words[QUIT] = 1
        self.disturbed = any(tuple(serving.result() for serving in self._serving))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
