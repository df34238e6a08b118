"""The comparison of two runs as tables of text, for the terminal and for a page: answers first, causes after them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dockfmu.report.comparison import Comparison, Pair, SignalDifference
from dockfmu.report.shown_units import shown_unit

_PAIR = ("", "A", "B", "B - A", "unit")
_PLACED = re.compile(r"[^.]+\.parameters\.initial\..*")
"""Start states, which follow from the initial conditions."""


@dataclass(frozen=True)
class DifferenceTable:
    """A table of a comparison: title, head, rows of text, and a note below it; `whole` for a table that is not cut."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    whole: bool = False


def sections(comparison: Comparison) -> list[DifferenceTable]:
    """Return the tables that are not empty: events and loads, what differs elsewhere, then what was given differently.

    Initial conditions come first, as they are the question of most comparisons.
    """
    placed = [pair for pair in comparison.parameters if comparison.conditions and _PLACED.fullmatch(pair.name)]
    others = [pair for pair in comparison.parameters if pair not in placed]
    note = f"and the {len(placed)} start states that follow from them" if placed else ""
    found = [
        _pairs("initial conditions that differ", comparison.conditions, note=note),
        _pairs("events", comparison.events, whole=True),
        _pairs("event counts that differ", comparison.repeats),
        _pairs("loads", comparison.loads, whole=True),
        _pairs(_counted("peaks that differ", comparison.peaks), comparison.peaks),
        _signals(comparison),
        _pairs("settings that differ", comparison.settings),
        _pairs(_counted("parameters that differ", others), others),
        _pairs(_counted("FMUs that differ", comparison.fmus), [_shortened(pair) for pair in comparison.fmus]),
        *(
            DifferenceTable(f"only in {letter}: {len(names)} signals", ("",), tuple((name,) for name in names))
            for letter, names in (("A", comparison.only_a), ("B", comparison.only_b))
        ),
    ]
    return [section for section in found if section.rows or section.title.startswith("signals")]


def _counted(title: str, pairs: Sequence[Pair]) -> str:
    return f"{title}: {len(pairs)}"


def _pairs(title: str, pairs: Sequence[Pair], *, note: str = "", whole: bool = False) -> DifferenceTable:
    rows = tuple(pair_line(pair) for pair in pairs)
    if all(pair.difference is None for pair in pairs):
        return DifferenceTable(title, _PAIR[:3], tuple(row[:3] for row in rows), note, whole)
    return DifferenceTable(title, _PAIR, rows, note, whole)


def pair_line(pair: Pair) -> tuple[str, ...]:
    """Return name, A, B, B - A and unit of a pair, angles in degrees."""
    unit, factor = shown_unit(pair.unit)
    difference = "" if pair.difference is None else f"{factor * pair.difference:+.4g}"
    return pair.name, _text(pair.a, factor), _text(pair.b, factor), difference, unit


def _signals(comparison: Comparison) -> DifferenceTable:
    if comparison.span is None:
        return DifferenceTable("", (), ())
    start, end = comparison.span
    title = f"signals that differ: {len(comparison.signals)} of {comparison.compared}, from {start:g} to {end:g} s"
    head = ("", "most", "unit", "share", "at")
    return DifferenceTable(title, head, tuple(_signal_line(signal) for signal in comparison.signals))


def _signal_line(signal: SignalDifference) -> tuple[str, ...]:
    unit, factor = shown_unit(signal.unit)
    return signal.name, f"{factor * signal.largest:.4g}", unit, f"{100 * signal.share:.3g} %", f"{signal.time:.3f} s"


def _shortened(pair: Pair) -> Pair:
    """Return a pair with its digests shortened; different digests differ in their first digits."""
    if not pair.name.endswith("sha256"):
        return pair
    return replace(pair, a=pair.a[:12], b=pair.b[:12])


def _text(value: Any, factor: float = 1.0) -> str:
    if value is None:
        return "-"
    return f"{factor * value:.7g}" if isinstance(value, float) else str(value)
