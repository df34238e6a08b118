"""The decorator of every kernel: nopython, numpy's division, no fast math, compiled code cached between processes.

All machine code targets one baseline processor, not the one of the host. The code that runs in this process is the code
in an FMU, and the bytes of an FMU do not depend on where it was built.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config
from numba.extending import overload

from dockfmu.base.cache import digest_of_files
from dockfmu.base.compiler import jit
from dockfmu.components.core.sources import kernel_digest

_HERE = digest_of_files([Path(__file__)])


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on its first call for each type of record; the plain function stays in `.py_func`."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return Kernel(function)


class Kernel:
    """A kernel, to be called by other kernels and from Python.

    The wrapper that unpacks and packs records for calls from Python takes a fifth of the compile time. Most kernels are
    called by kernels only and are compiled without it. A kernel that Python calls is compiled once more with it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    # on first use: a process that loads machine code from the cache reads none of the sources
    @functools.cached_property
    def _for_kernels(self) -> Any:
        return self._compiled(no_cpython_wrapper=True)

    @functools.cached_property
    def _for_python(self) -> Any:
        return self._compiled()

    def _compiled(self, **options: bool) -> Any:
        sources = kernel_digest(Path(self.py_func.__code__.co_filename))
        return jit(self.py_func, sources + _HERE, no_cfunc_wrapper=True, _nrt=False, **options)

    @property
    def _numba_type_(self) -> Any:
        """Return the type that numba gives this object where a kernel refers to it."""
        return self._for_kernels._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel from Python."""
        return self._for_python(*arguments)


def variant(field: str, present: Any, absent: Any) -> Any:
    """Return a kernel that calls `present` for records that have `field` and `absent` for others.

    The choice is made when the caller is compiled. Both kernels take the record first, then the same arguments. One
    source can thus serve variants of a component whose records differ:
    `detect = variant("probe_cone", internal_contact.detect, external_contact.detect)`.
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
