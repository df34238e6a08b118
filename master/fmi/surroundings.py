"""What all code of a process shares, and the library of one FMU may change for everything else.

The working directory, the mask of new files, the locale, the environment, the handling of signals that the master
relies on, the limits of resources, and of this thread the signals blocked, the processors that it may use, its
priority, and the rounding and denormal mode. Taking them takes some microseconds.
"""

from __future__ import annotations

import ctypes
import locale
import os
import platform
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

try:
    import resource
except ModuleNotFoundError:  # on Windows
    _LIMITS = {}
else:
    # RLIMIT_OFILE is an old name of RLIMIT_NOFILE
    _LIMITS = {getattr(resource, n): n for n in dir(resource) if n.startswith("RLIMIT_") and n != "RLIMIT_OFILE"}

MODE = "the rounding or denormal mode"
_POSIX = sys.platform != "win32"
_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD")
    if hasattr(signal, name)
)
"""Signals that the master, Python or the terminal rely on. Others, such as SIGSEGV, belong to who handles them."""
_BLOCK = 256
"""Bytes that hold a struct sigaction, or the state of floating point, of any platform."""
_FLOAT_BITS = {"x86_64": ((0, 2, 0x0F3F), (28, 4, 0xFFC0)), "aarch64": ((0, 4, 0x07F79F00),)}.get(
    platform.machine(), ()
)
"""(offset, size, mask) of the control bits in fenv_t of the C library of Linux on this machine."""


class _C:
    """Functions of the C library, with the types of their arguments."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self.sigaction = library.sigaction
        self.sigaction.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self.environ = ctypes.POINTER(ctypes.c_void_p).in_dll(library, "environ") if _has(library, "environ") else None
        self.fegetenv = self.fesetenv = None
        if sys.platform == "linux" and _FLOAT_BITS:
            math = ctypes.CDLL("libm.so.6")
            self.fegetenv, self.fesetenv = math.fegetenv, math.fesetenv
            self.fegetenv.argtypes = self.fesetenv.argtypes = (ctypes.c_void_p,)


def _has(library: ctypes.CDLL, name: str) -> bool:
    try:
        ctypes.c_void_p.in_dll(library, name)
    except ValueError:
        return False
    return True


@cache
def _c() -> _C | None:
    return _C() if _POSIX else None


def _handlers() -> tuple[bytes, ...]:
    c = _c()
    if c is None:
        return ()
    blocks = (ctypes.c_char * (_BLOCK * len(_SIGNALS)))()
    place = ctypes.addressof(blocks)
    for k, number in enumerate(_SIGNALS):
        c.sigaction(number, None, place + _BLOCK * k)
    content = blocks.raw
    return tuple(content[_BLOCK * k : _BLOCK * (k + 1)] for k in range(len(_SIGNALS)))


def _floats() -> bytes:
    c = _c()
    if c is None or c.fegetenv is None:
        return b""
    block = ctypes.create_string_buffer(_BLOCK)
    c.fegetenv(block)
    return block.raw


def _control_bits(block: bytes) -> tuple[int, ...]:
    """Return the rounding and denormal mode and the masks of exceptions, without the flags that any division sets."""
    if not block:
        return ()
    return tuple(int.from_bytes(block[at : at + size], "little") & mask for at, size, mask in _FLOAT_BITS)


def _environment(before: bytes = b"") -> bytes:
    """Return the addresses of the variables of the environment and a null, of which setenv replaces some."""
    c = _c()
    if c is None or c.environ is None or not c.environ:
        return b""
    if before and ctypes.string_at(c.environ, len(before)) == before:
        return before
    count = 0
    while c.environ[count]:
        count += 1
    return ctypes.string_at(c.environ, ctypes.sizeof(ctypes.c_void_p) * (count + 1))


def _variables() -> dict[bytes, bytes]:
    """Return the environment that functions of C see."""
    c = _c()
    found: dict[bytes, bytes] = {}
    if c is None or c.environ is None or not c.environ:
        return found
    count = 0
    while address := c.environ[count]:
        name, _, value = ctypes.string_at(address).partition(b"=")
        found.setdefault(name, value)
        count += 1
    return found


def _mask() -> int | None:
    """Return the mask of new files; asking the C library for it would change it for a moment, also for threads."""
    with suppress(OSError):
        found = re.search(r"^Umask:\s*([0-7]+)", Path("/proc/self/status").read_text(), re.MULTILINE)
        return int(found[1], 8) if found else None
    return None


def _limits() -> tuple[tuple[int, int], ...]:
    """Return the soft and the hard limit of each resource in `_LIMITS`."""
    return tuple(map(resource.getrlimit, _LIMITS))


def _processors() -> frozenset[int]:
    """Return the processors that this thread may use, and processes that it starts."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


def _priority() -> int:
    """Return the nice value of this thread."""
    return os.getpriority(os.PRIO_PROCESS, 0) if _POSIX else 0


def _blocked() -> frozenset[int]:
    """Return the signals that this thread blocks: a Ctrl-C among them would wait for ever."""
    return frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, ())) if _POSIX else frozenset()


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109, a path takes ten times as long
    except OSError:  # it may have been removed
        return ""


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of all code in this process at one moment; see `now`."""

    folder: str
    locale: str
    environment: bytes
    variables: tuple[tuple[bytes, bytes], ...]
    handlers: tuple[bytes, ...]
    blocked: frozenset[int]
    floats: bytes
    mask: int | None
    limits: tuple[tuple[int, int], ...]
    processors: frozenset[int]
    priority: int

    @classmethod
    def now(cls, before: Surroundings | None = None, *, whole: bool = True, rights: bool = True) -> Surroundings:
        """Return what is the case now; with `before` only what differs from it is looked at closely.

        The mask and the handling of signals take ten times as long as the rest; unless the `whole` is asked for, they
        are those of `before`. So are, without `rights`, limits, processors and priority, which others may change, too.
        """
        environment = _environment(before.environment if before is not None else b"")
        same = before is not None and before.environment == environment
        return cls(
            folder=_folder(),
            locale=locale.setlocale(locale.LC_ALL),
            environment=environment,
            variables=before.variables if before is not None and same else tuple(_variables().items()),
            floats=_floats(),
            handlers=_handlers() if whole or before is None else before.handlers,
            blocked=_blocked() if whole or before is None else before.blocked,
            mask=_mask() if whole or before is None else before.mask,
            limits=_limits() if rights or before is None else before.limits,
            processors=_processors() if rights or before is None else before.processors,
            priority=_priority() if rights or before is None else before.priority,
        )

    def unchanged(self) -> bool:
        """Return whether all is as before, except for what takes long; see `now`."""
        return (
            _folder() == self.folder
            and locale.setlocale(locale.LC_ALL) == self.locale
            and _environment(self.environment) == self.environment
            and _control_bits(_floats()) == _control_bits(self.floats)
        )

    def changes(self, later: Surroundings) -> list[str]:
        """Return names of what differs later."""
        found = []
        if self.folder != later.folder:
            found.append("the working directory")
        if self.mask != later.mask and None not in (self.mask, later.mask):
            found.append("the mask of new files")
        if self.locale != later.locale:
            found.append("the locale")
        if self.variables != later.variables and (names := self._variables_changed(later)):
            found.append(f"the environment ({', '.join(names[:3])})")
        numbers = [n for n, a, b in zip(_SIGNALS, self.handlers, later.handlers, strict=True) if a[:8] != b[:8]]
        if numbers:
            found.append(f"the handling of signals ({', '.join(signal.Signals(n).name for n in numbers[:3])})")
        if masked := sorted(self.blocked ^ later.blocked):
            found.append(f"the signals blocked ({', '.join(getattr(n, 'name', str(n)) for n in masked[:3])})")
        limited = [name for name, a, b in zip(_LIMITS.values(), self.limits, later.limits, strict=True) if a != b]
        if limited:
            found.append(f"the limits of resources ({', '.join(limited[:3])})")
        if self.processors != later.processors:
            found.append("the processors that may be used")
        if self.priority != later.priority:
            found.append("the priority")
        if _control_bits(self.floats) != _control_bits(later.floats):
            found.append(MODE)
        return found

    def _variables_changed(self, later: Surroundings) -> list[str]:
        before, after = dict(self.variables), dict(later.variables)
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return [os.fsdecode(name) for name in names]

    def restore(self, later: Surroundings) -> None:
        """Undo what differs later, as far as this process may: only a privileged one raises limits and priority."""
        c: Any = _c()
        if self.folder != later.folder and self.folder:
            with suppress(OSError):
                os.chdir(self.folder)
        if self.mask is not None and self.mask != later.mask:
            os.umask(self.mask)
        if self.locale != later.locale:
            with suppress(locale.Error):
                locale.setlocale(locale.LC_ALL, self.locale)
        before = dict(self.variables)
        for name in map(os.fsencode, self._variables_changed(later)):
            if name in before:
                os.putenv(name, before[name])
            else:
                os.unsetenv(name)
        for number, mine, its in zip(_SIGNALS, self.handlers, later.handlers, strict=True):
            if mine[:8] != its[:8]:
                c.sigaction(number, mine, None)
        if self.blocked != later.blocked:
            signal.pthread_sigmask(signal.SIG_SETMASK, self.blocked)
        for number, limits, others in zip(_LIMITS, self.limits, later.limits, strict=True):
            if limits != others:
                with suppress(OSError, ValueError):
                    resource.setrlimit(number, limits)
        if self.processors != later.processors:
            with suppress(OSError):
                os.sched_setaffinity(0, self.processors)
        if self.priority != later.priority:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, self.priority)
        if _control_bits(self.floats) != _control_bits(later.floats):
            c.fesetenv(self.floats)


def told(names: Sequence[str], changed: Iterable[str]) -> str:
    """Return the beginning of a sentence on what one of the FMUs `names` has changed."""
    who = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    return f"{who} changed {' and '.join(changed)} of this process"


def modes() -> bytes:
    """Return the state of floating point of this thread, for `undo_modes`."""
    return _floats()


def undo_modes(before: bytes) -> bool:
    """Restore the rounding and denormal mode of this thread; return whether it had changed."""
    if _control_bits(before) == _control_bits(_floats()):
        return False
    c: Any = _c()
    c.fesetenv(before)
    return True


def undo(before: Surroundings, *, whole: bool = True, rights: bool = True) -> list[str]:
    """Restore the surroundings to what they were `before`; return names of what had changed.

    What this process has no right to restore has changed "for good". See `Surroundings.now` for the options.
    """
    later = Surroundings.now(before, whole=whole, rights=rights)
    if later == before:
        return []
    found = before.changes(later)
    if not found:
        return []
    before.restore(later)
    left = before.changes(Surroundings.now(before, whole=whole, rights=rights))
    return [what for what in found if what not in left] + [f"{what} for good" for what in left]
