"""The options of a run: one typed value, checked once, for the command line and for Python."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from dockfmu.base.messages import shown
from dockfmu.base.numbers import LARGEST_COUNT, is_integer, real
from dockfmu.errors import OptionError
from dockfmu.master import algorithms
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.step_control import Retry, StepControl
from dockfmu.watch.live import NOT_LIVE, Live

TIMES, COUNTS = ("step", "stop", "start", "adaptive"), ("threads", "every")
"""Names of the options that are real numbers and of those that are integers."""


class RunChanges(TypedDict, total=False):
    """The fields of `RunOptions` by keyword."""

    step: float | None
    stop: float | None
    start: float
    algorithm: str | Algorithm | None
    control: StepControl | Retry | None
    adaptive: float | None
    resume: Path | str | None
    force: bool
    threads: int
    record: Sequence[str] | None
    every: int | None
    around: tuple[float, float] | None
    live: Live


def _is_algorithm(value: object) -> bool:
    """Return whether a value is the name of an algorithm or an algorithm, but not the class of one."""
    if isinstance(value, type):
        return False
    return isinstance(value, str) or (callable(getattr(value, "scheme", None)) and hasattr(value, "name"))


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run; None keeps the value of the system's plan.

    Attributes
    ----------
    step, stop, start : float
        Macro step, end and start of the run, s; the end lies after the start.
    algorithm : str or Algorithm
        Coupling algorithm, by its name or as a value.
    control : StepControl or Retry
        Macro steps of variable length, or retries of discarded steps with smaller steps.
    adaptive : float
        Let the steps vary as the plan declares, with this tolerance; 0 for the tolerance of the plan.
    resume : Path or str
        Checkpoint to continue from, instead of `start`.
    force : bool
        Continue from a checkpoint of another system or with other values: inputs and tunable parameters take the values
        given now, everything else keeps those of the checkpoint.
    threads : int
        Number of threads that step independent elements in parallel; results are bitwise equal for any number.
    record : sequence of str
        Variables to keep in memory, scalars or whole arrays; all outputs by default. Without any, the times are kept.
    every : int
        Macro steps from one recorded row to the next; by default 1 in memory, and that of the plan in a folder of
        results. Each row in memory takes 8 bytes, and as many for each variable: a run of days needs a larger number.
    around : tuple of two floats
        Times before and after each event, s, within which every step is recorded in a folder of results.
    live : Live
        Clock, stream and inputs from the network.

    Raises
    ------
    OptionError
        for invalid values, and for options that exclude or require each other
    """

    step: float | None = None
    stop: float | None = None
    start: float = 0.0
    algorithm: str | Algorithm | None = None
    control: StepControl | Retry | None = None
    adaptive: float | None = None
    resume: Path | str | None = None
    force: bool = False
    threads: int = 1
    record: Sequence[str] | None = None
    every: int | None = None
    around: tuple[float, float] | None = None
    live: Live = NOT_LIVE

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise OptionError(problems)
        # numbers of NumPy become those of Python, which a plan and JSON take
        for name in TIMES:
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, float(number))
        for name in COUNTS:
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, int(number))
        if isinstance(self.algorithm, str):
            algorithms.by_name(self.algorithm)

    def _problems(self) -> Iterator[str]:
        wrong = list(self._wrong_types())
        return iter(wrong) if wrong else self._wrong_values()

    def _wrong_types(self) -> Iterator[str]:
        for name in TIMES:
            value = getattr(self, name)
            if (value is not None or name == "start") and real(value) is None:
                yield f"{name} must be a number, not {shown(value)}"
        for name in COUNTS:
            value = getattr(self, name)
            if (value is not None or name == "threads") and not is_integer(value):
                yield f"{name} must be an integer, not {shown(value)}"
        if self.around is not None:
            spans = tuple(self.around) if isinstance(self.around, Sequence) else ()
            if len(spans) != 2 or any(real(span) is None for span in spans):
                yield f"around must be two spans of time in s, not {shown(self.around)}"
        if self.algorithm is not None and not _is_algorithm(self.algorithm):
            yield f"algorithm must be the name of an algorithm, or one such as GaussSeidel(), not {self.algorithm!r}"
        if self.control is not None and not isinstance(self.control, StepControl | Retry):
            yield f"control must be a StepControl or a Retry, not {shown(self.control)}"
        if self.resume is not None and not isinstance(self.resume, str | os.PathLike):
            yield f"resume must be the path of a checkpoint, not {shown(self.resume)}"
        if not isinstance(self.force, bool):
            yield f"force must be True or False, not {shown(self.force)}"
        if not isinstance(self.live, Live):
            yield f"live must be a Live, such as Live(realtime=1.0), not {shown(self.live)}"
        if self.record is not None:
            yield from self._wrong_names(self.record)

    def _wrong_names(self, record: object) -> Iterator[str]:
        if isinstance(record, str):
            yield f"record must be a list of names, not the text {shown(record)}"
        elif not isinstance(record, Iterable):
            yield f"record must be a list of names, not {shown(record)}"
        else:
            # an iterator can be read only once
            object.__setattr__(self, "record", tuple(record))
            wrong = [name for name in self.record or () if not isinstance(name, str)]
            if wrong:
                yield f"record must be a list of names; {shown(wrong[0])} is not a name"

    def _wrong_values(self) -> Iterator[str]:
        start, step, stop, adaptive = (real(getattr(self, name)) for name in ("start", "step", "stop", "adaptive"))
        assert start is not None
        if not math.isfinite(start):
            yield f"the start time must be finite, not {shown(self.start)} s"
        if step is not None and not 0.0 < step < math.inf:
            kind = "finite" if step > 0.0 else "positive"
            yield f"the macro step must be {kind}, not {shown(self.step)} s"
        if stop is not None and math.isnan(stop):
            yield "the stop time is not a number"
        elif stop is not None and self.resume is None and stop <= start < math.inf:
            # the end of a resumed run is compared with the time of its checkpoint
            yield f"the stop time {shown(self.stop)} s must lie after the start time {shown(self.start)} s"
        if not 1 <= self.threads <= LARGEST_COUNT:
            bound = f"at most {LARGEST_COUNT}" if self.threads > 1 else "at least 1"
            yield f"threads must be {bound}, not {shown(self.threads)}"
        if self.every is not None and not 1 <= self.every <= LARGEST_COUNT:
            bound = f"at most {LARGEST_COUNT} macro steps" if self.every > 1 else "at least 1 macro step"
            yield f"every must be {bound}, not {shown(self.every)}"
        if self.around is not None and not all(0.0 <= (real(span) or 0.0) < math.inf for span in self.around):
            yield f"around must be two spans of time in s, not {shown(self.around)}"
        if adaptive is not None and not 0.0 <= adaptive < math.inf:
            yield f"adaptive: the tolerance must not be negative, not {shown(self.adaptive)}"
        if self.resume is not None and start != 0.0:
            yield f"resume and start = {start:g} s exclude each other: the run begins at the time of the checkpoint"
        if self.adaptive is not None and self.control is not None:
            yield "adaptive and control exclude each other: each says how steps vary"
        if self.force and self.resume is None:
            yield "force needs resume: it concerns differences from a checkpoint"
