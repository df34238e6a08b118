"""Simulations that are stepped by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.declare.plan import Plan
from dockfmu.declare.settings import scalars
from dockfmu.declare.starts import Starts
from dockfmu.errors import OptionError
from dockfmu.master import algorithms
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.audit import Audit
from dockfmu.master.observers.events import Events
from dockfmu.master.observers.series import Series
from dockfmu.master.run.running import Running
from dockfmu.master.run.simulation import CoSimulation, branch
from dockfmu.master.step_control import Retry, StepControl
from dockfmu.master.system import Structure
from dockfmu.options import RunOptions
from dockfmu.outcome import Outcome
from dockfmu.watch.given_conditions import ConditionsObserver
from dockfmu.watch.observers import watching


class Simulation:
    """A simulation that is stepped by hand, returned by `System.simulate`.

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

    def __init__(self, given: CoSimulation, series: Series, plan: Plan, starts: Starts) -> None:
        """Wrap a co-simulation, whose branches have the observers that the plan requires."""
        self._given = given
        self._opened: Running | None = None
        self._series = series
        self._plan = self._loaded_plan = plan
        self._starts = starts
        self._audits = [observer for observer in given.participants.observers if isinstance(observer, Audit)]
        self._logs = [observer for observer in given.participants.observers if isinstance(observer, Events)]
        self._energies = [audit.reference_energy for audit in self._audits]

    def __enter__(self) -> Simulation:
        if self._opened is None:
            self._opened = self._given.open()
        self._opened.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.__exit__(kind, error, trace)

    @property
    def _running(self) -> Running:
        """The running co-simulation. Raises MasterError before this simulation has been entered."""
        if self._opened is None:
            raise MasterError(f"the simulation of {self._given.system.name} has not begun: enter it with `with`")
        return self._opened

    @property
    def time(self) -> float:
        """Present time of all elements, s."""
        return self._given.schedule.start if self._opened is None else self._opened.time

    @property
    def events(self) -> dict[str, float]:
        """Time of the first event of each name so far, s."""
        found = [(float(str(entry["t"])), str(entry["name"])) for log in self._logs for entry in log.found]
        return {name: time for time, name in sorted(found, reverse=True)}

    @property
    def finished(self) -> bool:
        """Whether the run is over, at the stop time, by the stop signal or by Ctrl-C."""
        return self._running.finished

    def step(self, count: int = 1) -> float:
        """Take `count` macro steps, and return the time reached, s. Raises FmuError if an FMU fails."""
        return self.advance(self.time + count * self._given.schedule.step)

    def advance(self, until: float = math.inf) -> float:
        """Step to the time `until`, s, or to the end of the run if that is earlier; return the time reached, s.

        Raises FmuError if an FMU fails, OptionError if neither `until` nor a stop time of the simulation is given.
        """
        if math.isinf(until) and math.isinf(self._given.schedule.stop):
            raise OptionError(["advance needs a time, because the simulation has no stop time"])
        return self._running.advance(until)

    def finish(self) -> Outcome:
        """End this run and return its outcome, which a later `reset` does not change.

        It may be called after a failure, which the outcome then reports. Variables can be read until the next `reset`.
        Raises FmuError if the last values cannot be read.
        """
        self._running.finish()
        return Outcome(self._system, self._running.result, self._series.detached(), self._plan.panels)

    def reset(self, values: Mapping[str, Any] | None = None) -> None:
        """Begin another run with the loaded FMUs; its results are bitwise equal to those of a fresh simulation.

        A run that has not been finished is ended. The FMUs are loaded again after fmi2Fatal, or if the separate process
        of an FMU has ended, but not after other failures.

        Parameters
        ----------
        values : mapping of str to value, optional
            Start values by full names and, for a declared system, `initial_conditions.NAME`: settings as for `load`,
            which take precedence over those of loading. The craft of a declared system are placed anew. Values of an
            earlier `reset` no longer apply.

        Raises
        ------
        StructureError, DeclarationError, OptionError
            for values that do not fit; the simulation can be reset again
        FmuError
            if an FMU cannot be initialised with them; the outcome of `finish` reports it
        """
        if values and self._given.resume is not None:
            raise OptionError(
                ["reset: a simulation that continues from a checkpoint takes its start values from there"]
            )
        chosen = self._starts.of(self._given.system, values or {})
        self._plan = self._loaded_plan
        if chosen.approach_energy is not None:
            self._plan = replace(self._plan, approach_energy=chosen.approach_energy)
        if chosen.approach_momentum is not None:
            self._plan = replace(self._plan, approach_momentum=chosen.approach_momentum)
        for audit, energy in zip(self._audits, self._energies, strict=True):
            audit.reference_energy = energy if chosen.approach_energy is None else chosen.approach_energy or None
            audit.reference_momentum = self._plan.approach_momentum
        for observer in self._given.participants.observers:
            if isinstance(observer, ConditionsObserver):
                observer.conditions = chosen.starts.conditions
        self._running.reset(chosen.structure)

    def __getitem__(self, name: str) -> Any:
        """Return the present value of "element.variable": a number, Boolean or string, or a whole array."""
        names, shape = scalars(self._system, name)
        values = self._running.get(names)
        return np.reshape(values, shape) if shape else values[0]

    def __setitem__(self, name: str, value: Any) -> None:
        self.set({name: value})

    def set(self, values: Mapping[str, Any]) -> None:
        """Set unconnected inputs and tunable parameters.

        `values` are by full names; a whole array takes an array of its shape, or one number for all elements.
        Raises StructureError for variables that cannot be set, OptionError for arrays of another shape.
        """
        self._running.set(self._scalars(values))

    def _scalars(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values by scalar variable, with whole arrays spread over their elements."""
        chosen: dict[str, Any] = {}
        for name, value in values.items():
            names, shape = scalars(self._system, name)
            try:
                spread = np.broadcast_to(value, shape).ravel().tolist() if shape else [value]
            except ValueError as error:
                raise OptionError([f"{name} = {shown(value)}: does not have the shape {shape}"]) from error
            chosen |= dict(zip(names, spread, strict=True))
        return chosen

    def save(self, file: Path | str) -> Path:
        """Write a checkpoint, from which System.simulate(resume=file) continues with bitwise equal results.

        Return the path. Raises CheckpointError, which names the FMUs that cannot provide their state.
        """
        return self._running.save().write(Path(file))

    def branch(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        step: float | None = None,
        stop: float | None = None,
        algorithm: str | Algorithm | None = None,
        control: StepControl | Retry | None = None,
        record: Sequence[str] | None = None,
        every: int = 1,
    ) -> Simulation:
        """Return another simulation that continues from the present state; this one is not changed.

        Its events, peaks and audit are those from the present time on.

        Parameters
        ----------
        values : mapping of str to value, optional
            Values to set at its start, as by `set`.
        step, stop, algorithm, control
            As in RunOptions; by default those of this simulation.
        record : sequence of str, optional
            Variables to keep in memory, by default those of this simulation.
        every : int
            Macro steps from one recorded row to the next.

        Raises
        ------
        CheckpointError
            if an FMU cannot provide its state
        StructureError, OptionError
            for values that cannot be set, and for invalid options
        """
        options = RunOptions(
            start=self.time, step=step, stop=stop, algorithm=algorithm, control=control, record=record, every=every
        )
        names = self._series.variables
        if options.record is not None:
            names = tuple(scalar for name in options.record for scalar in scalars(self._system, name)[0])
        series = Series(names, every=options.every or 1)
        given, chosen = self._given.schedule, options.algorithm
        inner = branch(
            self._running,
            self._scalars(values or {}),
            schedule=replace(
                given,
                step=options.step or given.step,
                stop=given.stop if options.stop is None else options.stop,
                control=options.control or given.control,
            ),
            algorithm=algorithms.by_name(chosen) if isinstance(chosen, str) else chosen,
            observers=[*watching(self._system, self._plan), series],
        )
        return Simulation(inner, series, self._plan, self._starts)

    @property
    def _system(self) -> Structure:
        """The system, with the start values of the present run."""
        return self._given.system if self._opened is None else self._opened.system

    @property
    def outcome(self) -> Outcome:
        """Outcome of the run so far."""
        return Outcome(self._system, self._running.result, self._series, self._plan.panels)
