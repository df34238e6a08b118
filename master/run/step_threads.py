"""The threads that step instances beside the thread that runs the loop: see `dockfmu.master.loop.threads`."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from dockfmu.master import loop
from dockfmu.master.loop.packing import pack
from dockfmu.master.loop.tables import QUIT, LoopTables


class StepThreads:
    """The threads that step instances beside the thread that runs the loop.

    They poll while this context is entered, for one chunk of steps. Each thread has its own tables, which share
    everything except the report.
    """

    def __init__(self, content: LoopTables) -> None:
        self._words = content.threads.words
        self._tables = [pack(content._replace(report=report)) for report in content.threads.reports]
        self._pool = ThreadPoolExecutor(len(self._tables), thread_name_prefix="step")
        self._serving: list[Future[None]] = []
        self._words[QUIT] = 1
        loop.serve(self._tables[0])  # compiles, and returns

    def __enter__(self) -> None:
        self._words[QUIT] = 0
        self._serving = [self._pool.submit(loop.serve, tables) for tables in self._tables]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._words[QUIT] = 1
        for serving in self._serving:
            serving.result()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
