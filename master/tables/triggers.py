"""Variables whose changes are looked for after each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from master.loop.tables import ANY_CHANGE_REAL, ANY_CHANGE_WHOLE, LEVEL_REAL, LEVEL_WHOLE, Watches
from master.requests import Watch
from master.tables.calls import places
from master.tables.outputs import Outputs


def watch_tables(
    outputs: Outputs, watches: Sequence[Watch], located: Sequence[Watch], stop_when: str | None
) -> Watches:
    """`watches` are logged; the changes of `located` are what a controlled step must not jump over."""
    watched = [_watched(outputs, watch) for watch in (*watches, *located)]
    logged = np.arange(len(watched)) < len(watches)
    return Watches(
        kind=np.array([kind for kind, _, _ in watched], np.int64),
        slot=places([slot for _, slot, _ in watched]),
        level=np.array([level for _, _, level in watched], float),
        last=np.zeros(len(watched)),
        located=(~logged).astype(np.uint8),
        logged=logged.astype(np.uint8),
        event=np.zeros((4096 + 2 * len(watched), 4)),
        stop_slot=places([outputs.whole[stop_when]] if stop_when else []),
    )


def _watched(outputs: Outputs, watch: Watch) -> tuple[int, int, float]:
    """(kind, place, level)"""
    if watch.variable in outputs.real:
        kind = ANY_CHANGE_REAL if watch.level is None else LEVEL_REAL
        return kind, outputs.real[watch.variable], watch.level or 0.0
    kind = ANY_CHANGE_WHOLE if watch.level is None else LEVEL_WHOLE
    return kind, outputs.whole[watch.variable], watch.level or 0.0


def start_watching(watches: Watches, outputs: Outputs) -> None:
    """Take the present values as those from which changes count."""
    for w, (kind, slot) in enumerate(zip(watches.kind, watches.slot, strict=True)):
        real = kind in (ANY_CHANGE_REAL, LEVEL_REAL)
        watches.last[w] = outputs.y_real[slot] if real else outputs.y_whole[slot]
