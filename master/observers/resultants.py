"""Largest resultants of vectors: the force across the axis x, the moment across it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dockfmu.base.names import subscripts, vector
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

WORDS = {"N": ("lateral", "total"), "N.m": ("bending", "total")}
"""Names of the resultants across x and of all three elements, by the unit of a vector."""


def vectors(system: Structure, signals: Iterable[str]) -> dict[str, str]:
    """Return the forces and moments with three elements to which `signals` belong, name -> unit, in their order."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(subscripts(signal)[0] for signal in signals if subscripts(signal)[1]):
        if _known(system, f"{name}[4]") or not all(_known(system, element) for element in vector(name)):
            continue
        variables = [system.resolve(element)[1] for element in vector(name)]
        unit = variables[0].unit or "1"
        if unit in WORDS and all(variable.type == "Real" for variable in variables):
            found[name] = unit
    return found


def _known(system: Structure, name: str) -> bool:
    try:
        system.resolve(name)
    except StructureError:
        return False
    return True


class Resultants(Observer):
    """Fills result.resultants with {name: {"max", "t_max", "unit"}} of vectors, from every macro step.

    A name is that of the vector and "lateral" or "bending", the root of the sum of squares of its elements across x,
    or "total", that of all three. The peaks of the elements do not give them: they occur at different times.
    """

    def __init__(self, signals: Sequence[str]) -> None:
        self.signals = tuple(signals)
        self.reset()

    def reset(self) -> None:
        self._started = False

    def sampling(self, system: Structure) -> Sampling | None:
        self._vectors = vectors(system, self.signals)
        names = [element for name in self._vectors for element in vector(name)]
        return Sampling(tuple(names)) if names else None

    def begin(self, run: RunContext) -> None:
        self._highest = np.full((len(self._vectors), 2), -np.inf)
        self._times = np.full((len(self._vectors), 2), run.start)
        self._started = True

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        squares = np.square(values).reshape(len(time), -1, 3)
        for column, found in enumerate((squares[:, :, 1:].sum(axis=2), squares.sum(axis=2))):
            at = found.argmax(axis=0)
            largest = np.sqrt(found[at, np.arange(found.shape[1])])
            # false for NaN: what is not a number is told by the peaks of the elements
            new = largest > self._highest[:, column]
            self._highest[new, column] = largest[new]
            self._times[new, column] = time[at[new]]

    def end(self, result: Result) -> None:
        if not self._started:
            return
        for k, (name, unit) in enumerate(self._vectors.items()):
            for column, word in enumerate(WORDS[unit]):
                if np.isfinite(self._highest[k, column]):
                    result.resultants[f"{name} {word}"] = {
                        "max": float(self._highest[k, column]),
                        "t_max": float(self._times[k, column]),
                        "unit": unit,
                    }
