"""When a run begins, steps and ends."""

from __future__ import annotations

from dataclasses import dataclass

from master.step_control import Retry, StepControl


@dataclass(frozen=True)
class Schedule:
    """Start, steps and end of a run.

    Attributes
    ----------
    start, step, stop : float
        Start and end of the run, and its macro step, s; with step control the first step.
    stop_when : str, optional
        Full name of the Boolean or Integer output that ends the run.
    control : StepControl or Retry, optional
        What varies the steps, or repeats those that fail.
    """

    start: float
    step: float
    stop: float
    stop_when: str | None
    control: StepControl | Retry | None

    @property
    def step_control(self) -> StepControl | None:
        """Step control in the form that the tables of the loop take; None for steps of fixed length."""
        return self.control.as_step_control if isinstance(self.control, Retry) else self.control
