"""Running a system.

>>> result = run(system, step=1e-3, stop=10.0, observers=[Recorder(Path("results.h5"))])   # doctest: +SKIP
>>> result.status, result.t_end
('completed', 10.0)
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from master import loop
from master.algorithms import Algorithm, GaussSeidel
from master.coupling import Coupling, Sampling, Watch
from master.errors import FmuError, MasterError, StructureError
from master.fmu import DISCARD, PENDING, Fmu, Instance
from master.initialisation import Initialisation
from master.observers.observer import Observer, Run
from master.result import Result
from master.system import System

CHUNK_S = 0.1
"""Time between two returns to Python: what Ctrl-C and progress wait for."""
LONGEST_CHUNK = 1 << 16


def run(
    system: System,
    *,
    step: float,
    stop: float,
    start: float = 0.0,
    algorithm: Algorithm | None = None,
    observers: Sequence[Observer] = (),
    stop_when: str | None = None,
    logging: bool = False,
) -> Result:
    """Initialise `system` at `start` and run it in macro steps of `step` to `stop` (both in seconds).

    `stop_when` names a Boolean or Integer output that ends the run after the step in which it becomes true (not 0).
    A last, shorter step is taken where `stop` is no multiple of `step`.

    Raises StructureError, DescriptionError or ArchiveError for a system that cannot be run, before any FMU is loaded.
    What fails later comes back in the result, with all that was recorded until then.
    """
    _check(system, step, start, stop, stop_when)
    chosen = GaussSeidel() if algorithm is None else algorithm
    result = Result(system.name, chosen.name, step, t_start=start, t_end=start)
    try:
        with ExitStack() as cleanup:
            began = time.perf_counter()
            instances = _instantiate(system, logging, cleanup)
            order = system.execution_order()
            result.warnings += _initialise(system, instances, order, start, stop)
            stages = chosen.stages(order)
            session = _Session(system, instances, stages, observers, stop_when, start, step, stop, result)
            result.initialise_s = time.perf_counter() - began
            with _deferred_interrupt() as interrupted:
                session.run(interrupted)
            for instance in instances.values():
                try:
                    instance.terminate()
                except FmuError as error:
                    result.warnings.append(str(error))
    except MasterError as error:
        _fail(result, error)
    except BaseException as error:
        _fail(result, error)
        raise
    finally:
        _end(observers, result)
    return result


def _fail(result: Result, error: BaseException) -> None:
    result.status, result.message = "failed", str(error) or type(error).__name__
    result.error = error


def _end(observers: Sequence[Observer], result: Result) -> None:
    """End all observers, whatever happens to one of them."""
    fault: BaseException | None = None
    for observer in observers:
        try:
            observer.end(result)
        except MasterError as error:
            if result.status != "failed":
                _fail(result, error)
        except BaseException as error:
            fault = fault or error
    if fault is not None:
        raise fault


def _check(system: System, step: float, start: float, stop: float, stop_when: str | None) -> None:
    system.check()
    if not system.elements:
        raise StructureError([f"system {system.name} has no elements"])
    if not (math.isfinite(step) and step > 0.0):
        raise StructureError([f"the macro step must be positive, not {step!r} s"])
    if not (math.isfinite(stop) and stop > start):
        raise StructureError([f"the stop time {stop!r} s must lie after the start time {start!r} s"])
    if stop_when is not None:
        _, variable = system.resolve(stop_when)
        if variable.causality != "output" or variable.storage not in ("Boolean", "Integer"):
            raise StructureError(
                [f"{stop_when} cannot end a run: it is a {variable.causality} of type {variable.type}"]
            )
    rest = (stop - start) / step
    if abs(rest - round(rest)) > 1e-6:
        fixed = ", ".join(name for name in system.elements if not system.description(name).can_vary_step)
        if fixed:
            span = f"{stop - start:g} s are no multiple of the step {step:g} s"
            raise StructureError([f"{span}, and {fixed} cannot vary the step"])


def _instantiate(system: System, logging: bool, cleanup: ExitStack) -> dict[str, Instance]:
    """Load every FMU once, make the instances, set their start values."""
    fmus: dict[Path, Fmu] = {}
    instances: dict[str, Instance] = {}
    for element in system.elements.values():
        key = element.file.resolve()
        if key not in fmus:
            fmus[key] = cleanup.enter_context(Fmu(element.file))
        instances[element.name] = instance = fmus[key].instantiate(element.name, logging=logging)
        instance.set(element.start)
    return instances


def _initialise(
    system: System, instances: Mapping[str, Instance], order: Sequence[str], start: float, stop: float
) -> list[str]:
    for name in order:
        instances[name].enter_initialization(start, stop)
    notes = Initialisation(system, instances, order).run()
    for name in order:
        instances[name].exit_initialization()
    return notes


class _Session:
    """The stepping of one run: chunks in the compiled loop, observers in between."""

    def __init__(
        self,
        system: System,
        instances: Mapping[str, Instance],
        stages: Sequence[tuple[str, ...]],
        observers: Sequence[Observer],
        stop_when: str | None,
        start: float,
        step: float,
        stop: float,
        result: Result,
    ) -> None:
        self.start, self.step, self.stop, self.result = start, step, stop, result
        self.observers = observers
        watches: list[Watch] = []
        samplings: list[Sampling] = []
        self.watchers: list[tuple[Observer, int]] = []
        self.samplers: list[Observer] = []
        for observer in observers:
            wanted = observer.watches(system)
            self.watchers += [(observer, k) for k in range(len(wanted))]
            watches += wanted
            sampling = observer.sampling(system)
            if sampling is not None:
                self.samplers.append(observer)
                samplings.append(sampling)
        self.coupling = Coupling(system, instances, stages, watches, samplings, stop_when, LONGEST_CHUNK)
        self.tables = self.coupling.tables
        # compiles, or loads what was compiled before, so that the time of the steps is theirs alone
        loop.advance(self.tables, start, step, 0, 0)
        self.run_data = Run(
            system, instances, {n: i.description for n, i in instances.items()}, start, stop, step, result.algorithm
        )

    def run(self, interrupted: threading.Event) -> None:
        coupling, tables = self.coupling, self.tables
        count = math.floor((self.stop - self.start) / self.step + 1e-6)
        rest = self.stop - (self.start + count * self.step)
        if not loop.read_outputs(tables):
            raise self._failure(self.start)
        self._check_finite(self.start)
        coupling.start_watching()
        for observer in self.observers:
            observer.begin(self.run_data)
        self._record(0)
        self._deliver()
        began = time.perf_counter()
        try:
            done = self._steps(count, interrupted, began)
            if done == count and self._going() and rest > 1e-6 * self.step:
                self._advance(self.start + count * self.step, rest, 0, 1, offset=count)
                self.result.t_end = self.stop if self.result.macro_steps > count else self.result.t_end
        finally:
            self.result.wall_s = time.perf_counter() - began
            self._note_warnings()

    def _going(self) -> bool:
        return self.result.status == "completed" and not self.result.message

    def _steps(self, count: int, interrupted: threading.Event, began: float) -> int:
        """Take up to `count` steps in chunks that last about CHUNK_S; returns how many were taken."""
        done, chunk = 0, 16
        longest = min([LONGEST_CHUNK, *(group.every * (group.capacity - 3) for group in self.coupling.groups)])
        while done < count and self._going():
            clock = time.perf_counter()
            taken = self._advance(self.start, self.step, done, min(chunk, count - done))
            done += taken
            now = time.perf_counter()
            if taken == chunk:
                chunk = max(1, min(longest, 2 * chunk, int(chunk * CHUNK_S / max(now - clock, 1e-6)) + 1))
            for observer in self.observers:
                observer.progress(self.result.t_end, now - began)
            if interrupted.is_set() and done < count:
                self.result.status = "stopped"
                self.result.message = f"interrupted at t = {self.result.t_end:.9g} s"
        return done

    def _advance(self, start: float, h: float, first: int, count: int, offset: int = 0) -> int:
        """Steps `first` to `first + count` from `start`; raises FmuError after handing out what was recorded."""
        result, report = self.result, self.tables.report
        done = loop.advance(self.tables, start, h, first, count)
        result.macro_steps += done
        result.t_end = start + (first + done) * h
        try:
            if report[loop.REASON] == loop.FAILED:
                raise self._failure(result.t_end)
            if report[loop.REASON] == loop.NOT_FINITE:
                self._check_finite(result.t_end + h)
            if report[loop.REASON] == loop.STOPPED:
                result.message = f"ended by the stop signal at t = {result.t_end:.9g} s"
        finally:
            last = offset + first + done == self._total() or report[loop.REASON] == loop.STOPPED
            if last and done:
                for group in range(len(self.coupling.groups)):
                    rows = self.tables.record_rows[group]
                    if rows == 0 or self.tables.record_step[group, rows - 1] != first + done:
                        loop.record(self.tables, group, first + done)
            self._deliver(start, h)
        return done

    def _record(self, step: int) -> None:
        for group in range(len(self.coupling.groups)):
            if not loop.record(self.tables, group, step):
                raise self._failure(self.start)

    def _total(self) -> int:
        return math.ceil((self.stop - self.start) / self.step - 1e-6)

    def _deliver(self, start: float | None = None, h: float | None = None) -> None:
        """Hand rows and events to the observers, and empty their buffers."""
        start, h = self.start if start is None else start, h or self.step
        tables = self.tables
        for g, (group, observer) in enumerate(zip(self.coupling.groups, self.samplers, strict=True)):
            rows = int(tables.record_rows[g])
            if rows:
                observer.sample(start + tables.record_step[g, :rows] * h, group.rows(rows))
        tables.record_rows[:] = 0
        for k, watch, old, new in tables.event[: tables.report[loop.EVENTS]].tolist():
            observer, number = self.watchers[int(watch)]
            observer.event(number, start + k * h, old, new)
        tables.report[loop.EVENTS] = 0

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
        report = self.tables.report
        instance = self.coupling.instances[report[loop.INSTANCE]]
        status, called, row = int(report[loop.STATUS]), int(report[loop.CALLED]), int(report[loop.ROW])
        if called == loop.STEP:
            return instance.failure("fmi2DoStep", status, at, self._step_detail(instance, status, at))
        table = {
            loop.SET: self.tables.set_calls,
            loop.GET: self.tables.get_calls,
            loop.RECORD: self.tables.record_calls,
        }
        address = int(table[called][row, loop.FUNCTION])
        function = next(name for name in instance.fmu.functions if instance.fmu.address(name) == address)
        return instance.failure(function, status, at)

    def _step_detail(self, instance: Instance, status: int, at: float) -> str:
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
                self.result.warnings.append(
                    f"{instance.name} gave fmi2Warning {count} times; last: {instance.log.last!r}"
                )


@contextmanager
def _deferred_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C sets the event and does not break into a step; a second one interrupts as usual."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: object) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
