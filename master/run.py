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

from master.algorithms import Algorithm, GaussSeidel
from master.errors import FmuError, MasterError, StructureError
from master.fmu import Fmu, Instance
from master.initialisation import Initialisation
from master.observers.observer import Observer
from master.result import Result
from master.session import Session, Wishes
from master.system import System


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
    wishes = Wishes(system, observers)
    chosen = GaussSeidel() if algorithm is None else algorithm
    result = Result(system.name, chosen.name, step, t_start=start, t_end=start)
    try:
        with ExitStack() as cleanup:
            began = time.perf_counter()
            instances = _instantiate(system, logging, cleanup)
            order = system.execution_order()
            result.warnings += _initialise(system, instances, order, start, stop)
            stages = chosen.stages(order)
            session = Session(system, instances, stages, wishes, stop_when, start, step, stop, result)
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
