"""The stepping of one run: chunks of steps in the compiled loop, observers in between."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence

from master import loop
from master.coupling import Coupling, Sampling, Watch
from master.errors import FmuError
from master.fmu import DISCARD, PENDING, Instance
from master.observers.observer import Observer, Run
from master.result import Result
from master.system import System

CHUNK_S = 0.1
"""Time between two returns to Python: what Ctrl-C and progress wait for."""
LONGEST_CHUNK = 1 << 16


class Wishes:
    """What the observers of a run want to see of a system. Raises StructureError for what it does not have."""

    def __init__(self, system: System, observers: Sequence[Observer]) -> None:
        self.observers = list(observers)
        self.watches: list[Watch] = []
        self.watchers: list[tuple[Observer, int]] = []
        """whom a watch belongs to, and its number there"""
        self.samplings: list[Sampling] = []
        self.samplers: list[Observer] = []
        for observer in observers:
            wanted = observer.watches(system)
            self.watchers += [(observer, k) for k in range(len(wanted))]
            self.watches += wanted
            sampling = observer.sampling(system)
            if sampling is not None:
                self.samplers.append(observer)
                self.samplings.append(sampling)


class Session:
    """Steps initialised instances from `start` to `stop`, or to the stop signal, and keeps the books in `result`."""

    def __init__(
        self,
        system: System,
        instances: Mapping[str, Instance],
        stages: Sequence[tuple[str, ...]],
        wishes: Wishes,
        stop_when: str | None,
        start: float,
        step: float,
        stop: float,
        result: Result,
    ) -> None:
        self.start, self.step, self.stop, self.result = start, step, stop, result
        self.wishes, self.over = wishes, False
        self.coupling = Coupling(system, instances, stages, wishes.watches, wishes.samplings, stop_when, LONGEST_CHUNK)
        self.tables = self.coupling.tables
        self.last_row = [-math.inf] * len(wishes.samplings)
        # compiles, or loads what was compiled before, so that the time of the steps is theirs alone
        loop.advance(self.tables, start, step, 0, 0)
        descriptions = {name: instance.description for name, instance in instances.items()}
        self.told = Run(system, instances, descriptions, start, stop, step, result.algorithm)

    def run(self, interrupted: threading.Event) -> None:
        """Step to the end. Raises FmuError after a failure, when all that was recorded has been handed out."""
        if not loop.read_outputs(self.tables):
            raise self._failure(self.start)
        self._check_finite(self.start)
        self.coupling.start_watching()
        for observer in self.wishes.observers:
            observer.begin(self.told)
        self._record_now()
        count = math.floor((self.stop - self.start) / self.step + 1e-6)
        rest = self.stop - (self.start + count * self.step)
        began = time.perf_counter()
        try:
            self._steps(count, interrupted, began)
            if not self.over and rest > 1e-6 * self.step:
                self._advance(self.start + count * self.step, rest, 0, 1)
                self.result.t_end = self.stop
            self._record_now()
        finally:
            self.result.wall_s = time.perf_counter() - began
            self._note_warnings()

    def _steps(self, count: int, interrupted: threading.Event, began: float) -> None:
        """Take `count` steps, or fewer if the run is over before, in chunks that last about CHUNK_S."""
        done, chunk = 0, 16
        longest = min([LONGEST_CHUNK, *(group.every * (group.capacity - 3) for group in self.coupling.groups)])
        while done < count and not self.over:
            clock = time.perf_counter()
            taken = self._advance(self.start, self.step, done, min(chunk, count - done))
            done += taken
            now = time.perf_counter()
            if taken == chunk:
                chunk = max(1, min(longest, 2 * chunk, int(chunk * CHUNK_S / max(now - clock, 1e-6)) + 1))
            for observer in self.wishes.observers:
                observer.progress(self.result.t_end, now - began)
            if interrupted.is_set() and done < count and not self.over:
                self.over = True
                self.result.status = "stopped"
                self.result.message = f"interrupted at t = {self.result.t_end:.9g} s"

    def _advance(self, start: float, h: float, first: int, count: int) -> int:
        """Steps `first` to `first + count` of length `h` from `start`; returns how many were taken."""
        result = self.result
        done = loop.advance(self.tables, start, h, first, count)
        result.macro_steps += done
        result.t_end = start + (first + done) * h
        reason = self.tables.report[loop.REASON]
        # what failed is asked for its reasons before observers can do anything else
        failure = self._failure(result.t_end) if reason == loop.FAILED else None
        self._deliver(start, h)
        if failure is not None:
            raise failure
        if reason == loop.NOT_FINITE:
            self._check_finite(result.t_end + h)
        if reason == loop.STOPPED:
            self.over = True
            result.message = f"ended by the stop signal at t = {result.t_end:.9g} s"
        return done

    def _deliver(self, start: float, h: float) -> None:
        """Hand rows and events to the observers, and empty their buffers."""
        tables = self.tables
        for g, (group, observer) in enumerate(zip(self.coupling.groups, self.wishes.samplers, strict=True)):
            rows = int(tables.record_rows[g])
            if rows:
                times = start + tables.record_step[g, :rows] * h
                self.last_row[g] = times[-1]
                observer.sample(times, group.rows(rows))
        tables.record_rows[:] = 0
        for k, watch, old, new in tables.event[: tables.report[loop.EVENTS]].tolist():
            observer, number = self.wishes.watchers[int(watch)]
            observer.event(number, start + k * h, old, new)
        tables.report[loop.EVENTS] = 0

    def _record_now(self) -> None:
        """Take a row of each group that has none of this instant."""
        now = self.result.t_end
        for group, last in enumerate(self.last_row):
            if last < now - 1e-9 * self.step and not loop.record(self.tables, group, 0):
                raise self._failure(now)
        self._deliver(now, 0.0)

    def _check_finite(self, at: float) -> None:
        found = self.coupling.not_finite()
        if found:
            name, value = found[0]
            element, variable = self.coupling.system.resolve(name)
            more = f" (and {len(found) - 1} more outputs)" if len(found) > 1 else ""
            raise FmuError(
                element,
                f"output {variable.name} became {value}{more}; look at its inputs before, or take a smaller macro step",
                function="fmi2GetReal", time=at, message=self.coupling.instance(element).log.last,
            )  # fmt: skip

    def _failure(self, at: float) -> FmuError:
        """The error behind a FAILED report."""
        tables = self.tables
        instance = self.coupling.instances[tables.report[loop.INSTANCE]]
        status, called, row = (int(tables.report[entry]) for entry in (loop.STATUS, loop.CALLED, loop.ROW))
        if called == loop.STEP:
            return instance.failure("fmi2DoStep", status, at, self._step_detail(instance, status))
        table = {loop.SET: tables.set_calls, loop.GET: tables.get_calls, loop.RECORD: tables.record_calls}[called]
        address = int(table[row, loop.FUNCTION])
        function = next(name for name in instance.fmu.functions if instance.fmu.address(name) == address)
        return instance.failure(function, status, at)

    def _step_detail(self, instance: Instance, status: int) -> str:
        detail = f" for a step of {self.step:g} s"
        if status == DISCARD:
            reached = instance.last_successful_time()
            if instance.wants_to_terminate():
                detail += "; it asks to end the simulation"
            elif reached is not None:
                detail += f"; it came to t = {reached:.9g} s"
            detail += "; a smaller macro step may help"
        elif status == PENDING:
            detail += "; it steps asynchronously, which this master does not"
        return detail

    def _note_warnings(self) -> None:
        for instance, count in zip(self.coupling.instances, self.tables.warnings, strict=True):
            if count:
                note = f"{instance.name} gave fmi2Warning {count} times; last: {instance.log.last!r}"
                self.result.warnings.append(note)
