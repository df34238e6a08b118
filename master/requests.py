"""What observers and operators request of a run: triggers on variables, variables to sample, its end and pace."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Trigger:
    """Report every change of a variable, or each crossing of `level` if one is given.

    A `prompt` trigger is reported before the next step, others after a chunk of steps.
    """

    variable: str
    level: float | None = None
    prompt: bool = False


@dataclass(frozen=True)
class EndRequest:
    """Complete the run at `time`, s, for a `reason`, which becomes the message of its result."""

    time: float = math.inf
    reason: str = ""


NO_END = EndRequest()


@dataclass(frozen=True)
class Sampling:
    """Take the values of `variables` (full names) at the start and after every `every` macro steps."""

    variables: tuple[str, ...]
    every: int = 1


@dataclass
class Pace:
    """Speed of a paced run, which an operator may change during the run.

    Attributes
    ----------
    factor : float
        Simulated time per wall time.
    held : bool
        Whether the run is paused.
    end : str
        Reason to end the run; empty to go on.
    changes : int
        Number of changes of `factor` and `held` so far; each change restarts the clock.
    reached : float
        Simulated time per wall time that the run last reached, at most `factor`, as `Pacing` measures it; 1 after a
        change.
    """

    factor: float = 1.0
    held: bool = False
    end: str = ""
    changes: int = 0
    reached: float = 1.0

    @property
    def stride(self) -> int:
        """Return by how many times looks may be farther apart in model time than at real time; 1 in slower runs."""
        return max(1, round(self.reached))

    def change(self) -> None:
        """Note a change of `factor`, `held` or `end`; look soon, because the next chunk may last longer."""
        self.changes += 1
        self.reached = 1.0
