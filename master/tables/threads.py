"""The threads that step instances of a stage side by side."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np

from master import loop
from master.loop import tables as at
from master.loop.packing import pack


def crew_tables(threads: int) -> at.Crew:
    """Empty for one thread."""
    others = threads - 1
    return at.Crew(
        board=np.zeros(48 if others else 0, np.int64),
        moment=np.zeros(2),
        reports=np.zeros((others, 6), np.int64),
    )


class Crew:
    """Threads beside the one that runs the loop, at work while this is entered: they wait by looking on, which would be
    a waste between two chunks of steps.

    Each has tables of its own, which share everything but the report.
    """

    def __init__(self, content: at.Tables) -> None:
        self._board = content.crew.board
        self._tables = [pack(content._replace(report=report)) for report in content.crew.reports]
        self._pool = ThreadPoolExecutor(len(self._tables), thread_name_prefix="step")
        self._serving: list[Future[None]] = []
        self._board[at.QUIT] = 1
        loop.serve(self._tables[0])  # compiles, and quits

    def __enter__(self) -> None:
        self._board[at.QUIT] = 0
        self._serving = [self._pool.submit(loop.serve, tables) for tables in self._tables]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._board[at.QUIT] = 1
        for serving in self._serving:
            serving.result()

    def close(self) -> None:
        self._pool.shutdown()
