"""A docking as the comparisons need it: samples of every macro step, and the quantities that the source discusses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np

import dockfmu

CONTACTS = 16
LIMITER = 3.0
"""Number of the pair "limiter pad on cone" in `contact[k].pair`."""
PULSE, APART = 300.0, 0.02
"""A pulse of the limiter: the force that it exceeds, N, and the time between two pulses, s."""

RECORDED = [
    "mechanism.target.force_now", "mechanism.target.torque_now", "mechanism.docking.angles",
    "mechanism.docking.angular_velocity", "mechanism.docking.plane_gap", "mechanism.sensor.axial_travel",
    "mechanism.sensor.first_contact", "mechanism.sensor.socket_bottom",
    "mechanism.flag.limiter_contact", "mechanism.limiter.travel",
    "mechanism.flag.roller_contact", "mechanism.flag.plane_contact", "mechanism.validity.early_plane_contact",
    "mechanism.validity.three_rollers", "mechanism.axial.stroke", "mechanism.axial.brake_slip", "mechanism.nut.rate",
    "cyclogram.command.push",
    *(f"mechanism.contact[{k}].{name}" for k in range(1, CONTACTS + 1) for name in ("active", "pair", "normal_force")),
]  # fmt: skip


loaded = cache(dockfmu.load)
"""Return a named system with its own values, loaded once in a process: to be copied, not to be changed."""


def changed(name: str, values: Mapping[str, Any]) -> dockfmu.System:
    """Return a named system with other start values: a fifth of the time of loading it with them."""
    return loaded(name).with_values(values)


class Docking:
    """One run of a system, recorded at every macro step. With `check` a run that fails raises DockfmuError.

    Attributes
    ----------
    name : str
        Name of the system.
    energies : tuple of str
        Energies of the audit, J: kinetic, stored, dissipated by each device, works.
    run : Outcome
        The recording, and what the observers found.
    """

    def __init__(
        self, name: str, changes: dict[str, Any] | None = None, stop: float | None = None, *, check: bool = False
    ) -> None:
        system = changed(name, changes or {})
        audit = system.variables("*.audit.*")
        self.name = name
        self.energies = tuple(v for v in audit if system.structure.resolve(v)[1].unit == "J")
        self.run = system.run(record=[*RECORDED, *self.energies], every=1, stop=stop, check=check)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the samples of a variable, shape (rows,) or (rows, n)."""
        return self.run[name]

    @property
    def time(self) -> np.ndarray:
        """Times of the samples, s."""
        return self.run.time

    @property
    def events(self) -> dict[str, float]:
        """First time of each event, s."""
        return self.run.events

    @cached_property
    def push(self) -> np.ndarray:
        """Axial force on the station, N, > 0 while the probe is pushed in and < 0 while the latches pull."""
        return self["mechanism.target.force_now"][:, 0]

    @cached_property
    def tilt(self) -> np.ndarray:
        """Angle between the docking axes, rad."""
        yaw, pitch = self["mechanism.docking.angles"].T[:2]
        return np.arccos(np.clip(np.cos(yaw) * np.cos(pitch), -1.0, 1.0))

    @cached_property
    def limiter(self) -> np.ndarray:
        """Sum of the normal forces between limiter and cone, N."""
        total = np.zeros(len(self.time))
        for k in range(1, CONTACTS + 1):
            active, pair, force = (self[f"mechanism.contact[{k}].{n}"] for n in ("active", "pair", "normal_force"))
            total += np.where((active > 0.0) & (pair == LIMITER), force, 0.0)
        return total

    def pulses(self, until: float, above: float = PULSE) -> list[tuple[float, float]]:
        """Return (time in s, force in N) of the peaks of the limiter's force up to a time."""
        rows = np.flatnonzero((self.limiter > above) & (self.time <= until))
        if not len(rows):
            return []
        groups = np.split(rows, np.flatnonzero(np.diff(self.time[rows]) > APART) + 1)
        peaks = [group[np.argmax(self.limiter[group])] for group in groups]
        return [(float(self.time[row]), float(self.limiter[row])) for row in peaks]

    def contacts(self, signal: str, until: float = np.inf) -> int:
        """Return how often a flag or sensor rises up to a time, s."""
        up = np.atleast_2d(self[signal].T)[:, self.time <= until] > 0.0
        return int((np.diff(up.astype(int), axis=1) > 0).sum() + up[:, 0].sum())

    def window(self, begin: float, end: float) -> np.ndarray:
        """Return the rows from `begin` to before `end`, both in s."""
        return np.flatnonzero((self.time >= begin) & (self.time < end))
