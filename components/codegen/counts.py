"""Operation counts of every algorithm on every structure: generated code, and the same matrix products in full.

`python -m dockfmu.components.codegen.counts` prints the tables of docs/develop/codegen.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dockfmu.components.codegen import chain, kane, tree
from dockfmu.components.codegen.algebra import UNIT, ZERO, array, solve_symmetric
from dockfmu.components.codegen.catalogue import CHAINS, TREES, KinematicStructure
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.legs import Leg
from dockfmu.components.codegen.mechanism import Body, Joint, Motion

ARTICULATED, KANE, COMPOSITE = ALGORITHMS = ("ABA", "Kane, LDL^T", "CRBA, LDL^T")

Count = tuple[int, int, int]
"""Multiplications, additions, divisions."""


class CountingScalar:
    """A scalar that only counts: every operation is counted, even on zeros and ones."""

    def __init__(self, tally: Counter[str]) -> None:
        self.tally = tally

    def _count(self, operation: str, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally[operation] += 1
        return self

    def __add__(self, other: Any) -> Any:
        return self._count("+", other)

    def __mul__(self, other: Any) -> Any:
        return self._count("*", other)

    def __truediv__(self, other: Any) -> Any:
        return self._count("reciprocal", other)

    def __neg__(self) -> CountingScalar:
        return self

    __radd__ = __sub__ = __rsub__ = __add__
    __rmul__ = __mul__
    __rtruediv__ = __truediv__


@dataclass
class Symbols:
    """Source of the scalars of a structure: `scalar(name)`, with structural zeros and ones unless `full`."""

    scalar: Callable[[str], Any]
    full: bool

    def vector(self, name: str, n: int = 3) -> np.ndarray:
        """Return a vector of symbols."""
        return array([self.scalar(f"{name}[{i}]") for i in range(n)])

    def matrix(self, name: str) -> np.ndarray:
        """Return a matrix (3, 3) of symbols."""
        return array([[self.scalar(f"{name}[{i}, {k}]") for k in range(3)] for i in range(3)])

    def symmetric(self, name: str) -> np.ndarray:
        """Return a symmetric matrix (3, 3) of symbols."""
        a = self.matrix(name)
        for i in range(3):
            for k in range(i):
                a[i, k] = a[k, i]
        return a

    def constant(self, value: Any) -> np.ndarray:
        """Return known zeros and ones, as numbers unless `full`."""
        a = array(value)
        if self.full:
            for place in np.ndindex(a.shape):
                a[place] = self.scalar("constant")
        return a

    def joints(self, structure: KinematicStructure) -> list[Joint]:
        """Return the joints of a structure, with bodies of general mass properties and offsets along x."""
        joints = []
        for j, axis in enumerate(structure.axes):
            offset = ZERO if j not in structure.offset else [self.scalar(f"l[{j}]"), 0.0, 0.0]
            body = Body(axis, j in structure.slides, self.constant(offset), self.constant(UNIT))
            body.parent = None if structure.parents is None else structure.parents[j]
            if j in structure.heavy or self.full:
                body.mass, body.moment = self.scalar(f"m[{j}]"), self.vector(f"c[{j}]")
                body.inertia = self.symmetric(f"I[{j}]")
            cosine, sine, stroke = (self.scalar(f"{name}[{j}]") for name in ("cos", "sin", "q"))
            joints.append(Joint(body, cosine, sine, stroke, self.scalar(f"qd[{j}]")))
        return joints

    def base(self) -> Motion:
        """Return the motion of the base as symbols."""
        return Motion(self.vector("omega0"), self.vector("epsilon0"), self.vector("acceleration0"))


Stages = dict[str, list[Any]]


def chain_stages(structure: KinematicStructure, s: Symbols) -> Stages:
    """Return the stages of a chain on a node with six rates.

    The stages are constraints and rates; inertia, forces and their reduction; wrench on the base.
    """
    joints = s.joints(structure)
    if structure.planar:
        return _planar(joints, s)
    axes = (s.constant(UNIT[1]), s.vector("e2")) if structure.universal else (None, None)
    end = ZERO if structure.slides else [s.scalar("rod"), 0.0, 0.0]
    leg = Leg(joints, s.matrix("gamma"), s.vector("l0"), s.constant(end), s.vector("lN"), *axes)
    leg.follow(s.matrix("alpha"), s.vector("v"), s.vector("omega"))
    first = [*leg.rates, *leg.quadratic]
    share, push = leg.reduce(s.base(), s.vector("g", len(joints)))
    second = [*share.ravel(), *push]
    force, moment = leg.react(s.vector("ud", 6))
    return {"constraints": first, "reduction": second, "base wrench": [*force, *moment]}


def _planar(joints: list[Joint], s: Symbols) -> Stages:
    hinge = chain.crank(s.vector("lever"), s.scalar("rate"))
    constraint = chain.constrain(joints, chain.Closure(s.constant(ZERO), planar=True), hinge)
    rates = constraint.gain @ array([s.scalar("rate")])
    for joint, rate in zip(joints, rates, strict=True):
        joint.rate = rate
    h = chain.quadratic(joints, chain.Closure(s.constant(ZERO), planar=True), hinge, constraint)
    A = chain.inertia(joints)
    b = chain.forces(joints, chain.inertia_forces(joints, s.base(), h), s.vector("g", 2))
    share, push = chain.reduced(constraint.gain, A, b)
    return {"constraints": [*rates, *h], "reduction": [*share.ravel(), *push]}


def tree_stages(algorithm: str, structure: KinematicStructure, s: Symbols) -> Stages:
    """Return one stage, the joint accelerations by one of `ALGORITHMS`."""
    joints = s.joints(structure)
    n = len(joints)
    g = list(s.vector("g", n))
    if algorithm == ARTICULATED:
        return {algorithm: tree.accelerate(joints, s.base(), g).qdd}
    if algorithm == KANE:
        return {algorithm: [*kane.accelerate(joints, s.base(), g)[0]]}
    A = chain.inertia(joints)
    inertial = chain.inertia_forces(joints, s.base(), s.constant(np.zeros(n)))
    return {algorithm: [*solve_symmetric(A, chain.forces(joints, inertial, g))]}


def generated(build: Callable[[Symbols], Stages]) -> dict[str, Count]:
    """Return the operations that each stage needs beyond those of the stages before it."""
    graph = Graph()
    done: set[int] = set()
    counts = {}
    for name, outputs in build(Symbols(graph.input, full=False)).items():
        needed = graph.needed(outputs)
        counts[name] = _count(Counter(graph.rows[number].operation for number in needed - done))
        done |= needed
    return counts


def dense(build: Callable[[Symbols], Stages]) -> Count:
    """Return the operations of all stages with every matrix product in full."""
    tally: Counter[str] = Counter()
    build(Symbols(lambda name: CountingScalar(tally), full=True))
    return _count(tally)


def _count(tally: Counter[str]) -> Count:
    return tally["*"], tally["+"] + tally["-"], tally["reciprocal"]


def _sum(counts: Iterable[Count]) -> Count:
    m, a, d = zip(*counts, strict=True)
    return sum(m), sum(a), sum(d)


def _cells(counts: Iterable[Count]) -> str:
    return " | ".join(f"{m} / {a} / {d}" for m, a, d in counts)


def chain_table() -> list[str]:
    """Return the rows of the table of chains."""
    lines = [
        "| chain | constraints | reduction | base wrench | all | in full | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, structure in CHAINS.items():
        build = partial(chain_stages, structure)
        found, full = generated(build), dense(build)
        total: Count = _sum(found.values())
        cells = list(map(_cells, ([x] for x in found.values()))) + [""] * (3 - len(found))
        lines.append(f"| {name} | {' | '.join(cells)} | {_cells([total, full])} | {full[0] / total[0]:.1f} |")
    return lines


def tree_runs() -> list[tuple[str, str]]:
    """Return (tree, algorithm) of each row of the table; CRBA here is only for chains without branches."""
    chains = {name for name, tree in TREES.items() if all(p in (None, j - 1) for j, p in enumerate(tree.parents or ()))}
    return [(name, a) for name in TREES for a in ALGORITHMS if a != COMPOSITE or name in chains]


def tree_table() -> list[str]:
    """Return the rows of the table of trees."""
    lines = ["| tree | algorithm | generated | in full | ratio |", "|---|---|---|---|---|"]
    for name, algorithm in tree_runs():
        build = partial(tree_stages, algorithm, TREES[name])
        (found,), full = generated(build).values(), dense(build)
        lines.append(f"| {name} | {algorithm} | {_cells([found, full])} | {full[0] / found[0]:.1f} |")
    return lines


if __name__ == "__main__":
    print("\n".join([*chain_table(), "", *tree_table()]))
