"""Progress of a campaign: rate, time left, outcomes so far."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

PERIOD_S = 1.0
"""Time between two lines, s."""


class CampaignProgress:
    """Counts rows as they arrive, and reports the progress of the campaign.

    `total` runs are requested, of which `done` existed before; `say` is called with each line.
    """

    def __init__(self, total: int, done: int, say: Callable[[str], None]) -> None:
        self.total, self.done, self.say = total, done, say
        self.made = 0
        self.outcomes: Counter[str] = Counter()
        self._began = time.monotonic()
        self._next = self._began + PERIOD_S

    def count(self, row: Mapping[str, Any]) -> None:
        """Count a run and its outcome."""
        self.made += 1
        self.outcomes[str(row["outcome"])] += 1

    def tick(self) -> None:
        """Report the state, if the last line is old enough."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PERIOD_S
            self.say(self.line())

    def end(self) -> None:
        """Report the final state."""
        self.say(self.line())

    def line(self) -> str:
        """Return the state in one line."""
        passed = max(time.monotonic() - self._began, 1e-9)
        rate = self.made / passed
        left = self.total - self.done - self.made
        parts = [f"{self.done + self.made} of {self.total} runs", f"{rate:.3g} runs/s"]
        if self.made and left:
            parts.append(f"{_duration(left / rate)} left")
        if self.outcomes:
            parts.append(", ".join(f"{name} {count}" for name, count in self.outcomes.most_common()))
        return "; ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
