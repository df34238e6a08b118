"""Assemble a declared system: build its FMUs, connect them and place the craft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dockfmu.base.cache import cache_root
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import UnitError, parse_unit
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import ParameterSet
from dockfmu.components.core.part_names import PartsComponent
from dockfmu.components.core.record import ParameterError, Record
from dockfmu.components.multibody.declaration.problems import ModelError
from dockfmu.declare.base_motion import leave_out_affine_mass
from dockfmu.declare.berth import check_berths, follow_berths
from dockfmu.declare.conditions.placement import place_crafts
from dockfmu.declare.declaration import Declaration, DeclaredElement
from dockfmu.declare.plan import Plan
from dockfmu.declare.ports import join
from dockfmu.declare.settings import NOTHING, Settings, set_value
from dockfmu.declare.toml.files import names
from dockfmu.declare.toml.quantities import in_unit, scaled
from dockfmu.fmus import build, catalogue
from dockfmu.fmus.folders import FolderError
from dockfmu.fmus.parallel import build_in_parallel
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure


def parameter_set(component: Component, name: str, origin: str) -> ParameterSet:
    """Return a parameter set of the component by its name.

    Raises ParameterError for an unknown name, with `origin` and near matches, and for a set with a name, shape, unit or
    value that does not fit the component, with the file of the set.
    """
    known = {entry.name: entry for entry in component.parameter_sets}
    if name not in known:
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise ParameterError(f"{origin}: there is no {shown(name)} among the parameter sets of {component.name}{hint}")
    known[name].check(component.record)
    return known[name]


def start_values(component: Component, element: DeclaredElement) -> dict[str, float]:
    """Return the scalar start values of an element that differ from the defaults of its FMU.

    Raises ParameterError for unknown names, wrong units, types and shapes, values out of range, and values that are
    inconsistent with each other.
    """
    sets = [parameter_set(component, name, element.origin) for name in element.sets]
    if element.values is not None:
        values = in_declared_units(component.record, element.values)
        values.check(component.record)
        _check_booleans(component, values)
        sets.append(values)
    block = component.start(*sets)
    if (reason := catalogue.misfit(element.component, component.record.view(block))) is not None:
        raise ParameterError(f"{element.origin}: {reason}")
    return {
        slot.name: float(block[slot.index])
        for slot in component.record.variables
        if slot.field.causality in ("parameter", "input") and block[slot.index] != slot.start
    }


def in_declared_units(record: Record, given: ParameterSet) -> ParameterSet:
    """Return a parameter set with its values converted to the units of the variables of a record.

    Raises ParameterError for unknown names, and for units of another quantity than that of the variable.
    """
    values, units = {}, {}
    for name, value in given.values.items():
        scalar, _ = record.expand(name, 0.0, given.file)[0]
        units[name] = record.slots[record.index[scalar]].field.unit
        own, where = parse_unit(units[name]), f"{given.file}: {name}"
        try:
            if given.units[name]:
                unit = given.units[name]
                values[name] = scaled(value, unit, own, f"{where} is given in {unit}")
            else:
                values[name] = in_unit(value, own, where)
        except UnitError as error:
            raise ParameterError(str(error)) from error
    return replace(given, values=values, units=units)


def _check_booleans(component: Component, values: ParameterSet) -> None:
    """Raise ParameterError for true and false where a number is needed; for Booleans, 0 and 1 are valid too."""
    record = component.record
    for name, value in values.values.items():
        scalar, _ = record.expand(name, value, values.file)[0]
        kind = record.slots[record.index[scalar]].field.type.fmi
        if kind != "Boolean" and _has_booleans(value):
            raise ParameterError(f"{values.file}: {name} = {shown(value)}: must be numbers, the variable is {kind}")


def _has_booleans(value: object) -> bool:
    return any(map(_has_booleans, value)) if isinstance(value, list) else isinstance(value, bool)


def make_component(name: str, origin: str, options: dict[str, object]) -> Component:
    """Make a component of the catalogue with build options.

    Raises CatalogueError, FolderError or ParameterError, naming `origin`, and ModelError with all mistakes in the file
    of a multibody system.
    """
    if name in names():
        raise catalogue.CatalogueError(
            f"{origin}: this is a system, no component; `dockfmu run {name}` builds the FMUs of its elements"
        )
    try:
        return catalogue.component(name, **options)
    except ModelError:
        raise
    except (catalogue.CatalogueError, FolderError) as error:
        raise type(error)(f"{origin}: {error}") from error
    except (AttributeError, TypeError, ValueError, LookupError, ArithmeticError, OSError) as error:
        given = ", ".join(f"{key} = {shown(value)}" for key, value in options.items())
        text = str(error).replace("component() got an unexpected keyword argument", "there is no option")
        raise ParameterError(f"{origin}: cannot be made with {given}: {text}") from error


def build_fmu(component: Component, folder: Path, say: Callable[[str], None], **options: object) -> Path:
    """Build an FMU with `fmus.build`; progress messages name the FMU, and what its component remarks follows them."""

    def progress(text: str) -> None:
        say(f"{component.name}: {text}")

    built = build(component, folder, progress=progress, **options)  # type: ignore[arg-type]
    if isinstance(component, PartsComponent):
        for remark in component.remarks():
            progress(remark)
    return built


def add_file(system: Structure, name: str, element: DeclaredElement) -> None:
    """Add an element that is an FMU from a file, with its declared values.

    Raises ArchiveError or DescriptionError for a file that cannot be used, StructureError for values that do not fit.
    """
    assert element.fmu is not None
    system.add(name, element.fmu)
    given = element.values
    problems = []
    for path, value in {} if given is None else given.values.items():
        try:
            set_value(system, f"{name}.{path}", _with_unit(value, given.units[path]) if given else value)
        except StructureError as error:
            problems += [f"{element.origin}: {problem}" for problem in error.problems]
    if problems:
        raise StructureError(problems)


def _with_unit(value: Any, unit: str) -> Any:
    """Return a value, or each of a list, as text with its unit, if it has one."""
    if isinstance(value, list):
        return [_with_unit(item, unit) for item in value]
    return f"{value!r} {unit}" if unit and not isinstance(value, str) else value


_BUILT: set[tuple[str, str, Path]] = set()
"""What this process has built. If a file that it is made of has changed, it is built again, one after another."""


def _task(element: DeclaredElement) -> tuple[str, str, Path]:
    """Return what makes the FMU of an element, and the cache that keeps it."""
    return element.component, repr(sorted(element.options.items())), cache_root()


def assemble(
    declaration: Declaration, folder: Path, progress: Callable[[str], None], settings: Settings = NOTHING
) -> tuple[Structure, Plan]:
    """Build the FMUs of a declared system into `folder`, connect the ports, apply `settings` and place the craft.

    The placement of the craft uses the settings and does not change them. Raises ParameterError,
    CatalogueError, DeclarationError or StructureError for declarations or settings that do not fit.
    """
    system, plan = Structure(declaration.name), declaration.plan
    components: dict[str, Component] = {}
    starts: dict[str, dict[str, float]] = {}
    files: dict[str, Component] = {}
    made = {name: element for name, element in declaration.elements.items() if element.fmu is None}
    for name, element in made.items():
        # refuse what does not fit before anything is compiled
        components[name] = make_component(element.component, element.origin, dict(element.options))
        starts[name] = start_values(components[name], element)
    unknown = [
        (element.component, element.options, components[name])
        for name, element in made.items()
        if _task(element) not in _BUILT
    ]
    if unknown:
        build_in_parallel(unknown, progress, ["dockfmu.master"])
    for name, element in declaration.elements.items():
        if element.fmu is not None:
            add_file(system, name, element)
            continue
        component = components[name]
        # FMUs of the same name, of another component or with other build options, go to a separate folder
        first = files.setdefault(component.name, component)
        same = (first.module, first.options) == (component.module, component.options)
        place = folder if same else folder / name
        system.add(name, build_fmu(component, place, progress), starts[name])
        _BUILT.add(_task(element))
    for one, other in declaration.connections:
        join(system, one, other)
    system.order = plan.order or None
    settings.apply(system)
    follow_berths(system)
    check_berths(system)
    leave_out_affine_mass(system)
    system.check()
    if declaration.initial_conditions is not None:
        values = {name: element.start for name, element in system.elements.items()}
        placement = place_crafts(declaration.initial_conditions, components, values)
        for name, placed in placement.values.items():
            system.elements[name].start |= placed
        settings.apply(system)
        plan = replace(plan, approach_energy=placement.approach_energy, approach_momentum=placement.approach_momentum)
    return system, plan
