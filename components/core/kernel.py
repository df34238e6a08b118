"""The decorator of every kernel: nopython, numpy's division, no fast math, compiled code kept between processes.

numba's own cache looks only at the file of the function that it compiles, and would serve stale code after a change in
a module that this file imports. Here each module caches in a folder named by a digest of all it depends on.

All machine code is for one baseline processor, not for the one at hand: what runs in this process is what an FMU gets,
and the bytes of an FMU do not depend on where it was built. `NUMBA_CPU_NAME` chooses another. It holds for all that
numba compiles in this process, and only if numba has compiled nothing before.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.extending import overload

from components.core.sources import cache_root, digest

BASELINE = {"x86_64": "x86-64-v2", "AMD64": "x86-64-v2"}.get(platform.machine(), "generic")

if config.CPU_NAME is None:  # type: ignore[attr-defined]
    config.CPU_NAME, config.CPU_FEATURES = BASELINE, ""  # type: ignore[attr-defined]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call for each type of record; the plain function stays in `.py_func`."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return Kernel(function)


class Kernel:
    """A kernel, to be called by other kernels and from Python.

    What a call from Python needs, to unpack and pack records, takes a fifth of the time to compile. Most kernels are
    called by kernels only; so it is left out for these, and a kernel that Python calls is compiled once more with it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._for_kernels = _jit(function, "kernel", no_cpython_wrapper=True, no_cfunc_wrapper=True)

    @functools.cached_property
    def _for_python(self) -> Any:
        return _jit(self.py_func, "python", no_cfunc_wrapper=True)

    @property
    def _numba_type_(self) -> Any:
        """numba's type of this object where a kernel refers to it."""
        return self._for_kernels._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)


def _jit(function: Callable[..., Any], use: str, **options: Any) -> Any:
    file = Path(function.__code__.co_filename)
    folder = cache_root() / "numba" / f"{function.__module__}-{digest(file)[:12]}" / use
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        return numba.njit(function, cache=True, error_model="numpy", **options)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def variant(field: str, present: Any, absent: Any) -> Any:
    """The kernel `present` for records that have `field`, `absent` for others, chosen when the caller is compiled.

    Both take the record first and equal arguments after it. One source so serves variants of a component whose records
    differ: `touch = variant("probe_cone", inside.touch, outside.touch)`.
    """

    def chosen(m: Any, *rest: Any) -> Any:
        return (present if field in m.dtype.fields else absent)(m, *rest)

    def choose(m: Any, *rest: Any) -> Any:
        part = present if field in m.fields else absent

        def call(m: Any, *rest: Any) -> Any:
            return part(m, *rest)

        return call

    overload(chosen)(choose)
    return chosen
