"""Write `tables.c`: what the generic shim has to know about one component."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from dockfmu.base.fmi import outcome_category
from dockfmu.components.core.component import Component, Message
from dockfmu.components.core.part_names import PART_FORMAT, PartMessage
from dockfmu.components.core.record import Record, Slot
from dockfmu.fmus.description import nominal

_FORMAT = re.compile(r"([+ ]?\d*(\.\d+)?[eEfFgG])?")
_TYPES = {"Real": "TYPE_REAL", "Integer": "TYPE_INTEGER", "Enumeration": "TYPE_INTEGER", "Boolean": "TYPE_BOOLEAN"}


_ARRAYS = ("start", "access", "variables", "averaged", "messages", "resources", "computed", "saved", "changing")


def access(slot: Slot) -> str:
    """Return the C expression for the accesses that importers have to a public slot."""
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
    if slot.bounds != (None, None):
        flags.append("BOUNDED")
    return " | ".join(flags)


def is_averaged(slot: Slot) -> bool:
    """Return whether the kernel applies this input as its mean over a step."""
    field = slot.field
    return field.causality == "input" and field.variability == "continuous" and field.evaluated == "mean"


def is_computed(slot: Slot) -> bool:
    """Return whether the kernels compute this Real, which must then be finite after each call."""
    return slot.field.type.fmi == "Real" and slot.field.causality in ("output", "local")


def _string(text: str) -> str:
    """Return a C string literal.

    Characters that are not plain are written as octal bytes, which end after three digits; `?` could begin a trigraph.
    """
    plain = (c if " " <= c <= "~" and c not in '"\\?' else "".join(f"\\{b:03o}" for b in c.encode()) for c in text)
    return f'"{"".join(plain)}"'


def _number(value: float) -> str:
    if np.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return float(value).hex()


def _array(declaration: str, items: Iterable[str], empty: str = "0") -> Iterator[str]:
    """Yield the lines of a definition. C has no empty arrays: without items it gets the item `empty`."""
    yield f"{declaration} = {{"
    yield from [f"    {item}," for item in items] or [f"    {empty},"]
    yield from ("};", "")


def _format(name: str, specification: str) -> str:
    """Return the printf format for a format specification of Python. Raises ValueError for one that C lacks."""
    if not _FORMAT.fullmatch(specification):
        raise ValueError(f"message piece {{{name}:{specification}}}: only e, f and g formats with width and precision")
    return f"%{specification or 'g'}"


def _variable(slot: Slot) -> str:
    low, high = slot.bounds
    numbers = (-np.inf if low is None else low, np.inf if high is None else high, nominal(slot))
    return f"{{{_string(slot.name)}, {slot.index}, {', '.join(map(_number, numbers))}}}"


def _piece(record: Record, text: str, name: str | None, specification: str, names: str) -> str:
    if name is None:
        return f"{{{_string(text)}, NULL, 0, 0, NULL}}"
    if specification != PART_FORMAT:
        return f"{{{_string(text)}, {_string(_format(name, specification))}, {record.index[name]}, 0, NULL}}"
    count = f"sizeof {names} / sizeof *{names}"
    return f'{{{_string(text)}, "%.0f", {record.index[name]}, {count}, {names}}}'


def _parts(messages: Mapping[int, Message]) -> Iterator[str]:
    """Yield the lists of names of parts that messages insert, each once."""
    for parts, name in _lists(messages).items():
        yield from _array(f"static const char *const {name}[]", map(_string, parts), '""')


def _lists(messages: Mapping[int, Message]) -> dict[tuple[str, ...], str]:
    """Return the names in C of the lists of names of parts."""
    lists = dict.fromkeys(message.parts for message in messages.values() if isinstance(message, PartMessage))
    return {parts: f"parts_{k}" for k, parts in enumerate(lists)}


def _category(message: Message) -> str:
    return _string(outcome_category(message.outcome)) if message.outcome else "NULL"


def write_tables(component: Component, guid: str) -> str:
    """Return the text of tables.c. Raises ValueError for a message that C cannot print as Python does."""
    record = component.record
    filled = {slot for place in record.resources for slot in range(place.first, place.first + place.count)}
    starts = [slot for slot in record.slots if slot.start != 0.0 and slot.index not in filled]
    start_count = 1 + max((slot.index for slot in starts), default=0)
    averaged = [slot for slot in record.variables if is_averaged(slot)]
    computed = [slot for slot in record.variables if is_computed(slot)]
    messages = list(component.messages.items())
    lists = _lists(component.messages)

    lines = [f"/* {component.name}: written by the exporter. */", '#include "model.h"', ""]
    lines += ["#include <math.h>", "#include <stddef.h>", ""]
    lines += _array(
        f"static const double start[{start_count}]", (f"[{slot.index}] = {_number(slot.start)}" for slot in starts)
    )
    lines += _array(
        f"static const uint8_t access[{record.state_size}]",
        (f"[{slot.index}] = {access(slot)}" for slot in record.variables),
    )
    lines += _array("static const Variable variables[]", map(_variable, record.variables), "{0}")
    lines += _array("static const uint32_t averaged[]", (str(slot.index) for slot in averaged))
    lines += _array("static const uint32_t computed[]", (str(slot.index) for slot in computed))
    for name, spans in (("saved", record.saved), ("changing", record.changing)):
        lines += _array(f"static const Span {name}[]", (f"{{{span.first}, {span.count}}}" for span in spans), "{0}")
    lines += _parts(component.messages)
    for code, message in messages:
        names = lists[message.parts] if isinstance(message, PartMessage) else ""
        pieces = (_piece(record, *piece, names) for piece in message.pieces)
        lines += _array(f"static const Piece pieces_{code}[]", pieces, '{"", NULL, 0, 0, NULL}')
    lines += _array(
        "static const Message messages[]",
        (
            f"{{{code}, {int(m.discard)}, {_category(m)}, sizeof pieces_{code} / sizeof *pieces_{code}, pieces_{code}}}"
            for code, m in messages
        ),
        "{0}",
    )
    lines += _array(
        "static const Resource resources[]",
        (f"{{{_string(place.file)}, {place.first}, {place.count}}}" for place in record.resources),
        "{0}",
    )
    members = {
        "name": _string(component.name),
        "guid": _string(guid),
        "size": record.size,
        "state_size": record.state_size,
        "saved_size": sum(span.count for span in record.saved),
        "changing_size": sum(span.count for span in record.changing),
        "start_count": start_count,
        "start_time": "NO_SLOT" if record.start_time is None else record.start_time,
        "variable_count": len(record.variables),
        "averaged_count": len(averaged),
        "message_count": len(messages),
        "resource_count": len(record.resources),
        "computed_count": len(computed),
        "saved_count": len(record.saved),
        "changing_count": len(record.changing),
        "step": _number(component.default_step),
        **{name: name for name in _ARRAYS},
    }
    lines += _array("const Model model", (f".{name} = {value}" for name, value in members.items()))
    return "\n".join(lines)
