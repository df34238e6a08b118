"""Vector instructions of LLVM assembly as scalar ones: value `%x` of two numbers becomes `%x.lane0` and `%x.lane1`."""

from __future__ import annotations

import re
from collections.abc import Callable

Split = Callable[[str], list[str]]
Typed = Callable[[str], tuple[str, str]]

_VECTOR = re.compile(r"<(\d+) x (\w+)>")
_SIZES = {"double": 8, "i64": 8, "ptr": 8, "i32": 4, "i8": 1}


class _Lanes:
    def __init__(self, split: Split, typed: Typed) -> None:
        self.split = split
        self.typed = typed

    def scalar(self, text: str, lane: int) -> str:
        """The operand `text` (type and value) in one lane; a scalar is the same in all."""
        kind, value = self.typed(text)
        match = _VECTOR.fullmatch(kind)
        return f"{match[2]} {self.value(value, lane)}" if match else text

    def value(self, text: str, lane: int) -> str:
        if text.startswith("%"):
            return f"{text}.lane{lane}"
        if text.startswith("<"):
            return self.typed(self.split(text[1:-1])[lane])[1]
        if match := re.fullmatch(r"splat \((.*)\)", text):
            return self.typed(match[1])[1]
        return text

    def kept(self, left: str, lane: int, text: str) -> str:
        """The lane of `left` takes a value as it is."""
        return f"{left}.lane{lane} = freeze {text}"


def scalars(text: str, split: Split, typed: Typed) -> list[str]:
    """The instructions that do what `text` does, without vectors; itself where there are none.

    `split` parts a list at its commas, `typed` an operand into type and value. What has no scalar form stays as it is.
    """
    match = _VECTOR.search(text)
    if match is None:
        return [text]
    count, kind = int(match[1]), match[2]
    lanes = _Lanes(split, typed)
    left, _, right = text.partition(" = ") if text.startswith("%") else ("", "", text)
    opcode, _, rest = right.partition(" ")
    if opcode == "extractelement":
        vector, place = split(rest)
        return [f"{left} = freeze {lanes.scalar(vector, int(typed(place)[1]))}"]
    if opcode == "insertelement":
        vector, element, place = split(rest)
        chosen = int(typed(place)[1])
        return [lanes.kept(left, i, element if i == chosen else lanes.scalar(vector, i)) for i in range(count)]
    if opcode == "shufflevector":
        first, second, mask = split(rest)
        wanted, given = typed(mask)
        found = []
        for i in range(int(_VECTOR.fullmatch(wanted)[1])):  # type: ignore[index]
            source = lanes.value(given, i)
            number = int(source) if source.isdigit() else 0  # poison: any will do
            found.append(lanes.kept(left, i, lanes.scalar(first if number < count else second, number % count)))
        return found
    if opcode == "load":
        place = split(rest)[1]
        size = _SIZES[kind]
        return [f"{left}.lane{i} = load {kind}, ptr getelementptr (i8, {place}, i64 {i * size})" for i in range(count)]
    if opcode == "store":
        value, place = split(rest)[:2]
        size = _SIZES[kind]
        return [
            f"store {lanes.scalar(value, i)}, ptr getelementptr (i8, {place}, i64 {i * size})" for i in range(count)
        ]
    if opcode == "phi":
        edges = [split(part[1:-1]) for part in split(rest[match.end() - match.start() :].strip())]
        return [
            f"{left}.lane{i} = phi {kind} " + ", ".join(f"[ {lanes.value(v, i)}, {block} ]" for v, block in edges)
            for i in range(count)
        ]
    if opcode == "call":
        called = re.fullmatch(r"<.*?> @llvm\.(\w+)\.v\d+f64\((.*)\).*", rest)
        if called is None:
            return [text]
        return [
            f"{left}.lane{i} = call {kind} @llvm.{called[1]}.f64("
            + ", ".join(lanes.scalar(part, i) for part in split(called[2])) + ")"
            for i in range(count)
        ]  # fmt: skip
    if opcode == "select":
        return [f"{left}.lane{i} = select " + ", ".join(lanes.scalar(p, i) for p in split(rest)) for i in range(count)]
    if " to " in rest:
        source, _, target = rest.partition(" to ")
        plain = _VECTOR.sub(r"\2", target)
        return [f"{left}.lane{i} = {opcode} {lanes.scalar(source, i)} to {plain}" for i in range(count)]
    # arithmetic and comparison: a type, then two values of it
    words, operands = rest[: rest.index(match[0])], rest[rest.index(match[0]) :]
    first, *others = split(operands)
    return [
        f"{left}.lane{i} = {opcode} {words}"
        + ", ".join([lanes.scalar(first, i), *(lanes.value(other, i) for other in others)])
        for i in range(count)
    ]
