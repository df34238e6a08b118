"""Events: times at which a signal rises, falls, crosses a level, or changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from dockfmu.base.messages import shown, with_article
from dockfmu.base.numbers import real
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi import strings
from dockfmu.master.fmi.variables import VISIBLE
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Trigger
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

MOST = 10_000
"""Largest number of occurrences of an event that are kept."""

When = Literal["rise", "fall", "above", "below", "equals", "change"]


@dataclass(frozen=True)
class Event:
    """An event of one output.

    Attributes
    ----------
    signal : str
        Full name of the output.
    when : {"rise", "fall", "above", "below", "equals", "change"}
        A Boolean or Integer output can "rise" from 0 or "fall" to 0; a number can go "above" or "below" `level`, or
        come to equal it ("equals"); "change" is every new value.
    level : float
        Level, in the unit of the signal.
    once : bool
        Whether only the first occurrence counts.

    Raises
    ------
    StructureError
        For an unknown `when`, or a level that is not a number.
    """

    signal: str
    when: When = "rise"
    level: float = 0.0
    once: bool = True

    def __post_init__(self) -> None:
        if self.when not in get_args(When):
            raise StructureError(
                [f"event of {self.signal}: when is one of {', '.join(get_args(When))}, not {shown(self.when)}"]
            )
        if real(self.level) is None or math.isnan(self.level):
            raise StructureError([f"event of {self.signal}: the level must be a number, not {shown(self.level)}"])

    def trigger(self, system: Structure) -> Trigger:
        """Return the trigger of the event. Raises StructureError for a signal that cannot be observed."""
        _, variable = system.resolve(self.signal)
        if (variable.type == "String" and self.when != "change") or variable.causality not in VISIBLE:
            raise StructureError([f"{self.signal} is {with_article(variable.causality)} of type {variable.type}"])
        # a trigger fires where "more than its level" changes: below the level is not more than the number before it
        below = math.nextafter(self.level, -math.inf)
        levels = {"rise": 0.5, "fall": 0.5, "above": self.level, "below": below, "equals": None, "change": None}
        return Trigger(self.signal, levels[self.when])

    def holds(self, value: object) -> bool:
        """Return whether a value at the start of a run counts as this event."""
        if not isinstance(value, int | float):
            return False
        if self.when in ("rise", "above"):
            return value > (0.5 if self.when == "rise" else self.level)
        return (self.when == "below" and value < self.level) or (self.when == "equals" and value == self.level)

    def happened(self, old: float, new: float) -> bool:
        """Return whether a change that the trigger reports is this event."""
        if self.when == "change":
            return True
        if self.when == "equals":
            return new == self.level
        return new > old if self.when in ("rise", "above") else new < old


class Events(Observer):
    """Fills result.events with {"t", "name", "signal"}, and "old" and "new" for changes, in order of time.

    The time is that of the end of the macro step in which the signal changed; every macro step is examined. Of an event
    that happens more than MOST times, the first ones are kept and the others counted, in a warning: a run of any length
    takes a bounded amount of memory.
    """

    def __init__(self, events: Mapping[str, Event]) -> None:
        self.events = list(events.items())
        self._strings: set[str] = set()
        """Signals of type String, whose values are the numbers of strings."""
        self.reset()

    def reset(self) -> None:
        self.found: list[dict[str, object]] = []
        self._counts: Counter[str] = Counter()
        self._last: dict[str, float] = {}
        """Times of the last occurrences of events that happened more than MOST times."""

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        problems = []
        triggers = []
        for name, event in self.events:
            try:
                triggers.append(event.trigger(system))
                if system.resolve(event.signal)[1].type == "String":
                    self._strings.add(event.signal)
            except StructureError as error:
                problems += [f"event {name}: {problem}" for problem in error.problems]
        if problems:
            raise StructureError(problems)
        return triggers

    def begin(self, run: RunContext) -> None:
        """Log an event at the start if its condition already holds."""
        for name, event in self.events:
            if event.holds(*run.read([event.signal])):
                self._counts[name] += 1
                self.found.append({"t": run.start, "name": name, "signal": event.signal})

    def event(self, trigger: int, time: float, old: float, new: float) -> None:
        name, event = self.events[trigger]
        if not event.happened(old, new) or (event.once and self._counts[name]):
            return
        self._counts[name] += 1
        if self._counts[name] > MOST:
            self._last[name] = time
            return
        values: dict[str, object] = {"old": old, "new": new} if event.when == "change" else {}
        if event.signal in self._strings:
            values = {"old": strings.string(int(old)), "new": strings.string(int(new))}
        self.found.append({"t": time, "name": name, "signal": event.signal, **values})

    def end(self, result: Result) -> None:
        result.events = sorted(self.found, key=lambda entry: entry["t"])
        for name, last in self._last.items():
            result.warnings.append(
                f"event {name} happened {self._counts[name]} times; the first {MOST} are kept, the last was at "
                f"t = {last:.9g} s"
            )
