"""The outcome of a run, which an output of the system reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dockfmu.base.names import did_you_mean
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

UNKNOWN = "unknown"
"""Outcome of a run whose system no longer has the output that reports it."""


@dataclass(frozen=True)
class OutcomeRule:
    """The variable with which a system reports the outcome of a run, and the outcomes that count as success.

    The final value of `signal`, an output of type Enumeration, Integer or Boolean, is the outcome. Its name comes from
    `names`, pairs of value and name; without an entry there, it is the item of the enumeration in lower case, or the
    value as text. If this name is `undecided`, the first true output of `interim`, pairs of name and Boolean output,
    gives the outcome. An empty `signal` leaves the outcome unknown.
    """

    signal: str
    success: tuple[str, ...]
    names: tuple[tuple[int, str], ...] = ()
    undecided: str = "none"
    interim: tuple[tuple[str, str], ...] = ()

    def name(self, variable: Variable, value: int) -> str:
        """Return the name of a value of the signal."""
        if value in dict(self.names):
            return dict(self.names)[value]
        if variable.type == "Boolean":
            return str(bool(value)).lower()
        return next((item.lower() for item, number in variable.items if number == value), str(value))

    def problems(self, system: Structure) -> list[str]:
        """Return a sentence for each mistake of the rule for a system."""
        if not self.signal:
            return []
        found: list[str] = []
        for signal, types in (
            (self.signal, ("Enumeration", "Integer", "Boolean")),
            *((signal, ("Boolean", "Integer")) for _, signal in self.interim),
        ):
            try:
                _, variable = system.resolve(signal)
            except StructureError as error:
                found += error.problems
                continue
            if variable.causality != "output" or variable.type not in types:
                kind = f"{variable.causality} of type {variable.type}"
                found.append(f"an output of type {' or '.join(types)} is needed, but {signal} is {kind}")
        return found or [*self._alike(variable := system.resolve(self.signal)[1]), *self._unknown_successes(variable)]

    def _alike(self, variable: Variable) -> list[str]:
        """Return a sentence for two items that give the same outcome, because they differ in their case only."""
        named: dict[str, str] = {}
        for item, number in variable.items:
            if number in dict(self.names):
                continue
            other = named.setdefault(item.lower(), item)
            if other != item:
                return [
                    f"the items {other!r} and {item!r} of {self.signal} both give {item.lower()!r}: name the outcomes"
                ]
        return []

    def _unknown_successes(self, variable: Variable) -> list[str]:
        """Return a sentence for each declared success that can never be the outcome."""
        values = [number for _, number in variable.items]
        if variable.type == "Boolean":
            values = [0, 1]
        elif not values:
            return []
        known = [*(self.name(variable, value) for value in values), *(name for name, _ in self.interim)]
        return [
            f"success {name!r} is not one of the outcomes {', '.join(known)}" + did_you_mean(name, known)
            for name in self.success
            if name not in known
        ]


class Outcomes(Observer):
    """Fills result.decided and result.successes by a rule; the outcome of a failed run is always "failed"."""

    def __init__(self, rule: OutcomeRule) -> None:
        self.rule = rule
        self.reset()

    def reset(self) -> None:
        self._decided = ""

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        problems = self.rule.problems(system)
        if problems:
            raise StructureError([f"outcome: {problem}" for problem in problems])
        return ()

    def begin(self, run: RunContext) -> None:
        self._run = run

    def _value(self, signal: str) -> int:
        return int(*self._run.read([signal]))

    def last(self) -> None:
        if not self.rule.signal:
            self._decided = UNKNOWN
            return
        variable = self._run.system.resolve(self.rule.signal)[1]
        self._decided = self.rule.name(variable, self._value(self.rule.signal))
        if self._decided == self.rule.undecided:
            names = (name for name, signal in self.rule.interim if self._value(signal))
            self._decided = next(names, self._decided)

    def end(self, result: Result) -> None:
        result.decided, result.successes = self._decided, self.rule.success
