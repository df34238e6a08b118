"""Model descriptions as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dockfmu.base.units import Unit

VISIBLE = ("output", "local")
"""Causalities of variables that a run can observe."""


@dataclass(frozen=True)
class Variable:
    """One scalar variable. `start`, `minimum`, `maximum`, `nominal` have the type of the variable or are None."""

    name: str
    reference: int
    type: str
    causality: str = "local"
    variability: str = "continuous"
    initial: str | None = None
    start: Any = None
    unit: str | None = None
    display_unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    description: str = ""
    items: tuple[tuple[str, int], ...] = ()
    """Names and values of the items of an enumeration."""
    declared_type: str = ""
    derivative: str | None = None
    """The variable whose time derivative this one is."""
    relative: bool = False
    """Whether it is a difference, to which the offset of its unit does not apply (relativeQuantity)."""

    @property
    def storage(self) -> str:
        """The type whose functions get and set it: enumerations pass through fmi2GetInteger."""
        return "Integer" if self.type == "Enumeration" else self.type


@dataclass(frozen=True)
class Array:
    """One variable of FMI 3.0: `size` elements of `type`, numbered from `first` in row-major order."""

    name: str
    reference: int
    type: str
    first: int
    size: int
    structural: bool = False
    start: tuple[Any, ...] = ()
    """`size` start values, or none."""


@dataclass(frozen=True)
class DefaultExperiment:
    """Default experiment of a model or a system; None for values that are not given."""

    start: float | None = None
    stop: float | None = None
    tolerance: float | None = None
    step: float | None = None


@dataclass(frozen=True)
class Description:
    """A co-simulation model description of FMI 2.0 or 3.0.

    Arrays of FMI 3.0 appear as their elements, `A[1,2]`, which are numbered in `variables`; the adapter maps these
    numbers to the FMU's variables by `arrays`. `left_out` maps variables that the master does not support to the
    reason. `outputs`, `derivatives` and `initial_unknowns` map a variable to the names it depends on, None if the file
    does not list them (then it may depend on all). `binaries` are the platforms in the archive.
    """

    file: Path
    model_name: str
    guid: str
    identifier: str
    description: str = ""
    generation_tool: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    experiment: DefaultExperiment = DefaultExperiment()
    can_vary_step: bool = False
    can_get_and_set_state: bool = False
    can_serialize_state: bool = False
    can_provide_directional_derivatives: bool = False
    can_interpolate_inputs: bool = False
    max_output_derivative_order: int = 0
    only_one_per_process: bool = False
    needs_execution_tool: bool = False
    log_categories: tuple[str, ...] = ()
    outputs: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    derivatives: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    initial_unknowns: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    binaries: tuple[str, ...] = ()
    fmi_version: str = "2.0"
    can_run_asynchronously: bool = False
    arrays: tuple[Array, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    internal_step: float | None = None
    """Fixed internal step that an FMU of FMI 3.0 declares, s."""

    def select(self, *causalities: str) -> list[Variable]:
        """Return the variables of the given causalities, in the order of the file."""
        return [variable for variable in self.variables.values() if variable.causality in causalities]

    def structure(self, values: Mapping[str, Any]) -> dict[str, int]:
        """Return those of `values` that are structural parameters, which set the lengths of arrays."""
        return {a.name: int(values[a.name]) for a in self.arrays if a.structural and a.name in values}

    def unit(self, variable: Variable) -> Unit | None:
        """Return the unit of a variable, without exponents if the file uses a unit that it does not define.

        The unit of a difference has no offset.
        """
        if not variable.unit:
            return None
        found = self.units.get(variable.unit, Unit(variable.unit))
        return replace(found, offset=0.0) if variable.relative and found.offset else found
