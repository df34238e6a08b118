"""The experiment that importers run with an FMU so that their results can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sin

import numpy as np

from dockfmu.master.fmi.description import Description, Variable


@dataclass(frozen=True)
class Experiment:
    """A run of `steps` steps of `step` s from `start`, with parameters at their start values.

    Before step k each input is set to `inputs[name][k]`; row 0 holds for the initialisation too. Outputs are read after
    the initialisation and after each step.
    """

    start: float
    step: float
    steps: int
    inputs: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]

    @property
    def stop(self) -> float:
        """End of the run, s."""
        return self.start + self.steps * self.step

    @property
    def times(self) -> np.ndarray:
        """Times of the outputs, s, shape (steps + 1,)."""
        return self.start + self.step * np.arange(self.steps + 1)


def excitation(variables: Sequence[Variable], amplitude: float, k: int) -> dict[str, float]:
    """Return the values before step `k` of those of `variables` that move; with amplitude 0 all keep start values.

    Continuous Real inputs without bounds oscillate about their start values, each in its own phase, with `amplitude`
    times their nominal values; Booleans switch, each in its own rhythm. The components of a quaternion cannot move
    independently and stay constant.
    """
    found: dict[str, float] = {}
    for i, v in enumerate(variables):
        free = v.minimum is None and v.maximum is None and "quaternion" not in v.name
        if v.type == "Real" and v.variability == "continuous" and free:
            found[v.name] = float(v.start or 0.0) + amplitude * (v.nominal or 1.0) * sin(0.1 * k + i + 1.0)
        elif v.type == "Boolean" and amplitude:
            found[v.name] = float(bool(v.start) != bool(k // (10 + i) % 2))
    return found


def experiment_for(description: Description, amplitude: float = 1e-2, steps: int = 200) -> Experiment:
    """Return an experiment with every output, in which inputs move as in `excitation`."""
    inputs = [v for v in description.select("input") if v.type != "String"]
    rows = [excitation(inputs, amplitude, k) for k in range(steps)]
    return Experiment(
        start=description.experiment.start or 0.0,
        step=description.experiment.step or 1e-3,
        steps=steps,
        inputs={name: np.array([row[name] for row in rows]) for name in rows[0]},
        outputs=tuple(v.name for v in description.select("output") if v.type != "String"),
    )
