"""The graph of a multibody system: incidence and path matrices, regular numbering, spanning tree.

Theory: multibody-formulations 3.1.

Vertices are bodies, 0 the base; arcs are joints, from the predecessor i+ to the successor i-. Numbers start at 1, as in
the source; arrays at 0, so that row k of S belongs to body k + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.model.parts import BASE, Model, MultibodyJoint


@dataclass(frozen=True)
class BodyGraph:
    """Arcs between `bodies` bodies and the base: (i+, i-) of each joint, the base being 0."""

    bodies: int
    arcs: tuple[tuple[int, int], ...]

    def incidence(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (S_0 of shape (m,), S of shape (n, m)): +1 where an arc leaves a body, -1 where it enters (1.1).

        *Erratum (1.1): i+ is printed in both lines.*
        """
        S = np.zeros((self.bodies + 1, len(self.arcs)), int)
        for a, (leaves, enters) in enumerate(self.arcs):
            S[leaves, a], S[enters, a] = 1, -1
        return S[0], S[1:]

    def paths(self) -> np.ndarray:
        """Return T of shape (m, n) of a tree: +1 if arc a is on the path from body i to the base and points to it.

        -1 if the arc points to the body, 0 if it is not on the path. Raises ValueError unless the graph is a tree.
        """
        inboard = {body: (arc, before) for body, arc, before in self.spanning()}
        if len(inboard) != self.bodies or len(self.arcs) != self.bodies:
            raise ValueError(f"{len(self.arcs)} arcs on {self.bodies} bodies are not a tree")
        T = np.zeros((len(self.arcs), self.bodies), int)
        for body in range(1, self.bodies + 1):
            at = body
            while at:
                arc, before = inboard[at]
                T[arc, body - 1] = 1 if self.arcs[arc][0] == at else -1
                at = before
        return T

    def spanning(self) -> list[tuple[int, int, int]]:
        """Return (body, arc, body before it) of all bodies connected with the base, inner ones first.

        Arcs that would close a loop are left out. Bodies in one distance come in the order of their arcs.
        """
        found: list[tuple[int, int, int]] = []
        reached, layer = {0}, [0]
        while layer:
            following = []
            for a, ends in enumerate(self.arcs):
                for here, there in (ends, ends[::-1]):
                    if here in layer and there not in reached:
                        reached.add(there)
                        following.append(there)
                        found.append((there, a, here))
            layer = following
        return found

    def regular_numbering(self) -> tuple[list[int], list[int]]:
        """Return (old body, old arc) of each new number of a tree, by cutting off leaves (multibody-formulations 3.1).

        Arc k then precedes body k, and bodies nearer to the base have smaller numbers; the leaves of the whole graph
        have the largest. Raises ValueError for a graph that is not a tree.
        """
        alive, arcs = set(range(1, self.bodies + 1)), set(range(len(self.arcs)))
        bodies: list[int] = []
        order: list[int] = []
        while alive:
            incident = {body: [a for a in arcs if body in self.arcs[a]] for body in alive}
            leaves = [body for body, at in incident.items() if len(at) == 1]
            if not leaves:
                raise ValueError("the graph has a loop or a part that is not connected with the base")
            for leaf in leaves:
                (arc,) = incident[leaf]
                if arc in arcs:
                    bodies.insert(0, leaf)
                    order.insert(0, arc)
                    alive.remove(leaf)
                    arcs.remove(arc)
        return bodies, order


@dataclass(frozen=True)
class Limb:
    """A body of the spanning tree with its inboard joint and its parent: their indices in the model, -1 the base.

    `outward` says whether the joint's successor is this body.
    """

    body: int
    joint: int
    parent: int
    outward: bool


def graph(model: Model, joints: Sequence[MultibodyJoint]) -> BodyGraph:
    """Return the graph of a model with some of its joints. Raises KeyError for a body that does not exist."""
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, start=1)}}
    arcs = tuple((number[joint.predecessor], number[joint.successor]) for joint in joints)
    return BodyGraph(len(model.bodies), arcs)


def limbs(model: Model) -> list[Limb]:
    """Return the bodies of the spanning tree, each after the body that carries it, in a depth-first order.

    Neighbours in a chain are neighbours in memory. Raises ValueError unless the joints that are not cut form a tree.
    """
    tree = graph(model, model.tree)
    spanning = tree.spanning()
    if len(spanning) != len(model.bodies) or len(tree.arcs) != len(model.bodies):
        raise ValueError(f"the joints of {model.name} that are not cut do not form a tree")
    places = [k for k, joint in enumerate(model.joints) if not joint.cut]
    carried: dict[int, list[tuple[int, int]]] = {}
    for body, arc, before in spanning:
        carried.setdefault(before, []).append((body, arc))
    found, waiting = [], [(body, arc, 0) for body, arc in reversed(carried.get(0, []))]
    while waiting:
        body, arc, before = waiting.pop()
        found.append(Limb(body - 1, places[arc], before - 1, tree.arcs[arc][1] == body))
        waiting.extend((further, a, body) for further, a in reversed(carried.get(body, [])))
    return found
