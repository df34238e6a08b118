"""Continuation of a run from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dockfmu.master.checkpoint import Checkpoint, check_states
from dockfmu.master.result import Result
from dockfmu.master.run.settable import check_values, unsettable
from dockfmu.master.system import Structure


@dataclass(frozen=True)
class Resumption:
    """A checkpoint to continue from; the run begins at its time.

    With the same step and algorithm the run is bitwise equal to one that was never interrupted. With `force` the run
    continues from a checkpoint of another system, or of other start values, if that is possible: inputs and tunable
    parameters get the values of this system, everything else those of the checkpoint. `values` are set after the states
    of the checkpoint have been restored.
    """

    checkpoint: Checkpoint
    force: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def check(self, system: Structure) -> None:
        """Raise CheckpointError or StructureError if a system cannot continue from the checkpoint."""
        check_states(system)
        self.checkpoint.check(system, force=self.force)
        check_values(system, self.values)

    def report(self, system: Structure, result: Result) -> dict[str, Any]:
        """Describe the checkpoint in a result, and the effect of each difference of the system.

        Returns the values to set after the states have been restored.
        """
        checkpoint, changes = self.checkpoint, {}
        differences = checkpoint.differences(system)
        result.macro_steps = checkpoint.macro_steps
        result.resumed = {
            "t": checkpoint.time,
            "system": checkpoint.system,
            "algorithm": checkpoint.stepping,
            "step": checkpoint.step,
            "differences": [str(difference) for difference in differences],
        }
        for difference in differences:
            effect = ""
            if difference.variable:
                element, variable = system.resolve(difference.variable)
                value = system.start_value(element, variable.name)
                if unsettable(system, difference.variable) or value is None:
                    effect = "; the value of the checkpoint applies"
                else:
                    changes[difference.variable] = value
                    effect = "; the new value applies from here on"
            result.warnings.append(f"resumed despite a difference: {difference}{effect}")
        return {**changes, **self.values}
