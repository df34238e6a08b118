"""The options of a run: one typed value, checked once, for the command line and for Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TypedDict

from dockfmu.watch.live import NOT_LIVE, Live
from master import algorithms
from master.algorithms import Algorithm
from master.errors import StructureError
from master.step_control import Retry, StepControl


class OptionError(StructureError, ValueError):
    """An option of a run, or an argument given while it runs, is invalid; `problems` holds one sentence for each."""


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


def _is_number(value: object, kind: type) -> bool:
    """Return whether a value is a number of this kind; truth values are not."""
    return isinstance(value, kind) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run; None keeps the value of the system's plan.

    Attributes
    ----------
    step, stop, start : float
        Macro step, end and start of the run, s.
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
        Variables to keep in memory, scalars or whole arrays; all outputs by default.
    every : int
        Macro steps from one recorded row to the next; by default 1 in memory, and that of the plan in a folder of
        results.
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
        if isinstance(self.algorithm, str):
            algorithms.by_name(self.algorithm)

    def _problems(self) -> Iterator[str]:
        wrong = list(self._wrong_types())
        return iter(wrong) if wrong else self._wrong_values()

    def _wrong_types(self) -> Iterator[str]:
        for name in ("step", "stop", "start", "adaptive"):
            value = getattr(self, name)
            if value is not None and not _is_number(value, Real):
                yield f"{name} must be a number, not {value!r}"
        for name in ("threads", "every"):
            value = getattr(self, name)
            if value is not None and not _is_number(value, Integral):
                yield f"{name} must be an integer, not {value!r}"
        if self.around is not None:
            spans = tuple(self.around) if isinstance(self.around, Sequence) else ()
            if len(spans) != 2 or not all(_is_number(span, Real) for span in spans):
                yield f"around must be two spans of time in s, not {self.around!r}"
        if isinstance(self.record, str):
            yield f"record must be a list of names, not the text {self.record!r}"

    def _wrong_values(self) -> Iterator[str]:
        if not math.isfinite(self.start):
            yield f"the start time must be finite, not {self.start!r} s"
        if self.step is not None and not (math.isfinite(self.step) and self.step > 0.0):
            yield f"the macro step must be positive, not {self.step!r} s"
        if self.stop is not None and math.isnan(self.stop):
            yield "the stop time is not a number"
        if self.threads < 1:
            yield f"threads must be at least 1, not {self.threads}"
        if self.every is not None and self.every < 1:
            yield f"every must be at least 1 macro step, not {self.every}"
        if self.around is not None and not all(0.0 <= span < math.inf for span in self.around):
            yield f"around must be two spans of time in s, not {self.around!r}"
        if self.adaptive is not None and not 0.0 <= self.adaptive < math.inf:
            yield f"adaptive: the tolerance must not be negative, not {self.adaptive!r}"
        if self.adaptive is not None and self.control is not None:
            yield "adaptive and control exclude each other: each says how steps vary"
        if self.force and self.resume is None:
            yield "force needs resume: it concerns differences from a checkpoint"
