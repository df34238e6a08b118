"""Checks of the modelDescription.xml of an FMU of FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf, isnan
from pathlib import Path
from typing import Any

import fmpy
from lxml import etree

from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.base.number_text import xml_double, xml_integer, xml_list
from dockfmu.fmus.check.findings import Finding, error, warning

_NUMBERS = (
    "Float32",
    "Float64",
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    "Enumeration",
)


def check_schema(root: etree._Element) -> Iterator[Finding]:
    """Check against the XML schema of FMI 3.0, which comes with fmpy."""
    file = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3ModelDescription.xsd"
    schema = etree.XMLSchema(etree.parse(str(file)))
    if root.find("CoSimulation") is None:
        yield _error("fmiModelDescription", "this is not a co-simulation FMU", "Export it as one")
    elif not schema.validate(root):
        faults: Any = schema.error_log
        for fault in faults:
            yield _error(f"line {fault.line}", fault.message.rstrip("."), "See the schema of FMI 3.0")


def _error(element: str, text: str, advice: str) -> Finding:
    return error(DESCRIPTION_FILE, element, text, advice)


def variables(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """Yield the name and the element of every variable."""
    for element in root.iterfind("ModelVariables/*"):
        yield element.get("name", ""), element


def _attributes(root: etree._Element) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield name, type and attributes of every variable, with those of its declared type where it has none."""
    declared = {kind.get("name", ""): kind for kind in root.iterfind("TypeDefinitions/*")}
    for name, element in variables(root):
        kind = declared.get(element.get("declaredType", ""))
        own = {str(key): str(value) for key, value in element.attrib.items()}
        inherited = {} if kind is None else {str(key): str(value) for key, value in kind.attrib.items()}
        yield name, str(element.tag), inherited | own


def check_ranges(root: etree._Element) -> Iterator[Finding]:
    """Check that min <= start <= max for each element and that nominal is not zero; the schema checks the types."""
    items = {
        kind.get("name", ""): [xml_integer(item.get("value", "0")) for item in kind.iterfind("Item")]
        for kind in root.iterfind("TypeDefinitions/EnumerationType")
    }
    for name, kind, given in _attributes(root):
        if kind not in _NUMBERS:
            continue
        low, high = xml_double(given.get("min", "-INF")), xml_double(given.get("max", "INF"))
        if low > high:
            yield _error(name, f"min {low:g} is greater than max {high:g}", "Exchange or correct the bounds")
            continue
        starts = xml_list(given.get("start", ""), xml_double)
        outside = [value for value in starts if value < low or value > high]
        if outside:
            yield _error(
                name,
                f"start {outside[0]:g} lies outside [{low:g}, {high:g}]",
                "Correct the start value, the bounds or the type",
            )
        if any(map(isnan, starts)):
            yield _error(name, "start nan is not a number", "Give a start value")
        elif any(map(isinf, starts)):
            text = "start is infinite, which some importers refuse"
            yield warning(DESCRIPTION_FILE, name, text, "Give a finite start value")
        values = items.get(given.get("declaredType", ""), [])
        unknown = [value for value in starts if kind == "Enumeration" and value not in values]
        if unknown:
            yield _error(name, f"start {unknown[0]:g} is not an item of its enumeration", "Use one of its values")
        if xml_double(given.get("nominal", "1")) == 0.0:
            yield _error(name, "nominal is zero", "Give the order of magnitude of the variable")


def check_dimensions(root: etree._Element) -> Iterator[Finding]:
    """Check that dimensions are structural parameters or constants, and that start values fill the array.

    A single start value stands for all elements (FMI 3.0, section 2.4.7.5).
    """
    by_reference = {element.get("valueReference"): (name, element) for name, element in variables(root)}
    for name, element in variables(root):
        size = 1
        dimensions = element.findall("Dimension")
        for dimension in dimensions:
            reference = dimension.get("valueReference")
            if reference is None:
                size *= xml_integer(dimension.get("start", "1"))
                continue
            other, length = by_reference.get(reference, ("", None))
            if length is None:
                yield _error(name, f"a dimension names value reference {reference}, which is none", "Correct it")
                break
            if length.get("causality") != "structuralParameter" and length.get("variability") != "constant":
                yield _error(
                    name, f"its dimension {other} may change in a run", "Make it a structuralParameter or constant"
                )
            size *= xml_integer(length.get("start", "1"))
        else:
            given = (
                element.findall("Start") if element.tag in ("String", "Binary") else element.get("start", "").split()
            )
            if dimensions and len(given) not in (0, 1, size):
                yield _error(
                    name, f"{len(given)} start values for {size} elements", "Give one for each, or one for all"
                )


def _is_initial_unknown(element: etree._Element) -> bool:
    """Return whether a variable must have an entry in InitialUnknown, but for states and their derivatives."""
    causality, given = element.get("causality", "local"), element.get("initial")
    constant = element.get("variability") == "constant" or element.get("clocks") is not None or element.tag == "Clock"
    if causality == "calculatedParameter":
        return True
    return causality == "output" and not constant and given != "exact"


def check_structure(root: etree._Element) -> Iterator[Finding]:
    """Check that the model structure refers to variables and has every initial unknown.

    Warn of outputs without `dependencies`.
    """
    known = {element.get("valueReference"): name for name, element in variables(root)}
    for unknown in root.iterfind("ModelStructure/*"):
        for reference in (unknown.get("valueReference"), *(unknown.get("dependencies") or "").split()):
            if reference is not None and reference not in known:
                place = f"ModelStructure/{unknown.tag}"
                yield _error(place, f"value reference {reference} is that of no variable", "Correct it")
    listed = {unknown.get("valueReference") for unknown in root.iterfind("ModelStructure/InitialUnknown")}
    due = {element.get("valueReference") for _, element in variables(root) if _is_initial_unknown(element)}
    if lost := [name for reference, name in known.items() if reference in due - listed]:
        text = f"it lacks {', '.join(lost)}, whose initial values are computed"
        yield _error("ModelStructure/InitialUnknown", text, "Add an entry for each")
    silent = [unknown for unknown in root.iterfind("ModelStructure/Output") if unknown.get("dependencies") is None]
    if silent:
        yield warning(
            DESCRIPTION_FILE,
            "ModelStructure/Output",
            f"{len(silent)} unknowns state no dependencies, so importers assume that they depend on everything",
            "Give dependencies, empty where there are none",
        )
