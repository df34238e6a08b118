"""Words of reports: initial conditions as they were given, phases of a run, resultants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dockfmu.base.names import subscripts
from dockfmu.declare.conditions import limits
from dockfmu.report.shown_units import shown_unit

START = "start"
"""The phase before any event."""


def phase_at(events: Sequence[Mapping[str, Any]], time: float | None) -> str:
    """Return the phase of a time of a run: "after EVENT" for the latest first occurrence, "start" before any.

    Of events at the same time the first one counts, as in campaigns.
    """
    first: dict[str, float] = {}
    for event in events:
        first.setdefault(event["name"], event["t"])
    before = {name: t for name, t in first.items() if time is not None and t <= time + 1e-12}
    if not before:
        return START
    return f"after {max(before, key=lambda name: before[name]).replace('_', ' ')}"


def condition_lines(conditions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the initial conditions as lines of a table: name for `--set`, words, value, limit in display units."""
    lines = []
    sums = conditions.get("vector_sums", [])
    for name, entry in conditions.get("values", {}).items():
        unit, factor = condition_unit(entry["unit"])
        limit = entry.get("limit")
        array = "angles" if name in ("yaw", "pitch") else subscripts(name)[0]
        summed = array in sums and name not in ("velocity[1]", "angular_velocity[1]")
        lines.append(
            {
                "name": f"initial_conditions.{name}",
                "words": limits.CONDITION_WORDS.get(name, name),
                "value": factor * entry["value"],
                "unit": unit,
                "limit": "" if limit is None else f"{factor * limit:.4g}{' (vector sum)' if summed else ''}",
            }
        )
    return lines


def condition_unit(unit: str) -> tuple[str, float]:
    """Return the unit in which a condition is read, and the factor to it: misses in mm, angles in degrees."""
    return ("mm", 1e3) if unit == "m" else shown_unit(unit)


def severity_text(conditions: Mapping[str, Any]) -> str:
    """Return R1, R2 and the condition nearest to its limit in words; empty for a system without limits."""
    if "R1" not in conditions:
        return ""
    return limits.severity_text(conditions["R1"], conditions["R2"], *conditions["nearest"])


def condition_texts(conditions: Mapping[str, Any]) -> list[str]:
    """Return the initial conditions that differ from 0 in words, each with its unit."""
    parts = [
        f"{line['words']} {line['value']:.4g}{'' if line['unit'] == '°' else ' '}{line['unit']}"
        for line in condition_lines(conditions)
        if line["value"]
    ]
    return parts or ["all zero"]


def resultant_lines(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the largest resultants of a run as lines of a table: vector, word, value in kN or N, time, phase."""
    lines = []
    for name, entry in summary.get("resultants", {}).items():
        vector, _, word = name.rpartition(" ")
        phase = phase_at(summary.get("events", []), entry["t_max"])
        lines.append({"vector": vector, "word": word, **entry, "phase": phase})
    return lines
