"""Write modelDescription.xml of a component from the declaration of its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from lxml import etree

from dockfmu.base.fmi import outcome_category
from dockfmu.base.units import DISPLAY_UNITS, parse_unit
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Field
from dockfmu.components.core.record import Slot

LOG_CATEGORIES = {
    "logEvents": "instantiation, initialization, termination and reset",
    "logStatusDiscard": "why a step was discarded",
    "logStatusError": "why a call was refused; reported whether or not logging is on",
    "logAll": "all messages",
}

NATIVE_CAPABILITIES = {
    "canHandleVariableCommunicationStepSize": "true",
    "canInterpolateInputs": "true",
    "maxOutputDerivativeOrder": "1",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
    "providesDirectionalDerivative": "true",
}

PYTHON_CAPABILITIES = {
    "needsExecutionTool": "true",
    "canHandleVariableCommunicationStepSize": "true",
    "canNotUseMemoryManagementFunctions": "true",
    "canGetAndSetFMUstate": "true",
    "canSerializeFMUstate": "true",
}


def package_version() -> str:
    """Return the version of dockfmu, or "0" if it runs from a folder that was never installed."""
    try:
        return version("dockfmu")
    except PackageNotFoundError:
        return "0"


def nominal(slot: Slot) -> float:
    """Return the order of magnitude of a variable in its unit, 1 where none is declared."""
    return slot.field.nominal or 1.0


def describe(
    component: Component,
    guid: str,
    capabilities: Mapping[str, str],
    source_files: Sequence[str] = (),
) -> bytes:
    """Return the model description as an XML document.

    Between steps, outputs depend on no input: they are computed within a step, and reading them runs no code of the
    component. In initialization mode an output may depend on every input and parameter; the document says so by leaving
    `dependencies` out (FMI 2.0, section 2.2.8). A shorter list, found by varying the inputs, can miss products
    and branches; importers that sort by it then start with wrong values.

    Raises UnitError for an unknown unit.
    """
    variables = component.record.variables
    index = {slot.index: str(number) for number, slot in enumerate(variables, start=1)}
    root = etree.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=component.name,
        guid=guid,
        description=component.description,
        version=package_version(),
        license="MIT",
        generationTool=f"dockfmu {package_version()}",
        variableNamingConvention="structured",
        numberOfEventIndicators="0",
    )
    simulation = etree.SubElement(root, "CoSimulation", {"modelIdentifier": component.name, **capabilities})
    if source_files:
        listed_files = etree.SubElement(simulation, "SourceFiles")
        for name in source_files:
            etree.SubElement(listed_files, "File", name=name)
    _units(root, variables)
    _types(root, variables)
    categories = etree.SubElement(root, "LogCategories")
    outcomes = dict.fromkeys(m.outcome for m in component.messages.values() if m.outcome)
    own = {outcome_category(name): f"why the outcome of the run is {name}" for name in outcomes}
    for name, text in (LOG_CATEGORIES | own).items():
        etree.SubElement(categories, "Category", name=name, description=text)
    etree.SubElement(
        root,
        "DefaultExperiment",
        startTime="0",
        stopTime=repr(component.default_stop),
        stepSize=repr(component.default_step),
    )
    listed = etree.SubElement(root, "ModelVariables")
    for slot in variables:
        _variable(listed, slot)
    structure = etree.SubElement(root, "ModelStructure")
    outputs = [slot for slot in variables if slot.field.causality == "output"]
    if outputs:
        listed_outputs = etree.SubElement(structure, "Outputs")
        initial_unknowns = etree.SubElement(structure, "InitialUnknowns")
        for slot in outputs:
            etree.SubElement(listed_outputs, "Unknown", index=index[slot.index], dependencies="")
            etree.SubElement(initial_unknowns, "Unknown", index=index[slot.index])
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _units(root: etree._Element, variables: Sequence[Slot]) -> None:
    """Write every unit in use with its base units, and with the display unit where people expect another."""
    used = {slot.field.unit for slot in variables if slot.field.type.fmi == "Real"}
    if not used:
        return
    definitions = etree.SubElement(root, "UnitDefinitions")
    for name in sorted(used):
        unit = parse_unit(name)
        element = etree.SubElement(definitions, "Unit", name=name)
        base = etree.SubElement(element, "BaseUnit", {key: str(power) for key, power in unit.base_units.items()})
        if unit.factor != 1.0:
            base.set("factor", repr(unit.factor))
        if (display := DISPLAY_UNITS.get(name)) is not None:
            factor = unit.factor / parse_unit(display).factor
            etree.SubElement(element, "DisplayUnit", name=display, factor=repr(factor))


def _types(root: etree._Element, variables: Sequence[Slot]) -> None:
    """Write the enumerations in use."""
    types = {slot.field.type.name: slot.field.type for slot in variables if slot.field.type.fmi == "Enumeration"}
    if not types:
        return
    definitions = etree.SubElement(root, "TypeDefinitions")
    for name, kind in sorted(types.items()):
        simple = etree.SubElement(definitions, "SimpleType", name=name)
        enumeration = etree.SubElement(simple, "Enumeration")
        for value, (item, text) in enumerate(kind.items, start=1):
            etree.SubElement(enumeration, "Item", name=item, value=str(value), description=text)


def value_text(field: Field, value: float) -> str:
    """Return a value of a variable as the model description writes it."""
    if field.type.fmi == "Boolean":
        return "true" if value else "false"
    return repr(value) if field.type.fmi == "Real" else str(int(value))


def _variable(listed: etree._Element, slot: Slot) -> None:
    field = slot.field
    settable = field.causality in ("parameter", "input")
    element = etree.SubElement(
        listed,
        "ScalarVariable",
        name=slot.name,
        valueReference=str(slot.index),
        description=field.description,
        causality=field.causality,
        variability=field.variability,
    )
    if field.causality == "parameter":
        element.set("initial", "exact")
    elif not settable:
        element.set("initial", "calculated")
    kind = etree.SubElement(element, field.type.fmi)
    if field.type.fmi == "Enumeration":
        kind.set("declaredType", field.type.name)
    if field.type.fmi == "Real":
        kind.set("unit", field.unit)
        if field.unit in DISPLAY_UNITS:
            kind.set("displayUnit", DISPLAY_UNITS[field.unit])
        if field.nominal is not None:
            kind.set("nominal", repr(float(field.nominal)))
    if field.type.fmi in ("Real", "Integer"):
        for name, bound in (("min", field.minimum), ("max", field.maximum)):
            if bound is not None:
                kind.set(name, value_text(field, bound))
    if settable:
        kind.set("start", value_text(field, slot.start))
