"""One macro step by several threads: each takes the next instance of a stage that waits, until all have stepped.

The instances of a stage have their inputs before any of them steps, so that it makes no difference who steps when: the
results are those of one thread to the bit. Threads wait by looking on; what they hand each other takes some hundred
nanoseconds, a hundredth of what it takes to wake a thread that sleeps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from master.loop.compiled import compiled
from master.loop.sweep import begin_stage, end_stage, move
from master.loop.tables import DONE, FAILED, FINISHED, FIRST, INSTANCE, LIMIT, OFFSET, QUIT, REASON, TICKET

_WORD = ir.IntType(64)


def _place(builder: Any, arguments: Any) -> Any:
    """Pointer to word arguments[1] of the board at address arguments[0]."""
    address = builder.add(arguments[0], builder.mul(arguments[1], ir.Constant(_WORD, 8)))
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def _load(context, board, word):
    """A word, and with it all that was written before its `_store` or `_add`."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(builder, arguments), "acquire", 8)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def _store(context, board, word, value):
    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _place(builder, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def _add(context, board, word, value):
    """Add to a word, whoever else does; gives what was there before."""

    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _place(builder, arguments), arguments[2], "acq_rel")

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def _replace(context, board, word, old, new):
    """Put `new` where `old` is; False where another value was."""

    def generate(context, builder, signature, arguments):
        place = _place(builder, arguments)
        pair = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(*[types.int64] * 4), generate


@compiled
def _take(tables, board):
    """Step one instance that waits, if there is one; whether one was seen to wait.

    Tickets count on through all stages of a run, and LIMIT is the first that has not been given out: a ticket that was
    had before LIMIT is one of the present stage, which does not end before its instance has stepped. After a failure a
    thread lets the rest of its instances be.
    """
    ticket: int = _load(board, TICKET)  # type: ignore[call-arg]
    if ticket >= _load(board, LIMIT):  # type: ignore[call-arg]
        return False
    if _replace(board, TICKET, ticket, ticket + 1):
        i = np.uint64(_load(board, FIRST) + ticket - _load(board, OFFSET))
        t, h = tables.crew.moment[0], tables.crew.moment[1]
        if tables.report[REASON] != FAILED:
            move(tables, i, t, h)
        _add(board, FINISHED, 1)
    return True


@compiled
def serve(tables):
    """What the others do: step instances that wait, until they are to quit. `tables.report` is their own."""
    board = tables.crew.board.ctypes.data
    while _load(board, QUIT) == 0:  # type: ignore[call-arg]
        _take(tables, board)


@compiled
def _failed(report, reports):
    """Whether a step failed: of several the one of the first instance counts, and stands in `report`."""
    for w in range(reports.shape[0]):
        if reports[w, REASON] == FAILED:
            if report[REASON] != FAILED or reports[w, INSTANCE] < report[INSTANCE]:
                report[:] = reports[w]
            reports[w, REASON] = DONE
    return report[REASON] == FAILED


@compiled
def sweep_together(tables, t, h):
    """All instances from t to t + h, as `sweep` does; False after a failure."""
    crew, stages = tables.crew, tables.instances.stages
    board = crew.board.ctypes.data
    crew.moment[0], crew.moment[1] = t, h
    for s in range(stages.size - 1):
        a, b = stages[s], stages[s + 1]
        begin_stage(tables, a, b, t, h)
        limit: int = _load(board, LIMIT)  # type: ignore[call-arg]
        _store(board, OFFSET, limit)
        _store(board, FIRST, np.int64(a))
        limit += np.int64(b - a)
        _store(board, LIMIT, limit)
        while _take(tables, board):
            pass
        while _load(board, FINISHED) < limit:  # type: ignore[call-arg]
            pass
        if _failed(tables.report, crew.reports):
            return False
        end_stage(tables, a, b, h)
    return True
