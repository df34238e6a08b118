"""Kernels whose machine code stands in that of the kernel that calls them.

The loops of the recursion call several kernels for each link. What these calls hand over by memory, such as the 27
numbers of an inertia, takes a tenth of the time of the whole recursion.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba import config

from dockfmu.base.compiler import jit
from dockfmu.components.core.kernel import Kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Return a kernel that is inlined where kernels call it, whatever its length."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return InlinedKernel(function)


class InlinedKernel(Kernel):
    """A kernel that is inlined into those that call it."""

    @functools.cached_property
    def _for_kernels(self) -> Any:
        return self._compiled(no_cpython_wrapper=True, forceinline=True)


class Pasted:
    """Put the statements of a function in the kernels that call it: it may return records, as kernels may not."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._for_kernels = jit(function, inline="always")

    @property
    def targetoptions(self) -> Any:
        """Return the options by which numba inlines it."""
        return self._for_kernels.targetoptions

    @property
    def _numba_type_(self) -> Any:
        return self._for_kernels._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Call the function from Python, in the interpreter."""
        return self.py_func(*arguments)


def pasted(function: Callable[..., Any]) -> Any:
    """Return a function whose statements stand in the kernels that call it."""
    return function if config.DISABLE_JIT else Pasted(function)  # type: ignore[attr-defined]
