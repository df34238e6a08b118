"""The life that one recorded run spends of the sections of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import UnitError, parse_unit
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.life.fatigue import count_cycles, damage_of
from dockfmu.life.sections import PASCAL, StructureSection, read_sections
from dockfmu.master.observers.recording.results import Results, read_results
from dockfmu.report.files import recording


@dataclass(frozen=True)
class SectionLife:
    """Hold what one run did to one section.

    Attributes
    ----------
    section : StructureSection
        The section.
    peak, time : float
        Stress of the largest magnitude, Pa, and the time of its row, s.
    cycles : ndarray, shape (n,)
        Cycles of stress, see `fatigue.CYCLE`.
    damage : float
        Share of the life that is spent, times `life_factor`, with the extremes between rows: an upper bound where
        several signals make the stress, because their extremes are added as if they fell together.
    damage_of_rows : float
        The same from the rows alone: a lower bound.
    """

    section: StructureSection
    peak: float
    time: float
    cycles: np.ndarray
    damage: float
    damage_of_rows: float

    @property
    def within_allowable(self) -> bool:
        """Whether the stress stays within the allowable one."""
        return abs(self.peak) <= self.section.allowable


def life_spent(results: Path | str, sections: Path | str | Sequence[StructureSection]) -> tuple[SectionLife, ...]:
    """Return what a recorded run did to each section.

    Parameters
    ----------
    results : path
        The folder of a run, or its results.h5.
    sections : path or sequence of StructureSection
        The sections, or the TOML file that has them.

    Raises
    ------
    DeclarationError
        for a file of sections that is wrong, a signal that was not recorded, or units that make no stress
    MasterError
        for a recording that cannot be read
    """
    known = read_sections(Path(sections)) if isinstance(sections, Path | str) else tuple(sections)
    with read_results(recording(Path(results))) as content:
        return lives_in(content, known)


def lives_in(results: Results, sections: Sequence[StructureSection]) -> tuple[SectionLife, ...]:
    """Return what the run of an open recording did to each section. Raises as `life_spent` does."""
    return tuple(_life(results, section) for section in sections)


def _life(results: Results, section: StructureSection) -> SectionLife:
    rows, low, high = _stress(results, section)
    history = _history(rows, low, high)
    extreme = np.where(np.abs(high) >= np.abs(low), high, low)
    worst = int(np.argmax(np.abs(extreme)))
    cycles = count_cycles(history)
    return SectionLife(
        section,
        float(extreme[worst]),
        float(results.time[worst]),
        cycles,
        section.life_factor * damage_of(cycles, section.curve, section.ultimate),
        section.life_factor * damage_of(count_cycles(rows), section.curve, section.ultimate),
    )


def _stress(results: Results, section: StructureSection) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the stress at rows, and its least and largest value since the row before, Pa, each of shape (rows,)."""
    rows, low, high = np.zeros((3, len(results.time)))
    for signal, (number, unit) in section.stress.items():
        where = f"section {section.name}: stress: {signal}"
        if signal not in results.variables:
            hint = did_you_mean(signal, results.variables) or "; is it recorded?"
            raise DeclarationError(f"{where}: {results.file} holds no {shown(signal)}{hint}")
        try:
            own = parse_unit(results.unit(signal))
        except UnitError as error:
            raise DeclarationError(f"{where}: {error}") from error
        dimensions = [a + b for a, b in zip(unit.exponents or (), own.exponents or (), strict=True)]
        if dimensions != list(PASCAL.exponents or ()):
            raise DeclarationError(
                f"{where}: {number:g} {unit.name} times {own.name} is no stress; the factor is in Pa/{_below(own.name)}"
            )
        factor = number * unit.factor * own.factor
        values = np.asarray(results[signal], float)
        ends = results.envelope(signal) if results.has_envelope(signal) else (values, values)
        rows += factor * values
        low += np.minimum(factor * ends[0], factor * ends[1])
        high += np.maximum(factor * ends[0], factor * ends[1])
    if not len(rows):
        raise DeclarationError(f"{results.file}: has no rows, and so no stress")
    if not np.all(np.isfinite(rows)):
        at = results.time[np.argmin(np.isfinite(rows))]
        raise DeclarationError(f"section {section.name}: the stress is not finite from {at:g} s on")
    return rows, low, high


def _below(unit: str) -> str:
    return f"({unit})" if "." in unit else unit


def _history(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the stress at rows, with the extremes between them in the order in which they make the fewer reversals."""
    rising = np.diff(rows, prepend=rows[:1]) >= 0.0
    first, second = np.where(rising, low, high), np.where(rising, high, low)
    return np.column_stack([first, second, rows]).ravel()
