"""What can be exported: the name of an FMU, the module with its `component(**options)`, and what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from base.errors import DockfmuError
from base.names import did_you_mean
from components.core.component import Component


@dataclass(frozen=True)
class Entry:
    """A component of the catalogue, or one with build options. Importing its module may take seconds and waits."""

    name: str
    module: str
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)


_ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("Oscillator", "components.oscillator", "mass on a spring and damper: an example"),
        Entry("Spacecraft", "components.spacecraft", "rigid or elastic spacecraft with docking ports and thrusters"),
        Entry("ProbeMechanism", "components.probe_mechanism", "central docking mechanism with contact inside"),
        Entry(
            "ProbeMechanismExternal",
            "components.probe_mechanism",
            "the same mechanism, its contact an FMU of its own",
            {"contact": "external"},
        ),
        Entry("ProbeCyclogram", "components.probe_cyclogram", "sequence of commands of a probe-cone docking"),
        Entry("ContactProbeCone", "components.contact_probe_cone", "contact of a probe with a receiving cone"),
    )
}


class CatalogueError(DockfmuError, LookupError):
    """No component has this name."""


def names() -> tuple[str, ...]:
    """Names of all components that can be built."""
    return tuple(name for name, entry in _ENTRIES.items() if find_spec(entry.module))


def entry(name: str) -> Entry:
    """The entry called `name`; `probe_mechanism` and `ProbeMechanism` are the same. Raises CatalogueError."""
    known = {key.lower(): key for key in names()}
    key = name.replace("_", "").lower()
    if key not in known:
        hint = did_you_mean(name, known.values()) or f"; there are {', '.join(known.values())}"
        raise CatalogueError(f"no component is called {name!r}{hint}")
    return _ENTRIES[known[key]]


def component(name: str, **options: Any) -> Component:
    """The component called `name`, made with build options. Raises CatalogueError for an unknown name."""
    found = entry(name)
    options = {**found.options, **options}
    return replace(import_module(found.module).component(**options), options=options)
