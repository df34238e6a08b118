"""The running object of a specification: it loads the FMUs, steps them, and ends them, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from dockfmu.master.checkpoint import Checkpoint, check_states, restore_states, save_states
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.result import Result
from dockfmu.master.run.checks import check_equal, check_span, uneven_steps
from dockfmu.master.run.failures import fail
from dockfmu.master.run.instances import Beginning, load
from dockfmu.master.run.interruption import deferred
from dockfmu.master.run.session import Session
from dockfmu.master.run.settable import check_values
from dockfmu.master.run.specification import Specification
from dockfmu.master.system import Structure


class Running:
    """A run of a specification, which owns the instances and the session that steps them, and completes `result`.

    `finish` ends a run and completes its result, and `reset` begins another run with FMUs that are not loaded again;
    its results are bitwise equal to those of a new simulation.

    Attributes
    ----------
    specification : Specification
        What runs.
    system : Structure
        The system, with the start values of the present run.
    result : Result
        The result so far.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification, self.system = specification, specification.system
        self.result, self._values = self._new_result()
        self._session: Session | None = None
        self._error: BaseException | None = None
        """The exception that ended the run early."""
        self._finished = self._closed = False
        try:
            specification.participants.open()
        except BaseException as error:
            fail(self.result, error)
            self.close()
            raise

    def _new_result(self) -> tuple[Result, Mapping[str, Any]]:
        """Return a new result, and the values that are set after the states of a checkpoint were restored."""
        given, schedule = self.specification, self.specification.schedule
        result = Result(
            self.system.name, given.algorithm.name, schedule.step, t_start=schedule.start, t_end=schedule.start
        )
        result.warnings += given.notes
        return result, {} if given.resume is None else given.resume.report(self.system, result)

    def run(self) -> Result:
        """Load and initialise the FMUs, step to the stop time or the stop signal, and end all; see CoSimulation.run."""
        with suppress(MasterError), self:
            self.advance(self.specification.schedule.stop)
        return self.result

    def __enter__(self) -> Running:
        if self._closed or self._session is not None:
            state = "is over" if self._closed else "has begun"
            raise MasterError(f"the simulation of {self.system.name} {state}: open another")
        try:
            self._load(time.perf_counter())
        except BaseException as error:
            fail(self.result, error)
            self.close()
            raise
        return self

    def _load(self, began: float, apart: frozenset[str] = frozenset()) -> None:
        given, result = self.specification, self.result
        result.warnings += uneven_steps(self.system, given.schedule)
        instances = load(self.system, self._beginning, result.warnings, apart)
        try:
            self._session = Session(instances, given.scheme, given.participants, given.schedule, result)
        except BaseException:
            instances.free(result.warnings)
            raise
        result.initialise_s = time.perf_counter() - began
        self._session.begin(self._context, given.loop_state)

    @property
    def _beginning(self) -> Beginning:
        given = self.specification
        states = None if given.resume is None else given.resume.checkpoint.states
        return Beginning(given.first, given.stops(), states, self._values)

    @property
    def _context(self) -> RunContext:
        """Tell observers of the run. The session does not keep this: the cycle would keep the tables in memory."""
        schedule, descriptions = self.specification.schedule, map(self.system.description, self.system.elements)
        return RunContext(
            self.system,
            dict(zip(self.system.elements, descriptions, strict=True)),
            schedule.start,
            schedule.stop,
            schedule.step,
            self.result.algorithm,
            self.get,
            self.save,
            self.result.macro_steps,
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._finished:
                self._end_run(error or self._error)
        finally:
            self.close()

    def _end_run(self, error: BaseException | None) -> None:
        """End the run of the instances, or record the error that has ended it."""
        try:
            if error is None:
                session = self.session
                session.end()
                session.instances.terminate(self.result.warnings)
        except BaseException as failure:
            error = failure
            raise
        finally:
            if error is not None:
                fail(self.result, error)

    def close(self) -> None:
        """Free the instances, and end observers and drivers if `finish` has not."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._session is not None:
                self._unload(self._session)
        finally:
            if not self._finished:
                self.specification.participants.end(self.result)

    def _unload(self, session: Session) -> None:
        self._session = None
        session.close()
        try:
            if not self._finished:
                session.conclude()
        finally:
            session.instances.free(self.result.warnings)

    def finish(self) -> Result:
        """End the run, and return its completed result; afterwards only `get` and `reset` are of use.

        Raises FmuError if the last values cannot be read; the result is complete even then.
        """
        if not self._finished:
            if self._error is None:
                self._check_open()
            try:
                self._end_run(self._error)
            finally:
                self._finished = True
                try:
                    if self._session is not None:
                        self._session.conclude()
                finally:
                    self.specification.participants.end(self.result)
        return self.result

    def reset(self, system: Structure | None = None) -> None:
        """Begin another run at the start, with the start values of `system`, which must otherwise be the same.

        A run in progress is ended, and `result` is replaced by a new one. Libraries stay loaded, only the instances are
        new, and the tables of the loop are those of the first run; after fmi2Fatal, or the end of the separate process
        of an FMU, all FMUs are loaded again. An FMU that can be instantiated only once per process has a new process
        for each run. Raises StructureError for another system, and FmuError if initialisation
        fails; the simulation can then be reset again.
        """
        if self._closed or self._error is None:
            self._check_open()
        with suppress(MasterError):
            self.finish()
        if system is not None:
            check_equal(self.system, system)
            system.check_starts()
            self.system = system
        self.specification.participants.reset()
        began, session = time.perf_counter(), self._session
        self.result, self._values = self._new_result()
        self._error, self._finished = None, False
        try:
            self.specification.participants.open()
            if session is None:
                self._load(began)
            elif session.instances.usable:
                self._restart(session, began)
            else:
                self._reload(session, began, session.instances.apart)
        except BaseException as error:
            self._error = error
            fail(self.result, error)
            raise

    def _restart(self, session: Session, began: float) -> None:
        instances, warnings = session.instances, self.result.warnings
        session.restart(self.result)
        instances.renew(self.system, warnings)
        if disturbing := instances.begin(self._beginning, warnings):
            self._reload(session, began, instances.apart | disturbing)
            return
        self.result.initialise_s = time.perf_counter() - began
        session.begin_again(self._context, self.specification.loop_state)

    def _reload(self, session: Session, began: float, apart: frozenset[str]) -> None:
        self._session = None
        session.close()
        session.instances.free(self.result.warnings)
        self._load(began, apart)

    def _check_open(self) -> None:
        """Raise MasterError before the run has begun and after it is over."""
        if self._session is None or self._closed:
            what = "is over" if self._closed else "has not begun: enter it with `with`"
            raise MasterError(f"the simulation of {self.system.name} {what}")

    @property
    def session(self) -> Session:
        """The session that steps the instances. Raises MasterError before it has begun and after it is over."""
        self._check_open()
        assert self._session is not None
        return self._session

    @property
    def instances(self) -> Mapping[str, FmuInstance]:
        """The instances by their names; none while no FMUs are loaded."""
        return {} if self._session is None else self._session.instances.by_name

    @property
    def time(self) -> float:
        """The time that all instances have reached, s."""
        return self.result.t_end

    @property
    def finished(self) -> bool:
        """Return whether the run is over: at the stop time, by the stop signal, by Ctrl-C, or by an observer."""
        over = self._closed or self._finished or self._error is not None
        return over or self.session.over or self.time >= self.specification.schedule.stop

    def advance(self, until: float) -> float:
        """Step to `until`, or until the run is over, and return the time reached.

        The last step is shorter if `until` is not a multiple of the step. Raises FmuError if an FMU fails, and
        StructureError if one cannot take the shorter step.
        """
        schedule = self.specification.schedule
        session, until = self.session, min(until, schedule.stop)
        if not self.finished and until > self.time:
            check_span(self.system, until - self.time, schedule.step)
            try:
                with deferred(earlier=True) as interrupted:
                    session.advance(until, interrupted)
            except BaseException as error:
                self._error = error
                raise
        return self.time

    def get(self, names: Sequence[str]) -> list[Any]:
        """Return the present values of variables, given by their full names, in the order of `names`."""
        session = self.session
        with session.reading():
            return session.instances.get(names)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set inputs that no connection sets, and tunable parameters, by their full names.

        Raises StructureError that names all others, and values that a variable does not accept.
        """
        session = self.session
        check_values(self.system, values)
        session.instances.set(values)

    def save(self) -> Checkpoint:
        """Return the present state, to resume from in another simulation or process.

        Raises CheckpointError that names the FMUs that cannot serialise their state, or FmuError.
        """
        session, given = self.session, self.specification
        check_states(self.system)
        assert session.instances.identity is not None
        return Checkpoint(
            system=self.system.name,
            stepping=given.stepping,
            start=given.first,
            time=self.time,
            step=given.schedule.step,
            macro_steps=self.result.macro_steps,
            **session.instances.identity,
            states=save_states(session.instances.by_name),
            memory=session.memory(),
        )

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Return to a checkpoint of this run, with the FMUs loaded and the instances kept; `result` is a new one.

        The states and the memory of the loop may differ from those that `save` has returned: a perturbed run then takes
        as long as its steps. Raises MasterError for a checkpoint of other steps, FmuError if a state is refused.
        """
        session = self.session
        if not self.specification.continues(checkpoint):
            raise MasterError("the checkpoint was taken with another step or algorithm")
        self.result, self._values = self._new_result()
        self._error = None
        self.result.t_end, self.result.macro_steps = checkpoint.time, checkpoint.macro_steps
        session.rewind(self.result)
        restore_states(session.instances.by_name, checkpoint.states)
        session.begin_again(self._context, checkpoint.memory)
