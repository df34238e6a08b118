"""Macro steps of variable length, as a declaration says them: table `adaptive` of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from base.names import vector
from dockfmu.declare.tables import Table
from master.bond import Bond
from master.step_control import PowerBonds, StepControl, StepDoubling
from master.system import Structure

NUMBERS = ("tolerance", "shortest", "longest", "event_step")
ENTRIES = (*NUMBERS, "bonds", "locate", "levels", "substeps")
WRENCH, TWIST = ("force", "torque"), ("velocity", "angular_velocity")


@dataclass(frozen=True)
class Adaptive:
    """Steps from `shortest` to `longest` s; events within `event_step` s.

    `bonds` are pairs of ports: of the element that gives a wrench, and of the one that gives the twist. With bonds
    `tolerance` is the energy in J that each may make in a step, without them the relative error of a step by doubling.
    `locate` names the Boolean and Integer outputs whose changes are events, or has patterns of names with `*`; without
    it they are all that are connected. `levels` are those of Real outputs whose crossing is one.
    `substeps` of elements are for those that look at the time at the start of their steps only, such as sequences: what
    they decide in a long step shows in it, and is located.
    """

    tolerance: float
    shortest: float
    longest: float
    event_step: float
    bonds: tuple[tuple[str, str], ...] = ()
    locate: tuple[str, ...] | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    substeps: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_table(cls, content: Any, where: str = "adaptive") -> Adaptive:
        """Return what a table of a declaration or of JSON says. Raises DeclarationError for what is of another kind."""
        table = Table(content, where, ENTRIES)
        numbers = {name: table.number(name, positive=True) for name in NUMBERS}
        levels, substeps = table.table("levels"), table.table("substeps")
        bonds = {str(k): bond for k, bond in enumerate(table.items("bonds"), 1)}
        ports = Table(bonds, f"{table.where}, bonds")
        return cls(
            **numbers,
            bonds=tuple(ports.texts(k, size=2) for k in bonds),
            locate=table.texts("locate", None),
            levels={name: levels.number(name) for name in levels.content},
            substeps={name: substeps.whole(name) for name in substeps.content},
        )

    def prepare(self, system: Structure) -> None:
        """Give the elements of a system their substeps."""
        for name, count in self.substeps.items():
            if name in system.elements:
                system.elements[name].substeps = count

    def control(self, tolerance: float | None = None) -> StepControl:
        """Step control, with another tolerance where one is given."""
        chosen = self.tolerance if tolerance is None else tolerance
        bonds = tuple(_bond(*ports) for ports in self.bonds)
        estimate = PowerBonds(bonds, chosen) if bonds else StepDoubling(chosen)
        return StepControl(self.shortest, self.longest, self.event_step, estimate, self.locate, self.levels)


def _bond(wrench: str, twist: str) -> Bond:
    def names(port: str, vectors: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for part in vectors for name in vector(f"{port}.{part}"))

    return Bond(f"{wrench} on {twist}", names(wrench, WRENCH), names(twist, TWIST))
