"""What an importer is asked to do with an FMU so that its results can be compared with those of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sin

import numpy as np

from master.fmi.description import Description, Variable


@dataclass(frozen=True)
class Experiment:
    """A run from `start` over `steps` steps of size `step`, everything but the inputs as the FMU comes.

    Before step k each input takes `inputs[name][k]`; row 0 holds for the initialisation too. Outputs are asked for by
    name after the initialisation and after each step.
    """

    start: float
    step: float
    steps: int
    inputs: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]

    @property
    def stop(self) -> float:
        return self.start + self.steps * self.step

    @property
    def times(self) -> np.ndarray:
        """Times of the outputs, shape (steps + 1,)."""
        return self.start + self.step * np.arange(self.steps + 1)


def excitation(variables: Sequence[Variable], amplitude: float, k: int) -> dict[str, float]:
    """Values before step k of the inputs among `variables` that move; none with amplitude 0.

    Real, continuous inputs that are bounded by nothing move about their start values, each in its own phase, by
    `amplitude` of their nominal values; Booleans switch, each in its own rhythm. The four numbers of a quaternion
    cannot move independently of each other: they stay.
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
    """An experiment with every output, in which inputs move; with amplitude 0 they keep their start values."""
    inputs = [v for v in description.select("input") if v.type != "String"]
    rows = [excitation(inputs, amplitude, k) for k in range(steps)]
    return Experiment(
        start=description.experiment.start or 0.0,
        step=description.experiment.step or 1e-3,
        steps=steps,
        inputs={name: np.array([row[name] for row in rows]) for name in rows[0]},
        outputs=tuple(v.name for v in description.select("output") if v.type != "String"),
    )
