"""The end of a run some time after an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dockfmu.master.observers.events import Event
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import NO_END, EndRequest, Trigger
from dockfmu.master.system import Structure


class EndAfterEvents(Observer):
    """Observer that completes a run some time after the first of several events.

    Parameters
    ----------
    events : mapping of str to Event
        Events by name.
    after : mapping of str to float
        Time from the first occurrence of each event to the end, s, rounded to whole macro steps.
    """

    def __init__(self, events: Mapping[str, Event], after: Mapping[str, float]) -> None:
        self.events = [(name, events[name]) for name in after]
        self.after = dict(after)

    def reset(self) -> None:
        self.end_request = NO_END

    def triggers(self, system: Structure) -> Sequence[Trigger]:
        return [replace(event.trigger(system), prompt=True) for _, event in self.events]

    def begin(self, run: RunContext) -> None:
        self._step = run.step
        self._seen: set[str] = set()
        for name, event in self.events:
            if event.holds(*run.read([event.signal])):
                self._happened(name, run.start)

    def event(self, trigger: int, time: float, old: float, new: float) -> None:
        name, event = self.events[trigger]
        if event.happened(old, new):
            self._happened(name, time)

    def _happened(self, name: str, time: float) -> None:
        if name in self._seen:
            return
        self._seen.add(name)
        end = time + round(self.after[name] / self._step) * self._step
        if end < self.end_request.time:
            self.end_request = EndRequest(end, f"ended {self.after[name]:g} s after {name} at t = {end:.9g} s")
