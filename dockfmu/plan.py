"""How a system is run, watched and reported: what goes with an .ssp beside its structure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any, get_args, get_type_hints

from dockfmu.adaptive import Adaptive
from master.observers.events import Event

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
    what the energy residual is relative to (0: the largest energy); `adaptive` says how steps may vary if asked to.
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
        gone = [name for name in balance if name in lost or f"{name}[1]" in lost]
        if gone:
            changes |= {"audited": (), "supplied": ()}
            notes.append(f"momentum and energy are not audited: there is no {', '.join(gone)}")
        return replace(self, **changes), sorted(notes)

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> Plan:
        """From the tables `run`, `events`, `audit` and `report` of a declaration."""
        run = dict(tables.get("run", {}))
        run["order"] = tuple(run.get("order", ()))
        return cls(
            **run,
            events={name: Event(**rule) for name, rule in tables.get("events", {}).items()},
            audited=tuple(tables.get("audit", {}).get("elements", ())),
            supplied=tuple(tables.get("audit", {}).get("supplied", ())),
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
        if content.get("adaptive") is not None:
            content["adaptive"] = Adaptive.from_table(content["adaptive"])
        return cls(**content)
