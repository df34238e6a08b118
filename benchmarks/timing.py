"""Timing of kernels."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time


def microseconds(function: Callable[..., object], *arguments: object, count: int) -> float:
    """Return the time of one of `count` repetitions in `function(*arguments, count)`, in us: best of five, warm."""
    function(*arguments, 1)
    best = float("inf")
    for _ in range(5):
        start = process_time()
        function(*arguments, count)
        best = min(best, process_time() - start)
    return 1e6 * best / count
