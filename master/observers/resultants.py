"""Largest resultants of vectors: the force across the axis x, the moment across it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import numpy as np

from dockfmu.base.names import subscripts, vector
from dockfmu.master import loop
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

WORDS = {"N": ("lateral", "total"), "N.m": ("bending", "total")}
"""Names of the resultants across x and of all three elements, by the unit of a vector."""


def vectors(system: Structure, signals: Iterable[str], outputs: Container[str]) -> dict[str, str]:
    """Return the forces and moments with three elements to which `signals` belong, name -> unit, in their order.

    All elements are among the `outputs`, which are Real.
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(subscripts(signal)[0] for signal in signals if subscripts(signal)[1]):
        if all(element in outputs for element in vector(name)) and f"{name}[4]" not in outputs:
            unit = system.resolve(f"{name}[1]")[1].unit or "1"
            if unit in WORDS:
                found[name] = unit
    return found


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
        # all outputs, as Peaks takes them: equal samplings are read once
        outputs = system.select(types=("Real",))
        column = {name: k for k, name in enumerate(outputs)}
        self._vectors = vectors(system, self.signals, column)
        elements = [column[element] for name in self._vectors for element in vector(name)]
        self._columns = np.array(elements, np.uint64).reshape(-1, 3)
        return Sampling(tuple(outputs)) if elements else None

    def begin(self, run: RunContext) -> None:
        self._squares = np.full((len(self._vectors), 2), -1.0)
        self._times = np.full((len(self._vectors), 2), run.start)
        self._started = True

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        loop.resultants(time, values, self._columns, self._squares, self._times)

    def end(self, result: Result) -> None:
        if not self._started:
            return
        for k, (name, unit) in enumerate(self._vectors.items()):
            for column, word in enumerate(WORDS[unit]):
                if 0.0 <= self._squares[k, column] < np.inf:
                    result.resultants[f"{name} {word}"] = {
                        "max": float(np.sqrt(self._squares[k, column])),
                        "t_max": float(self._times[k, column]),
                        "unit": unit,
                    }
