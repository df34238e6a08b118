"""Split vector instructions of LLVM assembly into scalar ones: `%x` of two numbers is `%x.lane0` and `%x.lane1`."""

from __future__ import annotations

import re

from dockfmu.fmus.native.sources.assembly import layout, split, typed

_VECTOR = re.compile(r"<(\d+) x (\w+)>")


def _scalar(text: str, lane: int) -> str:
    """Return the operand `text` (type and value) in one lane; a scalar is the same in all lanes."""
    kind, value = typed(text)
    match = _VECTOR.fullmatch(kind)
    return f"{match[2]} {_value(value, lane)}" if match else text


def _value(text: str, lane: int) -> str:
    if text.startswith("%"):
        return f"{text}.lane{lane}"
    if text.startswith("<"):
        return typed(split(text[1:-1])[lane])[1]
    if match := re.fullmatch(r"splat \((.*)\)", text):
        return typed(match[1])[1]
    return text


def _kept(left: str, lane: int, text: str) -> str:
    """Return the instruction that copies a value to one lane of `left`."""
    return f"{left}.lane{lane} = freeze {text}"


def _packed(left: str, lanes: list[str], target: str) -> list[str]:
    """Return the instructions that make one integer of truth values, the first one its lowest bit."""
    lines = [f"{left}.bits0 = zext {lanes[0]} to {target}"]
    for i, lane in enumerate(lanes[1:], 1):
        lines += [
            f"{left}.one{i} = zext {lane} to {target}",
            f"{left}.bit{i} = shl {target} {left}.one{i}, {i}",
            f"{left}.bits{i} = or {target} {left}.bits{i - 1}, {left}.bit{i}",
        ]
    return [*lines, f"{left} = freeze {target} {left}.bits{len(lanes) - 1}"]


def scalars(text: str) -> list[str]:
    """Return scalar instructions equivalent to `text`.

    An instruction that has no vectors, or no scalar form, is returned as it is.
    """
    match = _VECTOR.search(text)
    if match is None:
        return [text]
    count, kind = int(match[1]), match[2]
    left, _, right = text.partition(" = ") if text.startswith("%") else ("", "", text)
    opcode, _, rest = right.partition(" ")
    if opcode == "extractelement":
        vector, place = split(rest)
        return [f"{left} = freeze {_scalar(vector, int(typed(place)[1]))}"]
    if opcode == "insertelement":
        vector, element, place = split(rest)
        chosen = int(typed(place)[1])
        return [_kept(left, i, element if i == chosen else _scalar(vector, i)) for i in range(count)]
    if opcode == "shufflevector":
        first, second, mask = split(rest)
        mask_type, lanes = typed(mask)
        copies = []
        for i in range(int(_VECTOR.fullmatch(mask_type)[1])):  # type: ignore[index]
            source = _value(lanes, i)
            number = int(source) if source.isdigit() else 0  # poison: any lane will do
            copies.append(_kept(left, i, _scalar(first if number < count else second, number % count)))
        return copies
    if opcode == "load":
        place = split(rest)[1]
        size = layout(kind)[0]
        return [f"{left}.lane{i} = load {kind}, ptr getelementptr (i8, {place}, i64 {i * size})" for i in range(count)]
    if opcode == "store":
        value, place = split(rest)[:2]
        size = layout(kind)[0]
        return [f"store {_scalar(value, i)}, ptr getelementptr (i8, {place}, i64 {i * size})" for i in range(count)]
    if opcode == "phi":
        edges = [split(part[1:-1]) for part in split(rest[match.end() - match.start() :].strip())]
        return [
            f"{left}.lane{i} = phi {kind} " + ", ".join(f"[ {_value(v, i)}, {block} ]" for v, block in edges)
            for i in range(count)
        ]
    if opcode == "call":
        called = re.fullmatch(r"<.*?> @llvm\.(\w+)\.v\d+f64\((.*)\).*", rest)
        if called is None:
            return [text]
        return [
            f"{left}.lane{i} = call {kind} @llvm.{called[1]}.f64("
            + ", ".join(_scalar(part, i) for part in split(called[2]))
            + ")"
            for i in range(count)
        ]
    if opcode == "select":
        return [f"{left}.lane{i} = select " + ", ".join(_scalar(p, i) for p in split(rest)) for i in range(count)]
    if " to " in rest:
        source, _, target = rest.partition(" to ")
        if opcode == "bitcast" and kind == "i1":
            return _packed(left, [_scalar(source, i) for i in range(count)], target)
        plain = _VECTOR.sub(r"\2", target)
        return [f"{left}.lane{i} = {opcode} {_scalar(source, i)} to {plain}" for i in range(count)]
    # arithmetic and comparison: a type, then two values of it
    words, operands = rest[: rest.index(match[0])], rest[rest.index(match[0]) :]
    first, *others = split(operands)
    return [
        f"{left}.lane{i} = {opcode} {words}" + ", ".join([_scalar(first, i), *(_value(other, i) for other in others)])
        for i in range(count)
    ]
