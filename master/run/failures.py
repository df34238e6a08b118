"""Reasons for the end of a run, from the report of the loop and from exceptions."""

from __future__ import annotations

import math
from signal import Signals

from dockfmu.base.fmi import DISCARD, PENDING
from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.loop import tables as at
from dockfmu.master.result import Result
from dockfmu.master.run.interruption import signal_of
from dockfmu.master.run.stepping import TOLERANCE
from dockfmu.master.step_control import Retry, StepControl
from dockfmu.master.tables.coupling import Coupling

_FUNCTIONS = {
    at.SET_INPUT_DERIVATIVES: "fmi2SetRealInputDerivatives",
    at.GET_OUTPUT_DERIVATIVES: "fmi2GetRealOutputDerivatives",
    at.SAVE: "fmi2GetFMUstate",
    at.RESTORE: "fmi2SetFMUstate",
    at.DIRECTIONAL_DERIVATIVE: "fmi2GetDirectionalDerivative",
}


def fail(result: Result, error: BaseException) -> None:
    """Record the exception that has ended a run in its result."""
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


class LoopReport:
    """The report of the loop in words: which FMU failed or asked for the end, and why."""

    def __init__(self, coupling: Coupling, control: StepControl | Retry | None) -> None:
        self.layout, self.tables, self.control = coupling.layout, coupling.tables, control

    def failure(self, time: float, step: float = 0.0) -> FmuError:
        """Return the error of an instance that failed at `time`, or in a step of `step` from there."""
        report, tables = self.tables.report[0], self.tables
        instance = self.layout.instances[report["instance"]]
        status, called, row = (int(report[entry]) for entry in ("status", "called", "row"))
        if called == at.STEP:
            return instance.failure("fmi2DoStep", status, time, self._step_detail(instance, status, step))
        if called in _FUNCTIONS:
            return instance.failure(_FUNCTIONS[called], status, time)
        table = tables.recording.calls if called == at.RECORD else tables.instances.program
        return instance.failure(instance.function_at(int(table["function"][row])), status, time)

    def check_finite(self, time: float) -> None:
        """Raise FmuError if an output is not finite at `time`."""
        found = self.layout.outputs.not_finite()
        if found:
            name, value = found[0]
            element, variable = self.layout.system.resolve(name)
            instance = self.layout.instance(element)
            more = f" (and {len(found) - 1} more outputs)" if len(found) > 1 else ""
            raise FmuError(
                element,
                f"output {variable.name} became {value}{more}; check its earlier inputs, or take a smaller macro step",
                function="fmi2GetReal",
                time=time,
                file=instance.file.name,
                message=instance.log.last,
            )

    def requested_end(self, now: float, step: float) -> str:
        """Return which FMUs asked to end the simulation, and when."""
        ends = self.tables.instances.end
        asking = [(i, float(end)) for i, end in zip(self.layout.instances, ends, strict=True) if end < math.inf]
        names = " and ".join(instance.name for instance, _ in asking)
        first = min(end for _, end in asking)
        text = f"{names} asked to end the simulation at t = {first:.9g} s"
        if first < now - TOLERANCE * step:
            text += f", within the macro step that ended at t = {now:.9g} s"
        says = "; ".join(instance.log.last for instance, _ in asking if instance.log.last)
        return text + (f'; the FMU says: "{says}"' if says else "")

    def statistics(self) -> list[str]:
        """Return a sentence on the warnings of each FMU, and one on steps that did not converge."""
        notes = [
            f"{instance.name} gave fmi2Warning {count} times; last: '{instance.log.last_warning}'"
            for instance, count in zip(self.layout.instances, self.tables.instances.warnings, strict=True)
            if count
        ]
        iteration = self.tables.iteration
        if failed := iteration.counters[at.NOT_CONVERGED]:
            notes.append(
                f"{failed} macro steps did not converge in {iteration.max_sweeps} sweeps; the "
                f"largest residual was {iteration.largest_residual[0]:.2g}, the tolerance is {iteration.tolerance:g}"
            )
        return notes

    def _step_detail(self, instance: FmuInstance, status: int, step: float) -> str:
        detail = f" for a step of {step:g} s"
        if status == DISCARD:
            reached = instance.last_successful_time()
            if reached is not None:
                detail += f"; it reached t = {reached:.9g} s"
            # the length of the step need not be the reason that the FMU gives
            where = " if its reason is the length of the step" if instance.log.last else ""
            detail += f"; a smaller macro step may help{where}{self._retries()}"
        elif status == PENDING:
            detail += "; the master does not wait, because its description does not declare canRunAsynchronuously"
        return detail

    def _retries(self) -> str:
        """Describe what retries could do or have done about a discarded step."""
        stuck = [i.name for i in self.layout.instances if not i.description.can_get_and_set_state]
        if stuck:
            return f", but the master cannot try it: {', '.join(stuck)} cannot roll back (canGetAndSetFMUstate)"
        if self.control is None:
            return "; retries take one (control=Retry(...), --retry)"
        return f", but one of {self.control.shortest:g} s fails too"
