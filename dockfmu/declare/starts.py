"""Start values of a loaded system for other settings, without loading it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.units import UnitError
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.berth import check_berths, follow_berths
from dockfmu.declare.conditions.initial_conditions import CONDITIONS, InitialConditions
from dockfmu.declare.declaration import Declaration
from dockfmu.declare.settings import NOTHING, Settings, read_settings
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure

if TYPE_CHECKING:
    from dockfmu.components.core.component import Component


@dataclass(frozen=True)
class StartStructure:
    """A system with new start values, and their consequences for its plan.

    `starts` are those of the system with the new values. `approach_energy` and `approach_momentum` are None if the
    craft were not placed anew.
    """

    structure: Structure
    starts: Starts
    approach_energy: float | None = None
    approach_momentum: tuple[float, float] | None = None


@dataclass(frozen=True)
class Starts:
    """Computes the start values that loading a system with further settings would give.

    `declared` is the declaration with the conditions given at loading, None for a system that is not declared.
    `settings` are those given at loading, which take precedence over the placement of the craft. `files` and `values`
    are the FMUs and start values as loaded: the placement uses them for elements whose FMU was swapped since.
    """

    declared: Declaration | None = None
    settings: Settings = NOTHING
    files: Mapping[str, Path] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _components: dict[str, Component] = field(default_factory=dict)

    @property
    def conditions(self) -> InitialConditions | None:
        """Initial conditions as declared and set at loading, None for a system without them."""
        return None if self.declared is None else self.declared.initial_conditions

    def problems(self, base: Structure, given: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with values for `of`, each for itself; craft are not placed."""
        found: list[str] = []
        for name, value in given.items():
            structure = base.copy()
            for element in structure.elements.values():
                element.start = {}
            try:
                settings, conditions = read_settings({name: value})
                settings.apply(structure)
                structure.check_starts()
                if conditions:
                    self._changed(base, conditions)
            except (StructureError, DeclarationError, UnitError) as error:
                found += getattr(error, "problems", (str(error),))
        return found

    def _changed(self, base: Structure, conditions: Mapping[str, Any]) -> Declaration:
        """Return the declaration with other initial conditions. Raises DeclarationError."""
        if self.declared is None or self.declared.initial_conditions is None:
            name = next(iter(conditions))
            raise DeclarationError(f"{CONDITIONS}.{name}: the system {base.name} has no {CONDITIONS}")
        return self.declared.with_conditions(conditions)

    def of(self, base: Structure, given: Mapping[str, Any]) -> StartStructure:
        """Return a copy of `base` with values by full names, and `initial_conditions.NAME` for a declared system.

        The craft of a declared system are placed anew. Raises StructureError, DeclarationError or SspError.
        """
        structure = base.copy()
        if not given:
            return StartStructure(structure, self)
        settings, conditions = read_settings(given)
        settings.apply(structure)
        follow_berths(structure, base)
        check_base_motion(structure)
        check_berths(structure)
        # values given now are applied last
        earlier = {name: value for name, value in self.settings.values.items() if name not in settings.values}
        both = Settings(earlier | dict(settings.values), self.settings.sets)
        declared = self.declared
        if declared is None or declared.initial_conditions is None:
            if conditions:
                self._changed(base, conditions)
            return StartStructure(structure, replace(self, settings=both))
        # components and their kernels take a second to import
        from dockfmu.declare.conditions.placement import place_crafts

        changed = self._changed(base, conditions)
        assert changed.initial_conditions is not None
        placed = place_crafts(
            changed.initial_conditions, self._placed_components(declared), self._placing_values(structure)
        )
        for element, values in placed.values.items():
            structure.elements[element].start |= values
        both.apply(structure)
        starts = replace(self, declared=changed, settings=both)
        return StartStructure(structure, starts, placed.approach_energy, placed.approach_momentum)

    def _placed_components(self, declared: Declaration) -> Mapping[str, Component]:
        from dockfmu.declare.packages.assembly import make_component

        if not self._components:
            for name, element in declared.elements.items():
                if element.fmu is not None:
                    continue
                self._components[name] = make_component(element.component, element.origin, dict(element.options))
        return self._components

    def _placing_values(self, structure: Structure) -> dict[str, Mapping[str, Any]]:
        return {
            name: element.start if element.file == self.files[name] else self.values[name]
            for name, element in structure.elements.items()
            if name in self.files
        }
