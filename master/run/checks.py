"""Checks of a system and the arguments of a run before any FMU is loaded."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from dockfmu.base.messages import with_article
from dockfmu.master.algorithms import Algorithm
from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.errors import StructureError
from dockfmu.master.order import together
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.system import Structure
from dockfmu.master.tables.layout import feedback, known_derivatives


def check_equal(system: Structure, other: Structure) -> None:
    """Raise StructureError if another system differs in more than the start values of its elements."""

    def form(structure: Structure) -> list[object]:
        elements = [
            (
                name,
                element.file,
                element.process,
                element.fresh,
                element.timeout,
                element.substeps,
                element.every,
                structure.description(name).structure(element.start),
            )
            for name, element in structure.elements.items()
        ]
        return [elements, structure.connections, structure.order]

    if form(system) != form(other):
        raise StructureError(
            [
                f"a simulation of {system.name} can be reset to other start values only: for other elements, FMUs, "
                "structural parameters or connections, create another simulation"
            ]
        )


RESOLUTION = 1e-14
"""Shortest macro step relative to the times of a run: 45 times the spacing of the numbers."""


def check_run(system: Structure, schedule: Schedule) -> None:
    """Raise StructureError for a system, times or a stop signal with which no run is possible."""
    step, start, stop, stop_when = schedule.step, schedule.start, schedule.stop, schedule.stop_when
    system.check()
    if not system.elements:
        raise StructureError([f"system {system.name} has no elements"])
    if not (math.isfinite(step) and step > 0.0):
        raise StructureError([f"the macro step must be positive, not {step!r} s"])
    if not stop > start:
        raise StructureError([f"the stop time {stop!r} s must lie after the start time {start!r} s"])
    if stop_when is not None:
        _, variable = system.resolve(stop_when)
        if variable.causality != "output" or variable.storage not in ("Boolean", "Integer"):
            raise StructureError(
                [f"{stop_when} cannot end a run: it is {with_article(variable.causality)} of type {variable.type}"]
            )
    latest = max(abs(start), abs(stop) if math.isfinite(stop) else 0.0)
    if step < RESOLUTION * latest:
        raise StructureError(
            [f"the macro step of {step:g} s is lost in times of {latest:g} s: at least {RESOLUTION * latest:.2g} s"]
        )
    if math.isfinite(stop):
        if step > 1e6 * (stop - start):
            raise StructureError([f"the macro step of {step:g} s is longer than the run of {stop - start:g} s"])
        check_span(system, stop - start, step)


def make_scheme(system: Structure, algorithm: Algorithm, threads: int) -> Scheme:
    """Return the scheme of a macro step on this number of threads; implicit algorithms use one."""
    if threads < 1:
        raise StructureError([f"threads must be at least 1, not {threads}"])
    scheme = algorithm.scheme(system.execution_order())
    if threads == 1 or scheme.implicit is not None:
        return scheme
    stages = together(scheme.stages, {(c.source, c.target) for c in system.connections})
    # threads poll while they wait: no more of them than instances in a stage
    return replace(scheme, stages=stages, threads=min(threads, max(map(len, stages), default=1)))


def check_scheme(system: Structure, scheme: Scheme) -> None:
    """Raise, before FMUs are loaded, the StructureError that their coupling would raise."""
    steps = Counter(name for stage in scheme.stages for name in stage)
    wrong = [f"{name} {steps[name]} times" for name in system.elements if steps[name] != 1]
    if wrong:
        raise StructureError([f"the algorithm steps {', '.join(wrong)} in a macro step, instead of each element once"])
    known_derivatives(system, scheme)
    feedback(system, scheme)


def check_span(system: Structure, span: float, step: float) -> None:
    """Raise StructureError if a span would end with a shorter step that an FMU cannot take."""
    rest = span / step
    if not math.isfinite(rest):
        raise StructureError([f"a macro step of {step!r} s cannot be counted over {span:g} s"])
    if abs(rest - round(rest)) > 1e-6:
        fixed = ", ".join(name for name in system.elements if not system.description(name).can_vary_step)
        if fixed:
            raise StructureError(
                [f"{span:g} s is not a multiple of the step {step:g} s, and {fixed} cannot vary the step"]
            )


def uneven_steps(system: Structure, schedule: Schedule) -> list[str]:
    """Return a note on each FMU whose communication steps are not multiples of the internal step that it declares."""
    notes = []
    for element in system.elements.values():
        inner = system.description(element.name).internal_step
        if inner is None or not (math.isfinite(inner) and inner > 0.0):
            continue
        own = schedule.step * element.every / element.substeps
        if schedule.control is not None or abs(own / inner - round(own / inner)) > 1e-6 or round(own / inner) < 1:
            taken = "of variable length" if schedule.control is not None else f"of {own:g} s"
            notes.append(
                f"{element.name} takes steps {taken}, but has a fixed internal step of {inner:g} s "
                "(fixedInternalStepSize): it may reach other times than the master assumes"
            )
    return notes
