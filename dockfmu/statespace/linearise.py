"""Linearise an FMU, an element, or a coupled system at an operating point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.numbers import is_integer, is_positive, real
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.master import algorithms
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure
from dockfmu.statespace.aliasing import alias_note, aliases
from dockfmu.statespace.closed_loops import loop_notes
from dockfmu.statespace.coordinates import Coordinate, coordinates, differences
from dockfmu.statespace.declared import by_declared_states, declares_states
from dockfmu.statespace.differences import Jacobian, constant, jacobian, relevant
from dockfmu.statespace.directional import METHOD, by_directional_derivatives
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.impulses import by_impulses
from dockfmu.statespace.model import NO_CONTINUOUS, StateSpace, continuous, modes, reduced
from dockfmu.statespace.operating_point import OperatingPoint, single
from dockfmu.statespace.selection import chosen_outputs, free_inputs, select
from dockfmu.statespace.source import macro_step, source_system
from dockfmu.system import System

Way = Literal["differences", "directional", "impulses"]


def linearise(
    source: str | Path | System,
    at: float = 0.0,
    *,
    element: str | None = None,
    settings: Mapping[str, Any] | None = None,
    inputs: Sequence[str] = ("*",),
    outputs: Sequence[str] | None = None,
    hold: Sequence[str] = (),
    by: Way = "differences",
    step: float | None = None,
    count: int = 1,
    start: float = 0.0,
    samples: int = 100,
    impulse: float = 1e-3,
) -> StateSpace:
    """Return the linear model of an FMU, an element, or a whole system at an operating point.

    The system runs to the time `at`. Then every number that its next step reads is moved a little to both sides, and
    the step is repeated: a discrete model with the algorithm of the coupling in it, and from that the continuous one
    with the same response.

    Parameters
    ----------
    source : str, Path or System
        A system by name, a .toml, .ssp or .fmu file, or a System.
    at : float
        Time of the operating point, s.
    element : str, optional
        Linearise this element alone, with its inputs as they are in the system.
    settings : mapping of str to value, optional
        Start values, as for `load`; of an FMU without the name of an element.
    inputs, outputs : sequence of str
        Patterns of inputs and outputs of the model; by default all continuous inputs that no connection sets, and all
        continuous outputs that are no bookkeeping (`audit`, `status`, `validity`).
    hold : sequence of str
        Patterns of states to hold at their values.
    by : {"differences", "directional", "impulses"}
        Differences of the whole step; or directional derivatives (fmi2GetDirectionalDerivative) of the states that an
        FMU declares, otherwise of the elements by their inputs, put together as the coupling does; or the answers to
        impulses of the inputs, which need no state of an FMU.
    step : float, optional
        Macro step, s; by default that of the plan, or of the default experiment of an FMU.
    count : int
        Macro steps over which the model is taken: more for slow modes, whose multipliers lie close to 1.
    start : float
        Start of the run, s.
    samples : int
        Macro steps after an impulse.
    impulse : float
        Height of an impulse, which lasts a macro step, in the unit of the input.

    Raises
    ------
    LinearisationError
        for FMUs whose state cannot be varied, names that do not exist, and times before the start
    DockfmuError
        for a system that cannot be loaded or run, as `load` and `System.run` raise it
    """
    _check(at, start, step, count, by)
    if not (is_integer(samples) and samples >= 4) or not is_positive(impulse):
        raise LinearisationError(
            f"samples must be an integer, at least 4, not {shown(samples)}, and impulse positive, not {shown(impulse)}"
        )
    system = source_system(source, settings or {})
    structure = system.structure
    structure.check()
    check_base_motion(structure)
    length = macro_step(system, step)
    if element is not None:
        _check_element(structure, element)
    if by == "impulses":
        if element is not None:
            raise LinearisationError(
                "by='impulses' repeats the run of the whole system: give its FMU instead of element"
            )
        given, asked = free_inputs(structure, inputs), chosen_outputs(structure, outputs)
        return by_impulses(
            structure, length, algorithms.by_name(system.plan.algorithm), at, start, given, asked, samples, impulse
        )
    only = next(iter(structure.elements))
    if by == "directional" and len(structure.elements) == 1 and declares_states(structure.description(only)):
        given, asked = free_inputs(structure, inputs), chosen_outputs(structure, outputs)
        return by_declared_states(structure, length, at, start, given, asked)
    with OperatingPoint(structure, length, algorithms.by_name(system.plan.algorithm), at, start) as point:
        if element is None:
            return _model(point, inputs, outputs, hold, by, count)
        with single(point, element) as part:
            return _model(part, inputs, outputs, hold, by, count)


def _check(at: object, start: object, step: object, count: object, by: object) -> None:
    problems = []
    times = {"at": real(at), "start": real(start)}
    for name, value in times.items():
        if value is None or not math.isfinite(value):
            problems.append(f"{name} must be a finite time in s, not {shown({'at': at, 'start': start}[name])}")
    if not problems and times["at"] < times["start"]:  # type: ignore[operator]
        problems.append(f"at = {shown(at)} s lies before the start of the run, {shown(start)} s; give a later time")
    if step is not None and not is_positive(step):
        problems.append(f"step must be a positive time in s, not {shown(step)}")
    if not (is_integer(count) and count >= 1):  # type: ignore[operator]
        problems.append(f"count must be a number of macro steps, at least 1, not {shown(count)}")
    if by not in get_args(Way):
        problems.append(f"by must be one of {', '.join(get_args(Way))}, not {shown(by)}")
    if problems:
        raise LinearisationError("\n".join(problems))


def _check_element(structure: Structure, name: str) -> None:
    known = structure.elements
    if name not in known:
        raise LinearisationError(
            f"the system {structure.name} has no element {shown(name)}; there are {', '.join(known)}"
            + did_you_mean(name, known)
        )
    if known[name].every > 1:
        raise LinearisationError(f"{name} steps once in {known[name].every} macro steps: linearise the whole system")


def _model(
    point: OperatingPoint,
    inputs: Sequence[str],
    outputs: Sequence[str] | None,
    hold: Sequence[str],
    by: Way,
    count: int,
) -> StateSpace:
    """Return the model at an operating point."""
    names = point.names
    number = {name: k for k, name in enumerate(names)}
    chosen_inputs = [number[name] for name in free_inputs(point.structure, inputs)]
    shown_outputs = [number[name] for name in chosen_outputs(point.structure, outputs)]
    held: dict[str, str] = {}
    # what was before the last step is read by algorithms that extrapolate
    lines = bool(point.algorithm.scheme(point.structure.execution_order()).predicted)
    copies = [k for k, place in enumerate(point.places) if place is not None and place.causality == "previous"]
    copies = [] if lines else copies
    kept = set(copies)
    candidates = [k for k, place in enumerate(point.places) if place is None or (place.continuous and k not in kept)]
    if point.after(point.memory, count) is None:
        raise LinearisationError(
            f"{point.structure.name} cannot step from t = {point.time:g} s, so it has no model there"
        )
    read, refused = relevant(point, candidates, count, copies)
    held |= {names[index]: "the FMU refuses to step if it is moved" for index in refused}
    for name in select(hold, names, "hold", "state"):
        held[name] = "held as asked"
    for name in _constants(point, read):
        held.setdefault(name, "constant: nothing in a step changes it")
    read = [index for index in read if names[index] not in held]
    held |= _discrete(point)
    states = coordinates(names, _units(point), read)
    columns = [*states, *(_coordinate(point, index) for index in chosen_inputs)]
    rows = [*states, *(_coordinate(point, index) for index in shown_outputs)]
    found = jacobian(point, rows, columns, count, len(states))
    labels = [row.name for row in rows]
    chosen, jumping = _seen(found, len(states))
    held |= {states[k].name: f"no derivative: {labels[row]} jumps" for k, row in jumping.items()}
    held |= {
        state.name: "no chosen output depends on it"
        for k, state in enumerate(states)
        if k not in chosen and state.name not in held
    }
    n = len(states)
    found = found.part([*chosen, *range(n, len(rows))], [*chosen, *range(n, len(columns))])
    states = [states[k] for k in chosen]
    notes = _remarks(
        found, [*(s.name for s in states), *labels[n:]], [*(s.name for s in states), *(c.name for c in columns[n:])]
    )
    if not states:
        notes.append("the model is empty: no chosen output depends on a state; choose outputs that show the motion")
    notes += loop_notes(point.structure, count)
    method = "differences of the whole step"
    if by == "directional":
        found = by_directional_derivatives(point, states, chosen_inputs, shown_outputs, found, count)
        method = METHOD
    return _assembled(point, states, chosen_inputs, shown_outputs, found, held, notes, method, count)


def _units(point: OperatingPoint) -> list[str]:
    """Return the unit of each number of the memory; those of the loop are those of the outputs that it holds."""
    found = []
    for name, place in zip(point.names, point.places, strict=True):
        if place is not None:
            found.append(place.unit)
            continue
        try:
            found.append(point.structure.resolve(name.partition(".")[2])[1].unit or "1")
        except StructureError:
            found.append("1")
    return found


def _coordinate(point: OperatingPoint, index: int) -> Coordinate:
    place = point.places[index]
    assert place is not None
    return Coordinate(point.names[index], place.unit, (index,))


def _constants(point: OperatingPoint, read: Sequence[int]) -> list[str]:
    """Return the names of those numbers of the elements that no step changes."""
    found = []
    for element, chosen in point.structure.elements.items():
        if chosen.every > 1:
            continue
        block = next(block for block in point.blocks if block.layout is not None and block.owner == element)
        own = [index - block.first for index in read if block.part.start <= index < block.part.stop]
        if own:
            with single(point, element) as part:
                found += [part.names[index] for index in constant(part, own)]
    return found


def _remarks(found: Jacobian, rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return a sentence for each row that has one-sided derivatives or jumps."""
    remarks = []
    for k, row in enumerate(rows):
        for what, where in (
            ("is at a corner: its derivatives to both sides differ", found.corners[k]),
            ("jumps: it has no derivative", found.jumps[k]),
        ):
            moved = [columns[j] for j in np.flatnonzero(where).tolist()]
            if moved:
                more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
                remarks.append(f"{row} {what} by {', '.join(moved[:3])}{more}; the mean of both sides is taken")
    return remarks


def _discrete(point: OperatingPoint) -> dict[str, str]:
    """Return the numbers that are not continuous and that the component sets by itself: they are held."""
    found = {}
    for name, place in zip(point.names, point.places, strict=True):
        if place is not None and place.causality in ("output", "local", "private") and not place.continuous:
            kind = place.type if place.type != "Real" else "discrete Real"
            found[name] = f"{kind}: it changes at events only"
    return found


def _seen(found: Jacobian, count: int) -> tuple[list[int], dict[int, int]]:
    """Return the states on which an output depends, perhaps through others; and those that make one of them jump.

    A state that makes something jump on which an output depends has no place in a linear model.
    """
    jumping: dict[int, int] = {}
    outputs = list(range(count, len(found.matrix)))
    while True:
        seen: set[int] = set()
        while True:
            rows = sorted(seen) + outputs
            usable = [k for k in range(count) if k not in seen and k not in jumping]
            more = {k for k in usable if np.any(found.matrix[rows, k] != 0.0) or np.any(found.jumps[rows, k])}
            if not more:
                break
            seen |= more
        rows = sorted(seen)
        worse = {k: rows[int(np.argmax(found.jumps[rows, k]))] for k in seen if rows and found.jumps[rows, k].any()}
        if not worse:
            return rows, jumping
        jumping |= worse


def _assembled(
    point: OperatingPoint,
    states: list[Coordinate],
    inputs: list[int],
    outputs: list[int],
    found: Jacobian,
    held: dict[str, str],
    notes: list[str],
    method: str,
    count: int,
) -> StateSpace:
    n, step = len(states), point.step * count
    matrices = (found.matrix[:n, :n], found.matrix[:n, n:], found.matrix[n:, :n], found.matrix[n:, n:])
    names = [state.name for state in states]
    preference = [_preference(name) for name in names]
    slow = reduced(matrices, preference)
    rate = continuous(slow.matrices, step)
    kept = [states[k] for k in slow.chosen]
    if slow.forgotten:
        notes.append(
            f"{slow.forgotten} of {n} numbers that the step reads are forgotten within it: they are in `discrete` alone"
        )
    if rate is None:
        notes.append(NO_CONTINUOUS)
        k, m, p = len(kept), len(inputs), len(outputs)
        rate = np.full((k, k), np.nan), np.full((k, m), np.nan), np.full((p, k), np.nan), np.full((p, m), np.nan)
    faster = list(aliases(point, states, matrices[0], count))
    if faster:
        notes.append(alias_note(faster, point.step, count))
    after = point.after(point.memory, count)
    assert after is not None, "the step was taken before"
    units = _units(point)
    return StateSpace(
        name=point.structure.name,
        time=point.time,
        step=step,
        states=tuple(state.name for state in kept),
        inputs=tuple(point.names[index] for index in inputs),
        outputs=tuple(point.names[index] for index in outputs),
        units={state.name: state.unit for state in states} | {point.names[k]: units[k] for k in (*inputs, *outputs)},
        A=rate[0],
        B=rate[1],
        C=rate[2],
        D=rate[3],
        discrete=matrices,
        memory=tuple(names),
        error=found.error[:n, :n],
        modes=modes(matrices[0], found.error[:n, :n], names, step),
        drift=differences(kept)(after, point.memory) / step,
        held=held,
        notes=tuple(notes),
        method=method,
    )


def _preference(name: str) -> float:
    """Return how much a number is to be preferred as a state: quantities of the FMUs to copies in the coupling."""
    if name.startswith("coupling."):
        return 1e-6
    return 1e-3 if ".work." in name else 1.0
