"""The stepping of one run: chunks of steps in the compiled loop, observers in between."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from operator import attrgetter

import numpy as np

from dockfmu.base.errors import FAILED
from dockfmu.base.messages import shown
from dockfmu.master import loop
from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.fmi.surroundings import told
from dockfmu.master.loop import tables as at
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.requests import NO_END, EndRequest
from dockfmu.master.result import Result
from dockfmu.master.run.disturbances import Disturbances
from dockfmu.master.run.failures import LoopReport
from dockfmu.master.run.instances import Instances
from dockfmu.master.run.interruption import Interruption, uninterrupted
from dockfmu.master.run.loop_state import FirstTables, free_states, get_loop_state, set_components, set_loop_state
from dockfmu.master.run.participants import LONGEST_CHUNK, Participants
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.step_threads import StepThreads
from dockfmu.master.run.stepping import TOLERANCE, ControlledSteps, FixedSteps, Stepper
from dockfmu.master.step_control import StepControl
from dockfmu.master.system import check_value
from dockfmu.master.tables.coupling import couple
from dockfmu.master.tables.observation import arm_triggers

CHUNK_S = 0.1
"""Time between two returns to Python, for which Ctrl-C and progress may wait, s."""
HOLD_S = 0.01
"""Time between two checks whether a held run may go on, s."""


class Session:
    """Steps initialised instances by a schedule, and keeps `result` up to date."""

    def __init__(
        self, instances: Instances, scheme: Scheme, participants: Participants, schedule: Schedule, result: Result
    ) -> None:
        self.instances, self.participants, self.schedule = instances, participants, schedule
        self.result, self.over = result, False
        self.coupling = couple(
            instances.system,
            instances.by_name,
            scheme,
            participants.triggers,
            participants.samplings,
            schedule.stop_when,
            LONGEST_CHUNK,
            schedule.step_control,
        )
        self.layout, self.tables = self.coupling.layout, self.coupling.tables
        self._report = LoopReport(self.coupling, schedule.control)
        self._disturbances = Disturbances()
        self._last_row = [-math.inf] * len(participants.samplings)
        self._driven = -1
        """The macro step for which drivers were called last."""
        self._first_tables, self._first_schedule = FirstTables(self.coupling), schedule
        # compile, or load compiled code, now: this must not count as time of the steps
        self.stepper = self._stepper()
        self._threads = StepThreads(self.tables) if scheme.threads > 1 else None

    def _stepper(self) -> Stepper:
        steps: type[Stepper] = ControlledSteps if isinstance(self.schedule.control, StepControl) else FixedSteps
        return steps(self.coupling.packed, self.schedule.start, self.schedule.step, self.schedule.stop)

    def restart(self, result: Result) -> None:
        """Forget the last run before another one of the same system, which `result` will describe."""
        self.result, self.over, self.schedule = result, False, self._first_schedule
        self._first_tables.restore()
        self._disturbances.forget()
        self._last_row = [-math.inf] * len(self._last_row)
        self._driven = -1

    def rewind(self, result: Result) -> None:
        """Forget what was done since the run began, for a return to a checkpoint that `result` will describe."""
        free_states(self.coupling)
        self.restart(result)
        self.schedule = replace(self.schedule, start=result.t_end)

    def begin_again(self, run: RunContext, loop_state: Mapping[str, np.ndarray] | None = None) -> None:
        """Begin another run, after `restart` and the initialisation of the renewed instances."""
        set_components(self.coupling)
        # a new stepper begins a new grid of steps and resets the clock of step control
        self.stepper = self._stepper()
        self.begin(run, loop_state)

    def begin(self, run: RunContext, loop_state: Mapping[str, np.ndarray] | None = None) -> None:
        """Read the initial values, or continue from a saved state of the loop; see `memory`.

        Raises FmuError if values cannot be read or are not finite, MasterError for a state that does not fit.
        """
        with self.reading():
            if not loop.read_outputs(self.coupling.packed):
                raise self._report.failure(self.schedule.start)
        if loop_state is not None:
            set_loop_state(self.coupling, loop_state)
            self._set_grid(loop_state.get("grid", np.zeros(0)))
        self._report.check_finite(self.schedule.start)
        arm_triggers(self.tables.triggers, self.layout.outputs)
        with uninterrupted():
            for observer in self.participants.observers:
                observer.begin(run)
            for driver in self.participants.drivers:
                driver.begin(self.schedule.start)
        self._record_now()

    def _set_grid(self, grid: np.ndarray) -> None:
        """Continue the grid of a checkpoint. Raises MasterError unless it leads to the time of its states."""
        own, start = self.stepper.grid, self.schedule.start
        if grid.shape == own.shape and grid.dtype == own.dtype and np.isfinite(grid).all():
            self.stepper.set_grid(grid)
            if abs(self.stepper.time - start) <= TOLERANCE * self.stepper.step:
                return
        raise MasterError(f"the checkpoint is damaged: its steps do not lead to its time, {start:.9g} s")

    def advance(self, until: float, interrupted: Interruption) -> None:
        """Step to `until`. Raises FmuError after a failure, once everything recorded has been delivered."""
        began = time.perf_counter() - self.result.wall_s
        self._disturbances.begin()
        try:
            self._steps(until, interrupted, began)
        finally:
            self.result.wall_s = time.perf_counter() - began

    def end(self) -> None:
        """Record the last rows, while the instances still exist."""
        with self.reading():
            self._record_now()
        for observer in self.participants.observers:
            observer.last()

    def memory(self) -> dict[str, np.ndarray]:
        """Return the state of the loop, without the states of the FMUs."""
        return get_loop_state(self.coupling) | {"grid": self.stepper.grid}

    def _steps(self, until: float, interrupted: Interruption, began: float) -> None:
        """Take steps to `until`, or until the run is over, in chunks that last about CHUNK_S."""
        room = min((group.every * (group.capacity - 3) for group in self.coupling.groups), default=LONGEST_CHUNK)
        chunk = 16
        self._end_if_requested()
        while not self.over and self.stepper.time < until:
            if any(driver.holds() for driver in self.participants.drivers) and not interrupted.word:
                time.sleep(HOLD_S)
                continue
            clock = time.perf_counter()
            self._drive(self.stepper.time)
            longest = min(room, self.participants.longest_chunk)
            count = min([chunk, longest, *(self._until_driven(driver) for driver in self.participants.drivers)])
            taken = self._advance(min(until, self._end_request.time), count, interrupted)
            now = time.perf_counter()
            if taken == count:
                chunk = max(1, min(longest, 2 * chunk, int(count * CHUNK_S / max(now - clock, 1e-6)) + 1))
            for observer in self.participants.observers:
                reason = observer.progress(self.result.t_end, now - began)
                if reason:
                    self._stop(reason)
            self._end_if_requested()
            if interrupted.word and self.stepper.time < until and not self.over:
                self.result.signal = interrupted.number
                self._stop(f"{interrupted.word} at t = {self.result.t_end:.9g} s")

    @property
    def _end_request(self) -> EndRequest:
        """The earliest end that an observer requests."""
        return min(
            (observer.end_request for observer in self.participants.observers), key=attrgetter("time"), default=NO_END
        )

    def _end_if_requested(self) -> None:
        """Complete the run if the end that an observer requests is reached."""
        request = self._end_request
        # its time has rounding that the grid of steps has not
        if self.stepper.time >= request.time - 1e-6 * self.stepper.step and not self.over:
            self.over = True
            self.result.message = request.reason

    def _stop(self, reason: str) -> None:
        self.over = True
        self.result.status = "stopped"
        self.result.message = reason

    def _advance(self, until: float, count: int, interrupted: Interruption) -> int:
        """Take at most `count` steps, not beyond `until`; return how many were taken."""
        result, process = self.result, os.getpid()
        with self._threads or nullcontext():
            done = self.stepper.advance(until, result.macro_steps, count)
        if os.getpid() != process:
            os._exit(FAILED)  # a copy that an FMU has made by fork() must not write the same files
        # the master itself handles signals differently while it steps, and after a signal
        modes = self._threads is not None and self._threads.disturbed
        self._tell(self._disturbances.undo(whole=not interrupted.word, modes=modes))
        result.macro_steps += done
        result.t_end = self.stepper.time
        reason = self.tables.report[0]["reason"]
        # get details from the FMU that failed before observers call anything
        step = min(self.stepper.step, until - self.stepper.time)
        failure = self._report.failure(result.t_end, step) if reason == at.FAILED else None
        self._deliver()
        if failure is not None:
            try:
                raise failure
            finally:
                # its traceback holds this frame: the cycle would keep the tables until the next garbage collection
                del failure
        if reason == at.NOT_FINITE:
            self._report.check_finite(result.t_end + self.stepper.step)
        if reason == at.STOPPED:
            self.over = True
            result.message = f"ended by the stop signal at t = {result.t_end:.9g} s"
        if reason == at.ENDED:
            self.over = True
            result.message = self._report.requested_end(result.t_end, self.stepper.step)
        return done

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Restore what FMUs change while their outputs are read within a block, and warn."""
        found: list[str] = []
        try:
            with self._disturbances.reading(found):
                yield
        finally:
            self._tell(found)

    def _tell(self, changed: list[str]) -> None:
        """Warn of what FMUs of this process have changed for all code in it."""
        here = [instance.name for instance in self.layout.instances if not instance.remote]
        if changed and here:
            self.result.warnings.append(
                f"{told(here, changed)} while it stepped, by t = {self.stepper.time:.9g} s; restored, but others may "
                "have been affected: --process keeps an FMU apart"
            )

    def _until_driven(self, driver: Driver) -> int:
        """Return a number of macro steps within which a driver need not be called again."""
        due = driver.every - self.result.macro_steps % driver.every
        if isinstance(self.schedule.control, StepControl):  # its steps may become longer
            return due
        # rounding must not take a call that is due at a step for one due before it
        further = (driver.next_change() - self.stepper.time) / self.stepper.step - due + 1e-6
        return due + driver.every * int(min(max(further, 0.0), LONGEST_CHUNK) // driver.every)

    def _drive(self, now: float) -> None:
        """Set the values of drivers, once for each step. Raises FmuError if an FMU fails or discards a required one."""
        if self._driven == self.result.macro_steps:
            return
        self._driven = self.result.macro_steps
        for driver in self.participants.drivers:
            if self.result.macro_steps % driver.every:
                continue
            for name, value in driver.values(now).items():
                element, variable = self.layout.system.resolve(name)
                if problem := check_value(variable, value):
                    raise MasterError(f"{name} = {shown(value)} at t = {now:.9g} s, from a driver: {problem}")
                try:
                    self.layout.instance(element).set({variable.name: value})
                except FmuError as error:
                    if not error.discarded:
                        raise
                    driver.discarded(name, error)

    def _deliver(self) -> None:
        """Pass rows and events to the observers, and empty their buffers."""
        recording, report = self.tables.recording, self.tables.report[0]
        for observer, g in self.participants.samplers:
            count = int(recording.filled[g])
            if count:
                times = recording.time[g, :count]
                self._last_row[g] = float(times[-1])
                observer.sample(times, self.coupling.groups[g].rows(count))
        recording.filled[:] = 0
        for time_, trigger, old, new in self.tables.triggers.event[: report["events"]].tolist():
            observer, number = self.participants.owners[int(trigger)]
            observer.event(number, time_, old, new)
        report["events"] = 0

    def _record_now(self) -> None:
        """Record a row of each group that has none at the present time."""
        now = self.result.t_end
        for group, last in enumerate(self._last_row):
            if last < now - 1e-9 * self.stepper.step and not loop.record(self.coupling.packed, group, now):
                raise self._report.failure(now)
        self._deliver()

    def close(self) -> None:
        """End the threads."""
        if self._threads is not None:
            self._threads.close()

    def conclude(self) -> None:
        """Add the statistics of the steps to the result, and free the states that the loop has saved."""
        self.stepper.report(self.result)
        self.result.warnings += [*self._report.statistics(), *free_states(self.coupling)]
