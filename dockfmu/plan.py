"""How a system is run, watched and reported: what goes with an .ssp beside its structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from master.observers.events import Event


@dataclass(frozen=True)
class Panel:
    """One plot of the report: signals of one kind over the common time axis."""

    title: str
    signals: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Settings of a run.

    `order` is the execution order of the elements, empty for the master's own; `stop_when` a Boolean output that ends
    the run; `record_every` the number of macro steps between two records; `audited` the elements whose `audit` outputs
    make up the balance, `supplied` the works done on them from outside ("element.variable"); `approach_energy` in J is
    what the energy residual is relative to (0: the largest energy).
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
        )

    def to_json(self) -> str:
        """The text of the annotation that carries the plan in an .ssp."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        content = json.loads(text)
        for name in ("order", "audited", "supplied"):
            content[name] = tuple(content[name])
        content["events"] = {name: Event(**rule) for name, rule in content["events"].items()}
        content["panels"] = tuple(Panel(panel["title"], tuple(panel["signals"])) for panel in content["panels"])
        return cls(**content)
