"""How a system is run, watched and reported: what goes with an .ssp beside its structure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any, Literal, get_args, get_type_hints

from dockfmu.adaptive import Adaptive
from dockfmu.judgement import CHECKS
from master.names import near
from master.observers.events import Event
from master.observers.outcomes import OutcomeRule

AUDIT_OUTPUTS = (
    "momentum", "angular_momentum", "impulse_control", "angular_impulse_control",
    "kinetic_energy", "stored_energy", "dissipated_energy",
)  # fmt: skip
"""What the balance takes of the `audit` outputs of an element."""


@dataclass(frozen=True)
class Panel:
    """One plot of the report: signals of one kind over the common time axis."""

    title: str
    signals: tuple[str, ...]


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise TypeError(f"{name} = {value!r} is no finite number")


def _texts(name: str, values: Iterable[Any]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name}: {value!r} is no text")


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    `order` is the execution order of the elements, empty for the master's own; `stop_when` a Boolean output that ends
    the run; `record_every` the number of macro steps between two records; `audited` the elements whose `audit` outputs
    make up the balance, `supplied` the works done on them from outside ("element.variable"); `approach_energy` in J is
    what the energy residual is relative to (0: the largest energy); `limits` go over the limits of the audit's lines
    (False: the line is no balance of this system, such as the momentum of craft that are held from outside);
    `outcome` says how the system tells the outcome of a run (None: it does not); `adaptive` says how steps may vary if
    asked to.
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
    limits: Mapping[str, float | Literal[False]] = field(default_factory=dict)
    outcome: OutcomeRule | None = None
    panels: tuple[Panel, ...] = ()
    adaptive: Adaptive | None = None

    def __post_init__(self) -> None:
        """Plans come from files: raises TypeError or ValueError for what is of another kind."""
        for name in ("step", "stop", "approach_energy"):
            _number(name, getattr(self, name))
        for name in ("step", "stop", "record_every"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} = {getattr(self, name)!r} is not positive")
        if not isinstance(self.record_every, int) or isinstance(self.record_every, bool):
            raise TypeError(f"record_every = {self.record_every!r} is no whole number")
        _texts("algorithm", [self.algorithm])
        _texts("stop_when", [self.stop_when] if self.stop_when is not None else [])
        for name in ("order", "audited", "supplied"):
            _texts(name, getattr(self, name))
        for name, event in self.events.items():
            _texts(f"signal of event {name}", [event.signal])
            _number(f"level of event {name}", event.level)
            if event.when not in get_args(get_type_hints(Event)["when"]):
                raise ValueError(f"event {name}: when = {event.when!r}")
        for panel in self.panels:
            _texts("report", [panel.title, *panel.signals])
        for name, limit in self.limits.items():
            if limit is not False:
                _number(f"limit of {name}", limit)
            if name not in CHECKS:
                raise ValueError(f"audit: there is no line {name!r} to limit" + near(name, CHECKS))
        if self.outcome is not None:
            _check_outcome(self.outcome)

    def without(self, lost: Set[str]) -> tuple[Plan, list[str]]:
        """The plan for a system that has lost the outputs `lost`, "element.variable", and a sentence on each effect."""
        notes = []
        events = {name: event for name, event in self.events.items() if event.signal not in lost}
        for name in self.events.keys() - events.keys():
            notes.append(f"event {name} is not watched: there is no {self.events[name].signal}")
        changes: dict[str, Any] = {"events": events}
        if self.stop_when in lost:
            changes["stop_when"] = None
            notes.append(f"the run goes on to {self.stop:g} s: there is no {self.stop_when} that would end it")
        balance = [*self.supplied, *(f"{element}.audit.{name}" for element in self.audited for name in AUDIT_OUTPUTS)]
        if self.outcome is not None:
            changes["outcome"], told = _outcome_without(self.outcome, lost)
            notes += told
        gone = [name for name in balance if name in lost or f"{name}[1]" in lost]
        if gone:
            changes |= {"audited": (), "supplied": ()}
            notes.append(f"momentum and energy are not audited: there is no {', '.join(gone)}")
        return replace(self, **changes), sorted(notes)

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> Plan:
        """Return the plan of the tables `run`, `events`, `audit`, `outcome`, `report`, `adaptive` of a declaration."""
        run = dict(tables.get("run", {}))
        run["order"] = tuple(run.get("order", ()))
        return cls(
            **run,
            events={name: Event(**rule) for name, rule in tables.get("events", {}).items()},
            audited=tuple(tables.get("audit", {}).get("elements", ())),
            supplied=tuple(tables.get("audit", {}).get("supplied", ())),
            limits=tables.get("audit", {}).get("limits", {}),
            outcome=_outcome(tables["outcome"]) if "outcome" in tables else None,
            panels=tuple(Panel(panel["title"], tuple(panel["signals"])) for panel in tables.get("report", ())),
            adaptive=Adaptive.from_table(tables["adaptive"]) if "adaptive" in tables else None,
        )

    def to_json(self) -> str:
        """The text of the annotation that carries the plan in an .ssp."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise TypeError(f"{text[:40]!r} is no table")
        for name in ("order", "audited", "supplied"):
            content[name] = tuple(content[name])
        content["events"] = {name: Event(**rule) for name, rule in content["events"].items()}
        content["panels"] = tuple(Panel(panel["title"], tuple(panel["signals"])) for panel in content["panels"])
        if content.get("outcome") is not None:
            rule = content["outcome"]
            pairs = {name: tuple(tuple(pair) for pair in rule[name]) for name in ("names", "interim")}
            content["outcome"] = OutcomeRule(**{**rule, **pairs, "success": tuple(rule["success"])})
        if content.get("adaptive") is not None:
            content["adaptive"] = Adaptive.from_table(content["adaptive"])
        return cls(**content)


def _outcome(table: Mapping[str, Any]) -> OutcomeRule:
    """Return the rule of the table `outcome`; `names` and `interim` are tables there."""
    content = dict(table)
    truth = {"true": 1, "false": 0}
    names = content.pop("names", {})
    if not isinstance(names, Mapping) or not isinstance(content.get("interim", {}), Mapping):
        raise TypeError("outcome: names and interim are tables")
    interim = content.pop("interim", {})
    if missing := {"signal", "success"} - content.keys():
        raise TypeError(f"outcome: lacks {', '.join(sorted(missing))}")
    success = content.pop("success")
    if not isinstance(success, list | tuple):
        raise TypeError(f"outcome: success = {success!r} is no list of names")
    return OutcomeRule(
        **content,
        success=tuple(success),
        names=tuple((truth[value] if value in truth else int(value), name) for value, name in names.items()),
        interim=tuple(interim.items()),
    )


def _check_outcome(rule: OutcomeRule) -> None:
    """Raise TypeError or ValueError for a rule that is none."""
    _texts("outcome", [rule.signal, rule.undecided, *rule.success])
    for value, name in rule.names:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"outcome: {value!r} is no whole number")
        _texts("names of outcomes", [name])
    for name, signal in rule.interim:
        _texts("interim outcomes", [name, signal])
    if not rule.success:
        raise ValueError("outcome: success names no outcome")


def _outcome_without(rule: OutcomeRule, lost: Set[str]) -> tuple[OutcomeRule, list[str]]:
    """Return the rule for a system that has lost outputs, and a sentence on each effect."""
    if rule.signal in lost:
        note = f"the outcome will be unknown, and so no success: there is no {rule.signal}"
        return replace(rule, signal="", interim=()), [note]
    gone = [name for name, signal in rule.interim if signal in lost]
    notes = [f"the outcome {name} is not told: there is no {signal}" for name, signal in rule.interim if name in gone]
    return replace(rule, interim=tuple(pair for pair in rule.interim if pair[0] not in gone)), notes
