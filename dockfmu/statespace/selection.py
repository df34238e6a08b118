"""Inputs, outputs and states chosen by patterns."""

from __future__ import annotations

from collections.abc import Sequence

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean, matching
from dockfmu.master.system import Structure
from dockfmu.statespace.errors import LinearisationError

_BOOKKEEPING = ("audit", "status", "validity")
"""Groups of outputs that are no part of a model unless they are asked for."""


def free_inputs(structure: Structure, patterns: Sequence[str]) -> list[str]:
    """Return the chosen inputs that no connection sets."""
    connected = {f"{c.target}.{c.input}" for c in structure.connections}
    free = [name for name in _continuous(structure, "input") if name not in connected]
    return select(patterns, free, "inputs", "continuous input that no connection sets")


def chosen_outputs(structure: Structure, patterns: Sequence[str] | None) -> list[str]:
    """Return the chosen outputs, by default all that are no bookkeeping."""
    known = _continuous(structure, "output")
    if patterns is None:
        return [name for name in known if not any(part in _BOOKKEEPING for part in name.split(".")[1:-1])]
    return select(patterns, known, "outputs", "continuous output")


def _continuous(structure: Structure, causality: str) -> list[str]:
    return [
        f"{element}.{variable.name}"
        for element in structure.elements
        for variable in structure.description(element).select(causality)
        if (variable.type, variable.variability) == ("Real", "continuous")
    ]


def select(patterns: Sequence[str], names: Sequence[str], option: str, kind: str) -> list[str]:
    """Return the names that patterns select, in order. Raises LinearisationError for one that selects none."""
    if isinstance(patterns, str):
        raise LinearisationError(f"{option} must be a list of patterns, not the text {shown(patterns)}")
    chosen = set()
    owners = {name.partition(".")[0] for name in names if not name.startswith("coupling.")}
    for pattern in patterns:
        found = matching(pattern, names)
        if not found and len(owners) == 1:
            found = matching(f"{min(owners)}.{pattern}", names)
        if not found and pattern != "*":
            raise LinearisationError(f"{option}: {pattern!r} names no {kind}{did_you_mean(pattern, names)}")
        chosen |= set(found)
    return [name for name in names if name in chosen]
