"""Systems from Python: put together element by element, or taken from an .ssp or the systems of dockfmu."""

from __future__ import annotations

import math
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from base.files import WriteError
from dockfmu import products
from dockfmu.declare import bundle, declaration, ports
from dockfmu.declare.assembly import assemble, build_fmu, make_component
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.plan import Plan
from dockfmu.declare.settings import Settings, scalars, set_value
from dockfmu.outcome import Outcome
from dockfmu.simulation import Simulation
from dockfmu.watch.watching import telling, watching
from fmus import catalogue
from master import algorithms
from master.algorithms import Algorithm
from master.checkpoint import read_checkpoint
from master.drivers.driver import Driver
from master.errors import FmuError, StructureError
from master.observers.events import Event
from master.observers.observer import Observer
from master.observers.outcomes import OutcomeRule
from master.observers.series import Series
from master.run.simulation import Simulation as Stepping
from master.step_control import Retry, StepControl
from master.system import TIMEOUT_S
from master.system import System as Structure
from ssp.archive import is_package

BUILD = Path("build")


def build(name: str, folder: Path | str = BUILD / "fmus", *, kind: str = "native", **options: Any) -> Path:
    """The .fmu of a component of dockfmu (`dockfmu list`), built where it is not there yet.

    `options` are those of the component. Raises CatalogueError or ParameterError for what does not exist.
    """
    component = make_component(name, "build", options)
    return build_fmu(component, Path(folder), lambda text: None, kind=kind)


def components() -> list[str]:
    """Names of the components of dockfmu."""
    return list(catalogue.names())


def systems() -> list[str]:
    """Names of the systems of dockfmu."""
    return list(declaration.names())


def load(source: str | Path, settings: Mapping[str, Any] | None = None, folder: Path | str = BUILD) -> System:
    """A system of dockfmu by its name, or from a file, .toml, .ssp or .ssp#VARIANT.ssd, with the plan of its run.

    `settings` are start values by full names, initial_conditions.NAME for a system by name. FMUs are built in `folder`
    where they are not there yet.
    """
    return System.load(source, settings or {}, Path(folder))


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
        self._notes: list[str] = []

    @classmethod
    def load(cls, source: str | Path, settings: Mapping[str, Any], folder: Path) -> Self:
        """See the function of the same name."""
        values = {name: v for name, v in settings.items() if not name.startswith(f"{declaration.CONDITIONS}.")}
        system = cls(str(source))
        if is_package(str(source)):
            unpacked = tempfile.TemporaryDirectory(prefix="dockfmu-")
            found = bundle.read_bundle(source, Path(unpacked.name))
            system.structure, system.plan, system.description, system._notes = found
            # simulations and outcomes look at its FMUs too
            weakref.finalize(system.structure, unpacked.cleanup)
            system.set(settings)
        else:
            conditions = {n.partition(".")[2]: v for n, v in settings.items() if n not in values}
            declared = declaration.read(str(source)).with_conditions(conditions)
            # a private copy: who loads or runs a system of that name later does not change this one
            made = tempfile.TemporaryDirectory(prefix="dockfmu-")
            fmus = Path(made.name) / declared.name
            system.structure, system.plan = assemble(declared, fmus, lambda text: None, Settings(values))
            system.description = declared.description
            weakref.finalize(system.structure, made.cleanup)
            with suppress(WriteError):
                products.publish(Path(made.name), folder / "fmus", "**/*.fmu")
        return system

    def __repr__(self) -> str:
        elements = ", ".join(self.structure.elements)
        return f"<System {self.name}: {elements}; {len(self.structure.connections)} connections>"

    @property
    def name(self) -> str:
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
        """An instance of an FMU with start values, arrays as lists. Raises StructureError for what does not fit.

        In a `process` of its own it may crash, or take longer than `timeout` seconds for a call: a failure like others.
        It makes `substeps` steps in a macro step, or one step in `every` macro steps.
        """
        self.structure.add(name, Path(fmu), process=process, timeout=timeout, substeps=substeps, every=every)
        self.set({f"{name}.{variable}": value for variable, value in (start or {}).items()})

    def connect(self, output: str, input: str, **options: Any) -> None:
        """`output` to `input`, both "element.variable", scalars or whole arrays.

        `options`: factor, offset; convert_units=False where factor and offset are all there is; mean=True for outputs
        that are means over a step, which no line goes through.
        Raises StructureError for variables that do not exist or differ in shape.
        """
        sources, given = scalars(self.structure, output)
        targets, wanted = scalars(self.structure, input)
        if given != wanted:
            raise StructureError([f"{output} of shape {given} cannot be connected to {input} of shape {wanted}"])
        for source, target in zip(
            map(self.structure.resolve, sources), map(self.structure.resolve, targets), strict=True
        ):
            self.structure.connect(source[0], source[1].name, target[0], target[1].name, **options)

    def join(self, port: str, other: str) -> None:
        """Two ports, both "element.port": all outputs of each to the inputs of the same name of the other."""
        ports.join(self.structure, port, other)

    def set(self, values: Mapping[str, Any]) -> None:
        """Start values by full names: numbers, truth values, names of an enumeration's items; lists for arrays."""
        for name, value in values.items():
            set_value(self.structure, name, value)

    def variables(self, pattern: str = "*", causality: Sequence[str] = ("output",)) -> list[str]:
        """Full names of variables of the given causalities that fit `pattern`, in which only `*` is special."""
        return self.structure.select(pattern, causality)

    def watch(self, name: str, signal: str, when: str = "rise", level: float = 0.0) -> None:
        """An event of runs: `signal` rises, falls, goes above or below `level`, or changes."""
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
        """As an .ssp with its FMUs and start values, which `dockfmu run` and other tools take."""
        return bundle.write_bundle(self.structure, self.plan, self.description, Path(file))

    def simulate(
        self,
        *,
        step: float | None = None,
        stop: float = math.inf,
        start: float = 0.0,
        algorithm: str | Algorithm | None = None,
        control: StepControl | Retry | None = None,
        resume: Path | str | None = None,
        force: bool = False,
        threads: int = 1,
        record: Sequence[str] | None = None,
        every: int = 1,
        drivers: Sequence[Driver] = (),
        observers: Sequence[Observer] = (),
    ) -> Simulation:
        """A simulation to step by hand, in macro steps of `step`; step and algorithm are those of the plan by default.

        With a StepControl the steps vary, and `step` is the first of them; a Retry makes steps that an FMU discards of
        shorter ones. `resume` is a checkpoint to go on from, instead of `start`; one of another system, or of other
        values, raises CheckpointError that lists the differences, unless `force` says that they do not matter. On
        several `threads` elements that do not need each other's newest values step side by side.

        `record` are the variables that are kept in memory after every `every` steps (scalars and whole arrays; without
        it all outputs).
        """
        check_base_motion(self.structure)
        names = None if record is None else [scalar for name in record for scalar in scalars(self.structure, name)[0]]
        series = Series(names, every=every)
        chosen = self.plan.algorithm if algorithm is None else algorithm
        inner = Stepping(
            self.structure,
            step=self.plan.step if step is None else step,
            start=start,
            stop=stop,
            algorithm=algorithms.by_name(chosen) if isinstance(chosen, str) else chosen,
            control=control,
            resume=None if resume is None else read_checkpoint(Path(resume)),
            force=force,
            threads=threads,
            observers=[*watching(self.structure, self.plan), series, *observers],
            drivers=drivers,
            stop_when=self.plan.stop_when,
        )
        inner.result.warnings += self._notes
        return Simulation(inner, series, lambda: telling(self.plan))

    def run(self, *, stop: float | None = None, check: bool = True, **options: Any) -> Outcome:
        """Run to `stop` or the stop signal, those of the plan by default; `options` as for simulate.

        Raises FmuError where an FMU fails, StructureError where the system is put together wrongly. With check=False a
        failure after the start comes back in the outcome, with what was recorded until then.
        """
        simulation = self.simulate(stop=self.plan.stop if stop is None else stop, **options)
        try:
            with simulation:
                simulation.advance()
        except FmuError:
            if check:
                raise
        return simulation.outcome
