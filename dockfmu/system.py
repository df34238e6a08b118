"""Systems from Python: put together element by element, or taken from an .ssp or the systems of dockfmu."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, Unpack

from base.files import WriteError
from base.names import did_you_mean, file_name
from dockfmu.declare import bundle, declaration, ports
from dockfmu.declare.assembly import build_fmu, make_component, silent
from dockfmu.declare.declaration import CONDITIONS
from dockfmu.declare.plan import Plan
from dockfmu.declare.settings import Settings, scalars, set_value
from dockfmu.options import OptionError, RunChanges, RunOptions
from dockfmu.outcome import Outcome
from dockfmu.prepare import prepare
from dockfmu.products import PrivateFolder, Products
from dockfmu.record import RecordedRun, check_writable, record, recording_observers
from dockfmu.simulation import Simulation
from dockfmu.swap.fit import swap
from dockfmu.watch.watching import telling
from fmus import catalogue
from master.drivers.driver import Driver
from master.errors import FmuError, StructureError
from master.observers.events import Event
from master.observers.observer import Observer
from master.observers.outcomes import OutcomeRule
from master.observers.series import Series
from master.system import TIMEOUT_S, Structure
from ssp.archive import is_package
from ssp.read import read_parameter_set

DEFAULTS = RunOptions()

BUILD = Path("build")


def build(
    name: str,
    folder: Path | str = BUILD / "fmus",
    *,
    kind: Literal["native", "python"] = "native",
    options: Mapping[str, object] | None = None,
) -> Path:
    """Build the .fmu of a component of dockfmu, unless the folder has it already, and return its path.

    Parameters
    ----------
    name : name of the component (see `components`)
    folder : folder of the .fmu
    kind : "native" for machine code, "python" for an FMU that runs the component in Python
    options : options of the component, such as {"ports": 2} for "Spacecraft"

    Raises
    ------
    CatalogueError
        for an unknown component, with similar names
    ParameterError
        for options that the component does not have
    """
    component = make_component(name, "build", dict(options or {}))
    return build_fmu(component, Path(folder), silent, kind=kind)


def components() -> list[str]:
    """Return the names of the components of dockfmu."""
    return list(catalogue.names())


def systems() -> list[str]:
    """Return the names of the systems of dockfmu."""
    return list(declaration.names())


def load(
    source: str | Path,
    settings: Mapping[str, Any] | None = None,
    folder: Path | str = BUILD,
    *,
    parameters: Sequence[Path | str] = (),
    progress: Callable[[str], None] = silent,
) -> System:
    """Return a system of dockfmu by its name, or from a file, .toml, .ssp or .ssp#VARIANT.ssd, with its plan.

    `settings` are start values by full names, initial_conditions.NAME for a system by name; they go before those of the
    .ssv files `parameters`. FMUs are built in `folder` where they are not there yet; `progress` is told of it.
    """
    system = System.load(source, settings or {}, parameters=parameters, progress=progress)
    if system._products is not None:
        with suppress(WriteError):
            system._products.publish(Path(folder))
    return system


class System:
    """FMUs of any origin, and what is connected with what.

    >>> pair = System("pair")                                                                    # doctest: +SKIP
    >>> pair.add("left", build("oscillator"), {"parameters.initial_position": 0.1})
    >>> pair.add("right", build("oscillator"))
    >>> pair.connect("left.position", "right.force", factor=5.0, convert_units=False)
    >>> outcome = pair.run(step=1e-3, stop=10.0)
    >>> outcome.time, outcome["right.position"]
    """

    def __init__(self, name: str) -> None:
        self.structure = Structure(name)
        self.plan = Plan()
        self.description = ""
        self.notes: list[str] = []
        """Sentences on what its runs go without; they become warnings of each."""
        self._given: dict[str, Any] = {}
        """Settings with which it was loaded, for the report."""
        self._products: Products | None = None

    @classmethod
    def load(
        cls,
        source: str | Path,
        settings: Mapping[str, Any] | None = None,
        *,
        parameters: Sequence[Path | str] = (),
        progress: Callable[[str], None] = silent,
    ) -> Self:
        """Return the system of the function `load`, whose FMUs are in a private folder.

        Who loads, builds or runs a system of that name later does not change this one. A system by name is written as
        an .ssp first and read from there, as any other.

        Raises
        ------
        DeclarationError, ParameterError, CatalogueError, StructureError, SspError, ArchiveError, DescriptionError
            naming file, element, variable and value
        """
        private = PrivateFolder()
        chosen, conditions = _split(settings or {}, parameters)
        system = cls(str(source))
        system._given = dict(settings or {})
        if is_package(str(source)):
            if conditions:
                raise OptionError(
                    [
                        f"{CONDITIONS}.{next(iter(conditions))}: an .ssp has start states instead, such as "
                        "ELEMENT.parameters.initial.position; initial conditions belong to a system by name"
                    ]
                )
            found = bundle.read_bundle(source, private.path)
            chosen.apply(found[0])
        else:
            declared = declaration.read(str(source))
            progress(f"{source}: preparing its FMUs")
            made = bundle.make(declared.with_conditions(conditions), private.path / "made", chosen, progress)
            changed = bool(chosen.values or chosen.sets or conditions)
            system._products = Products(declared.name, declared.origin, made.parent, changed)
            # apart from what was made: packages within a package are unpacked too
            found = bundle.read_bundle(made, private.path / "package")
        system.structure, system.plan, system.description, system.notes = found
        # simulations and outcomes look at its FMUs too
        system.structure.keeps.append(private)
        system.plan.check(system.structure)
        return system

    def __repr__(self) -> str:
        elements = ", ".join(self.structure.elements)
        return f"<System {self.name}: {elements}; {len(self.structure.connections)} connections>"

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.structure.name

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
        """Add an instance of an FMU with start values, arrays as lists. Raises StructureError for what does not fit.

        In a `process` of its own it may crash, or take longer than `timeout` seconds for a call: a failure like others.
        It makes `substeps` steps in a macro step, or one step in `every` macro steps.
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
        """Connect `output` to `input`, both "element.variable", scalars or whole arrays.

        The input gets `factor` times the output, in its own unit, plus `offset`; with convert_units=False factor and
        offset are all there is. `mean` is for outputs that are means over a step, through which no line is drawn.
        Raises StructureError for variables that do not exist or differ in shape.
        """
        sources, given = scalars(self.structure, output)
        targets, wanted = scalars(self.structure, input)
        if given != wanted:
            raise StructureError([f"{output} of shape {given} cannot be connected to {input} of shape {wanted}"])
        for source, target in zip(
            map(self.structure.resolve, sources), map(self.structure.resolve, targets), strict=True
        ):
            self.structure.connect(
                source[0], source[1].name, target[0], target[1].name,
                factor=factor, offset=offset, convert_units=convert_units, mean=mean,
            )  # fmt: skip

    def join(self, port: str, other: str) -> None:
        """Join two ports, "element.port": connect the outputs of each to the inputs of the same name of the other."""
        ports.join(self.structure, port, other)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set start values by full names: numbers, truth values, names of an enumeration's items; lists for arrays."""
        for name, value in values.items():
            set_value(self.structure, name, value)

    def swap(self, element: str, fmu: Path | str) -> list[str]:
        """Put another FMU in the place of an element; its start values stay where the new FMU has the variable.

        Return a sentence on each start value and output that is lost, and what runs go without; they become warnings
        of each run. Raises StructureError that lists every variable of the connected ports that the FMU lacks.
        """
        lost, left_out = swap(self.structure, element, Path(fmu))
        self.plan, unwatched = self.plan.without(lost)
        self.notes += left_out + unwatched
        return left_out + unwatched

    def isolate(self, element: str, timeout: float | None = None) -> None:
        """Run the FMU of an element in a process of its own, where it may crash or take too long for a call.

        `timeout` is the longest call in s, as before by default. Raises StructureError for an unknown element.
        """
        if element not in self.structure.elements:
            hint = did_you_mean(element, self.structure.elements)
            raise StructureError(
                [f"{element}: the system {self.name} has {', '.join(self.structure.elements)}, no {element!r}{hint}"]
            )
        chosen = self.structure.elements[element]
        chosen.process, chosen.timeout = True, timeout or chosen.timeout

    def variables(self, pattern: str = "*", causality: Sequence[str] = ("output",)) -> list[str]:
        """Return the full names of variables of these causalities that fit `pattern`, where only `*` is special."""
        return self.structure.select(pattern, causality)

    def watch(self, name: str, signal: str, when: str = "rise", level: float = 0.0) -> None:
        """Declare an event of runs: `signal` rises, falls, goes above or below `level`, or changes."""
        event = Event(signal, when, level)  # type: ignore[arg-type]
        self.plan = replace(self.plan, events={**self.plan.events, name: event})

    def tell_outcome(
        self,
        signal: str,
        success: Sequence[str],
        *,
        names: Mapping[int, str] | None = None,
        undecided: str = "none",
        interim: Mapping[str, str] | None = None,
    ) -> None:
        """Declare by which output the system tells the outcome of a run, and which outcomes are its success.

        `signal` is of type Enumeration, whose items in lower case are the outcomes, or its values have `names`. While
        it says `undecided`, the first Boolean output of `interim`, {outcome: output}, that is true gives the outcome.
        """
        pairs = tuple((names or {}).items()), tuple((interim or {}).items())
        self.plan = replace(self.plan, outcome=OutcomeRule(signal, tuple(success), pairs[0], undecided, pairs[1]))

    def write(self, file: Path | str) -> Path:
        """Write an .ssp with its FMUs and start values, which `dockfmu run` and other tools take."""
        return bundle.write_bundle(self.structure, self.plan, self.description, Path(file))

    def simulate(
        self,
        options: RunOptions = DEFAULTS,
        *,
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
        **changes: Unpack[RunChanges],
    ) -> Simulation:
        """Return a simulation to step by hand; `changes` are fields of RunOptions, laid over `options`.

        Without a stop time it has no end. Raises OptionError or StructureError for what cannot be run, CheckpointError
        for a checkpoint of another system or of other values, unless `force` says that they do not matter.
        """
        chosen = replace(options, **changes)
        if chosen.around is not None:
            raise OptionError(["around is for a folder of results (System.record); in memory, choose `every`"])
        names = None
        if chosen.record is not None:
            names = [scalar for name in chosen.record for scalar in scalars(self.structure, name)[0]]
        series = Series(names, every=chosen.every or 1)
        inner = prepare(self.structure, self.plan, chosen, math.inf, [series, *observers], drivers, self.notes)
        return Simulation(inner, series, lambda: telling(self.plan))

    def run(
        self,
        options: RunOptions = DEFAULTS,
        *,
        check: bool = True,
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
        **changes: Unpack[RunChanges],
    ) -> Outcome:
        """Run to the stop time or the stop signal, and return what was recorded in memory.

        `changes` are fields of RunOptions, laid over `options`. Raises what `simulate` raises, and FmuError where an
        FMU fails; with check=False a failure after the start comes back in the outcome, with what was recorded until
        then.
        """
        chosen = replace(options, **changes)
        if chosen.stop is None:
            chosen = replace(chosen, stop=self.plan.stop)
        simulation = self.simulate(chosen, drivers=drivers, observers=observers)
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
        progress: Callable[[str], None] = silent,
        **changes: Unpack[RunChanges],
    ) -> RecordedRun:
        """Run into a folder of results, as `dockfmu run` does, and return its summary.

        The folder, build/results/NAME by default, gets `results.h5`, `events.json`, `summary.json`, and with `report`
        also `report.html` and plots, of failed runs too. Those of an earlier run are removed, but for the recording
        where this run continues from a checkpoint in that folder. `progress` is told what is going on; `command` is
        what was typed, for the report. Raises what `simulate` raises before anything has run, LockedError for a folder
        in which another run writes.
        """
        chosen = replace(options, **changes)
        base, products = Path(build), self._products
        if folder is None:
            place = base / "results" / (file_name(self.name) if products is None else products.name_in(base))
        else:
            place = Path(folder)
            check_writable(place)
        attributes = {
            "description": self.description,
            "command": command,
            "changed": json.dumps({name: str(value) for name, value in self._given.items()}),
        }
        # whatever is refused is refused before a folder is made
        writers = recording_observers(place, self.structure, self.plan, chosen, attributes)
        run = prepare(self.structure, self.plan, chosen, self.plan.stop, writers, notes=self.notes)
        if products is None:
            publish = None
        else:
            publish = partial(products.publish, base, place if products.changed and folder is not None else None)
        return record(run, place, chosen, publish=publish, required=folder is None, report=report, progress=progress)


def _split(settings: Mapping[str, Any], parameters: Sequence[Path | str]) -> tuple[Settings, dict[str, Any]]:
    """Return (values for elements, values for initial conditions)."""
    prefix = f"{CONDITIONS}."
    conditions = {name[len(prefix) :]: value for name, value in settings.items() if name.startswith(prefix)}
    values = {name: value for name, value in settings.items() if not name.startswith(prefix)}
    sets = []
    for file in map(Path, parameters):
        try:
            # messages say in which file a value stands
            sets.append(replace(read_parameter_set(file.read_bytes(), str(file)), name=str(file)))
        except OSError as error:
            raise OptionError([f"parameters {file}: {error.strerror}"]) from error
    return Settings(values, tuple(sets)), conditions
