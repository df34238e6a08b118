"""Progress of the compilation of kernels: how many of their functions are compiled, and the time that is left."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from numba.core import event

TOLD_EVERY_S = 10.0
"""Shortest time between two messages, s."""

ESTIMATED_FROM = 0.1
"""Share of the kernels from which their time tells that of the others: the first ones wait for parts of numba."""


def kernels_of(*functions: Any) -> set[FunctionType]:
    """Return the Python functions of kernels: those given and all compiled functions that they call."""
    found: set[FunctionType] = set()
    open_ones = list(functions)
    while open_ones:
        function = getattr(open_ones.pop(), "py_func", None)
        if function is None or function in found:
            continue
        found.add(function)
        used = inspect.getclosurevars(function)
        for value in (*used.globals.values(), *used.nonlocals.values()):
            if isinstance(value, ModuleType):
                open_ones += [vars(value).get(name) for name in function.__code__.co_names]
            elif isinstance(value, tuple):
                open_ones += value
            else:
                open_ones.append(value)
    return found


class CompileProgress(event.Listener):
    """Count the kernels that numba compiles, and say their share and the time that is left.

    Use it in `numba.core.event.install_listener("numba:compile", ...)`. The share is that of functions: all take about
    the same time, and some are compiled for several types of arguments.
    """

    def __init__(self, kernels: set[FunctionType], say: Callable[[str], None]) -> None:
        self._missing = set(kernels)
        self._count = len(kernels)
        self._say = say
        self._begun = self._told = time.monotonic()

    def on_start(self, event: event.Event) -> None:
        """Do nothing when the compilation of a function begins."""

    def on_end(self, event: event.Event) -> None:
        """Count a function, and say how far the compilation is if the last message is old."""
        self._missing.discard(event.data["dispatcher"].py_func)
        done, now = self._count - len(self._missing), time.monotonic()
        if done == 0 or now - self._told < TOLD_EVERY_S:
            return
        self._told = now
        left = ""
        if done >= ESTIMATED_FROM * self._count:
            left = f", about {(now - self._begun) / done * len(self._missing):.0f} s are left"
        self._say(f"{done} of {self._count} kernels are compiled{left}")
