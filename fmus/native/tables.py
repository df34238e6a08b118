"""`tables.c`: what the generic shim has to know of one component."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import numpy as np

from components.core.component import Component
from components.core.record import Slot
from fmus.description import bounds, nominal

_FORMAT = re.compile(r"[+ ]?\d*(\.\d+)?[eEfFgG]?")
_TYPES = {"Real": "TYPE_REAL", "Integer": "TYPE_INTEGER", "Enumeration": "TYPE_INTEGER", "Boolean": "TYPE_BOOLEAN"}


def access(slot: Slot) -> str:
    """The C expression of what may be done with a public slot."""
    field = slot.field
    flags = [_TYPES[field.type.fmi]]
    if field.causality in ("parameter", "input"):
        flags.append("SET_BEFORE_STEPS")
    if field.causality == "input" or field.variability == "tunable":
        flags.append("SET_BETWEEN_STEPS")
    if field.causality == "input" and field.variability == "continuous":
        flags.append("CONTINUOUS_INPUT")
    if field.causality == "output":
        flags.append("IS_OUTPUT")
    if bounds(slot) != (None, None):
        flags.append("BOUNDED")
    return " | ".join(flags)


def is_averaged(slot: Slot) -> bool:
    """The kernel applies this input as its mean over a step."""
    field = slot.field
    return field.causality == "input" and field.variability == "continuous" and field.evaluated == "mean"


def _string(text: str) -> str:
    """A C string literal. Bytes beyond ASCII are octal escapes, which unlike \\x end after three digits."""
    return (
        '"'
        + "".join(
            c if c < "\x7f" else "".join(f"\\{b:03o}" for b in c.encode())
            for c in json.dumps(text, ensure_ascii=False)[1:-1]
        )
        + '"'
    )


def _number(value: float) -> str:
    if np.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return float(value).hex()


def _array(declaration: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"    {item}," for item in items]
    yield from (f"{declaration} = {{", *(lines or ["    0,"]), "};", "")


def _format(name: str, specification: str) -> str:
    if not _FORMAT.fullmatch(specification):
        raise ValueError(f"message piece {{{name}:{specification}}}: only e, f and g formats with width and precision")
    return f"%{specification}" if specification and specification[-1].isalpha() else f"%{specification}g"


def write_tables(component: Component, guid: str) -> str:
    """The text of tables.c. Raises ValueError for a message that C cannot print as Python does."""
    record = component.record
    filled = {slot for place in record.resources for slot in range(place.first, place.first + place.count)}
    starts = [slot for slot in record.slots if slot.start != 0.0 and slot.index not in filled]
    start_count = 1 + max((slot.index for slot in starts), default=0)
    averaged = [slot for slot in record.variables if is_averaged(slot)]
    lines = [
        f"/* {component.name}: written by the exporter. */",
        '#include "model.h"',
        "",
        "#include <math.h>",
        "#include <stddef.h>",
        "",
    ]
    lines += _array(
        f"static const double start[{start_count}]", (f"[{slot.index}] = {_number(slot.start)}" for slot in starts)
    )
    lines += _array(
        f"static const uint8_t access[{record.state_size}]",
        (f"[{slot.index}] = {access(slot)}" for slot in record.variables),
    )
    lines += _array("static const Variable variables[]", map(_variable, record.variables))
    lines += _array("static const uint32_t averaged[]", (str(slot.index) for slot in averaged))
    for code, message in component.messages.items():
        pieces = []
        for text, name, specification in message.pieces:
            if name is None:
                pieces.append(f"{{{_string(text)}, NULL, 0}}")
            else:
                pieces.append(f"{{{_string(text)}, {_string(_format(name, specification))}, {record.index[name]}}}")
        lines += _array(f"static const Piece message_{code}[]", pieces or ['{"", NULL, 0}'])
    lines += (
        _array(
            "static const Message messages[]",
            (
                f"{{{code}, {int(message.discard)}, sizeof message_{code} / sizeof *message_{code}, message_{code}}}"
                for code, message in component.messages.items()
            ),
        )
        if component.messages
        else ["static const Message messages[1];", ""]
    )
    lines += (
        _array(
            "static const Resource resources[]",
            (f"{{{_string(place.file)}, {place.first}, {place.count}}}" for place in record.resources),
        )
        if record.resources
        else ["static const Resource resources[1];", ""]
    )
    members = {
        "name": _string(component.name),
        "guid": _string(guid),
        "size": record.size,
        "state_size": record.state_size,
        "start_count": start_count,
        "variable_count": len(record.variables),
        "averaged_count": len(averaged),
        "message_count": len(component.messages),
        "resource_count": len(record.resources),
        **{name: name for name in ("start", "access", "variables", "averaged", "messages", "resources")},
    }
    lines += _array("const Model model", (f".{name} = {value}" for name, value in members.items()))
    return "\n".join(lines)


def _variable(slot: Slot) -> str:
    low, high = bounds(slot)
    numbers = (-np.inf if low is None else low, np.inf if high is None else high, nominal(slot))
    return f"{{{_string(slot.name)}, {slot.index}, {', '.join(map(_number, numbers))}}}"
