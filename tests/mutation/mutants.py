"""Mutants of kernels: each one changes the source of one function in one place, as a slip of the hand would.

Five kinds: `arithmetic` (+ for -, * for /), `comparison` (the opposite one, or `and` for `or`), `constant` (half as
much again, one more, 1 for 0), `sign` (of a negated term, or of an assigned sum or product) and `dropped` (a statement
that stores or calls). Comparisons do not change between < and <=, which for continuous variables is no change at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
DECORATORS = ("kernel", "compiled", "inlined", "pasted")


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` (offsets in the file's UTF-8) gives way to `text`.

    `statement` is the first line of the innermost statement that it changes.
    """

    file: Path
    line: int
    statement: int
    function: str
    kind: str
    start: int
    end: int
    old: str
    text: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]

    def __str__(self) -> str:
        old, new = (" ".join(text.split())[:100] for text in (self.old, self.text))
        return f"{self.file}:{self.line}@{self.start} {self.function} [{self.kind}] {old}  ->  {new}"


def mutants(file: Path, source: str) -> list[Mutant]:
    """Return all mutants of the kernels of a file, in the order of the text."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[Mutant] = []
    for function in kernels(ast.parse(source)):
        for statement, node in _nodes(function):
            for kind, target, text in _changes(node):
                start = starts[target.lineno - 1] + target.col_offset
                end = starts[(target.end_lineno or target.lineno) - 1] + (target.end_col_offset or 0)
                old = source.encode()[start:end].decode()
                found.append(Mutant(file, target.lineno, statement.lineno, function.name, kind, start, end, old, text))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the kernels of a module, those inside other functions included."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node)]


def _nodes(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Yield all nodes of the body of a function, each with the innermost statement around it."""
    todo: list[tuple[ast.stmt, ast.AST]] = [(statement, statement) for statement in function.body]
    while todo:
        around, node = todo.pop()
        yield around, node
        todo += [(inner if isinstance(inner, ast.stmt) else around, inner) for inner in ast.iter_child_nodes(node)]


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Tell whether a decorator is one of those of kernels, called with options or not."""
    for decorator in function.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(name, ast.Name) and name.id in DECORATORS:
            return True
    return False


def _changes(node: ast.AST) -> list[tuple[str, ast.expr | ast.stmt, str]]:
    """Return what can be changed at a node: (kind, the node whose text is replaced, the new text)."""
    match node:
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            return [("arithmetic", node, f"({_changed(node, ast.BinOp(left, ARITHMETIC[type(operator)](), right))})")]
        case ast.AugAssign(target, operator, value) if type(operator) in ARITHMETIC:
            changed = _changed(node, ast.AugAssign(target, ARITHMETIC[type(operator)](), value))
            return [("arithmetic", node, changed), ("dropped", node, "pass")]
        case ast.Compare(left, [operator], right) if type(operator) in OPPOSITE:
            return [("comparison", node, f"({_changed(node, ast.Compare(left, [OPPOSITE[type(operator)]()], right))})")]
        case ast.BoolOp(operator, values):
            return [("comparison", node, f"({_changed(node, ast.BoolOp(OPPOSITE[type(operator)](), values))})")]
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            return [("sign", node, f"({ast.unparse(operand)})")]
        case ast.Constant(bool()):
            return []
        case ast.Constant(float(value)):
            return [("constant", node, repr(1.5 * value if value else 1.0))]
        case ast.Constant(int(value)):
            return [("constant", node, repr(value + 1))]
        case ast.Assign([target], value):
            found: list[tuple[str, ast.expr | ast.stmt, str]] = []
            if isinstance(value, ast.BinOp):
                found.append(("sign", value, f"-({ast.unparse(value)})"))
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                found.append(("dropped", node, "pass"))
            return found
        case ast.Expr(ast.Call()):
            return [("dropped", node, "pass")]
    return []


def _changed(place: ast.AST, new: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.copy_location(new, place)))
