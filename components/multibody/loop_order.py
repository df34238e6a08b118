"""The order in which the rows of cut joints are eliminated, and where: the plan of `elimination`.

A row is open at the links from its ends inward, up to the link where both sides of its loop meet; there it is
eliminated. Loops that meet at one link without a common branch are independent of each other: they are separate fronts.
"""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.components.multibody import cut_rows
from dockfmu.components.multibody.link_data import Links
from dockfmu.components.multibody.model.parts import Kind, Model

ROWS: dict[Kind, tuple[tuple[float, int], ...]] = {
    "spherical": tuple((cut_rows.TRANSLATION, k) for k in range(3)),
    "revolute": (*((cut_rows.TRANSLATION, k) for k in range(3)), (cut_rows.ALIGNED, 0), (cut_rows.ALIGNED, 1)),
    "universal": (*((cut_rows.TRANSLATION, k) for k in range(3)), (cut_rows.CROSSED, 0)),
    "cylindrical": tuple((kind, k) for kind in (cut_rows.TRANSLATION, cut_rows.ALIGNED) for k in range(2)),
    "planar": ((cut_rows.TRANSLATION, 2), (cut_rows.ALIGNED, 0), (cut_rows.ALIGNED, 1)),
    "prismatic": ((cut_rows.TRANSLATION, 0), (cut_rows.TRANSLATION, 1), *((cut_rows.TURNED, k) for k in range(3))),
    "fixed": tuple((kind, k) for kind in (cut_rows.TRANSLATION, cut_rows.TURNED) for k in range(3)),
    "rolling_disc": tuple((cut_rows.DISC, k) for k in range(3)),
    "rolling_ball": tuple((cut_rows.BALL, k) for k in range(3)),
    "knife_edge": ((cut_rows.EDGE, 2),),
}
"""Kind and axis of the constraints of each kind of joint that can be cut."""


def rows_of(model: Model) -> int:
    """Return the number of constraints of all cut joints."""
    return sum(len(ROWS[joint.kind]) for joint in model.cuts)


@dataclass(frozen=True)
class LoopOrder:
    """The plan of the elimination.

    Attributes
    ----------
    rows : (index of the cut joint, kind, axis) of each row, in the order of elimination
    fronts : (link, first row, number of rows), in the order of elimination
    entries : (row, 1 if it comes from its successor), link by link
    first : index of the first entry of each link; one more than there are links
    carriers : links to which loops closed beyond or at them add
    """

    rows: tuple[tuple[int, float, int], ...]
    fronts: tuple[tuple[int, int, int], ...]
    entries: tuple[tuple[int, int], ...]
    first: tuple[int, ...]
    carriers: tuple[int, ...]


def _ancestry(parent: list[int], link: int) -> list[int]:
    """Return a link and all that carry it, the base last."""
    found = [link]
    while found[-1]:
        found.append(parent[found[-1]])
    return found


@dataclass(frozen=True)
class _Loop:
    """One cut joint: the link where it closes, and the links below it on the side of predecessor and successor."""

    cut: int
    closes: int
    sides: tuple[list[int], list[int]]

    @property
    def branches(self) -> set[int]:
        return {side[-1] for side in self.sides if side}


def _loops(model: Model, made: Links) -> list[_Loop]:
    found = []
    for k, joint in enumerate(model.cuts):
        one, other = (_ancestry(made.parent, made.bodies[end].link) for end in (joint.predecessor, joint.successor))
        closes = next(link for link in one if link in set(other))
        found.append(_Loop(k, closes, (one[: one.index(closes)], other[: other.index(closes)])))
    return found


def _groups(loops: list[_Loop]) -> list[list[_Loop]]:
    """Return loops that close at one link, grouped by common branches."""
    groups: list[tuple[set[int], list[_Loop]]] = []
    for loop in loops:
        branches, members = set(loop.branches), [loop]
        apart = []
        for others, before in groups:
            if others & branches:
                branches |= others
                members = before + members
            else:
                apart.append((others, before))
        groups = [*apart, (branches, members)]
    return [members for _, members in groups]


def loop_order(model: Model, made: Links) -> LoopOrder:
    """Return the plan for the loops of a model laid out as `made`."""
    loops = _loops(model, made)
    rows: list[tuple[int, float, int]] = []
    fronts: list[tuple[int, int, int]] = []
    open_at: dict[int, list[tuple[int, int]]] = {}
    carriers: set[int] = set()
    for link in sorted({loop.closes for loop in loops}, reverse=True):
        if link:
            carriers.update(_ancestry(made.parent, link)[:-1])
        for group in _groups([loop for loop in loops if loop.closes == link]):
            first = len(rows)
            for loop in sorted(group, key=lambda one: one.cut):
                kinds = ROWS[model.cuts[loop.cut].kind]
                for side, path in enumerate(loop.sides):
                    for below in path:
                        places = range(len(rows), len(rows) + len(kinds))
                        open_at.setdefault(below, []).extend((row, side) for row in places)
                rows += [(loop.cut, kind, axis) for kind, axis in kinds]
            fronts.append((link, first, len(rows) - first))
    entries: list[tuple[int, int]] = []
    begins = [0]
    for link in range(len(made.kind)):
        entries += sorted(open_at.get(link, ()))
        begins.append(len(entries))
    return LoopOrder(tuple(rows), tuple(fronts), tuple(entries), tuple(begins), tuple(sorted(carriers)))
