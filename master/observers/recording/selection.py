"""Selection of rows to record: all of them around events, one in several elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.master.observers.events import Event


@dataclass(frozen=True)
class Dense:
    """Record every macro step around each occurrence of an event.

    Attributes
    ----------
    events : tuple of Event
        Events around which every step is recorded.
    before, after : float
        Times before and after an occurrence, s.
    """

    events: tuple[Event, ...]
    before: float = 0.1
    after: float = 0.5


class Selection:
    """Holds rows back until it is known whether they lie within the window of an event.

    Of the rows outside all windows, one in `every` is kept, beginning with the first of the run: of a resumed one, with
    that of the run before.
    """

    def __init__(self, dense: Dense, every: int) -> None:
        self.dense, self.every = dense, every
        self._held: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._windows: list[tuple[float, float]] = []
        self._first = self._count = 0

    def begin(self, steps: int) -> None:
        """Begin after this number of macro steps, 0 for a run that is not resumed."""
        self._first, self._count = steps, steps

    def event(self, time: float) -> None:
        """Open the window of an event at `time`, before rows of later chunks of steps are pushed."""
        self._windows.append((time - self.dense.before, time + self.dense.after))

    def push(self, time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Add rows; return times and values of the rows that no later event can affect, and which of them to keep."""
        # all events up to the end of the held rows are known, those of the new rows are not
        known = self._held[-1][1][-1] if self._held else -np.inf
        self._held.append((np.arange(self._count, self._count + len(time)), time.copy(), values.copy()))
        self._count += len(time)
        return self._release(known - self.dense.before)

    def rest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all rows that are held at the end of the run, and which of them to keep: the last one in any case."""
        if not self._held:
            return np.zeros(0), np.zeros((0, 0)), np.zeros(0, bool)
        return self._release(np.inf, last=True)

    def _release(self, until: float, *, last: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number, time, values = (np.concatenate(parts) for parts in zip(*self._held, strict=True))
        cut = int(np.searchsorted(time, until))
        keep = (number[:cut] % self.every == 0) | (number[:cut] == self._first)
        for low, high in self._windows:
            # times of rows are sums of steps, with rounding errors
            margin = 1e-9 * max(1.0, abs(high))
            keep |= (time[:cut] >= low - margin) & (time[:cut] <= high + margin)
        if last:
            keep[-1] = True
        self._held = [(number[cut:], time[cut:], values[cut:])] if cut < len(time) else []
        self._windows = [window for window in self._windows if window[1] >= until]
        return time[:cut], values[:cut], keep
