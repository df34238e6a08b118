"""The ports that an FMU needs to replace an element, as data, from declarations alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dockfmu.base.names import subscripts
from dockfmu.base.platforms import this_platform
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.declare import declaration
from dockfmu.declare.packages.unbuilt import described, opened, split_name
from dockfmu.declare.plan import AUDIT_OUTPUTS, Plan
from dockfmu.fmus import catalogue
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import Description, Variable, read_description
from dockfmu.master.system import Structure
from dockfmu.swap.fit import is_optional, swap


@dataclass(frozen=True)
class Signal:
    """An input or output, with an array as one signal.

    `shape` is () for a scalar. `partners` are the variables to which it is connected, "element.variable" without
    subscripts; `uses` are its other uses in the run.
    """

    name: str
    variables: tuple[Variable, ...]
    shape: tuple[int, ...] = ()
    partners: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()

    @property
    def first(self) -> Variable:
        """The scalar itself, or the first element of the array."""
        return self.variables[0]


@dataclass(frozen=True)
class Interface:
    """The ports of an element of a system, or of a component alone, of which all inputs and outputs are `needed`.

    `optional` are those that are not connected, and inputs that say of themselves that they are optional.
    """

    name: str
    title: str
    description: Description
    needed: tuple[Signal, ...]
    optional: tuple[Signal, ...] = ()


@contextmanager
def place(name: str) -> Iterator[tuple[Structure, Plan, str]]:
    """Yield (system, plan, element) of "SYSTEM.ELEMENT". Raises StructureError for an element that does not exist."""
    origin, dot, element = split_name(name)
    if not dot:
        raise StructureError([f"{name}: must be SYSTEM.ELEMENT, such as atv_probe_cone.chaser"])
    with opened(origin) as (system, plan):
        system.element(element, origin=name)
        yield system, plan, element


def interface(name: str) -> Interface:
    """Return the interface of a component of the catalogue by its name, or of "SYSTEM.ELEMENT".

    Raises CatalogueError, StructureError, and any error of reading the system.
    """
    if not split_name(name)[1]:
        if name in declaration.names():
            elements = ", ".join(f"{name}.{element}" for element in declaration.read(name).elements)
            raise StructureError([f"{name}: this is a system; name an element of it: {elements}"])
        with TemporaryFolder("skeleton") as folder:
            component = catalogue.component(name)
            description = described(component, component.name, folder)
        signals = _signals(description.select("input", "output"), {}, {})
        return Interface(name, description.description, description, tuple(signals))
    with place(name) as (system, plan, element):
        description = system.description(element)
        partners = _partners(system, element)
        uses = _uses(plan, element)
        signals = _signals(description.select("input", "output"), partners, uses)
        return Interface(
            name,
            description.description,
            description,
            tuple(signal for signal in signals if signal.partners and not is_optional(signal.first)),
            tuple(signal for signal in signals if not signal.partners or is_optional(signal.first)),
        )


def check_swap(name: str, file: Path) -> tuple[list[str], list[str]]:
    """Check whether the FMU `file` can take the place of "SYSTEM.ELEMENT".

    Returns (problems, notes): why it cannot, and what a run with it lacks. Raises any error of reading the system and
    the FMU.
    """
    with place(name) as (system, plan, element):
        other = read_description(file)
        platform, problems = this_platform(other.fmi_version), []
        if platform not in other.binaries:
            problems.append(
                f"{file.name} has no library for {platform}, only for {', '.join(other.binaries) or 'no platform'}"
            )
        try:
            lost, notes = swap(system, element, file)
        except StructureError as error:
            return [*problems, *error.problems], []
        return problems, [*notes, *plan.without(lost)[1]]


def _partners(system: Structure, element: str) -> dict[str, list[str]]:
    """Return the other ends of the connections of each variable."""
    ends: dict[str, list[str]] = {}
    for c in system.connections:
        if c.source == element:
            ends.setdefault(c.output, []).append(f"{c.target}.{c.input}")
        if c.target == element:
            ends.setdefault(c.input, []).append(f"{c.source}.{c.output}")
    return ends


def _uses(plan: Plan, element: str) -> dict[str, list[str]]:
    """Return the uses that a plan makes of the outputs of an element, by variable or array."""
    read = [(event.signal, f"event {name}") for name, event in plan.events.items()]
    read += [(plan.stop_when, "end of the run")] if plan.stop_when else []
    if plan.outcome is not None:
        read += [(signal, "outcome") for signal in (plan.outcome.signal, *dict(plan.outcome.interim).values())]
    read += [(name, "audit") for name in plan.supplied]
    read += [(f"{element}.audit.{name}", "audit") for name in AUDIT_OUTPUTS if element in plan.audited]
    read += [(signal, "report") for panel in plan.panels for signal in panel.signals]
    uses: dict[str, list[str]] = {}
    for signal, use in read:
        if signal.startswith(f"{element}."):
            uses.setdefault(signal[len(element) + 1 :], []).append(use)
    return uses


def _signals(variables: list[Variable], partners: dict[str, list[str]], uses: dict[str, list[str]]) -> list[Signal]:
    """Return variables as signals, each array as one; an array is connected if one of its elements is."""
    arrays: dict[tuple[str, str], list[Variable]] = {}
    for variable in variables:
        arrays.setdefault((subscripts(variable.name)[0], variable.causality), []).append(variable)
    signals = []
    for (name, _), members in arrays.items():
        shape = tuple(map(max, zip(*(subscripts(variable.name)[1] for variable in members), strict=True)))
        ends = dict.fromkeys(subscripts(end)[0] for variable in members for end in partners.get(variable.name, ()))
        read = dict.fromkeys(use for n in (name, *(v.name for v in members)) for use in uses.get(n, ()))
        signals.append(Signal(name, tuple(members), shape, tuple(ends), tuple(read)))
    return signals
