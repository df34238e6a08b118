"""Threads that step the instances of a stage in parallel: each takes the next instance that has not stepped.

The instances of a stage have their inputs before any of them steps, so that the order does not matter: results are
bitwise equal to those of one thread. Threads wait by polling, because it takes a few hundred nanoseconds to pass work
to a polling thread, a hundredth of the time that it takes to wake a sleeping one.
"""

from __future__ import annotations

import numpy as np

from dockfmu.master.loop.compiler import atomic_add, atomic_load, atomic_replace, atomic_store, compiled
from dockfmu.master.loop.sweep import begin_stage, end_stage, step_instance
from dockfmu.master.loop.tables import (
    DONE,
    FAILED,
    FINISHED,
    FIRST,
    LIMIT,
    OFFSET,
    QUIT,
    TICKET,
)


@compiled
def _step_next(tables, words):
    """Try to step a waiting instance; return whether one was waiting.

    Tickets are numbered consecutively through all stages of a run, and LIMIT is the first that has not been issued: a
    ticket below LIMIT belongs to the present stage, which does not end before its instance has stepped. After a failure
    a thread skips the rest of its instances.
    """
    ticket: int = atomic_load(words, TICKET)  # type: ignore[call-arg]
    if ticket >= atomic_load(words, LIMIT):
        return False
    if atomic_replace(words, TICKET, ticket, ticket + 1):
        i = np.uint64(atomic_load(words, FIRST) + ticket - atomic_load(words, OFFSET))
        t, h = tables.threads.interval[0], tables.threads.interval[1]
        if tables.report[0].reason != FAILED:
            step_instance(tables, i, t, h)
        atomic_add(words, FINISHED, 1)
    return True


@compiled
def serve(tables):
    """Step waiting instances in an additional thread until QUIT is set; each thread has its own `tables.report`."""
    words = tables.threads.words.ctypes.data
    while atomic_load(words, QUIT) == 0:  # type: ignore[call-arg]
        _step_next(tables, words)


@compiled
def _any_failed(report, reports):
    """Return whether a step failed, and put the failure of the first instance that failed into `report`."""
    for w in range(reports.size):
        if reports[w].reason == FAILED:
            if report[0].reason != FAILED or reports[w].instance < report[0].instance:
                report[0] = reports[w]
            reports[w].reason = DONE
    return report[0].reason == FAILED


@compiled
def sweep_parallel(tables, t, h):
    """Step all instances from t to t + h, as `sweep` does; return False after a failure."""
    threads, stages = tables.threads, tables.instances.stages
    words = threads.words.ctypes.data
    threads.interval[0], threads.interval[1] = t, h
    for s in range(stages.size - 1):
        a, b = stages[s], stages[s + 1]
        begin_stage(tables, a, b, t, h)
        limit: int = atomic_load(words, LIMIT)  # type: ignore[call-arg]
        atomic_store(words, OFFSET, limit)
        atomic_store(words, FIRST, np.int64(a))
        limit += np.int64(b - a)
        atomic_store(words, LIMIT, limit)
        while _step_next(tables, words):
            pass
        while atomic_load(words, FINISHED) < limit:
            pass
        if _any_failed(tables.report, threads.reports):
            return False
        end_stage(tables, a, b, h)
    return True
