"""Scalar expressions as a graph in which equal expressions are one node: the engine of the generated kernels.

A row holds one operation on at most two operands. Its sign is part of the references to it, never of the row, so that
a - b and b - a, -a b and a b share one row (source, Appendix section 4; symbolic 3.6). Rows are created by the
arithmetic of `Scalar`, which folds known cases: numbers, factors 0 and 1, summands 0, x - x, (1/x) x. A row is looked
up before it is created, so nothing is computed twice. A division is a multiplication by a reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import Any

import numpy as np

UNITY = 1e-10
"""Distance within which a constant factor counts as +-1 (source, Appendix section 4)."""


@dataclass(frozen=True)
class Row:
    """`operation` on the rows `operands`; `+` and `*` with only one operand act on it and `constant`.

    The operations are `+`, `-`, `*`, `reciprocal`, `sqrt`, `cos`, `sin`, and `input`, which reads `name`.
    """

    operation: str
    operands: tuple[int, ...] = ()
    constant: float = 0.0
    name: str = ""


class Graph:
    """The rows, ordered so that each depends only on earlier ones."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.labels: dict[int, str] = {}
        self._known: dict[Row, int] = {}

    def row(self, row: Row) -> int:
        """Return the number of `row`, which is added if no equal row exists."""
        number = self._known.get(row)
        if number is None:
            number = self._known[row] = len(self.rows)
            self.rows.append(row)
        return number

    def input(self, name: str) -> Scalar:
        """Return the symbol for the value read from `name`."""
        return Scalar(self, 1, self.row(Row("input", name=name)))

    def array(self, name: str, shape: int | tuple[int, ...]) -> np.ndarray:
        """Return the array of the symbols `name[i]`, or `name[i, j]`."""
        dimensions = (shape,) if isinstance(shape, int) else shape
        symbols = np.empty(dimensions, object)
        for place in np.ndindex(*dimensions):
            symbols[place] = self.input(f"{name}[{', '.join(map(str, place))}]")
        return symbols

    def label(self, name: str, values: Any) -> None:
        """Name the rows of `values` after a matrix, `name_12`; a row keeps its first name (symbolic 3.7)."""
        for place, value in np.ndenumerate(np.asarray(values, object)):
            if isinstance(value, Scalar):
                full = name + ("_" + "".join(str(i + 1) for i in place) if place else "")
                full = full if value.sign > 0 else f"minus_{full}"
                if full in self.labels.values():
                    raise ValueError(f"two rows cannot both be named {full}")
                self.labels.setdefault(value.number, full)

    def needed(self, outputs: Iterable[Any]) -> set[int]:
        """Return the rows that the outputs need: all others are dead (symbolic 3.9)."""
        live = {value.number for value in outputs if isinstance(value, Scalar)}
        for number in range(max(live, default=-1), -1, -1):
            if number in live:
                live.update(self.rows[number].operands)
        return live

    def evaluate(self, outputs: Iterable[Any], values: Callable[[str], float]) -> list[float]:
        """Return the values of the outputs by interpretation; `values(name)` is the value of an input."""
        outputs = list(outputs)
        found: dict[int, float] = {}
        for number in sorted(self.needed(outputs)):
            row = self.rows[number]
            a, b = (*(found[x] for x in row.operands), row.constant, 0.0)[:2]
            found[number] = values(row.name) if row.operation == "input" else OPERATIONS[row.operation](a, b)
        return [x.sign * found[x.number] if isinstance(x, Scalar) else float(x) for x in outputs]


OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "reciprocal": lambda a, b: 1.0 / a,
    "sqrt": lambda a, b: sqrt(a),
    "cos": lambda a, b: cos(a),
    "sin": lambda a, b: sin(a),
}


class Scalar:
    """A reference to row `number`, or to its negative if `sign` is -1. Arithmetic gives a Scalar or a number."""

    __slots__ = ("graph", "number", "sign")

    def __init__(self, graph: Graph, sign: int, number: int) -> None:
        self.graph = graph
        self.sign = sign
        self.number = number

    def _make(self, sign: int, operation: str, *operands: int, constant: float = 0.0) -> Scalar:
        return Scalar(self.graph, sign, self.graph.row(Row(operation, operands, constant)))

    @property
    def _row(self) -> Row:
        return self.graph.rows[self.number]

    def __repr__(self) -> str:
        return f"{'-' if self.sign < 0 else ''}v{self.number}"

    def __neg__(self) -> Scalar:
        return Scalar(self.graph, -self.sign, self.number)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Scalar):
            c = float(other)
            return self if c == 0.0 else self._make(self.sign, "+", self.number, constant=self.sign * c)
        if self.number == other.number:
            return 0.0 if self.sign != other.sign else 2.0 * self
        first, second = (self, other) if self.number < other.number else (other, self)
        operation = "+" if first.sign == second.sign else "-"
        return self._make(first.sign, operation, first.number, second.number)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, Scalar):
            return self._scaled(float(other))
        sign = self.sign * other.sign
        for x, y in ((self, other), (other, self)):
            if x._row.operation == "reciprocal" and x._row.operands[0] == y.number:
                return float(sign)
        return self._make(sign, "*", *sorted((self.number, other.number)))

    __rmul__ = __mul__

    def _scaled(self, c: float) -> Any:
        """Return c times this; a constant factor that it already has is merged into c."""
        row = self._row
        base = self
        if row.operation == "*" and len(row.operands) == 1:
            c *= row.constant
            base = Scalar(self.graph, self.sign, row.operands[0])
        if c == 0.0:
            return 0.0
        if abs(abs(c) - 1.0) <= UNITY:
            return base if c > 0.0 else -base
        return self._make(base.sign if c > 0.0 else -base.sign, "*", base.number, constant=abs(c))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * (other.reciprocal() if isinstance(other, Scalar) else 1.0 / float(other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def reciprocal(self) -> Scalar:
        """Return 1 / this."""
        return self._make(self.sign, "reciprocal", self.number)

    def sqrt(self) -> Scalar:
        """Return the square root. Raises ValueError for a negative reference, whose sign cannot be factored out."""
        if self.sign < 0:
            raise ValueError("square root of a negative reference")
        return self._make(1, "sqrt", self.number)

    def cos(self) -> Scalar:
        """Return the cosine."""
        return self._make(1, "cos", self.number)

    def sin(self) -> Scalar:
        """Return the sine."""
        return self._make(self.sign, "sin", self.number)
