"""What FMUs of this process change for all code in it while they step, and its restoration."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dockfmu.master.fmi.surroundings import MODE, Surroundings, undo

LOOK_S = 0.1
"""Time between two looks at what takes long to look at, s."""


class Disturbances:
    """Restores what FMUs change for all code of this process, but not what the user has changed between their calls.

    Nor limits, processors and priority: `prlimit`, `taskset` and `renice` change them at any time, and nobody undoes
    that.
    """

    def __init__(self) -> None:
        self._before, self._looked = Surroundings.now(), -math.inf
        self._whole = True
        """Whether the present steps began with a look at everything."""
        self._told: set[str] = set()
        """What FMUs have changed in this run."""

    def forget(self) -> None:
        """Forget what was changed, before another run."""
        self._told.clear()

    def begin(self) -> None:
        """Note what is the case before FMUs are called: the user may have changed it since the last call."""
        self._whole = time.perf_counter() - self._looked >= LOOK_S
        if self._whole or not self._before.unchanged():
            self._before = Surroundings.now(self._before, whole=self._whole, rights=False)

    @contextmanager
    def reading(self, found: list[str]) -> Iterator[None]:
        """Restore what FMUs change within a block that reads their outputs; it is added to `found`, once in a run."""
        if not self._before.unchanged():
            self._before = Surroundings.now(self._before, whole=False, rights=False)
        try:
            yield
        finally:
            found += self.undo()

    def undo(self, *, whole: bool = False, modes: bool = False) -> list[str]:
        """Restore what FMUs have changed; return what they had not changed before in this run.

        With `whole`, everything is looked at if that was some time ago; `modes` says that threads have changed their
        own rounding or denormal mode.
        """
        now = time.perf_counter()
        whole = whole and self._whole and now - self._looked >= LOOK_S
        if whole:
            self._looked = now
        elif self._before.unchanged() and not modes:
            return []
        found = undo(self._before, whole=whole, rights=False)
        if modes and MODE not in found:
            found.append(MODE)
        fresh = [what for what in found if what not in self._told]
        self._told |= set(fresh)
        return fresh
