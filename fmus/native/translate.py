"""Kernels as C: LLVM assembly, already typed and optimised, written as C that computes the same bits.

Each instruction becomes a statement, each block a label. That is no C for people, but it is plain C11 for any compiler
with 64-bit pointers. What kernels are made of, numbers, loops and a record, is translated; all else is refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from math import copysign, isinf, isnan

import llvmlite.binding as llvm

from fmus.native.assembly import (
    SIGNED,
    TYPES,
    TranslationError,
    c_type,
    definitions,
    is_aggregate,
    layout,
    member,
    members,
    offsets,
    plain,
    split,
    typed,
    without_flags,
)
from fmus.native.scalars import scalars
from fmus.native.symbols import MATHS

PRELUDE = """\
/* Written by the exporter from the kernels of the component. Compile without contraction of a * b + c to one operation
   (-ffp-contract=off), or results differ in the last bits. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double get_double(const char *p) { double v; memcpy(&v, p, sizeof v); return v; }
static inline void put_double(char *p, double v) { memcpy(p, &v, sizeof v); }
static inline uint64_t get_i64(const char *p) { uint64_t v; memcpy(&v, p, sizeof v); return v; }
static inline void put_i64(char *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline uint32_t get_i32(const char *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void put_i32(char *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline uint8_t get_i8(const char *p) { return (uint8_t)*p; }
static inline void put_i8(char *p, uint8_t v) { *p = (char)v; }
static inline char *get_ptr(const char *p) { char *v; memcpy(&v, p, sizeof v); return v; }
static inline void put_ptr(char *p, const char *v) { memcpy(p, &v, sizeof v); }
"""

_BINARY = {
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/", "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "lshr": ">>", "udiv": "/", "urem": "%",
}  # fmt: skip
_SIGNED_BINARY = {"sdiv": "/", "srem": "%", "ashr": ">>"}
_ORDERED = {"eq": "==", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "ne": "!="}
_RENAMED = {"minnum": "fmin", "maxnum": "fmax", "minimumnum": "fmin", "maximumnum": "fmax"}


class _Function:
    """One function: `names` gives short, unique names to the functions of the module."""

    def __init__(self, function: llvm.ValueRef, names: dict[str, str], aggregates: set[str]) -> None:
        self.function = function
        self.names = names
        self.aggregates = aggregates
        self.values: dict[str, str] = {}
        self.declarations: list[str] = []
        self.phis: dict[str, list[tuple[str, str, dict[str, str]]]] = {}

    def type(self, kind: str) -> str:
        """The C type of a value, ready for a name to follow."""
        if is_aggregate(kind):
            self.aggregates.add(kind)
        return c_type(kind)

    def value(self, text: str, kind: str) -> str:
        """The C expression of an operand."""
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
        kind, value = typed(text)
        return self.value(value, kind)

    def address(self, text: str) -> str:
        """The C expression of `getelementptr`'s arguments."""
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

    def label(self, name: str) -> str:
        return "block" + self.value("%" + name, "label")[1:]

    def text(self) -> str:
        blocks = [
            (block.name, [line for i in block.instructions for line in scalars(plain(str(i)))])
            for block in self.function.blocks
        ]
        for argument in self.function.arguments:
            self.value("%" + argument.name, "")
        for block, instructions in blocks:
            self.phis[block] = [self.phi(text) for text in instructions if " = phi " in text]
        body = []
        for number, (block, instructions) in enumerate(blocks):
            if number:
                body.append(f"{self.label(block)}:;")
            for instruction in instructions:
                if " = phi " not in instruction:
                    body.extend(f"    {line}" for line in self.statement(instruction, block))
        declared = [f"    {line}" for line in self.declarations]
        return "\n".join([f"{self.head()}\n{{", *declared, *body, "}"])

    def head(self) -> str:
        kind = str(self.function.global_value_type).partition("(")[0].strip()
        result = {"i32": "int32_t"}.get(kind, TYPES[kind])
        arguments = [f"{self.type(str(a.type))}{self.value('%' + a.name, '')}" for a in self.function.arguments]
        return f"static {result} {self.names[self.function.name]}({', '.join(arguments) or 'void'})"

    def phi(self, text: str) -> tuple[str, str, dict[str, str]]:
        """Name, type and value by the block it comes from."""
        left, _, right = text.partition(" = phi ")
        kind, incoming = typed(right)
        edges = [split(part[1:-1]) for part in split(incoming)]
        name = self.value(left, kind)
        self.declare(name, kind)
        return name, kind, {block.lstrip("%").strip('"'): value for value, block in edges}

    def declare(self, name: str, kind: str) -> None:
        self.declarations.append(f"{self.type(kind)}{name};")

    def jump(self, source: str, target: str) -> str:
        """Give the values of this edge to the target's phis, all at once, and go there."""
        moves = [(name, kind, self.value(values[source], kind)) for name, kind, values in self.phis[target]]
        moves = [move for move in moves if move[0] != move[2]]
        if len(moves) == 1:
            ((name, _, value),) = moves
            return f"{{ {name} = {value}; goto {self.label(target)}; }}"
        first = [f"{self.type(kind)}n{i} = {v};" for i, (_, kind, v) in enumerate(moves)]
        second = [f"{name} = n{i};" for i, (name, _, _) in enumerate(moves)]
        return f"{{ {' '.join([*first, *second])} goto {self.label(target)}; }}"

    def statement(self, text: str, block: str) -> Iterator[str]:
        left, equals, right = text.partition(" = ") if text.startswith("%") else ("", "", text)
        opcode, _, rest = right.partition(" ")
        if not equals:
            yield from self.effect(opcode, rest, block)
            return
        if opcode == "alloca":
            size = layout(split(rest)[0])[0]
            name = self.value(left, "ptr")
            self.declarations += [f"_Alignas(16) char {name}_room[{max(size, 1)}];", f"char *{name} = {name}_room;"]
            return
        if opcode == "call" and ".with.overflow." in rest:
            # two results: the number, and whether it is too great
            match = re.search(r"@llvm\.u(mul|add)\.with\.overflow\.i64\((.*)\)", rest)
            if match is None:
                raise TranslationError(text)
            a, b = (self.operand(part) for part in split(match[2]))
            name = self.value(left, "i64")
            self.declare(name, "{ i64, i1 }")
            if match[1] == "add":
                yield f"{name}.f0 = {a} + {b}; {name}.f1 = {name}.f0 < {a};"
            else:
                yield f"{name}.f0 = {a} * {b}; {name}.f1 = {a} && {name}.f0 / {a} != {b};"
            return
        if opcode == "insertvalue":
            whole, part, *path = split(rest)
            kind, value = typed(whole)
            name = self.value(left, kind)
            self.declare(name, kind)
            yield f"{name} = {self.value(value, kind)}; {name}.f{'.f'.join(path)} = {self.operand(part)};"
            return
        if opcode == "load" and is_aggregate(rest):
            kind, place = split(rest)[:2]
            name = self.value(left, kind)
            self.declare(name, kind)
            yield f"memcpy(&{name}, {self.operand(place)}, sizeof {name});"
            return
        kind, expression = self.expression(opcode, rest)
        name = self.value(left, kind)
        self.declare(name, kind)
        yield f"{name} = {expression};"

    def effect(self, opcode: str, rest: str, block: str) -> Iterator[str]:
        if opcode == "store":
            (kind, value), (_, place) = (typed(part) for part in split(rest)[:2])
            if is_aggregate(kind):
                yield f"memcpy({self.value(place, 'ptr')}, &{self.value(value, kind)}, {layout(kind)[0]});"
                return
            yield f"put_{'i8' if kind == 'i1' else kind}({self.value(place, 'ptr')}, {self.value(value, kind)});"
        elif opcode == "ret":
            kind, value = typed(rest)
            yield "return;" if kind == "void" else f"return ({SIGNED[kind]}){self.value(value, kind)};"
        elif opcode == "br":
            parts = split(rest)
            targets = [typed(part)[1].lstrip("%").strip('"') for part in parts if part.startswith("label")]
            if len(targets) == 1:
                yield self.jump(block, targets[0])
            else:
                yield f"if ({self.operand(parts[0])}) {self.jump(block, targets[0])}"
                yield f"else {self.jump(block, targets[1])}"
        elif opcode == "switch":
            match = re.fullmatch(r"(\S+ \S+), label (\S+) \[(.*)\]", rest)
            assert match is not None, rest
            yield f"switch ({self.operand(match[1])}) {{"
            for kind, value, target in re.findall(r"(i\d+) (-?\d+), label %(\S+)", match[3]):
                yield f"case {self.value(value, kind)}: {self.jump(block, target)}"
            yield f"default: {self.jump(block, match[2].lstrip('%'))} }}"
        elif opcode == "unreachable":
            yield "for (;;) {}"
        elif opcode == "call":
            expression = self.call(rest)[1]
            if expression:
                yield f"{expression};"
        else:
            raise TranslationError(f"{opcode} {rest}")

    def expression(self, opcode: str, rest: str) -> tuple[str, str]:
        """Type and C expression of an instruction with a value."""
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
        function = re.sub(r"^llvm\.(\w+)\.f64$", r"\1", name)
        function = _RENAMED.get(function, function)
        if function in MATHS:
            return kind, f"{function}({', '.join(arguments)})"
        if name in self.names:
            value = f"{self.names[name]}({', '.join(arguments)})"
            return kind, f"({TYPES[kind]}){value}" if kind == "i32" else value
        raise TranslationError(f"call of {name}")


def _number(text: str) -> float:
    """A constant of LLVM: decimal, or the bits."""
    if text.startswith("0x"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])
    return float(text)


def _double(text: str) -> str:
    value = _number(text)
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "HUGE_VAL" if value > 0 else "(-HUGE_VAL)"
    return f"({value.hex()})" if copysign(1.0, value) < 0.0 else value.hex()


def _constant(kind: str, text: str) -> bytes:
    """The bytes of a constant."""
    if text == "zeroinitializer":
        return bytes(layout(kind)[0])
    if text.startswith("c"):
        return re.sub(rb"\\([0-9A-F]{2})", lambda m: bytes.fromhex(m[1].decode()), text[2:-1].encode("latin-1"))
    if text.startswith("["):
        return b"".join(_constant(*typed(part)) for part in split(text[1:-1]))
    if kind == "double":
        return struct.pack("<d", _number(text))
    if kind in SIGNED:
        return (int({"true": "1", "false": "0"}.get(text, text)) % 2 ** (8 * layout(kind)[0])).to_bytes(
            layout(kind)[0], "little"
        )
    raise TranslationError(f"constant {kind} {text[:60]}")


def translate(module: llvm.ModuleRef, exported: tuple[str, ...]) -> str:
    """C of all functions in `module`; those of `exported` keep their names. Raises TranslationError."""
    functions = [function for function in module.functions if not function.is_declaration]
    names = {f.name: f.name if f.name in exported else f"part_{i}" for i, f in enumerate(functions)}
    tables = []
    for number, variable in enumerate(module.global_variables):
        if variable.is_declaration or variable.name.startswith("llvm."):
            continue
        if ".const.pickle" in variable.name:
            # what a Python exception would carry; the status alone says that there was one
            names[variable.name] = "(char *)0"
            continue
        names[variable.name] = f"(char *)table_{number}"
        match = re.search(r"\b(?:constant|global) (.*)", plain(str(variable)))
        assert match is not None
        data = _constant(*typed(split(match[1])[0]))
        numbers = ", ".join(str(byte) for byte in data)
        tables.append(
            f"_Alignas(16) static const unsigned char table_{number}[{max(len(data), 1)}] = {{{numbers or 0}}};"
        )
    aggregates: set[str] = set()
    made: list[tuple[str, str]] = []
    for function in functions:
        try:
            text = _Function(function, names, aggregates).text()
        except KeyError as error:  # a type or name without a counterpart
            raise TranslationError(f"{function.name}: {error}") from error
        head, _, body = text.partition("\n")
        made.append((head.removeprefix("static ") if function.name in exported else head, body))
    heads = [f"{head};" for head, _ in made]
    bodies = [f"{head}\n{body}\n" for head, body in made]
    return "\n".join([PRELUDE, *definitions(aggregates), *tables, "", *heads, "", *bodies])
