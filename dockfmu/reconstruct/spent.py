"""Life spent by restored loads: the damage of each sample of the posterior, and what it says together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.life.sections import StructureSection
from dockfmu.life.spent import lives_in
from dockfmu.master.system import Structure
from dockfmu.reconstruct.direct import DirectLoads
from dockfmu.reconstruct.peaks import band_of


@dataclass(frozen=True)
class RestoredLife:
    """Tell what restored loads did to a section: median and band of its peak stress, Pa, and of its damage.

    `exceeds` is the probability that the stress was above the allowable one.
    """

    section: StructureSection
    peak: tuple[float, float, float]
    damage: tuple[float, float, float]
    exceeds: float


class SampledLoads:
    """One sample of restored loads, with the members of a recording that the count of cycles reads."""

    def __init__(self, time: np.ndarray, series: dict[str, np.ndarray]) -> None:
        self.time, self._series = time, series
        self.variables = list(series)
        self.file = Path("the reconstruction")

    def __getitem__(self, name: str) -> np.ndarray:
        return self._series[name]

    def unit(self, name: str) -> str:
        """Return the unit of a load."""
        return "N.m" if ".torque" in name else "N"

    def has_envelope(self, name: str) -> bool:
        """Return False: samples have no extremes between their times."""
        return False


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
    told = []
    for k, section in enumerate(sections):
        sign = np.sign(np.median(peaks[:, k])) or 1.0
        told.append(
            RestoredLife(
                section,
                band_of(sign * np.abs(peaks[:, k])),
                band_of(damages[:, k]),
                float((np.abs(peaks[:, k]) > section.allowable).mean()),
            )
        )
    return told
