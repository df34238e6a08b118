"""The simulation of a system: initialise, advance, read and set variables in between, terminate.

>>> with CoSimulation(system, step=1e-3) as simulation:            # doctest: +SKIP
...     simulation.advance(1.0)
...     simulation.set({"mass.force": 2.0})
...     simulation.advance(2.0)
...     simulation.get(["mass.position"])
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from signal import Signals
from types import TracebackType
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.master.algorithms import Algorithm, GaussSeidel, described
from dockfmu.master.checkpoint import (
    Checkpoint,
    check_states,
    identity,
    identity_of_starts,
    restore_states,
    save_states,
)
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.errors import FmuError, MasterError, StructureError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.fmi.surroundings import Surroundings, told, undo
from dockfmu.master.observers.observer import Observer
from dockfmu.master.result import Result
from dockfmu.master.run.checks import check_equal, check_run, check_scheme, check_span, make_scheme, uneven_steps
from dockfmu.master.run.initialisation import Initialisation
from dockfmu.master.run.instantiation import CAN_ISOLATE, instantiate
from dockfmu.master.run.interruption import deferred, signal_of, uninterrupted
from dockfmu.master.run.participants import Participants
from dockfmu.master.run.schedule import Schedule, end_of_steps
from dockfmu.master.run.session import Session
from dockfmu.master.run.stepping import origin_of
from dockfmu.master.step_control import Retry, StepControl
from dockfmu.master.system import Structure


class CoSimulation:
    """One run of `system` in macro steps of `step` from `start`, at most to `stop` (all in seconds).

    With a StepControl the steps vary, and `step` is the first of them; a Retry retries steps that an FMU discards with
    smaller ones. `drivers` set inputs that no connection sets. `stop_when` names a Boolean or Integer output that ends
    the run after the step in which it becomes true (not 0).

    `resume` is a checkpoint to continue from: `start` is then its time, and with the same step and algorithm the run is
    bitwise equal to one that was never interrupted. A checkpoint of another system, or of other start values, raises
    CheckpointError that lists the differences. With `force` the run continues if that is possible: inputs and tunable
    parameters get the values of this system, everything else those of the checkpoint.

    A simulation is a context manager: entering it loads and initialises the FMUs; leaving it ends them and the
    observers, and completes `result`, whatever happened. `run` does all of that at once.

    `finish` ends a run and completes its result, and `reset` begins another run with FMUs that are not loaded again;
    its results are bitwise equal to those of a new simulation.

    With several `threads`, instances that do not need each other's newest values step in parallel; the results are
    bitwise equal. This pays if a step takes at least some microseconds and as many cores are free. Implicit algorithms
    use one thread.

    Raises StructureError, DescriptionError, ArchiveError or CheckpointError, before any FMU is loaded, for a system or
    arguments that cannot be run.
    """

    def __init__(
        self,
        system: Structure,
        *,
        step: float,
        start: float = 0.0,
        stop: float = math.inf,
        algorithm: Algorithm | None = None,
        control: StepControl | Retry | None = None,
        observers: Sequence[Observer] = (),
        drivers: Sequence[Driver] = (),
        stop_when: str | None = None,
        resume: Checkpoint | None = None,
        force: bool = False,
        threads: int = 1,
        notes: Sequence[str] = (),
    ) -> None:
        if resume is not None:
            check_states(system)
            resume.check(system, force=force)
            start = resume.time
        check_run(system, step, start, stop, stop_when)
        if control is not None:
            control.check(system)
        self.system, self.step, self.start, self.stop = system, step, start, stop
        self.algorithm = GaussSeidel() if algorithm is None else algorithm
        self.scheme = make_scheme(system, self.algorithm, threads)
        check_scheme(system, self.scheme)
        self.control, self.threads = control, threads
        self.participants = Participants(system, observers, drivers)
        self.stop_when, self.resume = stop_when, resume
        self._changes: dict[str, Any] = {}
        """Values that are set after a checkpoint was restored."""
        self.instances: dict[str, FmuInstance] = {}
        self._notes = tuple(notes)
        self.result = self._new_result()
        self._error: BaseException | None = None
        """The exception that ended the run early."""
        self._finished = False
        self._apart: set[str] = set()
        """Elements that have disturbed this process, and therefore run in separate ones."""
        self._initialisation: Initialisation | None = None
        self._session: Session | None = None
        self._identity: dict[str, Any] | None = None
        self._cleanup = ExitStack()
        self._opened = self._closed = False

    def _new_result(self) -> Result:
        result = Result(self.system.name, self.algorithm.name, self.step, t_start=self.start, t_end=self.start)
        result.warnings += self._notes
        if self.resume is not None:
            result.macro_steps = self.resume.macro_steps
            self._report_resumption(self.resume, result)
        return result

    def _report_resumption(self, checkpoint: Checkpoint, result: Result) -> None:
        """Describe the checkpoint in the result, and the effect of each difference of the system."""
        differences = checkpoint.differences(self.system)
        result.resumed = {
            "t": checkpoint.time,
            "system": checkpoint.system,
            "algorithm": checkpoint.stepping,
            "step": checkpoint.step,
            "differences": [str(difference) for difference in differences],
        }
        for difference in differences:
            effect = ""
            if difference.variable:
                element, variable = self.system.resolve(difference.variable)
                value = self.system.elements[element].start.get(variable.name, variable.start)
                if self.participants.unsettable(self.system, difference.variable) or value is None:
                    effect = "; the value of the checkpoint applies"
                else:
                    self._changes[difference.variable] = value
                    effect = "; the new value applies from here on"
            result.warnings.append(f"resumed despite a difference: {difference}{effect}")

    def run(self) -> Result:
        """Run from start to end: load and initialise the FMUs, step to the stop time or the stop signal, and end all.

        Raises StructureError if there is no stop time, and the errors of `open`. Later failures are reported in the
        returned result, with everything recorded until then.
        """
        if math.isinf(self.stop):
            raise StructureError(["a run needs a stop time"])
        self.open()
        with suppress(MasterError), self:
            self.advance(self.stop)
        return self.result

    def open(self) -> None:
        """Let observers and drivers acquire resources that may be unavailable, such as ports, before FMUs are loaded.

        Entering the simulation calls this if it was not called before. Raises MasterError after ending all of them.
        """
        if self._closed:
            raise MasterError(f"the simulation of {self.system.name} is over: create another")
        if self._opened:
            return
        try:
            self._open_participants()
        except BaseException as error:
            _fail(self.result, error)
            self._close()
            raise
        self._opened = True

    def _open_participants(self) -> None:
        for participant in self._members:
            participant.open()

    def abandon(self) -> None:
        """Release what `open` acquired, without a run."""
        if not self._closed:
            self._close()

    def __enter__(self) -> CoSimulation:
        self.open()
        try:
            self._load(time.perf_counter())
        except BaseException as error:
            _fail(self.result, error)
            self._close()
            raise
        return self

    def _load(self, began: float) -> None:
        if all(self.system.description(name).can_serialize_state for name in self.system.elements):
            # identify the FMUs now: the system and its files may change during the run
            self._identity = identity(self.system)
        self.result.warnings += uneven_steps(self.system, self.step, self.control)
        self.instances = instantiate(self.system, self._cleanup, self._apart, self.result.warnings)
        self._initialisation = Initialisation(self.system, self.instances)
        self._initialise()
        if self._move_apart():
            self._unload()
            self._load(began)
            return
        self._session = Session(
            self.system, self.instances, self.scheme, self.participants,
            Schedule(self.start, self.step, self.stop, self.stop_when, self.control), self.result, self.get, self.save,
        )  # fmt: skip
        self.result.initialise_s = time.perf_counter() - began
        self._session.begin(self._loop_state)

    def _initialise(self) -> None:
        """Initialise the instances, and restore their states if the run is resumed."""
        assert self._initialisation is not None
        first = self.start if self.resume is None else self.resume.start
        self.result.warnings += self._initialisation.run(first, self._stops(), self._renew)
        if self.resume is not None:
            restore_states(self.instances, self.resume.states)
            self._put(self._changes)

    def _stops(self) -> dict[str, float]:
        """Return the stop time that each element is told."""
        if isinstance(self.control, StepControl):
            return dict.fromkeys(self.system.elements, self.stop)
        memory = self._loop_state
        origin = self.start if memory is None else origin_of(memory.get("grid"))
        return {
            name: end_of_steps(origin, self.step, self.stop, element) for name, element in self.system.elements.items()
        }

    def _renew(self, name: str) -> None:
        """Instantiate an element again, with its start values."""
        element, instance = self.system.elements[name], self.instances[name]
        structure = instance.description.structure(element.start)
        instance.renew()
        instance.set({variable: value for variable, value in element.start.items() if variable not in structure})

    def _move_apart(self) -> bool:
        """Note which FMUs disturbed this process while they were initialised; return whether to load them elsewhere."""
        assert self._initialisation is not None
        found = self._initialisation.disturbing
        for changed in found.values():
            what = told(list(found), dict.fromkeys(changed))
            where = "it runs in a separate process" if CAN_ISOLATE else "restored"
            note = f"{what} while it was initialised: {where}"
            if note not in self.result.warnings:
                self.result.warnings.append(note)
        self._apart |= set(found) if CAN_ISOLATE else set()
        return bool(found) and CAN_ISOLATE

    @property
    def _loop_state(self) -> Mapping[str, np.ndarray] | None:
        """The state of the loop in the checkpoint, None if a new grid of steps begins."""
        return self.resume.memory if self.resume is not None and self._continues(self.resume) else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._finished:
                self._end_run(error or self._error)
        finally:
            self._close()

    def _end_run(self, error: BaseException | None) -> None:
        """End the run of the instances, or record the error that has ended it."""
        try:
            if error is None:
                self._open_session().end()
                self._terminate()
        except BaseException as failure:
            error = failure
            raise
        finally:
            if error is not None:
                _fail(self.result, error)

    def finish(self) -> Result:
        """End the run, and return its completed result; afterwards only `get` and `reset` are of use.

        Raises FmuError if the last values cannot be read; the result is complete even then.
        """
        if not self._finished:
            if self._error is None:
                self._open_session()
            try:
                self._end_run(self._error)
            finally:
                self._finished = True
                try:
                    if self._session is not None:
                        self._session.conclude()
                finally:
                    _end(self._members, self.result)
        return self.result

    def reset(self, system: Structure | None = None) -> None:
        """Begin another run at the start, with the start values of `system`, which must otherwise be the same.

        A run in progress is ended, and `result` is replaced by a new one. Libraries stay loaded, only the instances are
        new, and the tables of the loop are those of the first run; after fmi2Fatal, or the end of the separate process
        of an FMU, all FMUs are loaded again. An FMU that can be instantiated only once per process has a new process
        for each run. Raises StructureError for another system, and FmuError if initialisation
        fails; the simulation can then be reset again.
        """
        if not self._opened or self._closed:
            self._open_session()
        with suppress(MasterError):
            self.finish()
        if system is not None:
            check_equal(self.system, system)
            system.check_starts()
            self.system = system
        # after an error an instance may be freed and recreated; after fmi2Fatal nothing of its library may be called
        unusable = self._session is None or any(i.dead or not i.renewable for i in self.instances.values())
        began = time.perf_counter()
        for observer in self.participants.observers:
            observer.reset()
        for driver in self.participants.drivers:
            driver.reset()
        self.result, self._error, self._finished = self._new_result(), None, False
        try:
            self._open_participants()
            if unusable:
                self._unload()
                self._load(began)
            else:
                self._restart(began)
        except BaseException as error:
            self._error = error
            _fail(self.result, error)
            raise

    def _unload(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
        with self._guarded("when it was freed"):
            self._cleanup.close()

    def _restart(self, began: float) -> None:
        session = self._open_session()
        session.restart(self.system, self.result)
        if self._identity is not None:
            self._identity |= identity_of_starts(self.system)
        with self._guarded("when it was freed"):
            for name in self.instances:
                self._renew(name)
        self._initialise()
        if self._move_apart():
            self._unload()
            self._load(began)
            return
        self.result.initialise_s = time.perf_counter() - began
        session.begin_again(self._loop_state)

    def _terminate(self) -> None:
        with self._guarded("when it ended"):
            for instance in self.instances.values():
                try:
                    instance.terminate()
                except FmuError as error:
                    self.result.warnings.append(str(error))

    @contextmanager
    def _guarded(self, when: str) -> Iterator[None]:
        """Restore what FMUs of this process change for all code in it, and warn."""
        before = Surroundings.now()
        try:
            yield
        finally:
            if changed := undo(before):
                here = [name for name, instance in self.instances.items() if not instance.remote]
                if here and (note := f"{told(here, changed)} {when}: restored") not in self.result.warnings:
                    self.result.warnings.append(note)

    def _close(self) -> None:
        self._closed = True
        try:
            with self._guarded("when it was freed"), self._cleanup:
                if self._session is not None:
                    self._session.close()
                    if not self._finished:
                        self._session.conclude()
        finally:
            # the session refers back to this object: the cycle would keep its tables until the next garbage collection
            self._session = None
            if not self._finished:
                _end(self._members, self.result)

    @property
    def _members(self) -> list[Observer | Driver]:
        return [*self.participants.observers, *self.participants.drivers]

    def _open_session(self) -> Session:
        """Return the open session. Raises MasterError before it has begun and after it is over."""
        if self._session is None or self._closed:
            what = "is over" if self._closed else "has not begun: enter it with `with`"
            raise MasterError(f"the simulation of {self.system.name} {what}")
        return self._session

    @property
    def time(self) -> float:
        """The time that all instances have reached, s."""
        return self.result.t_end

    @property
    def finished(self) -> bool:
        """Return whether the run is over: at the stop time, by the stop signal, by Ctrl-C, or by an observer."""
        over = self._closed or self._finished or self._error is not None
        return over or self._open_session().over or self.time >= self.stop

    def advance(self, until: float) -> float:
        """Step to `until`, or until the run is over, and return the time reached.

        The last step is shorter if `until` is not a multiple of the step. Raises FmuError if an FMU fails, and
        StructureError if one cannot take the shorter step.
        """
        session, until = self._open_session(), min(until, self.stop)
        if not self.finished and until > self.time:
            check_span(self.system, until - self.time, self.step)
            try:
                with deferred(earlier=True) as interrupted:
                    session.advance(until, interrupted)
            except BaseException as error:
                self._error = error
                raise
        return self.time

    def get(self, names: Sequence[str]) -> list[Any]:
        """Return the present values of variables, given by their full names, in the order of `names`."""
        session = self._open_session()
        found: dict[str, Any] = {}
        with session.watched():
            for element, variables in self._by_element(names).items():
                values = self.instances[element].get(list(variables.values()))
                found |= dict(zip(variables, values, strict=True))
        return [found[name] for name in names]

    def set(self, values: Mapping[str, Any]) -> None:
        """Set inputs that no connection sets, and tunable parameters, by their full names.

        Raises StructureError that names all others, and values that a variable does not accept.
        """
        self._open_session()
        self.participants.check_values(self.system, values)
        self._put(values)

    def _put(self, values: Mapping[str, Any]) -> None:
        for element, variables in self._by_element(values).items():
            self.instances[element].set({variable: values[name] for name, variable in variables.items()})

    def _continues(self, checkpoint: Checkpoint) -> bool:
        """Return whether the steps continue the grid of a checkpoint instead of beginning a new one."""
        return (checkpoint.step, checkpoint.stepping) == (self.step, self._stepping_name)

    @property
    def _stepping_name(self) -> str:
        kind = {type(None): "", Retry: " with retries"}.get(type(self.control), " with step control")
        return described(self.algorithm) + kind

    def save(self) -> Checkpoint:
        """Return the present state, to resume from in another simulation or process.

        Raises CheckpointError that names the FMUs that cannot serialise their state, or FmuError.
        """
        session = self._open_session()
        check_states(self.system)
        assert self._identity is not None
        return Checkpoint(
            system=self.system.name, stepping=self._stepping_name,
            start=self.start if self.resume is None else self.resume.start,
            time=self.time, step=self.step, macro_steps=self.result.macro_steps,
            **self._identity, states=save_states(self.instances), memory=session.memory(),
        )  # fmt: skip

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Return to a checkpoint of this run, with the FMUs loaded and the instances kept; `result` is a new one.

        The states and the memory of the loop may differ from those that `save` has returned: a perturbed run then takes
        as long as its steps. Raises MasterError for a checkpoint of other steps, FmuError if a state is refused.
        """
        session = self._open_session()
        if not self._continues(checkpoint):
            raise MasterError("the checkpoint was taken with another step or algorithm")
        self.result, self._error = self._new_result(), None
        self.result.t_end, self.result.macro_steps = checkpoint.time, checkpoint.macro_steps
        session.rewind(self.result)
        restore_states(self.instances, checkpoint.states)
        session.begin_again(checkpoint.memory)

    def branch(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        step: float | None = None,
        stop: float | None = None,
        algorithm: Algorithm | None = None,
        control: StepControl | Retry | None = None,
        observers: Sequence[Observer] = (),
        drivers: Sequence[Driver] = (),
    ) -> CoSimulation:
        """Return another simulation that begins with the present state and with other `values` (see `set`).

        Arguments that are not given are those of this simulation, except for observers and drivers. The steps so far
        are not repeated, and this simulation is not affected. Raises the errors of `save` and `set`.
        """
        self.participants.check_values(self.system, values or {})
        variant = CoSimulation(
            self.system, step=step or self.step,
            stop=self.stop if stop is None else stop,
            algorithm=algorithm or self.algorithm, control=control or self.control, observers=observers,
            drivers=drivers, stop_when=self.stop_when, resume=self.save(), threads=self.threads,
        )  # fmt: skip
        variant._changes |= values or {}
        return variant

    def _by_element(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the variable of each full name, by element."""
        grouped: dict[str, dict[str, str]] = {}
        for name in names:
            element, variable = self.system.resolve(name)
            grouped.setdefault(element, {})[name] = variable.name
        return grouped


def _fail(result: Result, error: BaseException) -> None:
    result.status, result.message = "failed", str(error) or type(error).__name__
    result.error = error
    if isinstance(error, FmuError):
        result.failure = {
            "element": error.instance, "says": error.message, "t": error.time,
            "function": error.function, "status": error.status, "file": error.file, "category": error.category,
        }  # fmt: skip
    if isinstance(error, KeyboardInterrupt):
        result.signal = signal_of(error)
        result.status, result.message = "stopped", f"ended by {Signals(result.signal).name} at t = {result.t_end:.9g} s"


def _end(participants: Sequence[Observer | Driver], result: Result) -> None:
    """End all observers and drivers, whatever happens to one of them."""
    fault: BaseException | None = None
    with uninterrupted():
        for participant in participants:
            try:
                participant.end(result)
            except DockfmuError as error:
                if result.status != "failed":
                    _fail(result, error)
                else:
                    result.warnings.append(str(error))
            except BaseException as error:
                fault = fault or error
        if fault is not None:
            raise fault


def run(system: Structure, **options: Any) -> Result:
    """Run a system from its start to its end; `options` are those of `CoSimulation`, the stop time among them."""
    return CoSimulation(system, **options).run()
