"""When a run begins, steps and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dockfmu.master.step_control import Retry, StepControl
from dockfmu.master.system import Element


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Start, steps and end of a run.

    Attributes
    ----------
    step : float
        Macro step, s; with step control the first step.
    start, stop : float
        Start and end of the run, s; without an end, it is stepped by hand.
    stop_when : str, optional
        Full name of the Boolean or Integer output that ends the run after the step in which it becomes true (not 0).
    control : StepControl or Retry, optional
        What varies the steps, or retries steps that an FMU discards with smaller ones.
    """

    step: float
    start: float = 0.0
    stop: float = math.inf
    stop_when: str | None = None
    control: StepControl | Retry | None = None

    @property
    def step_control(self) -> StepControl | None:
        """Step control in the form that the tables of the loop take; None for steps of fixed length."""
        return self.control.as_step_control if isinstance(self.control, Retry) else self.control


def end_of_steps(origin: float, step: float, stop: float, element: Element) -> float:
    """Return the end of the last step of an element as it computes it, t + h, but at least `stop`.

    The steps begin at origin + k * step. Their sum may be the last bit beyond the stop time: 0.2 + 0.1 > 0.3. An FMU
    that is told this end is never asked to step beyond it.
    """
    if not math.isfinite(stop):
        return stop
    count = math.floor((stop - origin) / step + 1e-6)
    begin, rest = origin + count * step, stop - (origin + count * step)
    ends = [stop]
    for t, h in ((origin + (count - 1) * step, step), (begin, rest if rest > 1e-6 * step else 0.0)):
        own = h / element.substeps
        ends.append(t + (element.substeps - 1) * own + own)
    whole = count - count % element.every
    ends.append(origin + (whole - element.every) * step + element.every * step)
    return max(ends)
