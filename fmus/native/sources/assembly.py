"""Split the text of LLVM assembly into parts; give the memory layout and the C names of its types."""

from __future__ import annotations

import re

from dockfmu.base.errors import FAILED, DockfmuError

TYPES = {
    "double": "double", "ptr": "char *", "i1": "uint8_t", "i8": "uint8_t", "i32": "uint32_t", "i64": "uint64_t",
    "i2": "uint8_t", "i4": "uint8_t", "void": "void",
}  # fmt: skip
SIGNED = {"i1": "int8_t", "i8": "int8_t", "i32": "int32_t", "i64": "int64_t"}
_SIZES = {"double": 8, "ptr": 8, "i1": 1, "i8": 1, "i32": 4, "i64": 8}
_FLAGS = re.compile(
    r"\b(nuw|nsw|nusw|inbounds|exact|disjoint|nneg|samesign|tail|musttail|notail|volatile|fastcc|immarg|"
    r"noundef|nonnull|signext|zeroext|writable|returned|nocapture|noalias|readonly|writeonly|readnone|dead_on_\w+|"
    r"captures\([^)]*\)|range\([^)]*\)|initializes\(\([^)]*\)\)|(?:align|dereferenceable)(?:_or_null)?\(\d+\)) ?"
)
"""Flags and attributes of instructions that only inform the optimiser."""


class TranslationError(DockfmuError, ValueError):
    """A kernel uses an instruction or a type that has no translation to C."""

    exit_status = FAILED


def without_flags(text: str) -> str:
    """Return an operand or instruction without flags for the optimiser."""
    return _FLAGS.sub("", text)


def plain(text: str) -> str:
    """Return an instruction without metadata, attributes and flags, with single spaces."""
    text = re.sub(r"\s+", " ", text.strip()).removeprefix("tail ")
    text = without_flags(text)
    return re.sub(r"(, ![\w.]+ !\S+)+$| #\d+$", "", re.sub(r", align \d+|\balign \d+ ", "", text)).strip()


def split(text: str) -> list[str]:
    """Return the parts between the commas that are outside brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def typed(text: str) -> tuple[str, str]:
    """Return the type and the value of an operand."""
    text = text.strip()
    if text[0] in "[{<":
        depth = 0
        for place, letter in enumerate(text):
            depth += (letter in "[{<") - (letter in "]}>")
            if depth == 0:
                return text[: place + 1], text[place + 1 :].strip()
    kind, _, value = text.partition(" ")
    return kind, value.strip()


def is_aggregate(kind: str) -> bool:
    """Return whether a type is a structure or an array."""
    return kind[0] in "{["


def _array(kind: str) -> tuple[int, str]:
    """Return length and type of the elements of an array."""
    match = re.fullmatch(r"\[(\d+) x (.*)\]", kind)
    if match is None:
        raise TranslationError(f"type {kind}")
    return int(match[1]), match[2]


def members(kind: str) -> list[str]:
    """Return the types of the fields of a structure or of the elements of an array."""
    if kind.startswith("{"):
        return split(kind[1:-1])
    count, element = _array(kind)
    return count * [element]


def member(kind: str, path: list[str]) -> str:
    """Return the type at a path of indices, as `extractvalue` counts them."""
    for place in path:
        kind = members(kind)[int(place)]
    return kind


def layout(kind: str) -> tuple[int, int]:
    """Return size and alignment of a type in bytes. Raises TranslationError for an unknown type."""
    if kind in _SIZES:
        return _SIZES[kind], _SIZES[kind]
    if kind.startswith("{"):
        align = max((layout(field)[1] for field in members(kind)), default=1)
        return -(-offsets(kind)[-1] // align) * align, align
    count, element = _array(kind)
    size, align = layout(element)
    return count * size, align


def offsets(kind: str) -> list[int]:
    """Return the offset in bytes of each field of a structure, and the end of the last one."""
    places, end = [], 0
    for field in members(kind):
        size, align = layout(field)
        places.append(-(-end // align) * align)
        end = places[-1] + size
    return [*places, end]


def c_type(kind: str) -> str:
    """Return the C type of a value, ready for a name to follow. Raises TranslationError for an unknown type."""
    if is_aggregate(kind):
        return f"{_name(kind)} "
    if kind not in TYPES:
        raise TranslationError(f"type {kind}")
    return TYPES[kind] if kind == "ptr" else f"{TYPES[kind]} "


def _name(kind: str) -> str:
    """Return the unique C name of a type."""
    if kind.startswith("["):
        return f"Array{len(members(kind))}_{_name(members(kind)[0])}"
    return f"Struct_{'_'.join(map(_name, members(kind)))}_End" if kind.startswith("{") else kind


def definitions(kinds: set[str]) -> list[str]:
    """Return the C definitions of types of structures and arrays, each after those that it is made of.

    An array becomes a structure with a field for each element, f0, f1, ...: C neither assigns arrays nor returns them.
    """
    made: dict[str, str] = {}

    def define(kind: str) -> None:
        if not is_aggregate(kind) or kind in made:
            return
        for inner in members(kind):
            define(inner)
        fields = " ".join(f"{c_type(inner)}f{i};" for i, inner in enumerate(members(kind)))
        made[kind] = f"typedef struct {{ {fields} }} {_name(kind)};"

    for kind in sorted(kinds):
        define(kind)
    return list(made.values())
