"""A system that is stepped by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from base.names import shown
from dockfmu.declare.settings import scalars
from dockfmu.options import OptionError
from dockfmu.outcome import Outcome
from master.algorithms import Algorithm
from master.observers.observer import Observer
from master.observers.series import Series
from master.run.simulation import CoSimulation
from master.step_control import Retry, StepControl


class Simulation:
    """Made by System.simulate; a context manager: the FMUs are loaded by entering it and freed by leaving it.

    >>> with system.simulate(step=0.01) as simulation:                                           # doctest: +SKIP
    ...     while simulation.time < 2.0:
    ...         simulation["craft.force"] = -3.0 * simulation["craft.velocity"]
    ...         simulation.step()
    """

    def __init__(self, inner: CoSimulation, series: Series, telling: Callable[[], list[Observer]]) -> None:
        """`telling` makes the observers by which a branch tells its outcome."""
        self._inner = inner
        self._series = series
        self._telling = telling

    def __enter__(self) -> Simulation:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    @property
    def time(self) -> float:
        """The time at which all elements are, s."""
        return self._inner.time

    @property
    def finished(self) -> bool:
        """Whether the run is over: at the stop time, by the stop signal, or by Ctrl-C."""
        return self._inner.finished

    def step(self, count: int = 1) -> float:
        """Take `count` macro steps, and return the time reached. Raises FmuError where an FMU fails."""
        return self.advance(self.time + count * self._inner.step)

    def advance(self, until: float = math.inf) -> float:
        """Step to `until`, or to where the run is over before, and return the time reached.

        Raises FmuError where an FMU fails, OptionError without a time where the simulation has no stop time either.
        """
        if math.isinf(until) and math.isinf(self._inner.stop):
            raise OptionError(["advance needs a time, because the simulation has no stop time"])
        return self._inner.advance(until)

    def __getitem__(self, name: str) -> Any:
        """Present value of "element.variable": a number, truth value or text; an array by the name of a whole one."""
        names, shape = scalars(self._inner.system, name)
        values = self._inner.get(names)
        return np.reshape(values, shape) if shape else values[0]

    def __setitem__(self, name: str, value: Any) -> None:
        self.set({name: value})

    def set(self, values: Mapping[str, Any]) -> None:
        """Set inputs that no connection sets, and tunable parameters; whole arrays at once, one number for all places.

        Raises StructureError for what cannot be set, OptionError for arrays of another shape.
        """
        self._inner.set(self._scalars(values))

    def _scalars(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of single variables."""
        chosen: dict[str, Any] = {}
        for name, value in values.items():
            names, shape = scalars(self._inner.system, name)
            try:
                spread = np.broadcast_to(value, shape).ravel().tolist() if shape else [value]
            except ValueError as error:
                raise OptionError([f"{name} = {shown(value)}: does not have the shape {shape}"]) from error
            chosen |= dict(zip(names, spread, strict=True))
        return chosen

    def save(self, file: Path | str) -> Path:
        """Write a checkpoint, from which System.simulate(resume=file) continues bitwise equal.

        Raises CheckpointError that names the FMUs which cannot give their state.
        """
        return self._inner.save().write(Path(file))

    def branch(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        step: float | None = None,
        stop: float | None = None,
        algorithm: Algorithm | None = None,
        control: StepControl | Retry | None = None,
        record: Sequence[str] | None = None,
        every: int = 1,
    ) -> Simulation:
        """Return a simulation that continues from here with other `values` (as for set); this one stays as it is.

        It steps as this one, but for what is given otherwise. It is entered and stepped as any other, and keeps
        `record` from here on, by default what this one keeps. Raises CheckpointError where an FMU cannot give its
        state.
        """
        names = self._series.variables
        if record is not None:
            names = tuple(scalar for name in record for scalar in scalars(self._inner.system, name)[0])
        series = Series(names, every=every)
        inner = self._inner.branch(
            self._scalars(values or {}),
            step=step,
            stop=stop,
            algorithm=algorithm,
            control=control,
            observers=[*self._telling(), series],
        )
        return Simulation(inner, series, self._telling)

    @property
    def outcome(self) -> Outcome:
        """What was recorded so far."""
        return Outcome(self._inner.system, self._inner.result, self._series)
