"""Values of outputs at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.variables import VISIBLE
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure


class Finals(Observer):
    """Fills result.finals with {name: {"signal", "value", "unit"}} of the outputs `signals`, by their names."""

    def __init__(self, signals: Mapping[str, str]) -> None:
        self.signals = dict(signals)
        self.reset()

    def reset(self) -> None:
        self._values: dict[str, float] = {}

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        problems: list[str] = []
        self._units: dict[str, str] = {}
        for name, signal in self.signals.items():
            try:
                _, variable = system.resolve(signal)
            except StructureError as error:
                problems += [f"final, {name}: {problem}" for problem in error.problems]
                continue
            if variable.causality not in VISIBLE or variable.type == "String":
                kind = f"{variable.causality} of type {variable.type}"
                problems.append(f"final, {name}: an output that is a number is needed, but {signal} is {kind}")
            self._units[name] = variable.unit or "1"
        if problems:
            raise StructureError(problems)
        return ()

    def begin(self, run: RunContext) -> None:
        self._run = run

    def last(self) -> None:
        values = self._run.read(list(self.signals.values()))
        self._values = {name: float(value) for name, value in zip(self.signals, values, strict=True)}

    def end(self, result: Result) -> None:
        for name, value in self._values.items():
            result.finals[name] = {"signal": self.signals[name], "value": value, "unit": self._units[name]}
