"""The folder `resources` of an FMU: tables of the record as raw numbers, parameter sets as SSP 1.0 values (.ssv)."""

from __future__ import annotations

import numpy as np
from lxml import etree

from base.units import parse_unit
from components.core.component import Component
from components.core.parameters import ParameterSet
from components.core.record import Record

_SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
_SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"


def resource_files(component: Component) -> dict[str, bytes]:
    """Return the tables of the record by their path in the FMU, as little-endian float64."""
    return {
        f"resources/{place.file}": np.asarray(component.resources[place.file], "<f8").tobytes()
        for place in component.record.resources
    }


def write_parameter_set(record: Record, chosen: ParameterSet) -> bytes:
    """Return a parameter set as an SSV document: arrays expanded to scalars, sources of values as descriptions."""
    root = etree.Element(
        f"{{{_SSV}}}ParameterSet",
        nsmap={"ssv": _SSV, "ssc": _SSC},
        version="1.0",
        name=chosen.name,
        description=chosen.description,
    )
    listed = etree.SubElement(root, f"{{{_SSV}}}Parameters")
    units = set()
    for name, value in chosen.values.items():
        for scalar, number in record.expand(name, value, chosen.file):
            field = record.slots[record.index[scalar]].field
            parameter = etree.SubElement(listed, f"{{{_SSV}}}Parameter", name=scalar, description=chosen.sources[name])
            typed = etree.SubElement(parameter, f"{{{_SSV}}}{field.type.fmi}")
            if field.type.fmi == "Real":
                typed.set("value", repr(number))
                typed.set("unit", field.unit)
                units.add(field.unit)
            elif field.type.fmi == "Boolean":
                typed.set("value", "true" if number else "false")
            elif field.type.fmi == "Enumeration":
                typed.set("value", field.type.items[int(number) - 1][0])
            else:
                typed.set("value", str(int(number)))
    # the schema refuses an empty list of units
    if not units:
        return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    definitions = etree.SubElement(root, f"{{{_SSV}}}Units")
    for name in sorted(units):
        unit = etree.SubElement(definitions, f"{{{_SSC}}}Unit", name=name)
        base = {key: str(power) for key, power in parse_unit(name).base_units.items()}
        etree.SubElement(unit, f"{{{_SSC}}}BaseUnit", base)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
