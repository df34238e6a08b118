"""Write instructions of LLVM assembly that compute a value as C expressions."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from math import copysign, isinf, isnan

from dockfmu.fmus.native.sources.assembly import (
    SIGNED,
    TYPES,
    TranslationError,
    c_type,
    is_aggregate,
    layout,
    member,
    members,
    offsets,
    split,
    typed,
    without_flags,
)
from dockfmu.fmus.toolchain.libraries import MATHS

_BINARY = {
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "lshr": ">>", "udiv": "/", "urem": "%",
}  # fmt: skip
_SIGNED_BINARY = {"sdiv": "/", "srem": "%", "ashr": ">>"}
_ORDERED = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "!="}
_CLASSES = {
    0x003: "isnan({x})", 0x004: "{x} == -HUGE_VAL", 0x008: "({x} > -HUGE_VAL && {x} <= -0x1p-1022)",
    0x010: "({x} > -0x1p-1022 && {x} < 0.0)", 0x020: "({x} == 0.0 && signbit({x}))",
    0x040: "({x} == 0.0 && !signbit({x}))", 0x080: "({x} > 0.0 && {x} < 0x1p-1022)",
    0x100: "({x} >= 0x1p-1022 && {x} < HUGE_VAL)", 0x200: "{x} == HUGE_VAL",
}  # fmt: skip
"""Tests for the classes of doubles of `llvm.is.fpclass`, by their bits in its mask; 0x1p-1022 is the least normal."""

_RENAMED = {"minnum": "fmin", "maxnum": "fmax", "minimumnum": "fmin", "maximumnum": "fmax"}


class Expressions:
    """Expressions in C for the values of one function.

    `names` maps the functions and tables of the module to their names in C; `aggregates` collects the types of
    structures and arrays that have to be defined.
    """

    def __init__(self, names: Mapping[str, str], aggregates: set[str]) -> None:
        self.names = names
        self.aggregates = aggregates
        self.values: dict[str, str] = {}

    def type(self, kind: str) -> str:
        """Return the C type of a value, ready for a name to follow, and note that it has to be defined."""
        if is_aggregate(kind):
            self.aggregates.add(kind)
        return c_type(kind)

    def value(self, text: str, kind: str) -> str:
        """Return the C expression of an operand of type `kind`. Raises TranslationError for an unknown form."""
        if text.startswith("%"):
            name = text[1:].strip('"')
            return self.values.setdefault(name, f"v{len(self.values)}")
        if text.startswith("@"):
            return self.names[text[1:].strip('"')]
        if kind and is_aggregate(kind):
            given = [self.operand(part) for part in split(text[1:-1])] if is_aggregate(text) else ["0"]
            return f"({self.type(kind).strip()}){{{', '.join(given)}}}"
        if text in ("undef", "poison", "zeroinitializer"):
            return "0"
        if text in ("null", "true", "false"):
            return {"null": "(char *)0", "true": "1", "false": "0"}[text]
        if kind == "double":
            return _double(text)
        if match := re.fullmatch(r"getelementptr (.*)", without_flags(text)):
            return self.address(match[1].strip()[1:-1])
        if re.fullmatch(r"-?\d+", text):
            number = int(text)
            return f"UINT64_C({number % 2**64})" if kind == "i64" else str(number % 2 ** int(kind[1:]))
        raise TranslationError(f"operand {kind} {text}")

    def operand(self, text: str) -> str:
        """Return the C expression of an operand given as type and value."""
        kind, value = typed(text)
        return self.value(value, kind)

    def address(self, text: str) -> str:
        """Return the C expression of the address that the arguments of `getelementptr` give."""
        kind, base, *indices = split(text)
        terms = [self.operand(base)]
        for level, index in enumerate(indices):
            index_kind, number = typed(index)
            if level == 0:
                step = layout(kind)[0]
            elif kind.startswith("{"):
                terms.append(str(offsets(kind)[int(number)]))
                kind = member(kind, [number])
                continue
            else:
                kind = members(kind)[0] if kind.startswith("[") else kind
                step = layout(kind)[0]
            if re.fullmatch(r"-?\d+", number):
                terms.append(str(int(number) * step))
            else:
                terms.append(f"({SIGNED[index_kind]}){self.value(number, index_kind)} * {step}")
        return f"({' + '.join(term for term in terms if term != '0')})"

    def expression(self, opcode: str, rest: str) -> tuple[str, str]:
        """Return type and C expression of an instruction with a value. Raises TranslationError for an unknown one."""
        if opcode in _BINARY or opcode in _SIGNED_BINARY:
            first, second = split(rest)
            kind, left = typed(first)
            a, b = self.value(left, kind), self.value(second, kind)
            if opcode in _SIGNED_BINARY:
                signed = SIGNED[kind]
                return kind, f"({TYPES[kind]})(({signed}){a} {_SIGNED_BINARY[opcode]} ({signed}){b})"
            mask = "1 & " if kind == "i1" and opcode in ("add", "sub", "xor") else ""
            return kind, f"{mask}({a} {_BINARY[opcode]} {b})" if mask else f"{a} {_BINARY[opcode]} {b}"
        if opcode == "frem":
            first, second = split(rest)
            return "double", f"fmod({self.operand(first)}, {self.value(second, 'double')})"
        if opcode == "fneg":
            kind, value = typed(rest)
            return kind, f"-{self.value(value, kind)}"
        if opcode == "getelementptr":
            return "ptr", self.address(rest)
        if opcode == "load":
            kind, place = split(rest)[:2]
            return kind, f"get_{'i8' if kind == 'i1' else kind}({self.operand(place)})"
        if opcode in ("fcmp", "icmp"):
            predicate, _, operands = rest.partition(" ")
            return "i1", self.comparison(opcode, predicate, operands)
        if opcode == "select":
            condition, first, second = split(rest)
            kind = typed(first)[0]
            return kind, f"{self.operand(condition)} ? {self.operand(first)} : {self.operand(second)}"
        if opcode == "freeze":
            return typed(rest)[0], self.operand(rest)
        if opcode == "extractvalue":
            whole, *path = split(rest)
            return member(typed(whole)[0], path), f"{self.operand(whole)}.f{'.f'.join(path)}"
        if opcode == "call":
            return self.call(rest)
        source, _, kind = rest.partition(" to ")
        return kind.strip(), self.conversion(opcode, *typed(source), kind.strip())

    def comparison(self, opcode: str, predicate: str, operands: str) -> str:
        """Return the C expression of `icmp` or `fcmp`."""
        first, second = split(operands)
        kind, left = typed(first)
        a, b = self.value(left, kind), self.value(second, kind)
        if opcode == "icmp":
            if predicate in ("eq", "ne"):
                return f"{a} {_ORDERED[predicate]} {b}"
            cast = f"({SIGNED[kind]})" if predicate[0] == "s" else ""
            return f"{cast}{a} {_ORDERED[predicate[1:]]} {cast}{b}"
        if predicate in ("ord", "uno"):
            return f"{'!' * (predicate == 'ord')}(isnan({a}) || isnan({b}))"
        if predicate == "one":
            return f"({a} < {b} || {a} > {b})"
        if predicate[0] == "o" or predicate == "une":
            return f"{a} {_ORDERED[predicate[1:]]} {b}"
        opposite = {"eq": None, "gt": "<=", "ge": "<", "lt": ">=", "le": ">"}[predicate[1:]]
        return f"!({a} {opposite} {b})" if opposite else f"!({a} < {b} || {a} > {b})"

    def conversion(self, opcode: str, kind: str, text: str, target: str) -> str:
        """Return the C expression of a conversion from the type `kind` to `target`."""
        value = self.value(text, kind)
        if opcode == "sext":
            return f"({TYPES[target]})({SIGNED[target]})" + (
                f"-{value}" if kind == "i1" else f"({SIGNED[kind]}){value}"
            )
        if opcode in ("zext", "trunc", "uitofp", "fptoui"):
            return f"({TYPES[target]}){value}" + (" & 1" if target == "i1" else "")
        if opcode == "sitofp":
            return f"(double)({SIGNED[kind]}){value}"
        if opcode == "fptosi":
            return f"({TYPES[target]})({SIGNED[target]}){value}"
        raise TranslationError(f"{opcode} {kind} to {target}")

    def call(self, rest: str) -> tuple[str, str]:
        """Return type and C expression of a call, empty for one that only informs the optimiser."""
        match = re.fullmatch(r"(\S+) @(\"[^\"]*\"|[^\s(]+)\((.*)\).*", rest)
        if match is None:
            raise TranslationError(f"call {rest}")
        kind, name, given = match[1], match[2].strip('"'), split(match[3])
        if name.startswith(("llvm.lifetime", "llvm.assume")) or "metadata" in match[3]:
            return kind, ""
        arguments = [self.operand(part) for part in given]
        if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
            return kind, f"{name.split('.')[1]}({', '.join(arguments[:3])})"
        if integer := re.fullmatch(r"llvm\.([su])(min|max)\.(i\d+)", name):
            cast = f"({SIGNED[integer[3]]})" if integer[1] == "s" else ""
            a, b = arguments
            return kind, f"({cast}{a} {'<' if integer[2] == 'min' else '>'} {cast}{b} ? {a} : {b})"
        if integer := re.fullmatch(r"llvm\.abs\.(i\d+)", name):
            return kind, f"(({SIGNED[integer[1]]}){arguments[0]} < 0 ? -{arguments[0]} : {arguments[0]})"
        if funnel := re.fullmatch(r"llvm\.fsh([lr])\.i(\d+)", name):
            a, b, count = arguments
            places = f"({count} % {funnel[2]})"
            others = f"({funnel[2]} - {places})"
            left, right, unmoved = (places, others, a) if funnel[1] == "l" else (others, places, b)
            # C does not define a shift by all bits of the type
            return kind, f"({places} ? ({TYPES[kind]})({a} << {left} | {b} >> {right}) : {unmoved})"
        if name == "llvm.is.fpclass.f64":
            return kind, _is_of_class(arguments[0], int(typed(given[1])[1]))
        function = re.sub(r"^llvm\.(\w+)\.f64$", r"\1", name)
        function = _RENAMED.get(function, function)
        if function in MATHS:
            return kind, f"{function}({', '.join(arguments)})"
        if name in self.names:
            value = f"{self.names[name]}({', '.join(arguments)})"
            return kind, f"({TYPES[kind]}){value}" if kind == "i32" else value
        raise TranslationError(f"call of {name}")


def _is_of_class(value: str, mask: int) -> str:
    """Return the C expression of `llvm.is.fpclass`. Raises TranslationError where kinds of NaN are told apart."""
    if mask & 0x003 in (0x001, 0x002):
        raise TranslationError(f"llvm.is.fpclass with the mask {mask}: C does not tell quiet from signaling NaN")
    inverted = mask.bit_count() > 5
    chosen = mask ^ 0x3FF if inverted else mask
    tests = [test.format(x=value) for bits, test in _CLASSES.items() if chosen & bits]
    return f"{'!' * inverted}({' || '.join(tests) or '0'})"


def number(text: str) -> float:
    """Return the value of a constant of LLVM, which is written in decimal or as its bits."""
    if text.startswith("0x"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])
    return float(text)


def _double(text: str) -> str:
    value = number(text)
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "HUGE_VAL" if value > 0 else "(-HUGE_VAL)"
    return f"({value.hex()})" if copysign(1.0, value) < 0.0 else value.hex()
