"""From a graph to source: kernels with scalars in local variables, one assignment per row, that read and write records.

A program may have stages, functions that are called one after another. Values that a later stage needs from an earlier
one are kept in an array instead of computed again. A row that is used once is inlined where it is used (symbolic 3.9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dockfmu.components.codegen.graph import Graph, Scalar

WIDTH = 80
"""Longest text of an expression before it is assigned to a variable."""


@dataclass
class Stage:
    """One function: `outputs` maps targets of assignment, like `c.gain[0, 1]`, to values; `added` those of addition.

    `after` names the stages that have run before it; by default all earlier stages.
    """

    name: str
    arguments: Sequence[str]
    description: str
    after: Sequence[str] | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)

    def set(self, name: str, values: Any) -> None:
        """Emit the assignment of a scalar to `name`, or of each element of an array to `name[i, j]`."""
        self.outputs.update(_elements(name, values))

    def add(self, name: str, values: Any) -> None:
        """Emit the addition of values to `name`, element by element; zeros are left out."""
        entries = _elements(name, values)
        self.added.update({n: v for n, v in entries.items() if isinstance(v, Scalar) or v != 0.0})


def _elements(name: str, values: Any) -> dict[str, Any]:
    a = np.asarray(values, object)
    if not a.shape:
        return {name: a.item()}
    return {f"{name}[{', '.join(map(str, place))}]": value for place, value in np.ndenumerate(a)}


@dataclass
class Program:
    """Stages over one graph. `keep` is the array, like `c.kept`, that carries rows from a stage to later ones."""

    graph: Graph
    stages: Sequence[Stage]
    keep: str = ""

    @cached_property
    def made_in(self) -> list[set[int]]:
        """The rows computed in each stage: those that it needs and that no stage before it has computed."""
        made: list[set[int]] = []
        for k, stage in enumerate(self.stages):
            known = set().union(*(made[i] for i in self._before(k)))
            needed = self.graph.needed([*stage.outputs.values(), *stage.added.values()])
            made.append({i for i in needed - known if self.graph.rows[i].operation != "input"})
        return made

    def _before(self, k: int) -> list[int]:
        """Return the stages that have run before stage k."""
        after = self.stages[k].after
        return [i for i in range(k) if after is None or self.stages[i].name in after]

    def uses_in(self, k: int) -> Counter[int]:
        """Return how often stage k uses each available row: its own rows, inputs, and kept rows."""
        stage = self.stages[k]
        uses = Counter(v.number for v in [*stage.outputs.values(), *stage.added.values()] if isinstance(v, Scalar))
        for number in self.made_in[k]:
            uses.update(self.graph.rows[number].operands)
        return uses

    @cached_property
    def kept(self) -> list[int]:
        """The rows that a later stage needs from an earlier one."""
        rows: set[int] = set()
        for k in range(len(self.stages)):
            rows |= {n for n in self.uses_in(k) if n not in self.made_in[k] and self.graph.rows[n].operation != "input"}
        return sorted(rows)

    def operations(self, k: int) -> Counter[str]:
        """Return the operations of stage k by name.

        The names are `*`, `+` (with differences and accumulations), `reciprocal`, `sqrt` ...
        """
        tally = Counter(self.graph.rows[number].operation for number in self.made_in[k])
        tally["+"] += tally.pop("-", 0) + len(self.stages[k].added)
        return tally

    def source(self) -> str:
        """Return the functions, without the head of a module."""
        return "\n\n".join(self._function(k) for k in range(len(self.stages)))

    def _function(self, k: int) -> str:
        stage = self.stages[k]
        lines = ["@kernel", f"def {stage.name}({', '.join(stage.arguments)}):"]
        lines.append(f'    """{stage.description}\n\n    {describe(self.operations(k))}.\n    """')
        lines += [f"    {line}" for line in _Writer(self, k).lines()]
        return "\n".join(lines) + "\n"


def describe(operations: Counter[str]) -> str:
    """Return the operations in words: `12 multiplications, 3 additions, ...`."""
    names = {"*": "multiplications", "+": "additions", "reciprocal": "divisions", "sqrt": "square roots"}
    parts = [f"{operations[key]} {name}" for key, name in names.items() if operations[key] or key in "*+"]
    trigonometric = operations["cos"] + operations["sin"]
    return ", ".join([*parts, f"{trigonometric} sines and cosines"] if trigonometric else parts)


class _Writer:
    """Text of one stage."""

    def __init__(self, program: Program, k: int) -> None:
        self.program = program
        self.rows = program.graph.rows
        self.stage = program.stages[k]
        self.made = program.made_in[k]
        self.uses = program.uses_in(k)
        for number in self.uses:
            root = self.rows[number].name.split("[")[0].split(".")[0]
            if root and root not in self.stage.arguments:
                raise ValueError(f"{self.stage.name} reads {self.rows[number].name}: {root} is not an argument")
        self.kept = {number: place for place, number in enumerate(program.kept)}
        # a value that outlives the function, or is used more than once, needs a name
        self.named = {n for n in self.uses if self.uses[n] > 1 or n not in self.made or n in self.kept}
        self.text: dict[int, str] = {}
        self.loose: dict[int, str] = {}

    def lines(self) -> list[str]:
        out: list[str] = []
        for number in sorted(self.uses):
            if number not in self.made:
                row = self.rows[number]
                source = row.name if row.operation == "input" else f"{self.program.keep}[{self.kept[number]}]"
                self.text[number] = self._local(number)
                if self.text[number] != source:
                    out.append(f"{self.text[number]} = {source}")
        for number in sorted(self.made):
            expression = self._expression(number)
            if number in self.named or self.rows[number].operation == "reciprocal" or len(expression) > WIDTH:
                self.text[number] = self._local(number)
                out.append(f"{self.text[number]} = {expression}")
            else:
                self.loose[number] = expression
        for operator, targets in (("=", self.stage.outputs), ("+=", self.stage.added)):
            out += [f"{target} {operator} {self._reference(value)}" for target, value in targets.items()]
        out += [f"{self.program.keep}[{self.kept[n]}] = {self.text[n]}" for n in sorted(self.made) if n in self.kept]
        return out

    def _local(self, number: int) -> str:
        row = self.rows[number]
        if row.operation == "input" and number not in self.program.graph.labels:
            return "_".join("".join(c if c.isalnum() else " " for c in row.name).split())
        return self.program.graph.labels.get(number, f"v{number}")

    def _reference(self, value: Any) -> str:
        if not isinstance(value, Scalar):
            return repr(float(value))
        text = self.text.get(value.number, self.loose.get(value.number, ""))
        if value.sign > 0:
            return text
        return f"-{text}" if value.number in self.text else f"-({text})"

    def _operand(self, number: int, tight: bool) -> str:
        """Return the text of a row inside another; `tight` puts a sum into parentheses."""
        if number in self.text:
            return self.text[number]
        return f"({self.loose[number]})" if tight else self.loose[number]

    def _expression(self, number: int) -> str:
        """Return the text of a row; evaluation follows the order of the rows, so that results are bitwise equal."""
        row = self.rows[number]
        operation = row.operation
        if operation in ("sqrt", "cos", "sin"):
            return f"{operation}({self._operand(row.operands[0], False)})"
        if operation == "reciprocal":
            return f"1.0 / {self._operand(row.operands[0], True)}"
        if len(row.operands) == 1:
            only = self._operand(row.operands[0], operation == "*" and self._is_sum(row.operands[0]))
            if operation == "*":
                return f"{only} * {row.constant!r}"
            return f"{only} {'+' if row.constant > 0.0 else '-'} {abs(row.constant)!r}"
        a, b = row.operands
        if operation != "-" and b in self.loose and a not in self.loose:
            a, b = b, a
        left = self._operand(a, operation == "*" and self._is_sum(a))
        right = self._operand(b, self._is_sum(b) or operation == "*")
        return f"{left} {operation} {right}"

    def _is_sum(self, number: int) -> bool:
        return self.rows[number].operation in ("+", "-")


def module(program: Program, title: str, sources: str) -> str:
    """Return the source of a module with the program's kernels.

    `title` says what they model, `sources` names equations and documents.
    """
    total = sum((program.operations(k) for k in range(len(program.stages))), Counter[str]())
    body = program.source()
    head = [
        f'"""{title}',
        "",
        f"Made by dockfmu.components.codegen, not to be edited. {sources}",
        f"All together {describe(total)}; {len(program.kept)} values kept between the kernels.",
        '"""',
        "",
    ]
    if any(len(line) > 120 for line in body.splitlines()):
        head += ["# ruff: noqa: E501", ""]
    functions = sorted(name for name in ("cos", "sin", "sqrt") if total[name])
    if functions:
        head += [f"from math import {', '.join(functions)}", ""]
    head += ["from dockfmu.components.core.kernel import kernel", "", f"KEPT = {len(program.kept)}", "", "", ""]
    return "\n".join(head) + body
