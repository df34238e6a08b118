"""Write functions of LLVM assembly as C: a statement for each instruction, a label for each block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import llvmlite.binding as llvm

from dockfmu.fmus.native.sources.assembly import (
    SIGNED,
    TYPES,
    TranslationError,
    is_aggregate,
    layout,
    plain,
    split,
    typed,
)
from dockfmu.fmus.native.sources.expressions import Expressions
from dockfmu.fmus.native.sources.scalars import scalars


class FunctionWriter(Expressions):
    """Writer of one function of a module in C; `names` and `aggregates` as for `Expressions`."""

    def __init__(self, function: llvm.ValueRef, names: Mapping[str, str], aggregates: set[str]) -> None:
        super().__init__(names, aggregates)
        self.function = function
        self.declarations: list[str] = []
        self.phis: dict[str, list[tuple[str, str, dict[str, str]]]] = {}

    def text(self) -> str:
        """Return the definition of the function."""
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
        """Return the declaration of the function, without a semicolon."""
        kind = str(self.function.global_value_type).partition("(")[0].strip()
        result = {"i32": "int32_t"}.get(kind, TYPES[kind])
        arguments = [f"{self.type(str(a.type))}{self.value('%' + a.name, '')}" for a in self.function.arguments]
        return f"static {result} {self.names[self.function.name]}({', '.join(arguments) or 'void'})"

    def phi(self, text: str) -> tuple[str, str, dict[str, str]]:
        """Declare the variable of a phi; return its name, its type, and its value by the preceding block."""
        left, _, right = text.partition(" = phi ")
        kind, incoming = typed(right)
        edges = [split(part[1:-1]) for part in split(incoming)]
        name = self.value(left, kind)
        self.declare(name, kind)
        return name, kind, {block.lstrip("%").strip('"'): value for value, block in edges}

    def declare(self, name: str, kind: str) -> None:
        """Declare a variable of the function."""
        self.declarations.append(f"{self.type(kind)}{name};")

    def label(self, name: str) -> str:
        """Return the label of a block."""
        return "block" + self.value("%" + name, "label")[1:]

    def jump(self, source: str, target: str) -> str:
        """Return C that assigns the phis of the block `target` at once and goes there."""
        moves = [(name, kind, self.value(values[source], kind)) for name, kind, values in self.phis[target]]
        moves = [move for move in moves if move[0] != move[2]]
        if len(moves) == 1:
            ((name, _, value),) = moves
            return f"{{ {name} = {value}; goto {self.label(target)}; }}"
        first = [f"{self.type(kind)}n{i} = {v};" for i, (_, kind, v) in enumerate(moves)]
        second = [f"{name} = n{i};" for i, (name, _, _) in enumerate(moves)]
        return f"{{ {' '.join([*first, *second])} goto {self.label(target)}; }}"

    def statement(self, text: str, block: str) -> Iterator[str]:
        """Yield the lines of C of one instruction in `block`. Raises TranslationError for an unknown one."""
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
            # two results: the number, and whether it is out of range
            match = re.search(r"@llvm\.u(mul|add|sub)\.with\.overflow\.i64\((.*)\)", rest)
            if match is None:
                raise TranslationError(text)
            a, b = (self.operand(part) for part in split(match[2]))
            name = self.value(left, "i64")
            self.declare(name, "{ i64, i1 }")
            if match[1] == "add":
                yield f"{name}.f0 = {a} + {b}; {name}.f1 = {name}.f0 < {a};"
            elif match[1] == "sub":
                yield f"{name}.f0 = {a} - {b}; {name}.f1 = {a} < {b};"
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
        """Yield the lines of C of an instruction without a value."""
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
