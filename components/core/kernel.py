"""The decorator of every kernel: nopython, numpy's division, no fast math, compiled code kept between processes.

All machine code is for one baseline processor, not for the one at hand: what runs in this process is what an FMU gets,
and the bytes of an FMU do not depend on where it was built.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import config
from numba.extending import overload

from base.compiler import jit
from components.core.sources import digest


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
        self._for_kernels = self._compiled(no_cpython_wrapper=True)

    @functools.cached_property
    def _for_python(self) -> Any:
        return self._compiled()

    def _compiled(self, **options: bool) -> Any:
        sources = digest(Path(self.py_func.__code__.co_filename))
        return jit(self.py_func, sources, no_cfunc_wrapper=True, _nrt=False, **options)

    @property
    def _numba_type_(self) -> Any:
        """The type that numba gives this object where a kernel refers to it."""
        return self._for_kernels._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel from Python."""
        return self._for_python(*arguments)


def variant(field: str, present: Any, absent: Any) -> Any:
    """Return a kernel that calls `present` for records that have `field` and `absent` for others.

    Which of them is chosen when the caller is compiled.
    Both take the record first and equal arguments after it. One source so serves variants of a component whose records
    differ: `detect = variant("probe_cone", internal_contact.detect, external_contact.detect)`.
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
