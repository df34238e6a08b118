"""Interface loads of a run in words: the largest ones, and the verdict on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dockfmu.report.words import phase_at

MARK = ".load."

ROUNDING = 1e-9
"""Share of the largest load of an interface below which another one is rounding."""


def interface_peaks(summary: Mapping[str, Any]) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the peaks of the outputs `load.NAME` of a run, by element and name.

    Loads that stayed 0, but for rounding beside the others of the interface (N and N m alike), are left out.
    """
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for signal, peak in summary.get("peaks", {}).items():
        element, mark, name = signal.partition(MARK)
        # the load of a berthing sequence is a reading of its arm
        if mark and f"{element}{MARK}compression" in summary["peaks"]:
            found.setdefault(element, {})[name] = peak
    return {element: kept for element, peaks in found.items() if (kept := _above_rounding(peaks))}


def _above_rounding(peaks: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    least = ROUNDING * max(peak["max"] or 0.0 for peak in peaks.values())
    return {name: peak for name, peak in peaks.items() if (peak["max"] or 0.0) > least}


def load_lines(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the largest loads of all interfaces and the verdicts on them, as lines of a table."""
    judged = summary.get("loads", {})
    lines = []
    for element, peaks in interface_peaks(summary).items():
        limits = judged.get("limits", {}) if judged.get("element") == element else {}
        for name, peak in peaks.items():
            unit = limits[name]["unit"] if name in limits else peak["unit"]
            line: dict[str, Any] = {"element": element, "name": name, "largest": load_text(peak["max"], unit)}
            line |= {"t_max": peak["t_max"], "phase": phase_at(summary.get("events", []), peak["t_max"])}
            line |= {"limits": "", "ok": None, "verdict": "", "source": ""}
            if entry := limits.get(name):
                line |= {"limits": limits_text(entry), "ok": entry["ok"], "source": entry["source"]}
                line["verdict"] = "ok" if entry["ok"] else f"not ok: {excess_text(entry)}"
            lines.append(line)
    return lines


def load_text(value: float | None, unit: str) -> str:
    """Return a load in words, large ones in kN and kN m."""
    if value is None:
        return "not finite"
    unit = unit.replace(".", " ")
    return f"{1e-3 * value:.4g} k{unit}" if abs(value) >= 1e3 else f"{value:.4g} {unit}"


def limits_text(entry: Mapping[str, Any]) -> str:
    """Return the limits of a load in words."""
    static = load_text(entry["static"], entry["unit"])
    if entry["short"] is None:
        return static
    return f"{static}, for less than {entry['short_time']:g} s {load_text(entry['short'], entry['unit'])}"


def excess_text(entry: Mapping[str, Any]) -> str:
    """Return by how much and when a load exceeded its limits, in words; empty if it did not."""
    if entry["exceeds"] is None:
        return ""
    if entry["exceeds"] == "short":
        return f"above {load_text(entry['short'], entry['unit'])} at {entry['t_exceeded']:.3f} s"
    static = load_text(entry["static"], entry["unit"])
    if entry["short"] is None:
        return f"above {static} at {entry['t_exceeded']:.3f} s"
    return f"above {static} for {entry['longest']:.3g} s from {entry['t_longest']:.3f} s on"
