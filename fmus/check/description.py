"""Checks of modelDescription.xml."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from math import isinf, isnan
from pathlib import Path
from typing import Any

import fmpy
from fmpy.model_description import ValidationError, read_model_description
from lxml import etree

from dockfmu.base.fmi import DESCRIPTION_FILE, TYPES
from dockfmu.base.number_text import xml_double, xml_integer
from dockfmu.fmus.check.description_fmi3 import check_dimensions, check_ranges, check_schema, check_structure, variables
from dockfmu.fmus.check.findings import Finding, error, warning

_error = partial(error, DESCRIPTION_FILE)
_warning = partial(warning, DESCRIPTION_FILE)

# causality, variability and initial: FMI 2.0, section 2.2.7
_EXACT = ("exact",)
_CALCULATED = ("calculated", "approx")
_ANY = ("calculated", "exact", "approx")
_NONE: tuple[str, ...] = ()

INITIAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("parameter", "fixed"): _EXACT,
    ("parameter", "tunable"): _EXACT,
    ("calculatedParameter", "fixed"): _CALCULATED,
    ("calculatedParameter", "tunable"): _CALCULATED,
    ("input", "discrete"): _NONE,
    ("input", "continuous"): _NONE,
    ("output", "constant"): _EXACT,
    ("output", "discrete"): _ANY,
    ("output", "continuous"): _ANY,
    ("local", "constant"): _EXACT,
    ("local", "fixed"): _CALCULATED,
    ("local", "tunable"): _CALCULATED,
    ("local", "discrete"): _ANY,
    ("local", "continuous"): _ANY,
    ("independent", "continuous"): _NONE,
}
"""Legal values of `initial` by (causality, variability), the default first; other pairs are illegal."""


_PART = r"""(?:[A-Za-z_]\w*|'(?:[\w!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]|\\['"?\\abfnrtv])+')(?:\[\d+(?:,\d+)*\])?"""
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*"
STRUCTURED = re.compile(rf"{_IDENTIFIER}|der\({_IDENTIFIER}(?:,\d+)?\)", re.ASCII)
"""Names of the convention "structured": FMI 2.0, section 2.2.9"""


def check_description(fmu: Path, root: etree._Element) -> list[Finding]:
    """Return the findings about the model description `root` of the archive `fmu`."""
    third = root.get("fmiVersion", "").startswith("3.0")
    findings = list(check_schema(root)) if third else list(_schema(root)) or list(check_attributes(root))
    if findings:
        return findings
    # fmpy reads the file again, and stops at the first illegal combination of attributes
    advice = "See the FMI 3.0 standard, section 2.4" if third else "See the FMI 2.0 standard, sections 2.2 and 4.3"
    findings += [
        _error("", problem.strip().rstrip("."), advice)
        for problem in _problems_for_fmpy(fmu)
        # fmpy takes each alias of FMI 3.0 for an output of its own; check_structure does not
        if not (third and problem.startswith("ModelStructure/InitialUnknowns"))
    ]
    of_version = (check_ranges, check_dimensions, check_structure) if third else (_ranges, _aliases, _dependencies)
    for check in (check_names, *of_version, _experiment, _identifier):
        findings += check(root)
    return findings


def _problems_for_fmpy(fmu: Path) -> list[str]:
    """Return what `fmpy.validation.validate_fmu` finds, but for names: to parse 560 of them takes it seconds."""
    with zipfile.ZipFile(fmu) as archive:
        names = [member.orig_filename for member in archive.filelist if "\\" in member.orig_filename]
    if names:
        return [f"The file path {name!r} contains a backslash" for name in names]
    try:
        read_model_description(str(fmu), validate=True, validate_model_structure=True)
    except ValidationError as fault:
        return [str(problem) for problem in fault.problems]
    except Exception as fault:  # what it raises depends on the fault
        return [str(fault)]
    return []


def check_names(root: etree._Element) -> Iterator[Finding]:
    """Check the names of variables against the naming convention that the description states."""
    structured = root.get("variableNamingConvention") == "structured"
    for name, _ in variables(root):
        if structured and not STRUCTURED.fullmatch(name):
            yield _error(
                name,
                'not a legal name of the naming convention "structured"',
                "Use names like body.position[1], or the convention flat",
            )
        elif control := set(name) & set("\r\n\t"):
            yield _error(name, f"the name holds {min(control)!r}", "Leave out tabs and line breaks")


def _schema(root: etree._Element) -> Iterator[Finding]:
    """Check against the XML schema of the standard, which comes with fmpy."""
    file = Path(fmpy.__file__).parent / "schema" / "fmi2" / "fmi2ModelDescription.xsd"
    schema = etree.XMLSchema(etree.parse(str(file)))
    if root.get("fmiVersion") != "2.0" or root.find("CoSimulation") is None:
        standard = "FMI 2.0" if root.get("fmiVersion") == "2.0" else "FMI 2.0 or FMI 3.0"
        yield _error("fmiModelDescription", f"this is not an {standard} co-simulation FMU", "Export it as one")
    elif not schema.validate(root):
        faults: Any = schema.error_log
        for fault in faults:
            yield _error(f"line {fault.line}", fault.message.rstrip("."), "See the schema of FMI 2.0")


def check_attributes(root: etree._Element) -> Iterator[Finding]:
    """Check causality, variability and initial of each variable. The document must be valid by the schema."""
    for scalar in root.iterfind("ModelVariables/ScalarVariable"):
        name, initial = scalar.get("name", ""), scalar.get("initial")
        causality, variability = scalar.get("causality", "local"), scalar.get("variability", "continuous")
        if variability == "continuous" and scalar.find("Real") is None:
            yield _error(name, "only a Real is continuous, which is the default", "Make it discrete")
        elif (causality, variability) not in INITIAL:
            others = ", ".join(second for first, second in INITIAL if first == causality)
            yield _error(name, f"causality {causality} with variability {variability}", f"Make it one of: {others}")
        elif initial is not None and initial not in (legal := INITIAL[causality, variability]):
            yield _error(
                name,
                f"causality {causality} and variability {variability} with initial {initial}",
                f"Make it one of: {', '.join(legal)}" if legal else "Leave it out",
            )


def _scalars(root: etree._Element) -> Iterator[tuple[str, etree._Element, etree._Element]]:
    """Yield (name, ScalarVariable, element of its type) of every variable."""
    for scalar in root.iterfind("ModelVariables/ScalarVariable"):
        for element in scalar:
            if element.tag in TYPES:
                yield scalar.get("name", ""), scalar, element


def _number(element: etree._Element, attribute: str, declared: dict[str, etree._Element]) -> float | None:
    """Return a numeric attribute of a variable, or of its declared type."""
    kind = declared.get(element.get("declaredType", ""))
    text = element.get(attribute) or (kind.get(attribute) if kind is not None else None)
    return None if text is None else xml_double(text)


def _ranges(root: etree._Element) -> Iterator[Finding]:
    """Check that min <= start <= max and that nominal is not zero."""
    declared = {
        simple.get("name", ""): simple[0] for simple in root.iterfind("TypeDefinitions/SimpleType") if len(simple)
    }
    items = {
        name: [xml_integer(item.get("value", "0")) for item in kind.iterfind("Item")] for name, kind in declared.items()
    }
    for name, _, element in _scalars(root):
        if element.tag in ("Boolean", "String"):
            continue
        low, high, start, nominal = (_number(element, key, declared) for key in ("min", "max", "start", "nominal"))
        if low is not None and high is not None and low > high:
            yield _error(name, f"min {low:g} is greater than max {high:g}", "Exchange or correct the bounds")
        elif start is not None and ((low is not None and start < low) or (high is not None and start > high)):
            bounds = f"[{'-inf' if low is None else f'{low:g}'}, {'inf' if high is None else f'{high:g}'}]"
            yield _error(name, f"start {start:g} lies outside {bounds}", "Correct the start value or the bounds")
        if start is not None and isnan(start):
            yield _error(name, "start nan is not a number", "Give a start value")
        elif start is not None and isinf(start):
            # a legal xs:double: some use it for a limit that there is not
            yield _warning(
                name, f"start {start:g} is infinite, which some importers refuse", "Give a finite start value"
            )
        if element.tag == "Enumeration" and start is not None:
            values = items.get(element.get("declaredType", ""), [])
            if int(start) not in values:
                yield _error(name, f"start {start:g} is not an item of its enumeration", "Use one of its values")
        if nominal == 0.0:
            yield _error(name, "nominal is zero", "Give the order of magnitude of the variable")


def _experiment(root: etree._Element) -> Iterator[Finding]:
    element = root.find("DefaultExperiment")
    if element is None:
        return
    place = "DefaultExperiment"
    values = {key: xml_double(element.get(key, "NaN")) for key in ("startTime", "stopTime", "stepSize", "tolerance")}
    for key in ("stepSize", "tolerance"):
        if values[key] <= 0.0:
            yield _error(place, f"{key} {values[key]:g} is not positive", "Give a positive number, or none")
    if values["stopTime"] < (values["startTime"] if element.get("startTime") else 0.0):
        yield _error(place, "stopTime lies before startTime", "Give a stop time after the start time")


def _aliases(root: etree._Element) -> Iterator[Finding]:
    """Check that variables with one value reference fit together (FMI 2.0, section 2.2.7)."""
    shared: dict[tuple[str, str], list[tuple[str, etree._Element, etree._Element]]] = defaultdict(list)
    for name, scalar, element in _scalars(root):
        kind = "Integer" if element.tag == "Enumeration" else str(element.tag)
        shared[kind, scalar.get("valueReference", "")].append((name, scalar, element))
    for (_, reference), aliases in shared.items():
        if len(aliases) == 1:
            continue
        names = ", ".join(name for name, _, _ in aliases)
        if sum(element.get("start") is not None for _, _, element in aliases) > 1:
            yield _error(
                names,
                f"aliases of value reference {reference} have more than one start value",
                "Keep only one of them",
            )
        settable = [n for n, scalar, _ in aliases if scalar.get("causality") in ("input", "parameter")]
        if len(settable) > 1:
            yield _error(
                names,
                f"{' and '.join(settable)} set the same value reference {reference}",
                "Make all but one of them outputs or local",
            )
        if len({element.get("unit") for _, _, element in aliases}) > 1:
            yield _error(names, f"aliases of value reference {reference} differ in unit", "Give them one unit")


def _dependencies(root: etree._Element) -> Iterator[Finding]:
    """Warn of outputs without `dependencies`: importers assume direct feedthrough of all inputs, and hence loops.

    In InitialUnknowns nothing is lost without them, and a wrong list does more harm than none.
    """
    silent = [u for u in root.iterfind("ModelStructure/Outputs/Unknown") if u.get("dependencies") is None]
    if silent:
        yield warning(
            DESCRIPTION_FILE,
            "ModelStructure/Outputs",
            f"{len(silent)} unknowns state no dependencies, so importers assume that they depend on everything",
            "Give dependencies, empty where there are none",
        )


def _identifier(root: etree._Element) -> Iterator[Finding]:
    identifier = root.find("CoSimulation").get("modelIdentifier", "")  # type: ignore[union-attr]
    if not (identifier.isidentifier() and identifier.isascii()):
        yield _error(
            "CoSimulation", f"modelIdentifier {identifier!r} is not a C identifier", "Use letters, digits and _"
        )
