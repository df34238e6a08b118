"""The common base of the readers of model descriptions. Every error names file, line and element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from lxml import etree

from dockfmu.base.fmi import CAUSALITIES
from dockfmu.base.number_text import xml_boolean, xml_double, xml_integer
from dockfmu.base.units import BASE_UNITS, Unit, UnitError
from dockfmu.master.errors import DescriptionError
from dockfmu.master.fmi.variables import DefaultExperiment


class Reader:
    """Base of the readers of one XML tree; `where` names the file in messages."""

    def __init__(self, where: str, root: etree._Element) -> None:
        self.where = where
        self.root = root
        self.types: dict[str, etree._Element] = {}

    def fail(self, element: etree._Element, text: str) -> DescriptionError:
        """Return the error of an element, with file, line and name."""
        name = element.get("name")
        named = f"{element.tag} {name!r}" if name else str(element.tag)
        return DescriptionError(f"{self.where}, line {element.sourceline}, {named}: {text}")

    def need(self, element: etree._Element, attribute: str) -> str:
        """Return an attribute. Raises DescriptionError if it is missing."""
        value = element.get(attribute)
        if value is None:
            raise self.fail(element, f"has no attribute {attribute}")
        return value

    def value(self, element: etree._Element, attribute: str, convert: Callable[[str], Any], default: Any = None) -> Any:
        """Return a converted attribute, or `default`. Raises DescriptionError."""
        text = element.get(attribute)
        if text is None:
            return default
        try:
            return convert(text)
        except ValueError:
            raise self.fail(element, f"{attribute} = {text!r} is not a valid value") from None

    def simulation(self) -> etree._Element:
        """Return the element CoSimulation. Raises DescriptionError if it or a usable modelIdentifier is missing."""
        found = self.root.find("CoSimulation")
        if found is None:
            raise DescriptionError(
                f"{self.where}: the FMU has no CoSimulation element"
                + (" but one for model exchange" if self.root.find("ModelExchange") is not None else "")
                + "; export it for co-simulation"
            )
        identifier = self.need(found, "modelIdentifier")
        if not identifier.isidentifier() or not identifier.isascii():
            raise self.fail(found, f"modelIdentifier {identifier!r} is not a C identifier")
        return found

    def causality(self, element: etree._Element) -> str:
        """Return the causality of a variable. Raises DescriptionError."""
        causality = element.get("causality", "local")
        if causality not in CAUSALITIES:
            raise self.fail(element, f"causality {causality!r} is not one of {', '.join(CAUSALITIES)}")
        return causality

    def base(self, element: etree._Element, kind: str) -> etree._Element | None:
        """Return the type definition that a variable of a type refers to."""
        declared = element.get("declaredType")
        if declared is None:
            return None
        if declared not in self.types or self.types[declared].tag != kind:
            raise self.fail(element, f"declaredType {declared!r} is not among the {kind} types of the file")
        return self.types[declared]

    def inherited(
        self, element: etree._Element, base: etree._Element | None, key: str, convert: Callable[[str], Any]
    ) -> Any:
        """Return an attribute of a variable, or else that of its declared type."""
        return self.value(element, key, convert, self.value(base, key, convert) if base is not None else None)

    def items(self, base: etree._Element | None) -> tuple[tuple[str, int], ...]:
        """Return the names and values of an enumeration."""
        found = base.findall("Item") if base is not None else []
        return tuple((self.need(item, "name"), self.value(item, "value", integer, 0)) for item in found)

    def reference(self, scalar: etree._Element) -> int:
        """Return the value reference of a variable."""
        self.need(scalar, "valueReference")
        return self.value(scalar, "valueReference", unsigned)

    def display_units(self, element: etree._Element) -> Iterator[tuple[str, float, float]]:
        """Yield name, factor and offset of the display units of a unit that a factor and an offset convert to.

        Those of FMI 3.0 that are inverse, and those with which nothing can be converted, are left out.
        """
        for entry in element.iterfind("DisplayUnit"):
            name, inverse = self.need(entry, "name"), self.value(entry, "inverse", xml_boolean, False)
            factor, offset = self.value(entry, "factor", xml_double, 1.0), self.value(entry, "offset", xml_double, 0.0)
            if not inverse and factor != 0.0 and isfinite(factor) and isfinite(offset):
                yield name, factor, offset

    def unit(self, element: etree._Element) -> Unit:
        """Return a unit definition."""
        base, display = element.find("BaseUnit"), tuple(self.display_units(element))
        name = self.need(element, "name")
        if base is None:
            return Unit(name, display=display)
        factor, offset = self.value(base, "factor", xml_double, 1.0), self.value(base, "offset", xml_double, 0.0)
        exponents = tuple(self.value(base, key, integer, 0) for key in BASE_UNITS)
        try:
            return Unit(name, exponents, factor, offset, display)
        except UnitError as error:
            raise self.fail(element, str(error)) from error

    def experiment(self, element: etree._Element | None) -> DefaultExperiment:
        """Return the default experiment."""
        if element is None:
            return DefaultExperiment()
        keys = ("startTime", "stopTime", "tolerance", "stepSize")
        return DefaultExperiment(*(self.value(element, key, xml_double) for key in keys))

    def units(self) -> dict[str, Unit]:
        """Return the unit definitions of the file by name. Raises DescriptionError for two that differ."""
        found: dict[str, Unit] = {}
        for element in self.root.iterfind("UnitDefinitions/Unit"):
            unit = self.unit(element)
            if found.setdefault(unit.name, unit) != unit:
                raise self.fail(element, "two units that differ have this name")
        return found

    def add_type(self, definition: etree._Element, content: etree._Element) -> None:
        """Add a type with its content. Raises DescriptionError if another one has the name."""
        known = self.types.setdefault(self.need(definition, "name"), content)
        if etree.tostring(known, with_tail=False) != etree.tostring(content, with_tail=False):
            raise self.fail(definition, "two types that differ have this name")

    def log_categories(self) -> tuple[str, ...]:
        """Return the names of the log categories."""
        return tuple(self.need(category, "name") for category in self.root.iterfind("LogCategories/Category"))


def integer(text: str) -> int:
    """Convert a 32-bit integer. Raises ValueError."""
    value = xml_integer(text)
    if not -(2**31) <= value < 2**31:
        raise ValueError(text)
    return value


def unsigned(text: str) -> int:
    """Convert an unsigned 32-bit integer. Raises ValueError."""
    value = xml_integer(text)
    if not 0 <= value < 2**32:
        raise ValueError(text)
    return value
