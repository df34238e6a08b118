"""Loads on craft that are known: thrust and control, from columns of the telemetry or from the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import subscripts
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.system import Structure
from dockfmu.reconstruct.craft import CraftModel
from dockfmu.reconstruct.settings import DirectSettings
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.telemetry.sensors import PortPoint


@dataclass(frozen=True)
class KnownInput:
    """An input of a craft whose values are known, each from its time on, s.

    One that was `sampled` changed at an unknown time after the sample before; so did the first one.
    """

    craft: str
    variable: str
    time: np.ndarray
    values: np.ndarray
    sampled: bool = False

    def at(self, time: np.ndarray) -> np.ndarray:
        """Return the values at times, zero before the first; the mean of both while it is not known which holds."""
        before, after = self._ends(time)
        return np.asarray(0.5 * (before + after))

    def doubt(self, time: np.ndarray) -> np.ndarray:
        """Return half the difference of the values of which it is not known which holds at times."""
        before, after = self._ends(time)
        return np.asarray(0.5 * np.abs(after - before))

    def _ends(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of the samples before and after times; both are one where it is known."""
        values = np.concatenate([[0.0], self.values])
        before = np.searchsorted(self.time, time, side="right")
        if not self.sampled:
            return values[before], values[before]
        # at its own time a sample holds, but for the first: what was before it is not known
        own = (before > 1) & (self.time[np.maximum(before - 1, 0)] == time)
        first = (before == 1) & (self.time[0] == time)
        later = np.minimum(before + 1, len(self.values))
        return values[np.where(first, 0, before)], values[np.where(own | first, before, later)]


def known_inputs(
    telemetry: Telemetry, structure: Structure, crafts: Mapping[str, CraftModel], settings: DirectSettings
) -> list[KnownInput]:
    """Return the inputs of craft that columns of the telemetry or the table `direct.known` tell.

    Raises DeclarationError for an input that is none.
    """
    fed: dict[str, list[str]] = {}
    for connection in structure.connections:
        output = f"{connection.source}.{connection.output}"
        fed.setdefault(output, []).append(f"{connection.target}.{connection.input}")
    found = []
    for signal in telemetry.signals:
        source = signal.sensor.source
        if isinstance(source, PortPoint) or len(source) != 1:
            continue
        column, factor = next(iter(source.items()))
        mask = telemetry.mask[signal.part]
        values = (telemetry.values[signal.part] - signal.sensor.bias) / (signal.sensor.scale * factor)
        for target in (column, *fed.get(column, ())):
            if (split := _split(target, crafts)) is not None:
                found.append(KnownInput(*split, telemetry.time[signal.part][mask], values[mask], sampled=True))
    for given, time, values in settings.known:
        split = _split(given, crafts)
        if split is None:
            raise DeclarationError(
                f"direct: known: {shown(given)} is no input that acts on a craft: command.push, control.force[k] or "
                f"control.torque[k] of {' or '.join(crafts)}"
            )
        found.append(KnownInput(*split, time, values))
    return found


def _split(name: str, crafts: Mapping[str, CraftModel]) -> tuple[str, str] | None:
    craft = next((craft for craft in crafts if name.startswith(f"{craft}.")), None)
    if craft is None:
        return None
    variable = name[len(craft) + 1 :]
    stem, places = subscripts(variable)
    known = variable == "command.push" or (stem in ("control.force", "control.torque") and len(places) == 1)
    return (craft, variable) if known else None


def known_load(craft: CraftModel, inputs: list[KnownInput], time: np.ndarray, doubt: bool = False) -> np.ndarray:
    """Return the known load of a craft over time, as `CraftModel.load` has it, or its `doubt`, (N, 6 + modes)."""
    wrench = np.zeros((len(time), 6))
    for known in inputs:
        if known.craft != craft.name:
            continue
        values = known.doubt(time) if doubt else known.at(time)
        stem, places = subscripts(known.variable)
        if stem == "command.push":
            wrench[:, 0] += craft.push * values
        else:
            wrench[:, places[0] - 1 + (3 if stem == "control.torque" else 0)] += values
    return np.asarray(wrench @ craft.thrust().T)
