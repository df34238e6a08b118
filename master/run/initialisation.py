"""Consistent start values: outputs are passed on to inputs while the FMUs are in initialisation mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dockfmu.master.errors import FmuError, StructureError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.fmi.surroundings import Surroundings, undo
from dockfmu.master.order import loops
from dockfmu.master.run.instantiation import renew
from dockfmu.master.system import Connection, Element, Structure

SUBSTITUTIONS = 40
"""Sweeps beyond those that propagate values before Newton's method is used."""
CONVERGED, SOLVED = 1e-12, 1e-9
"""Largest relative change in a sweep for substitution to have converged, and for Newton's method to have succeeded."""

Place = tuple[str, str]
"""(element, variable)"""


class Initialisation:
    """Find consistent start values; made once for the instances of a simulation, and run for each run.

    Outputs are read as soon as the inputs that they depend on are set (ModelStructure/InitialUnknowns of the
    descriptions). Outputs that then remain depend on themselves, at least according to the descriptions: an algebraic
    loop. Its elements are evaluated in reverse order of execution, because those that step last give what they have
    integrated, and are swept until no value changes. If that does not happen, Newton's method solves for the values.
    Dependencies that the descriptions deny are checked: a last sweep, with all inputs set, must change nothing.
    """

    def __init__(self, system: Structure, instances: Mapping[str, FmuInstance]) -> None:
        self.system_name, self.instances = system.name, instances
        self.order = order = list(system.execution_order())
        self.disturbing: dict[str, list[str]] = {}
        """What instances changed for all code of this process, or may have changed, in the last run."""
        self._unseen = set(order)
        """Elements whose outputs were not yet read with an eye on this process."""
        self.values: dict[Place, Any] = {}
        self.set_inputs: set[Place] = set()
        self.sources: dict[str, dict[str, Connection]] = {name: {} for name in order}
        self.tables: dict[Place, dict[int, int]] = {}
        self.transformations: dict[Place, tuple[float, float]] = {}
        outputs: dict[str, dict[str, None]] = {name: {} for name in order}
        for connection in system.connections:
            place = connection.target, connection.input
            self.transformations[place], self.tables[place] = system.transformation(connection), dict(connection.table)
            self.sources[connection.target][connection.input] = connection
            outputs[connection.source][connection.output] = None
        self.outputs = {name: list(found) for name, found in outputs.items()}
        self.needs = {(e, v): self._dependencies(e, v) for e, found in self.outputs.items() for v in found}

    def run(self, elements: Mapping[str, Element], start: float, stops: Mapping[str, float]) -> list[str]:
        """Initialise instances that have their start values; return notes for the user.

        Parameters
        ----------
        elements : mapping of str to Element
            Elements of the system, with the start values of this run.
        start : float
            Start time, s.
        stops : mapping of str to float
            Stop time of each instance, s; infinite without one.

        Raises
        ------
        FmuError
            if an instance cannot be initialised
        StructureError
            for an algebraic loop without solution
        """
        self.disturbing = {}
        notes: list[str] = []
        before = Surroundings.now()
        for name in self.order:
            notes += self._enter(elements[name], start, stops[name])
            self._undo(before, [name])
        notes += self._find_values()
        self._undo(before, self.order)
        for name in self.order:
            self.instances[name].exit_initialization()
            self._look(name)
            self._undo(before, [name])
        return notes

    def _look(self, name: str) -> None:
        """Read the outputs for what this may change, in the first run.

        The loop reads them again in each run, and tells of those that it cannot read.
        """
        instance = self.instances[name]
        if name in self._unseen and not instance.remote:
            with suppress(FmuError):
                instance.get([variable.name for variable in instance.description.select("output")])
        self._unseen.discard(name)

    def _undo(self, before: Surroundings, names: Sequence[str]) -> None:
        """Restore what an FMU of this process has changed for all code in it; remember which may have done it."""
        changed = undo(before)
        for name in names if changed else ():
            if not self.instances[name].remote:
                self.disturbing.setdefault(name, []).extend(changed)

    def _enter(self, element: Element, start: float, stop: float) -> list[str]:
        """Let an instance enter initialisation mode; return a note if it needed the stop time."""
        name, instance = element.name, self.instances[element.name]
        bounded = math.isfinite(stop)
        # a saved state would contain the stop time, and a run resumed from it could not go beyond it
        withheld = bounded and instance.description.can_serialize_state
        try:
            instance.enter_initialization(start, stop if bounded and not withheld else None)
        except FmuError as first:
            if not withheld or instance.dead:
                raise
            renew(instance, element)
            try:
                instance.enter_initialization(start, stop)
            except FmuError:
                raise first from None
            return [
                f"{name} does not begin without a stop time, and was told {stop:.9g} s: a run that is resumed from a "
                "checkpoint of this one may not be able to go beyond"
            ]
        return []

    def _find_values(self) -> list[str]:
        """Pass values on until all inputs are set; return notes for the user."""
        self.values, self.set_inputs = {}, set()
        self._propagate()
        pending = self._pending()
        if not pending:
            return self._confirm()
        unknowns = [place for place in pending if self._is_real(place)]
        self._sweep()
        # values passed on without a loop arrive within one sweep per element
        sweeps = self._iterate(len(self.order) + SUBSTITUTIONS)
        if sweeps is not None:
            if sweeps <= len(self.order):
                return []
            return [f"algebraic loop at the start, solved in {sweeps} sweeps: {self._loop(pending)}"]
        changing = self._solve(unknowns)
        if not changing:
            return [f"algebraic loop at the start, solved by Newton's method: {self._loop(pending)}"]
        names = ", ".join(f"{element}.{variable}" for element, variable in changing[:6])
        raise StructureError(
            [
                f"system {self.system_name} cannot be initialised: the algebraic loop {self._loop(pending)} does not "
                f"converge, and Newton's method finds no solution; still changing: {names}"
            ]
        )

    def _confirm(self) -> list[str]:
        """Read everything once more with all inputs set; values change only if a description denies a dependency."""
        before = dict(self.values)
        self._sweep()
        changed = self._changing(before)
        if not changed:
            return []
        denied = [
            (element, output)
            for element, output in changed
            if not any(
                (self.sources[element][name].source, self.sources[element][name].output) in changed
                for name in self.needs[element, output]
            )
        ]
        names = ", ".join(f"{element}.{output}" for element, output in denied[:4])
        note = f"at the start {names} depend on inputs that their model descriptions do not list (InitialUnknowns)"
        if self._iterate(len(self.order) + SUBSTITUTIONS) is None and self._solve(
            [p for p in changed if self._is_real(p)]
        ):
            note += "; the values do not converge"
        return [note]

    def _iterate(self, limit: int) -> int | None:
        """Sweep until no value changes; return the number of sweeps before that, None if `limit` is not enough."""
        for sweep in range(limit):
            before = dict(self.values)
            self._sweep()
            if not self._changing(before):
                return sweep
        return None

    def _solve(self, unknowns: list[Place]) -> list[Place]:
        """Solve for Real outputs by Newton's method (MINPACK, finite differences); return those that still change."""

        def residual(x: np.ndarray) -> np.ndarray:
            self.values.update(zip(unknowns, x.tolist(), strict=True))
            self._sweep()
            return np.array([self.values[place] for place in unknowns]) - x

        start = np.array([self.values[place] for place in unknowns])
        if len(unknowns):
            # few systems have loops on which substitution fails, and the import takes half a second
            from scipy.optimize import root

            # substitution may have run far away from where it began
            residual(root(residual, np.where(np.isfinite(start), start, 0.0), tol=1e-14).x)
        before = dict(self.values)
        self._sweep()
        return self._changing(before, SOLVED)

    def _is_real(self, place: Place) -> bool:
        return self.instances[place[0]].description.variables[place[1]].type == "Real"

    def _changing(self, before: dict[Place, Any], tolerance: float = CONVERGED) -> list[Place]:
        return [place for place, value in self.values.items() if not _close(value, before[place], tolerance)]

    def _dependencies(self, element: str, output: str) -> set[str]:
        """Return the connected inputs on which an output may depend at the start."""
        description = self.instances[element].description
        declared = description.initial_unknowns.get(output, description.outputs.get(output))
        connected = self.sources[element]
        return set(connected) if declared is None else {name for name in declared if name in connected}

    def _pending(self) -> list[Place]:
        return [(e, v) for e, found in self.outputs.items() for v in found if (e, v) not in self.values]

    def _propagate(self) -> None:
        """Set every input whose source is known and read every output whose inputs are set, while there is progress."""
        progress = True
        while progress:
            progress = False
            for element in self.order:
                self._set_known(element)
                ready = [
                    output
                    for output in self.outputs[element]
                    if (element, output) not in self.values
                    and all((element, name) in self.set_inputs for name in self.needs[element, output])
                ]
                if ready:
                    self._read(element, ready)
                    progress = True
        for element in self.order:
            self._set_known(element)

    def _sweep(self) -> None:
        for element in reversed(self.order):
            self._set_known(element, again=True)
            self._read(element, self.outputs[element])

    def _set_known(self, element: str, again: bool = False) -> None:
        found = {}
        for name, connection in self.sources[element].items():
            source, place = (connection.source, connection.output), (element, name)
            if source in self.values and (again or place not in self.set_inputs):
                value = self.tables[place].get(self.values[source], self.values[source])
                factor, offset = self.transformations[place]
                found[name] = value if (factor, offset) == (1.0, 0.0) else factor * value + offset
                self.set_inputs.add(place)
        if found:
            self.instances[element].set(found)

    def _read(self, element: str, outputs: Sequence[str]) -> None:
        if outputs:
            for output, value in zip(outputs, self.instances[element].get(outputs), strict=True):
                if value != value:
                    raise FmuError(element, f"output {output} is NaN at initialisation")
                self.values[element, output] = value

    def _loop(self, pending: Sequence[Place]) -> str:
        """Describe the algebraic loop among outputs that wait for each other."""
        edges = [
            ((self.sources[e][name].source, self.sources[e][name].output), (e, v))
            for e, v in pending
            for name in self.needs[e, v]
        ]
        places = set(pending)
        cycles = loops(pending, [(a, b) for a, b in edges if a in places and b in places])
        names = [f"{e}.{v}" for e, v in (cycles[0] if cycles else pending)]
        elements = list(dict.fromkeys(e for e, _ in (cycles[0] if cycles else pending)))
        return f"{' <-> '.join(elements)} ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"


def _close(new: Any, old: Any, tolerance: float) -> bool:
    return new == old or (not isinstance(new, str) and math.isclose(new, old, rel_tol=tolerance, abs_tol=1e-15))
