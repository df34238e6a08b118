"""The plan of `sparse_loops`: the joints of closed chains as unknowns, their order, and the pattern of the factors.

An island is what moves with one mass matrix: a rigid body, or an elastic one with all its nodes. A tie is a joint
between two islands, cut or of the tree; its bonds are its constraints. Two ties are coupled if they meet at an island.
Next is eliminated the tie that couples the fewest of those which it meets, and were not coupled yet: minimum fill
(W. F. Tinney, J. W. Walker, Proceedings of the IEEE 55, 1967).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations
from typing import NamedTuple

import numpy as np

from dockfmu.components.multibody.link_data import Links
from dockfmu.components.multibody.loop_order import ROWS, LoopOrder, loop_order
from dockfmu.components.multibody.model.parts import Model, RigidBody
from dockfmu.components.physics.tree import links

LEAST_INERTIA = 1e-9
"""Of a body, relative to its largest: with less, its mass matrix has no inverse that is worth having."""
OVERHEAD = 60.0
"""Multiplications that a bond, or a row that is open at a link, costs beside the elimination."""

SHARE = 0.35
"""The sparse solution pays if it has at most this share of the multiplications of the other: its blocks are small."""


class TieBond(NamedTuple):
    """One constraint of a tie: a translation or rotation along an axis of a link, or a row of a cut joint.

    `stage` is the link whose coordinate the bond holds if it is held, or loads by its armature; -1: always held.
    """

    row: int
    link: int
    axis: int
    slide: float
    turn: float
    stage: int


@dataclass(frozen=True)
class Tie:
    """A joint between the links `first` and `second`, the base or parts of islands; `pivot` has its point."""

    first: int
    second: int
    pivot: int
    bonds: tuple[TieBond, ...]


@dataclass
class Island:
    """A rigid or elastic body: the link of its mass, the number of its modes, and (tie, link, side) of its joints."""

    link: int
    modes: int
    ends: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Order of its mass matrix."""
        return 6 + self.modes


@dataclass(frozen=True)
class SparseOrder:
    """The plan of the elimination; without ties it is not to be used.

    Attributes
    ----------
    ties : in the order of elimination
    below : later ties that are coupled to each when it is eliminated, in that order
    islands : with their ends in the order of the ties
    """

    ties: tuple[Tie, ...] = ()
    below: tuple[tuple[int, ...], ...] = ()
    islands: tuple[Island, ...] = ()

    @property
    def panels(self) -> list[int]:
        """Index of the first element of each tie's columns of the factor; one more than there are ties."""
        places = [0]
        for tie, below in zip(self.ties, self.below, strict=True):
            width = len(tie.bonds)
            places.append(places[-1] + width * (width + sum(len(self.ties[k].bonds) for k in below)))
        return places

    @property
    def ends(self) -> int:
        """Number of the ends of all ties at islands."""
        return sum(len(island.ends) for island in self.islands)

    @property
    def masses(self) -> list[int]:
        """Index of the first element of each island's mass matrix; one more than there are islands."""
        return [0, *accumulate(island.size**2 for island in self.islands)]

    @property
    def shares(self) -> list[int]:
        """Index of the first element of each end's share, island by island; one more than there are ends."""
        sizes = (len(self.ties[tie].bonds) * island.size for island in self.islands for tie, _, _ in island.ends)
        return [0, *accumulate(sizes)]

    @property
    def cost(self) -> float:
        """Multiplications of a solution, about."""
        total = 0.0
        for tie, below in zip(self.ties, self.below, strict=True):
            width, later = len(tie.bonds), sum(len(self.ties[k].bonds) for k in below)
            total += width * (later + width) * (later + width) / 2.0 + OVERHEAD * width
        for island in self.islands:
            size, bonds = island.size, sum(len(self.ties[tie].bonds) for tie, _, _ in island.ends)
            total += size**3 / 6.0 + bonds * size * size / 2.0 + bonds * bonds * size / 2.0
        return total


def loop_plan(model: Model, made: Links) -> tuple[LoopOrder, SparseOrder]:
    """Return the rows of a model laid out as `made`, with the plan of one of both ways to solve them.

    The sparse one, where it pays, needs mass matrices with inverses: bodies with mass and inertia.
    """
    rows = loop_order(model, made)
    if not model.cuts or not all(map(_has_inertia, model.bodies)):
        return rows, SparseOrder()
    found = sparse_order(model, made, rows)
    elastic = any(body.elastic is not None for body in model.bodies)
    other = _dense_cost(model, made, rows) if elastic else tree_cost(rows)
    if found.cost < SHARE * other:
        return LoopOrder(rows.rows, (), (), (0,) * len(rows.first), ()), found
    return rows, SparseOrder()


def tree_cost(rows: LoopOrder) -> float:
    """Return the multiplications of the elimination along the tree (`elimination`), about."""
    total = 0.0
    opened = [int(count) for count in np.diff(rows.first)]
    for count in opened:
        total += count * count / 2.0 + OVERHEAD * count
    for link, _, count in rows.fronts:
        beyond = opened[link]
        total += sum((k + beyond) ** 2 / 2.0 for k in range(count))
    return total


def _dense_cost(model: Model, made: Links, rows: LoopOrder) -> float:
    """Return the multiplications of the solution by the matrix of all rows, about."""
    count = len(rows.rows)
    response = OVERHEAD * len(made.kind)
    response += sum(len(body.elastic.frequency) ** 2 for body in model.bodies if body.elastic and body.node is None)
    return count * response + count**3 / 3.0


def _has_inertia(body: RigidBody) -> bool:
    if body.node is not None:
        return True
    least, *_, largest = np.linalg.eigvalsh(np.array(body.inertia))
    return bool(body.mass > 0.0 and least > LEAST_INERTIA * largest)


def sparse_order(model: Model, made: Links, rows: LoopOrder) -> SparseOrder:
    """Return the plan of the sparse solution for the loops of a model laid out as `made`."""
    islands, home = _islands(model, made)
    ties = _closed([*_tree_ties(model, made, home), *_cut_ties(model, made, rows)], home)
    order, below = minimum_fill([len(tie.bonds) for tie in ties], _cliques(ties, home))
    sorted_ties = tuple(ties[k] for k in order)
    for number, tie in enumerate(sorted_ties):
        for side, link in enumerate((tie.first, tie.second)):
            if link in home:
                islands[home[link]].ends.append((number, link, side))
    return SparseOrder(sorted_ties, below, tuple(island for island in islands if island.ends))


def _islands(model: Model, made: Links) -> tuple[list[Island], dict[int, int]]:
    """Return the islands, and the index of that of each link that belongs to one."""
    islands: list[Island] = []
    home: dict[int, int] = {}
    for body in model.bodies:
        if body.node is not None:
            continue
        link = made.bodies[body.name].link
        modes = 0 if body.elastic is None else len(body.elastic.frequency)
        home[link] = len(islands)
        if body.elastic is not None:
            home[made.parent[link]] = len(islands)
            nodes = (k for k, parent in enumerate(made.parent) if parent == link and made.kind[k] == links.NODE)
            home.update({node: len(islands) for node in nodes})
        islands.append(Island(link, modes))
    return islands, home


def _tree_ties(model: Model, made: Links, home: Mapping[int, int]) -> list[Tie]:
    """Return the joints of the tree, each from the last link of its chain to the island that carries it."""
    locked = {made.special[lock.joint][0] for lock in model.locks if lock.joint in made.special}
    ties = []
    for link in home:
        if made.kind[link] in (links.FRAME, links.NODE):
            continue
        stages = [link]
        while (carrier := made.parent[stages[0]]) and carrier not in home:
            stages.insert(0, carrier)
        ties.append(_tree_tie(made, stages, carrier, stages[0] in locked))
    return ties


def _tree_tie(made: Links, stages: list[int], carrier: int, locked: bool) -> Tie:
    """Return a joint that is a chain of links. All their axes are orthogonal or equal, and fixed in the first link."""
    first, kind = stages[0], made.kind[stages[0]]
    turning = [k for k in stages if made.kind[k] != links.PRISMATIC]
    pivot = turning[-1] if turning else stages[-1]
    held = {(slide, axis): -1 for slide in (True, False) for axis in range(3)}
    if kind == links.FREE or kind == links.SPHERICAL:
        for slide, axis in list(held):
            if kind == links.FREE or not slide:
                if locked:
                    held[slide, axis] = first
                else:
                    del held[slide, axis]
    elif kind != links.FIXED:
        axes = np.eye(3)
        for stage in stages:
            if stage != first:
                axes = made.mount[stage] @ axes
            held[made.kind[stage] == links.PRISMATIC, int(np.argmax(np.abs(axes[2])))] = stage
    bonds = [TieBond(-1, first, axis, float(slide), float(not slide), stage) for (slide, axis), stage in held.items()]
    if kind == links.SCREW:
        lead = made.lead[first]
        bonds = [one for one in bonds if one.axis != 2]
        share = 1.0 / (1.0 + lead * lead)
        bonds += [TieBond(-1, first, 2, share, -share * lead, -1), TieBond(-1, first, 2, share * lead, share, first)]
    return Tie(carrier, stages[-1], pivot, tuple(bonds))


def _cut_ties(model: Model, made: Links, rows: LoopOrder) -> list[Tie]:
    first_row: dict[int, int] = {}
    for number, (cut, _, _) in enumerate(rows.rows):
        first_row.setdefault(cut, number)
    ties = []
    for cut, joint in enumerate(model.cuts):
        one, other = made.bodies[joint.predecessor].link, made.bodies[joint.successor].link
        bonds = tuple(TieBond(first_row[cut] + k, 0, 0, 0.0, 0.0, -1) for k in range(len(ROWS[joint.kind])))
        ties.append(Tie(one, other, other, bonds))
    return ties


def _closed(ties: list[Tie], home: Mapping[int, int]) -> list[Tie]:
    """Return the ties with bonds that hang together with a cut joint; the base does not hold them together."""
    group: dict[int, int] = {island: island for island in home.values()}

    def root(island: int) -> int:
        while group[island] != island:
            group[island] = group[group[island]]
            island = group[island]
        return island

    bonded = [tie for tie in ties if tie.bonds]
    for tie in bonded:
        if tie.first in home and tie.second in home:
            group[root(home[tie.first])] = root(home[tie.second])

    def parts(tie: Tie) -> set[int]:
        return {root(home[link]) for link in (tie.first, tie.second) if link in home}

    closed = {part for tie in bonded if tie.bonds[0].row >= 0 for part in parts(tie)}
    return [tie for tie in bonded if parts(tie) & closed]


def _cliques(ties: Sequence[Tie], home: Mapping[int, int]) -> list[set[int]]:
    found: dict[int, set[int]] = {}
    for number, tie in enumerate(ties):
        for link in (tie.first, tie.second):
            if link in home:
                found.setdefault(home[link], set()).add(number)
    return list(found.values())


def minimum_fill(sizes: Sequence[int], cliques: Sequence[set[int]]) -> tuple[list[int], tuple[tuple[int, ...], ...]]:
    """Return (the order of elimination, the later members that each meets then, by their places in that order).

    Members of a clique are coupled to each other; a member of the size 3 counts as three.
    """
    near: list[set[int]] = [set() for _ in sizes]
    for clique in cliques:
        for member in clique:
            near[member] |= clique
    for member, others in enumerate(near):
        others.discard(member)

    def fill(member: int) -> int:
        pairs = combinations(near[member], 2)
        return sum(sizes[one] * sizes[other] for one, other in pairs if other not in near[one])

    fills = {member: fill(member) for member in range(len(sizes))}
    order: list[int] = []
    met: list[set[int]] = []
    while fills:
        best = min(fills, key=lambda member: (fills[member], member))
        del fills[best]
        order.append(best)
        met.append(near[best])
        changed = set(near[best])
        for member in near[best]:
            near[member] |= near[best]
            near[member] -= {member, best}
            changed |= near[member]
        fills.update({member: fill(member) for member in changed})
    place = {member: number for number, member in enumerate(order)}
    return order, tuple(tuple(sorted(place[k] for k in others)) for others in met)
