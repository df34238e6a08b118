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
    """An input of a craft whose values are known, each from its time on, s."""

    craft: str
    variable: str
    time: np.ndarray
    values: np.ndarray

    def at(self, time: np.ndarray) -> np.ndarray:
        """Return the values at times; zero before the first."""
        number = np.searchsorted(self.time, time, side="right") - 1
        return np.where(number < 0, 0.0, self.values[np.clip(number, 0, None)])


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
                found.append(KnownInput(*split, telemetry.time[signal.part][mask], values[mask]))
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


def known_load(craft: CraftModel, inputs: list[KnownInput], time: np.ndarray) -> np.ndarray:
    """Return the known load of a craft over time, as `CraftModel.load` has it, shape (N, 6 + modes)."""
    wrench = np.zeros((len(time), 6))
    for known in inputs:
        if known.craft != craft.name:
            continue
        stem, places = subscripts(known.variable)
        if stem == "command.push":
            wrench[:, 0] += craft.push * known.at(time)
        else:
            wrench[:, places[0] - 1 + (3 if stem == "control.torque" else 0)] += known.at(time)
    return np.asarray(wrench @ craft.thrust().T)
