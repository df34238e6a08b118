"""Kernels whose machine code stands in that of the kernel that calls them.

The loops of the recursion call several kernels for each link. What these calls hand over by memory, such as the 27
numbers of an inertia, takes a tenth of the time of the whole recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config

from dockfmu.components.core.kernel import Kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Return a kernel that is inlined where kernels call it, whatever its length."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return InlinedKernel(function)


class InlinedKernel(Kernel):
    """A kernel that is inlined into those that call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._for_kernels = self._compiled(no_cpython_wrapper=True, forceinline=True)
