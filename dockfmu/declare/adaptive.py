"""Macro steps of variable length, as declared in the table `adaptive` of a system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dockfmu.base.names import vector
from dockfmu.declare.toml.tables import Table
from dockfmu.master.bond import Bond
from dockfmu.master.step_control import PowerBonds, StepControl, StepDoubling
from dockfmu.master.system import Structure

NUMBERS = ("tolerance", "shortest", "longest", "event_step")
ENTRIES = (*NUMBERS, "bonds", "locate", "levels", "substeps")
WRENCH, TWIST = ("force", "torque"), ("velocity", "angular_velocity")


@dataclass(frozen=True)
class Adaptive:
    """Steps from `shortest` to `longest` s, with events located to within `event_step` s.

    `bonds` are pairs of ports: that of the element that outputs a wrench, and that of the element that outputs the
    twist. With bonds, `tolerance` is the energy in J that each bond may generate in a step; without them, it is the
    relative error of a step, estimated by step doubling. `locate` names the Boolean and Integer outputs whose changes
    are events, or has patterns of names with `*`; by default they are all connected ones. `levels` are levels of Real
    outputs whose crossings are events. `substeps` are for elements that evaluate the time only at the start of their
    steps, such as sequences: a decision within a long step then shows in it, and is located.
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
        """Read a table of a declaration or of JSON. Raises DeclarationError for entries of the wrong kind."""
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
        """Set the substeps of the elements of a system. Raises StructureError for an unknown element."""
        for name, count in self.substeps.items():
            system.element(name, origin="adaptive.substeps").substeps = count

    def control(self, tolerance: float | None = None) -> StepControl:
        """Return the step control, with another tolerance if one is given."""
        chosen = self.tolerance if tolerance is None else tolerance
        bonds = tuple(_bond(*ports) for ports in self.bonds)
        estimate = PowerBonds(bonds, chosen) if bonds else StepDoubling(chosen)
        return StepControl(self.shortest, self.longest, self.event_step, estimate, self.locate, self.levels)


def _bond(wrench: str, twist: str) -> Bond:
    def names(port: str, vectors: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for part in vectors for name in vector(f"{port}.{part}"))

    return Bond(f"{wrench} on {twist}", names(wrench, WRENCH), names(twist, TWIST))
