"""Systems in Python: built element by element, or loaded from an .ssp or from the systems of dockfmu."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, Unpack

from dockfmu.base.file_names import file_name
from dockfmu.base.messages import shown
from dockfmu.base.numbers import is_positive
from dockfmu.declare import ports
from dockfmu.declare.conditions.initial_conditions import InitialConditions
from dockfmu.declare.packages import bundle
from dockfmu.declare.packages.bundle import silent
from dockfmu.declare.settings import scalars, set_value
from dockfmu.errors import OptionError
from dockfmu.loading import Content, load_content
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import FmuError, StructureError
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.loads import LoadLimit, LoadRule
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.outcomes import OutcomeRule
from dockfmu.master.observers.series import Series
from dockfmu.master.system import TIMEOUT_S, Structure
from dockfmu.options import RunChanges, RunOptions
from dockfmu.outcome import Outcome
from dockfmu.prepare import apply_options, prepare
from dockfmu.record import RecordedRun, RunRecord, check_writable, driven_inputs, record
from dockfmu.report.files import BUILD
from dockfmu.simulation import Simulation
from dockfmu.swap.fit import swap
from dockfmu.view.scenes import scenes_of
from dockfmu.watch.given_conditions import GivenConditions, given
from dockfmu.watch.overlapping_start import OverlappingStart
from dockfmu.watch.progress_messages import ProgressMessages

DEFAULTS = RunOptions()


class System:
    """A system: instances of FMUs of any origin, their connections and start values, and the plan of its runs.

    Attributes
    ----------
    structure : Structure
        Elements, connections and start values.
    plan : Plan
        Step, stop time, algorithm, events, audit and outcome of its runs.
    description : str
        One paragraph for reports.
    notes : list of str
        Sentences on what its runs lack; each run reports them as warnings.

    Examples
    --------
    >>> pair = System("pair")                                                                    # doctest: +SKIP
    >>> pair.add("left", build("Oscillator"), {"parameters.initial_position": 0.1})
    >>> pair.add("right", build("Oscillator"))
    >>> pair.connect("left.position", "right.force", factor=5.0, convert_units=False)
    >>> outcome = pair.run(step=1e-3, stop=10.0)
    >>> outcome.time, outcome["right.position"]
    """

    def __init__(self, name: str, content: Content | None = None) -> None:
        """Make an empty system, or one of the content that `load` has read."""
        content = content or Content(Structure(name))
        self.structure, self.plan, self.description = content.structure, content.plan, content.description
        self.notes = list(content.notes)
        self._given, self._products, self._starts = content.given, content.products, content.starts

    @classmethod
    def load(
        cls,
        source: str | Path,
        settings: Mapping[str, Any] | None = None,
        *,
        parameters: Sequence[Path | str] = (),
        progress: Callable[[str], None] = silent,
    ) -> Self:
        """Load a system as the function `load` does, with its FMUs in a private folder.

        Systems of the same name that are loaded or built later do not change this one. A declared system is first
        written as an .ssp and then read from it, like any other.

        Raises
        ------
        DeclarationError, ParameterError, CatalogueError, StructureError, SspError, ArchiveError, DescriptionError
            with messages that name file, element, variable and value
        """
        return cls(str(source), load_content(str(source), settings or {}, parameters, progress))

    def __repr__(self) -> str:
        elements = ", ".join(self.structure.elements)
        return f"<System {self.name}: {elements}; {len(self.structure.connections)} connections>"

    def _repr_html_(self) -> str:
        from dockfmu.report.notebook import system_html

        return system_html(self.structure, self.description)

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.structure.name

    @property
    def conditions(self) -> InitialConditions | None:
        """Initial conditions of a declared system, as declared and set so far; None for a system without them."""
        return self._starts.conditions

    def problems(self, values: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with values for `with_values`, each for itself: names, types, units and ranges.

        That values fit together, and that craft can be placed with them, is not looked at.
        """
        return self._starts.problems(self.structure, values)

    def with_values(self, values: Mapping[str, Any]) -> System:
        """Return a copy with other start values, as `Simulation.reset` sets them.

        Parameters
        ----------
        values : mapping of str to value
            Start values by full names and, for a declared system, `initial_conditions.NAME`. The craft of a declared
            system are placed anew.

        Raises
        ------
        StructureError, DeclarationError
            for values that do not fit
        """
        chosen = self._starts.of(self.structure, values)
        plan = self.plan
        if chosen.approach_energy is not None:
            plan = replace(plan, approach_energy=chosen.approach_energy)
        if chosen.approach_momentum is not None:
            plan = replace(plan, approach_momentum=chosen.approach_momentum)
        given = {**self._given, **values}
        content = Content(chosen.structure, plan, self.description, self.notes, given, None, chosen.starts)
        return type(self)(self.name, content)

    def add(
        self,
        name: str,
        fmu: Path | str,
        start: Mapping[str, Any] | None = None,
        *,
        process: bool = False,
        timeout: float = TIMEOUT_S,
        substeps: int = 1,
        every: int = 1,
    ) -> None:
        """Add an element: an instance of an FMU.

        Parameters
        ----------
        name : str
            Name of the element.
        fmu : Path or str
            Co-simulation FMU of FMI 2.0 or 3.0.
        start : mapping of str to value, optional
            Start values by the names of the FMU's variables; lists for arrays.
        process : bool
            Run the FMU in a separate process, so that a crash or a call that never returns fails only the run.
        timeout : float
            Time limit of a call to an FMU in a separate process, s.
        substeps, every : int
            The instance takes `substeps` steps per macro step, or one step per `every` macro steps; one of them is 1.

        Raises
        ------
        StructureError
            for a name that is taken, and for start values that do not fit the variables
        """
        self.structure.add(name, Path(fmu), process=process, timeout=timeout, substeps=substeps, every=every)
        self.set({f"{name}.{variable}": value for variable, value in (start or {}).items()})

    def connect(
        self,
        output: str,
        input: str,
        *,
        factor: float = 1.0,
        offset: float = 0.0,
        convert_units: bool = True,
        mean: bool = False,
    ) -> None:
        """Connect an output to an input, scalars or whole arrays.

        Parameters
        ----------
        output, input : str
            Full names, "element.variable".
        factor, offset : float
            The input is set to factor * output + offset, after the output is converted to the unit of the input.
        convert_units : bool
            Whether to convert units.
        mean : bool
            The output is a mean over its step, such as an impulse divided by the step; algorithms do not extrapolate
            it.

        Raises
        ------
        StructureError
            for variables that do not exist, with similar names, or that differ in shape
        """
        sources, output_shape = scalars(self.structure, output)
        targets, input_shape = scalars(self.structure, input)
        if output_shape != input_shape:
            raise StructureError(
                [f"{output} of shape {output_shape} cannot be connected to {input} of shape {input_shape}"]
            )
        for source, target in zip(
            map(self.structure.resolve, sources), map(self.structure.resolve, targets), strict=True
        ):
            self.structure.connect(
                source[0],
                source[1].name,
                target[0],
                target[1].name,
                factor=factor,
                offset=offset,
                convert_units=convert_units,
                mean=mean,
            )

    def join(self, port: str, other: str) -> None:
        """Join two ports: connect the outputs of each to the inputs of the same name of the other.

        Parameters
        ----------
        port, other : str
            Full names, "element.port".

        Raises
        ------
        StructureError
            for ports that do not exist, or that have nothing to exchange
        """
        ports.join(self.structure, port, other)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set start values by full names.

        Parameters
        ----------
        values : mapping of str to value
            Numbers in the unit of the variable, strings with a unit such as "20t", Booleans, names of enumeration
            items; lists for arrays.

        Raises
        ------
        StructureError
            for variables that do not exist, with similar names, and for values of another type or shape
        """
        for name, value in values.items():
            set_value(self.structure, name, value)

    def swap(self, element: str, fmu: Path | str) -> list[str]:
        """Replace the FMU of an element; start values are kept if the new FMU has the variable.

        Parameters
        ----------
        element : str
            Name of the element.
        fmu : Path or str
            The new FMU.

        Returns
        -------
        list of str
            A sentence on each start value and output that is lost, and on its effect; each run reports them as
            warnings.

        Raises
        ------
        StructureError
            for an unknown element, and for an FMU that lacks variables of the connected ports: the message lists them
        """
        named = self.plan.naming_outcomes(self.structure)
        lost, left_out = swap(self.structure, element, Path(fmu))
        self.plan, unwatched = named.without(lost)
        self.notes += left_out + unwatched
        return left_out + unwatched

    def isolate(self, element: str, timeout: float | None = None, *, fresh: bool = False) -> None:
        """Run the FMU of an element in a separate process: a crash or a call that never returns fails only the run.

        Parameters
        ----------
        element : str
            Name of the element.
        timeout : float, optional
            Time limit of a call, s; unchanged by default.
        fresh : bool
            Whether each run of a simulation that is reset begins in a new process, for FMUs that keep data from one
            run to the next.

        Raises
        ------
        StructureError, OptionError
            for an unknown element, and for a time limit that is not positive
        """
        chosen = self.structure.element(element)
        if timeout is not None and not is_positive(timeout):
            raise OptionError([f"timeout of {element} must be a positive, finite time in s, not {shown(timeout)}"])
        chosen.process, chosen.timeout = True, chosen.timeout if timeout is None else float(timeout)
        chosen.fresh = chosen.fresh or fresh

    def variables(self, pattern: str = "*", causality: Sequence[str] = ("output",)) -> list[str]:
        """Return the full names of variables.

        Parameters
        ----------
        pattern : str
            `*` matches any text, no other character is special; the name of a group or array selects all its members.
        causality : sequence of str
            FMI causalities: "output", "input", "parameter", "local", ...
        """
        return self.structure.select(pattern, causality)

    def watch(self, name: str, signal: str, when: str = "rise", level: float = 0.0) -> None:
        """Declare an event of the runs of this system.

        Parameters
        ----------
        name : str
            Name of the event in results.
        signal : str
            Full name of an output.
        when : {"rise", "fall", "above", "below", "equals", "change"}
            Condition on the signal; see `Event`.
        level : float
            Level of "above", "below" and "equals", in the unit of the signal.
        """
        event = Event(signal, when, level)  # type: ignore[arg-type]
        self.plan = replace(self.plan, events={**self.plan.events, name: event})

    def declare_outcome(
        self,
        signal: str,
        success: Sequence[str],
        *,
        names: Mapping[int, str] | None = None,
        undecided: str = "none",
        interim: Mapping[str, str] | None = None,
    ) -> None:
        """Declare which output reports the outcome of a run, and which outcomes are successes.

        Parameters
        ----------
        signal : str
            Full name of an output of type Enumeration, Integer or Boolean.
        success : sequence of str
            Outcomes that are successes.
        names : mapping of int to str, optional
            Outcome of each value; by default the items of the enumeration in lower case.
        undecided : str
            Outcome that is not yet final.
        interim : mapping of str to str, optional
            Outcome -> Boolean output: the first that is true gives the outcome while the signal is undecided.
        """
        named, outputs = tuple((names or {}).items()), tuple((interim or {}).items())
        self.plan = replace(self.plan, outcome=OutcomeRule(signal, tuple(success), named, undecided, outputs))

    def declare_audit(
        self,
        elements: Sequence[str],
        *,
        supplied: Sequence[str] = (),
        limits: Mapping[str, float | Literal[False]] | None = None,
    ) -> None:
        """Declare the elements whose momentum and energy are balanced in every run.

        Parameters
        ----------
        elements : sequence of str
            Elements with `audit` outputs, such as `audit.momentum` and `audit.kinetic_energy`; the passive craft last.
        supplied : sequence of str
            Outputs "element.variable" with the work done on them from outside, J.
        limits : mapping of str to float or False, optional
            Limits of lines of the audit that differ from the usual ones; False for a line that does not hold for this
            system, such as "linear_momentum_drift" if a craft is held from outside.

        Raises
        ------
        StructureError, DeclarationError
            for elements without audit outputs, outputs that do not exist, and unknown lines
        """
        plan = replace(self.plan, audited=tuple(elements), supplied=tuple(supplied), limits=dict(limits or {}))
        plan.check(self.structure)
        for name in supplied:
            self.structure.resolve(name)
        silent_ones = [
            name for name in elements
            if not any(variable.startswith("audit.") for variable in self.structure.description(name).variables)
        ]  # fmt: skip
        if silent_ones:
            raise StructureError([f"audit: {name} has no `audit` outputs" for name in silent_ones])
        self.plan = plan

    def limit_loads(self, element: str, limits: Mapping[str, LoadLimit], *, decides: bool = False) -> None:
        """Declare limits of the loads at the interface of a mechanism.

        Parameters
        ----------
        element : str
            Element with the outputs `load.compression`, `load.tension`, ...
        limits : mapping of str to LoadLimit
            Limits of the loads by their names, such as "compression".
        decides : bool
            Whether a run in which a limit is exceeded is no success.

        Raises
        ------
        StructureError
            if the element does not have these loads
        """
        rule = LoadRule(element, dict(limits), decides)
        if problems := rule.problems(self.structure):
            raise StructureError([f"loads: {problem}" for problem in problems])
        self.plan = replace(self.plan, loads=rule)

    def publish(self, folder: Path | str) -> None:
        """Write the FMUs and the .ssp of a declared system to a build folder. Raises WriteError."""
        if self._products is not None:
            self._products.publish(Path(folder))

    def write(self, file: Path | str) -> Path:
        """Write an .ssp with its FMUs, start values and plan, for `dockfmu run` and other tools; return its path.

        Folders that do not exist are created. Raises OptionError for a name that does not end in .ssp, WriteError for a
        file that cannot be written.
        """
        return bundle.write_bundle(self.structure, self.plan, self.description, Path(file))

    def simulate(
        self,
        options: RunOptions = DEFAULTS,
        *,
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
        **changes: Unpack[RunChanges],
    ) -> Simulation:
        """Return a simulation to step by hand; without a stop time it has no end.

        Parameters
        ----------
        options : RunOptions
            Options of the run.
        drivers : sequence of Driver
            Drivers that set inputs.
        observers : sequence of Observer
            Observers, called after those of the plan.
        **changes
            Fields of RunOptions, which take precedence over `options`.

        Raises
        ------
        OptionError, StructureError
            for options and systems that cannot be run
        CheckpointError
            for a checkpoint of another system or of other values, unless `force` is set
        """
        chosen = replace(options, **changes)
        if chosen.around is not None:
            raise OptionError(["around applies to a folder of results (System.record); in memory, use `every`"])
        if chosen.live.view is not None:
            raise OptionError(["view needs a folder of results (System.record)"])
        names = None
        if chosen.record is not None:
            names = [scalar for name in chosen.record for scalar in scalars(self.structure, name)[0]]
        series = Series(names, every=chosen.every or 1)
        watched = [series, *self._at_the_start(), *observers]
        plan = apply_options(self.plan, chosen)
        inner = prepare(self.structure, plan, chosen, math.inf, watched, drivers, self.notes)
        return Simulation(inner, series, self.plan, self._starts)

    def _at_the_start(self) -> list[Observer]:
        """Return what watches the start of a run of craft that are placed."""
        start = self.conditions
        return [] if start is None else [OverlappingStart(start), GivenConditions(start)]

    def run(
        self,
        options: RunOptions = DEFAULTS,
        *,
        check: bool = True,
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
        progress: Callable[[str], None] = silent,
        **changes: Unpack[RunChanges],
    ) -> Outcome:
        """Run to the stop time or the stop signal, and return the outcome with its recording in memory.

        Parameters
        ----------
        options : RunOptions
            Options of the run.
        check : bool
            Whether a failure of an FMU raises FmuError; otherwise the outcome holds the failure, and the recording up
            to it.
        drivers : sequence of Driver
            Drivers that set inputs.
        observers : sequence of Observer
            Observers, called after those of the plan.
        progress : callable
            Called with messages on the state of the run, about once a second.
        **changes
            Fields of RunOptions, which take precedence over `options`.

        Raises
        ------
        FmuError
            if an FMU fails and `check` is true
        OptionError, StructureError, CheckpointError
            as `simulate` does
        """
        chosen = replace(options, **changes)
        if chosen.stop is None:
            chosen = replace(chosen, stop=self.plan.stop)
        told = [] if progress is silent else [ProgressMessages(progress)]
        simulation = self.simulate(chosen, drivers=drivers, observers=[*observers, *told])
        progress(f"{self.name}: loading {len(self.structure.elements)} FMUs")
        try:
            with simulation:
                simulation.advance()
        except FmuError:
            if check:
                raise
        return simulation.outcome

    def record(
        self,
        folder: Path | str | None = None,
        options: RunOptions = DEFAULTS,
        *,
        build: Path | str = BUILD,
        report: bool = True,
        command: str = "",
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
        progress: Callable[[str], None] = silent,
        **changes: Unpack[RunChanges],
    ) -> RecordedRun:
        """Run and record in a folder of results, as `dockfmu run` does.

        The folder receives `results.h5`, `events.json`, `summary.json` and, with `report`, `report.html`, also if the
        run fails. Files of an earlier run are removed, except its recording if this run continues from a checkpoint in
        that folder.

        Parameters
        ----------
        folder : Path or str, optional
            Folder of results, `build`/results/NAME by default.
        options : RunOptions
            Options of the run.
        build : Path or str
            Build folder, which receives the FMUs and the .ssp of a declared system.
        report : bool
            Whether to write the report.
        command : str
            Command line as the user typed it, for the report.
        drivers : sequence of Driver
            Drivers that set inputs.
        observers : sequence of Observer
            Observers, called after those of the plan and those that write the results.
        progress : callable
            Called with messages about lengthy operations.
        **changes
            Fields of RunOptions, which take precedence over `options`.

        Raises
        ------
        OptionError, StructureError, CheckpointError
            as `simulate` does, before anything runs
        LockedError
            for a folder that another run is writing
        WriteError, DockfmuError
            for a folder that cannot be written
        """
        chosen = replace(options, **changes)
        if chosen.record:
            raise OptionError(["record chooses what is kept in memory; a folder of results holds all outputs"])
        for option, place_given in (("folder", folder), ("build", build)):
            if place_given is not None and not str(place_given):
                raise OptionError([f"{option}: the path is empty; name a folder, `.` for the current folder"])
        base, products = Path(build), self._products
        if folder is None:
            place = base / "results" / (file_name(self.name) if products is None else products.name_in(base))
        else:
            place = Path(folder)
            check_writable(place)
        # refuse what is invalid before a folder is made
        driven = [name for driver in drivers for name in driver.inputs]
        scenes = scenes_of(self.structure, [*driven_inputs(self.structure, chosen.live), *driven], self.plan.scene)
        about = RunRecord.of(
            place,
            self.structure,
            apply_options(self.plan, chosen),
            scenes,
            description=self.description,
            command=command,
            changed=json.dumps({name: str(value) for name, value in self._given.items()}),
            **({} if self.conditions is None else {"conditions": json.dumps(given(self.conditions))}),
        )
        operators, watchers = about.live_view(chosen.live, progress)
        notes = [*self.notes, *scenes.notes]
        run = prepare(
            self.structure,
            about.plan,
            chosen,
            self.plan.stop,
            [*about.observers(chosen), *watchers, *self._at_the_start(), *observers],
            [*operators, *drivers],
            notes,
        )
        if products is None:
            publish = None
        else:
            publish = partial(products.publish, base, place if products.changed and folder is not None else None)
        return record(run, place, chosen, publish=publish, required=folder is None, report=report, progress=progress)
