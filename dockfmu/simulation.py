"""Stepping a system by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from base.names import shown
from dockfmu.declare.settings import scalars
from dockfmu.declare.starts import Starts
from dockfmu.options import OptionError
from dockfmu.outcome import Outcome
from master.algorithms import Algorithm
from master.observers.audit import Audit
from master.observers.observer import Observer
from master.observers.series import Series
from master.run.simulation import CoSimulation
from master.step_control import Retry, StepControl


class Simulation:
    """A system that is stepped by hand, from System.simulate.

    A context manager: entering it loads and initialises the FMUs, leaving it frees them.

    Examples
    --------
    >>> with system.simulate(step=0.01) as simulation:                                           # doctest: +SKIP
    ...     while simulation.time < 2.0:
    ...         simulation["craft.force"] = -3.0 * simulation["craft.velocity"]
    ...         simulation.step()

    Many runs with the FMUs loaded once:

    >>> with system.simulate(stop=2.0) as simulation:                                            # doctest: +SKIP
    ...     for mass in (1.0, 2.0, 3.0):
    ...         simulation.reset({"craft.parameters.mass": mass})
    ...         simulation.advance()
    ...         print(simulation.finish().outcome)
    """

    def __init__(
        self, inner: CoSimulation, series: Series, outcome_observers: Callable[[], list[Observer]], starts: Starts
    ) -> None:
        """`outcome_observers` makes the observers that report the outcome of a branch."""
        self._inner = inner
        self._series = series
        self._outcome_observers = outcome_observers
        self._starts = starts
        self._base = inner.system
        self._audits = [observer for observer in inner.requests.observers if isinstance(observer, Audit)]
        self._energies = [audit.reference_energy for audit in self._audits]

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
        """Return whether the run is over: at the stop time, by the stop signal, or by Ctrl-C."""
        return self._inner.finished

    def step(self, count: int = 1) -> float:
        """Take `count` macro steps, and return the time reached, s. Raises FmuError where an FMU fails."""
        return self.advance(self.time + count * self._inner.step)

    def advance(self, until: float = math.inf) -> float:
        """Step to the time `until`, s, or to the end of the run if that is earlier; return the time reached, s.

        Raises FmuError where an FMU fails, OptionError without a time where the simulation has no stop time either.
        """
        if math.isinf(until) and math.isinf(self._inner.stop):
            raise OptionError(["advance needs a time, because the simulation has no stop time"])
        return self._inner.advance(until)

    def finish(self) -> Outcome:
        """End this run, and return its outcome, which stays as it is when the simulation is reset.

        It may be called after a failure, of which the outcome tells. Variables can be read until the next `reset`.
        Raises FmuError where the last values cannot be read.
        """
        self._inner.finish()
        return Outcome(self._inner.system, self._inner.result, self._series.detached())

    def reset(self, values: Mapping[str, Any] | None = None) -> None:
        """Begin another run at the start, with the FMUs that are loaded; results are bitwise equal to a fresh run.

        A run that has not been finished is ended. After fmi2Fatal, or the end of an FMU's own process, the FMUs are
        loaded again; after other failures they are not.

        Parameters
        ----------
        values : mapping of str to value, optional
            Start values by full names and, for a declared system, `initial_conditions.NAME`: the settings of `load`,
            laid over those with which the system was loaded. The craft of a declared system are placed again. Values
            of an earlier `reset` do not count.

        Raises
        ------
        StructureError, DeclarationError, OptionError
            for values that do not fit; the simulation can be reset again
        FmuError
            where an FMU cannot be initialised with them; the outcome of `finish` tells of it
        """
        if values and self._inner.resume is not None:
            raise OptionError(["reset: a simulation that continues from a checkpoint has its start values from there"])
        chosen = self._starts.of(self._base, values or {})
        for audit, energy in zip(self._audits, self._energies, strict=True):
            audit.reference_energy = energy if chosen.approach_energy is None else chosen.approach_energy or None
        self._inner.reset(chosen.structure)

    def __getitem__(self, name: str) -> Any:
        """Return the present value of "element.variable": a number, truth value or text, or a whole array."""
        names, shape = scalars(self._inner.system, name)
        values = self._inner.get(names)
        return np.reshape(values, shape) if shape else values[0]

    def __setitem__(self, name: str, value: Any) -> None:
        self.set({name: value})

    def set(self, values: Mapping[str, Any]) -> None:
        """Set inputs that no connection sets, and tunable parameters.

        `values` are by full names; a whole array takes an array of its shape, or one number for all places.
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
        """Write a checkpoint, from which System.simulate(resume=file) continues with bitwise equal results.

        Return the path. Raises CheckpointError that names the FMUs which cannot give their state.
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
        """Return another simulation that continues from the present state; this one is not changed.

        Parameters
        ----------
        values : mapping of str to value, optional
            Values that are set at its start, as by `set`.
        step, stop, algorithm, control
            As in RunOptions; by default those of this simulation.
        record : sequence of str, optional
            Variables that it keeps in memory, by default those of this simulation.
        every : int
            Macro steps from one recorded row to the next.

        Raises
        ------
        CheckpointError
            where an FMU cannot give its state
        StructureError, OptionError
            for values that cannot be set
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
            observers=[*self._outcome_observers(), series],
        )
        return Simulation(inner, series, self._outcome_observers, self._starts)

    @property
    def outcome(self) -> Outcome:
        """Outcome so far."""
        return Outcome(self._inner.system, self._inner.result, self._series)
