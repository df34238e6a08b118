"""The model of a system, put together from those of its elements and their directional derivatives.

Each element is linearised alone, with its inputs as they are in the system: by directional derivatives of its FMU where
outputs and local variables depend on inputs, by differences of its saved state elsewhere. The scheme of the coupling
then says which values of the others an element sees: those of the start of the step, or newer ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.statespace.coordinates import Coordinate, coordinates, product
from dockfmu.statespace.differences import Jacobian, jacobian
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.operating_point import OperatingPoint, single

METHOD = "directional derivatives of the elements by their inputs, put together by the scheme of the coupling"
_LOOP = "coupling."


def by_directional_derivatives(
    point: OperatingPoint, states: list[Coordinate], inputs: list[int], outputs: list[int], found: Jacobian, count: int
) -> Jacobian:
    """Return the Jacobian of a step, put together; `found` is the one by differences, whose errors it keeps.

    Raises LinearisationError for a coupling that is not explicit, and for FMUs without directional derivatives.
    """
    structure = point.structure
    scheme = point.algorithm.scheme(structure.execution_order())
    if count > 1:
        raise LinearisationError("by='directional' describes one macro step: leave out count, or take by='differences'")
    if scheme.predicted or scheme.implicit is not None:
        raise LinearisationError(
            f"by='directional' knows explicit algorithms with held inputs, not {point.algorithm.name}: take "
            "by='differences', which repeats the step of the algorithm, whatever it is"
        )
    for name, element in structure.elements.items():
        if not structure.description(name).can_provide_directional_derivatives:
            raise LinearisationError(
                f"{name}: {element.file.name} has no directional derivatives (providesDirectionalDerivative): take "
                "by='differences'"
            )
    index = {state.name: k for k, state in enumerate(states)}
    size = len(states) + len(inputs)
    values = {name: np.eye(size)[k] for name, k in index.items()}
    free = {point.names[number]: np.eye(size)[len(states) + k] for k, number in enumerate(inputs)}
    sources = _sources(point)
    chosen = [point.names[number] for number in outputs]
    zero = np.zeros(size)
    parts = {name: _part(point, name, index, list(free), chosen) for name in structure.execution_order()}
    for stage in scheme.stages:
        newest: dict[str, np.ndarray] = {}
        for name in stage:
            part = parts[name]
            seen = [values.get(column, zero) for column in part.states]
            for column in part.inputs:
                factor, source = sources.get(column, (0.0, ""))
                seen.append(free[column] if column in free else factor * values.get(_LOOP + source, zero))
            rows = part.matrix @ np.array(seen).reshape(-1, size)
            newest |= dict(zip(part.rows, rows, strict=True))
        values |= newest
        # what the others see of an element that has stepped
        values |= {_LOOP + row: value for row, value in newest.items()}
    rows = [*index, *chosen]
    return Jacobian(np.array([values.get(row, zero) for row in rows]), found.error, found.corners, found.jumps)


def _sources(point: OperatingPoint) -> dict[str, tuple[float, str]]:
    """Return (factor, output) of each connected continuous input; rotations in place of quaternions."""
    found = {}
    for connection in point.structure.connections:
        factor, _ = point.structure.transformation(connection)
        target, source = (
            f"{connection.target}.{connection.input}", f"{connection.source}.{connection.output}"
        )  # fmt: skip
        found[target] = (factor, source)
        if target.endswith("quaternion[2]") and source.endswith("quaternion[2]"):
            for axis in (1, 2, 3):
                found[f"{target[:-3]}.rotation[{axis}]"] = (factor, f"{source[:-3]}.rotation[{axis}]")
    return found


@dataclass(frozen=True)
class ElementModel:
    """Derivatives of what an element has after its step, by its states and inputs."""

    rows: list[str]
    states: list[str]
    inputs: list[str]
    matrix: np.ndarray


def _part(
    point: OperatingPoint, name: str, states: dict[str, int], free: Sequence[str], outputs: Sequence[str]
) -> ElementModel:
    """Linearise one element of the system."""
    structure = point.structure
    steps = structure.elements[name].substeps
    with single(point, name) as part:
        number = {label: k for k, label in enumerate(part.names)}
        units = ["1" if place is None else place.unit for place in part.places]
        own = [c for c in coordinates(part.names, units, range(len(part.names))) if c.name in states]
        driven = [
            number[f"{name}.{c.input}"]
            for c in structure.connections
            if c.target == name and _is_real(part, number[f"{name}.{c.input}"])
        ]
        given = coordinates(part.names, units, sorted(driven))
        asked = [Coordinate(label, "1", (number[label],)) for label in free if label in number]
        seen = [
            number[f"{name}.{c.output}"]
            for c in structure.connections
            if c.source == name and _is_real(part, number[f"{name}.{c.output}"])
        ]
        shown = coordinates(part.names, units, sorted({*seen}))
        extra = [Coordinate(label, "1", (number[label],)) for label in outputs if label in number]
        rows = list({c.name: c for c in (*own, *shown, *extra)}.values())
        columns = [*own, *given, *asked]
        found = jacobian(part, rows, columns, steps)
        if steps == 1:
            part.after(part.memory)
            public = [k for k, row in enumerate(rows) if _is_public(part, row)]
            for k in range(len(own), len(columns)):
                found.matrix[public, k] = _directional(part, name, [rows[i] for i in public], columns[k])
    return ElementModel(
        [row.name for row in rows], [c.name for c in own], [c.name for c in (*given, *asked)], found.matrix
    )


def _is_real(part: OperatingPoint, number: int) -> bool:
    place = part.places[number]
    return place is not None and (place.type, place.variability) == ("Real", "continuous")


def _is_public(part: OperatingPoint, row: Coordinate) -> bool:
    place = part.places[row.indices[0]]
    return place is not None and place.causality in ("output", "local")


def _directional(part: OperatingPoint, name: str, rows: Sequence[Coordinate], column: Coordinate) -> np.ndarray:
    """Return the derivatives of rows by a column, from fmi2GetDirectionalDerivative of the last step."""
    labels = [part.names[k].removeprefix(f"{name}.") for row in rows for k in row.indices[: 4 if row.axis == 0 else 0]]
    labels = list(dict.fromkeys(labels))
    direction = np.ones(1)
    if len(column.indices) == 4:
        tangent = np.zeros(4)
        tangent[1 + column.axis] = 0.5
        direction = product(part.memory[list(column.indices)], tangent)
    knowns = [part.names[k].removeprefix(f"{name}.") for k in column.indices]
    given = dict(zip(labels, part.derivative(name, labels, knowns, direction), strict=True))
    after = dict(zip(labels, part.read(name, labels), strict=True))
    found = []
    for row in rows:
        own = [part.names[k].removeprefix(f"{name}.") for k in row.indices]
        if len(own) == 1:
            found.append(given[own[0]])
        else:
            back = np.array([after[label] for label in own]) * np.array([1.0, -1.0, -1.0, -1.0])
            found.append(2.0 * product(back, np.array([given[label] for label in own]))[1 + row.axis])
    return np.array(found)
