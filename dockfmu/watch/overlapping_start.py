"""Warn of craft that overlap at the start: a contact force acts at once, and energy appears that no motion brought."""

from __future__ import annotations

import math

from dockfmu.base.names import vector
from dockfmu.declare.conditions.initial_conditions import InitialConditions
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.result import Result
from dockfmu.watch.given_conditions import ConditionsObserver


class OverlappingStart(ConditionsObserver):
    """Adds a warning if the initial conditions move the active unit beyond the first contact (`start_gap` < 0).

    The contact force is that of the mechanism on the passive craft at the start. The energy is the work against it on
    the way into the overlap, half of force times way: exact for a linear contact, about right for others.
    """

    def __init__(self, conditions: InitialConditions | None) -> None:
        super().__init__(conditions)
        self._force: float | None = None
        self._energy: float | None = None

    def reset(self) -> None:
        """Forget the previous run."""
        self._force = self._energy = None

    @property
    def overlap(self) -> float:
        """Distance by which the units are pushed into each other, m; 0 if they are not."""
        given = self.conditions
        return max(0.0, -given.start_gap) if given is not None and given.start == "first_contact" else 0.0

    def begin(self, run: RunContext) -> None:
        """Read the contact force at the start."""
        if not self.overlap or self.conditions is None:
            return
        mechanism = self.conditions.mechanism
        names = vector(f"{mechanism}.target.force_now")
        known = run.descriptions[mechanism].variables if mechanism in run.descriptions else {}
        if all(name[len(mechanism) + 1 :] in known for name in names):
            force = run.read(names)
            self._force = math.hypot(*force)
            # axes of the passive craft's port, along whose x the units are pushed together
            self._energy = 0.5 * abs(force[0]) * self.overlap

    def end(self, result: Result) -> None:
        """Add the warning."""
        if not self.overlap:
            return
        note = f"the craft overlap at the start by {1e3 * self.overlap:.4g} mm (initial_conditions.start_gap < 0)"
        if self._force is not None and self._energy is not None:
            note += (
                f": a contact force of {self._force:.4g} N acts at once, and about {self._energy:.3g} J appear that no "
                "motion has brought"
            )
        result.warnings.append(note)
