"""Midpoint coupling (drift, kick, drift): evaluate forces at the predicted middle of the step, then step the bodies.

It suits forces without states, such as a stiff contact, between bodies that provide their velocities: second order,
symplectic, no rollback. If the bodies are exact for a held force, it is the Stoermer-Verlet method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dockfmu.master.algorithms.algorithm import Scheme, one_by_one
from dockfmu.master.errors import StructureError


@dataclass(frozen=True)
class Midpoint:
    """Evaluate forces at the predicted middle of the step, then step the bodies with them. Second order.

    Parameters
    ----------
    forces : tuple of str
        The instances that give forces; by default, the first one in the order of the system.
    derivatives : mapping of str to str
        Maps an output to the output that is its derivative, where the model descriptions do not declare it.
    """

    forces: tuple[str, ...] = ()
    derivatives: Mapping[str, str] = field(default_factory=dict)
    name: str = "midpoint"

    def scheme(self, order: Sequence[str]) -> Scheme:
        unknown = set(self.forces) - set(order)
        if unknown:
            raise StructureError([f"algorithm midpoint: there is no element {name!r}" for name in sorted(unknown)])
        forces = self.forces or tuple(order[:1])
        stages = (*one_by_one(forces), *one_by_one([name for name in order if name not in forces]))
        return Scheme(stages, frozenset(forces), slopes=False, derivatives=self.derivatives)
