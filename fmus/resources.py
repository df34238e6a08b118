"""The folder `resources` of an FMU: tables of the record as raw numbers, parameter sets, the list of a saved state.

Parameter sets are SSP 1.0 values (.ssv), the list of what a serialised state holds is CSV.
"""

from __future__ import annotations

import numpy as np
from lxml import etree

from dockfmu.base.units import parse_unit
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import ParameterSet
from dockfmu.components.core.record import Record

_SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
_SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"


def resource_files(component: Component) -> dict[str, bytes]:
    """Return the tables of the record by their path in the FMU, as little-endian float64."""
    return {
        f"resources/{place.file}": np.asarray(component.resources[place.file], "<f8").tobytes()
        for place in component.record.resources
    }


SAVED_STATE = "resources/saved_state.csv"
"""Path in a native FMU of the list of the slots of its serialised state."""
STATE_HEAD = 128
"""Bytes of a serialised state of a native FMU before its slots: `Head` in shim/state.c."""


def saved_state(record: Record) -> bytes:
    """Return the list of the slots of a serialised state, as CSV: where each begins and what it is.

    With it an importer can read and move the state of a native FMU: the bytes are a head of `STATE_HEAD` bytes, whose
    64-bit word at byte 56 is the FNV-1a checksum of the 64-bit words from byte 64 on, then these float64: the memory of
    the component, then in `previous` what changes of it as the last step began, which derivatives refer to.
    """
    lines = ["offset,name,unit,type,causality,variability"]
    offset = STATE_HEAD
    for prefix, spans in (("", record.saved), ("previous.", record.changing)):
        for span in spans:
            for slot in record.slots[span.first : span.first + span.count]:
                field = slot.field
                causality = "previous" if prefix else field.causality
                kind = f"{field.type.fmi},{causality},{field.variability}"
                lines.append(f'{offset},"{prefix}{slot.name}",{field.unit},{kind}')
                offset += 8
    return "\n".join([*lines, ""]).encode()


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
