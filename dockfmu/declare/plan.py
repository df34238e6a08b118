"""The plan of a system: how it is run, observed and reported, apart from its structure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args, get_type_hints

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.number_text import whole_number
from dockfmu.base.numbers import LARGEST_COUNT, is_integer
from dockfmu.declare.adaptive import Adaptive
from dockfmu.declare.audit_limits import CHECKS
from dockfmu.declare.load_limits import read_load_limits, rule_from_json
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number
from dockfmu.master.algorithms import ALGORITHMS
from dockfmu.master.errors import MasterError, StructureError
from dockfmu.master.fmi.variables import VISIBLE
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.loads import LoadRule
from dockfmu.master.observers.outcomes import OutcomeRule
from dockfmu.master.system import Structure

WHEN: tuple[str, ...] = get_args(get_type_hints(Event)["when"])
AUDIT_OUTPUTS = (
    "momentum", "angular_momentum", "impulse_control", "angular_impulse_control",
    "kinetic_energy", "stored_energy", "dissipated_energy",
)  # fmt: skip
"""The `audit` outputs of an element that the balance uses."""


@dataclass(frozen=True)
class Panel:
    """One plot of the report: signals of one kind over the common time axis."""

    title: str
    signals: tuple[str, ...]


def _number(name: str, value: Any) -> None:
    if finite_number(value) is None:
        raise DeclarationError(f"{name} = {shown(value)} is not a finite number")


def _texts(name: str, values: Iterable[Any]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise DeclarationError(f"{name}: {shown(value)} is not a string")


@dataclass(frozen=True)
class Plan:
    """Declaration of how a system is run, observed and reported.

    Attributes
    ----------
    algorithm : str
        Name of the coupling algorithm.
    step, stop : float
        Macro step and end of the run, s.
    order : tuple of str
        Execution order of the elements; empty for the order that the master chooses.
    stop_when : str, optional
        Boolean or Integer output that ends the run.
    record_every : int
        Macro steps from one recorded row to the next.
    events : mapping of str to Event
        Events by their names.
    audited : tuple of str
        Elements whose `audit` outputs make up the balance.
    supplied : tuple of str
        Outputs "element.variable" with the work done on the audited elements from outside, J.
    approach_energy : float
        Energy that the residual is relative to, J; 0 for the largest energy of the run.
    approach_momentum : tuple of float
        Momentum of the approach, N s, and its angular momentum at the port, N m s. Errors of the momenta are relative
        to what was exchanged, but at least to these: a run that ends in an impact has exchanged little.
    limits : mapping of str to float or False
        Limits of lines of the audit that differ from `CHECKS`; False for a line that is not a balance of this
        system, such as the momentum of craft that are held from outside.
    outcome : OutcomeRule, optional
        How the system reports the outcome of a run.
    finals : mapping of str to str
        Outputs whose values at the end of a run belong to its summary, by their names there.
    loads : LoadRule, optional
        Limits of the loads at the interface.
    panels : tuple of Panel
        Plots of the report.
    adaptive : Adaptive, optional
        How steps may vary, if requested.
    scene : mapping of str to str
        Shapes that a user gives the elements, as JSON.

    Raises
    ------
    DeclarationError
        for entries of the wrong kind
    """

    algorithm: str = "gauss_seidel"
    step: float = 1e-3
    stop: float = 10.0
    order: tuple[str, ...] = ()
    stop_when: str | None = None
    record_every: int = 1
    events: Mapping[str, Event] = field(default_factory=dict)
    audited: tuple[str, ...] = ()
    supplied: tuple[str, ...] = ()
    approach_energy: float = 0.0
    approach_momentum: tuple[float, float] = (0.0, 0.0)
    limits: Mapping[str, float | Literal[False]] = field(default_factory=dict)
    outcome: OutcomeRule | None = None
    finals: Mapping[str, str] = field(default_factory=dict)
    loads: LoadRule | None = None
    panels: tuple[Panel, ...] = ()
    adaptive: Adaptive | None = None
    scene: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the entries, which may come from files. Raises DeclarationError."""
        for name in ("step", "stop", "approach_energy"):
            _number(name, getattr(self, name))
        for value in self.approach_momentum:
            _number("approach_momentum", value)
        for name in ("step", "stop", "record_every"):
            if getattr(self, name) <= 0:
                raise DeclarationError(f"{name} = {shown(getattr(self, name))} is not positive")
        if not is_integer(self.record_every) or self.record_every > LARGEST_COUNT:
            what = shown(self.record_every)
            raise DeclarationError(f"record_every = {what}: must be a positive integer up to {LARGEST_COUNT}")
        _texts("algorithm", [self.algorithm])
        _texts("stop_when", [self.stop_when] if self.stop_when is not None else [])
        for name in ("order", "audited", "supplied"):
            _texts(name, getattr(self, name))
        for name, event in self.events.items():
            _texts(f"signal of event {name}", [event.signal])
            _number(f"level of event {name}", event.level)
            if event.when not in WHEN:
                raise DeclarationError(f"event {name}: when = {shown(event.when)}: must be one of {', '.join(WHEN)}")
        _texts("final", self.finals.values())
        _texts("scene", self.scene.values())
        for panel in self.panels:
            _texts("report", [panel.title, *panel.signals])
        for name, limit in self.limits.items():
            if limit is not False:
                _number(f"limit of {name}", limit)
            if name not in CHECKS:
                raise DeclarationError(f"audit: there is no line {name!r}" + did_you_mean(name, CHECKS))
        if self.outcome is not None:
            _check_outcome(self.outcome)

    def naming_outcomes(self, structure: Structure) -> Plan:
        """Return the plan with the names of all outcomes, for a system whose FMU may not name them any more."""
        if self.outcome is None or not self.outcome.signal:
            return self
        rule, variable = self.outcome, structure.resolve(self.outcome.signal)[1]
        names = {number: item.lower() for item, number in variable.items} | dict(rule.names)
        return replace(self, outcome=replace(rule, names=tuple(names.items())))

    def without(self, lost: Set[str]) -> tuple[Plan, list[str]]:
        """Return the plan for a system without the outputs `lost`, and a sentence on each effect."""
        notes = []
        events = {name: event for name, event in self.events.items() if event.signal not in lost}
        for name in self.events.keys() - events.keys():
            notes.append(f"event {name} is not watched: there is no {self.events[name].signal}")
        finals = {name: signal for name, signal in self.finals.items() if signal not in lost}
        for name in self.finals.keys() - finals.keys():
            notes.append(f"the final value {name} is not read: there is no {self.finals[name]}")
        changes: dict[str, Any] = {"events": events, "finals": finals}
        if self.stop_when in lost:
            changes["stop_when"] = None
            notes.append(f"the run continues to its stop time: there is no {self.stop_when} to end it")
        balance = [*self.supplied, *(f"{element}.audit.{name}" for element in self.audited for name in AUDIT_OUTPUTS)]
        if self.outcome is not None:
            changes["outcome"], effects = _outcome_without(self.outcome, lost)
            notes += effects
        if self.loads is not None:
            unknown = [name for name in self.loads.limits if self.loads.signal(name) in lost]
            known = {name: limit for name, limit in self.loads.limits.items() if name not in unknown}
            changes["loads"] = replace(self.loads, limits=known) if known else None
            notes += [f"the {name} is not judged: there is no {self.loads.signal(name)}" for name in unknown]
        missing = [name for name in balance if name in lost or f"{name}[1]" in lost]
        if missing:
            changes |= {"audited": (), "supplied": ()}
            notes.append(f"momentum and energy are not audited: there is no {', '.join(missing)}")
        return replace(self, **changes), sorted(notes)

    def check(self, system: Structure) -> None:
        """Raise StructureError for elements of the audit, loads and signals of the report that the system lacks."""
        problems = [
            f"audit: there is no element {element!r}{did_you_mean(element, system.elements)}"
            for element in self.audited
            if element not in system.elements
        ]
        if self.loads is not None:
            problems += [f"loads: {problem}" for problem in self.loads.problems(system)]
        for panel in self.panels:
            for signal in panel.signals:
                try:
                    _, variable = system.resolve(signal)
                except StructureError as error:
                    problems += [f"report, {panel.title!r}: {problem}" for problem in error.problems]
                    continue
                if variable.causality not in VISIBLE:
                    problems.append(
                        f"report, {panel.title!r}: {signal} is not an output (causality {variable.causality})"
                    )
        if problems:
            raise StructureError(problems)

    @classmethod
    def from_tables(cls, tables: Table) -> Plan:
        """Return the plan declared in `run`, `events`, `audit`, `outcome`, `final`, `loads`, `report`, `adaptive`."""
        run = tables.table("run", ("algorithm", "step", "stop", "order", "stop_when", "record_every"))
        events = tables.tables("events", ("signal", "when", "level", "once"), "event")
        audit = tables.table("audit", ("elements", "supplied", "limits"))
        limits = audit.table("limits")
        final = tables.table("final")
        panels = tables.rows("report", ("title", "signals"))
        adaptive = tables.content.get("adaptive")
        plan = partial(
            cls,
            algorithm=run.text("algorithm", cls.algorithm, choices=tuple(ALGORITHMS)),
            step=run.number("step", cls.step, positive=True),
            stop=run.number("stop", cls.stop, positive=True),
            order=run.texts("order", ()),
            stop_when=run.text("stop_when", None),
            record_every=run.whole("record_every", cls.record_every),
            events={name: _event(table) for name, table in events.items()},
            audited=audit.texts("elements", ()),
            supplied=audit.texts("supplied", ()),
            limits={n: value if value is False else limits.number(n) for n, value in limits.content.items()},
            outcome=_outcome(tables) if "outcome" in tables.content else None,
            finals={name: final.text(name) for name in final.content},
            loads=read_load_limits(tables),
            panels=tuple(Panel(panel.text("title"), panel.texts("signals")) for panel in panels),
            adaptive=None if adaptive is None else Adaptive.from_table(adaptive, f"{tables.where}, adaptive"),
        )
        try:
            return plan()
        except DeclarationError as error:
            # the checks of a plan do not know the file
            raise DeclarationError(f"{tables.where}: {error}") from error

    def to_json(self) -> str:
        """Return the text of the annotation that carries the plan in an .ssp."""
        fields = asdict(self)
        if not self.scene:
            # packages of systems without one stay as they were
            del fields["scene"]
        return json.dumps(fields, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Return the plan from the text of `to_json`. Raises DeclarationError for anything else."""
        try:
            return cls(**_fields(json.loads(text)))
        except DeclarationError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, MasterError) as error:
            raise DeclarationError(f"not the plan of a run ({error!r})") from error


def _fields(content: Any) -> dict[str, Any]:
    """Return the fields of a plan from the content of its JSON."""
    if not isinstance(content, dict):
        raise DeclarationError(f"{shown(content)} is not a table")
    for name in ("order", "audited", "supplied"):
        content[name] = tuple(content[name])
    content["events"] = {name: Event(**rule) for name, rule in content["events"].items()}
    content["panels"] = tuple(Panel(panel["title"], tuple(panel["signals"])) for panel in content["panels"])
    if content.get("outcome") is not None:
        rule = content["outcome"]
        pairs = {name: tuple(tuple(pair) for pair in rule[name]) for name in ("names", "interim")}
        content["outcome"] = OutcomeRule(**{**rule, **pairs, "success": tuple(rule["success"])})
    content["approach_momentum"] = tuple(content.get("approach_momentum", (0.0, 0.0)))
    content["loads"] = rule_from_json(content.get("loads"))
    if content.get("adaptive") is not None:
        content["adaptive"] = Adaptive.from_table(content["adaptive"])
    return content


def _event(table: Table) -> Event:
    return Event(
        table.text("signal"),
        table.text("when", Event.when, choices=WHEN),
        table.number("level", Event.level),
        table.flag("once", Event.once),
    )


def _outcome(tables: Table) -> OutcomeRule:
    """Return the rule declared in the table `outcome`, with its tables `names` and `interim`."""
    table = tables.table("outcome", ("signal", "success", "names", "undecided", "interim"))
    names, interim = table.table("names"), table.table("interim")
    return OutcomeRule(
        table.text("signal"),
        table.texts("success"),
        tuple((_value_of_outcome(value, names.where), names.text(value)) for value in names.content),
        table.text("undecided", OutcomeRule.undecided),
        tuple((name, interim.text(name)) for name in interim.content),
    )


def _value_of_outcome(text: str, where: str) -> int:
    try:
        return {"true": 1, "false": 0}[text] if text in ("true", "false") else whole_number(text)
    except ValueError as error:
        raise DeclarationError(f"{where}: {shown(text)} is not an integer, true or false") from error


def _check_outcome(rule: OutcomeRule) -> None:
    """Check the entries of a rule. Raises DeclarationError."""
    _texts("outcome", [rule.signal, rule.undecided, *rule.success])
    for value, name in rule.names:
        if isinstance(value, bool) or not isinstance(value, int):
            raise DeclarationError(f"outcome: {value!r} is not an integer")
        _texts("names of outcomes", [name])
    for name, signal in rule.interim:
        _texts("interim outcomes", [name, signal])
    if not rule.success:
        raise DeclarationError("outcome: success names no outcome")


def _outcome_without(rule: OutcomeRule, lost: Set[str]) -> tuple[OutcomeRule, list[str]]:
    """Return the rule for a system that has lost outputs, and a sentence on each effect."""
    if rule.signal in lost:
        note = f"the outcome will be unknown, hence not a success: there is no {rule.signal}"
        return replace(rule, signal="", interim=()), [note]
    unreported = [name for name, signal in rule.interim if signal in lost]
    notes = [
        f"the outcome {name} cannot be reported: there is no {signal}"
        for name, signal in rule.interim
        if name in unreported
    ]
    return replace(rule, interim=tuple(pair for pair in rule.interim if pair[0] not in unreported)), notes
