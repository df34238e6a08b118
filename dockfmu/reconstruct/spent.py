"""Life spent by restored loads: the damage of each sample of the posterior, and what it says together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.life.sections import StructureSection, read_sections
from dockfmu.life.spent import lives_in
from dockfmu.master.system import Structure
from dockfmu.reconstruct.direct import DirectLoads
from dockfmu.reconstruct.peaks import band_of
from dockfmu.reconstruct.telemetry import Telemetry


@dataclass(frozen=True)
class RestoredLife:
    """Tell what restored loads did to a section: median and band of its peak stress, Pa, and of its damage.

    `exceeds` is the probability that the stress was above the allowable one.
    """

    section: StructureSection
    peak: tuple[float, ...]
    damage: tuple[float, ...]
    exceeds: float

    def described(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "section": self.section.name,
            "peak_Pa": self.peak,
            "damage": self.damage,
            "allowable_Pa": self.section.allowable,
            "probability_above_allowable": self.exceeds,
        }


def unit_of_component(name: str) -> str:
    """Return the unit of a component of a restored wrench."""
    return "N.m" if ".torque" in name else "N"


class SampledLoads:
    """Loads of one sample, or of one run, with the members of a recording that the count of cycles reads."""

    def __init__(
        self, time: np.ndarray, series: dict[str, np.ndarray], unit: Callable[[str], str] = unit_of_component
    ) -> None:
        self.time, self._series = time, series
        self.unit = unit
        self.variables = list(series)
        self.file = Path("the reconstruction")

    def __getitem__(self, name: str) -> np.ndarray:
        return self._series[name]

    def has_envelope(self, name: str) -> bool:
        """Return False: samples have no extremes between their times."""
        return False


def sections_of(telemetry: Telemetry) -> tuple[StructureSection, ...]:
    """Return the sections that the table `[life]` of telemetry names, none without it. Raises DeclarationError."""
    named = telemetry.table.table("life", ("sections",)).text("sections", "")
    return read_sections(Path(telemetry.table.where).parent / named) if named else ()


def signal_names(found: DirectLoads, structure: Structure) -> dict[str, list[str]]:
    """Return the names that a recording has for each restored component: those of the outputs that feed the port."""
    names: dict[str, list[str]] = {name: [name] for name in found.names}
    for connection in structure.connections:
        target = f"{connection.target}.{connection.input}"
        if target in names:
            stem, bracket, rest = connection.output.rpartition("[")
            names[target] += [f"{connection.source}.{stem}{more}{bracket}{rest}" for more in ("", "_now")]
    return names


def restored_life(found: DirectLoads, structure: Structure, sections: Sequence[StructureSection]) -> list[RestoredLife]:
    """Return the life that restored loads spent of each section.

    Raises DeclarationError for a stress of signals that were not restored.
    """
    names = signal_names(found, structure)
    known = {name for own in names.values() for name in own}
    for section in sections:
        if missing := [signal for signal in section.stress if signal not in known]:
            raise DeclarationError(
                f"section {section.name}: stress: {shown(missing[0])} was not restored"
                f"{did_you_mean(missing[0], known)}; "
                f"the sensors tell the wrenches on {', '.join(found.ports)}"
            )
    paths = found.drawn if len(found.drawn) else found.mean[None]
    scale = 1.0 + found.mass_error * np.random.default_rng(2).standard_normal(len(paths))
    peaks, damages = np.empty((2, len(paths), len(sections)))
    for number, path in enumerate(paths):
        values = scale[number] * path
        series = {name: values[:, k] for k, component in enumerate(found.names) for name in names[component]}
        lives = lives_in(SampledLoads(found.time, series), sections)  # type: ignore[arg-type]
        for k, life in enumerate(lives):
            peaks[number, k], damages[number, k] = life.peak, life.damage
    return lives_of(sections, peaks, damages, band_of)


def lives_of(
    sections: Sequence[StructureSection],
    peaks: np.ndarray,
    damages: np.ndarray,
    band: Callable[[np.ndarray], Iterable[float]],
) -> list[RestoredLife]:
    """Return what draws of the posterior say together of each section.

    Peak stresses, Pa, and damages have a row for each draw and a column for each section; `band` gives the lower end of
    the band of draws, their median, and its upper end.
    """
    told = []
    for section, peak, damage in zip(sections, peaks.T, damages.T, strict=True):
        sign = np.sign(np.median(peak)) or 1.0
        stress, spent = (tuple(map(float, band(draws))) for draws in (sign * np.abs(peak), damage))
        told.append(RestoredLife(section, stress, spent, float((np.abs(peak) > section.allowable).mean())))
    return told
