"""Order and loops in directed graphs."""

from __future__ import annotations

import heapq
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def _components(nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> list[int]:
    """Return the number of the strongly connected component of each node, by Kosaraju's algorithm.

    scipy provides this too, but importing it takes longer than a short run.
    """
    after: dict[Node, list[Node]] = {node: [] for node in nodes}
    before: dict[Node, list[Node]] = {node: [] for node in nodes}
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    finished: dict[Node, None] = {}
    for node in nodes:
        finished |= dict.fromkeys(_postorder(node, after, finished))
    label: dict[Node, int] = {}
    for node in reversed(finished):
        label |= dict.fromkeys(_postorder(node, before, label), len(label))
    return [label[node] for node in nodes]


def _postorder(start: Node, following: Mapping[Node, Sequence[Node]], seen: Container[Node]) -> list[Node]:
    """Return the nodes that a depth-first search from `start` reaches, in the order in which it leaves them."""
    if start in seen:
        return []
    entered, done = {start}, []
    path = [(start, iter(following[start]))]
    while path:
        node, rest = path[-1]
        follower = next((other for other in rest if other not in entered and other not in seen), None)
        if follower is None:
            done.append(node)
            path.pop()
        else:
            entered.add(follower)
            path.append((follower, iter(following[follower])))
    return done


def execution_order(nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> tuple[Node, ...]:
    """Return `nodes` with sources before targets; nodes of a loop stay together, in their given order."""
    edges = set(edges)
    label = dict(zip(nodes, _components(nodes, edges), strict=True))
    groups: dict[int, list[Node]] = {}
    for node in nodes:
        groups.setdefault(label[node], []).append(node)
    first = {group: i for i, group in enumerate(groups)}
    after: dict[int, set[int]] = {group: set() for group in groups}
    waits = dict.fromkeys(groups, 0)
    for a, b in edges:
        if label[a] != label[b] and label[b] not in after[label[a]]:
            after[label[a]].add(label[b])
            waits[label[b]] += 1
    ready = [(first[group], group) for group, count in waits.items() if count == 0]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        _, group = heapq.heappop(ready)
        order.extend(groups[group])
        for follower in after[group]:
            waits[follower] -= 1
            if waits[follower] == 0:
                heapq.heappush(ready, (first[follower], follower))
    return tuple(order)


def loops(nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> list[tuple[Node, ...]]:
    """Return the sets of nodes that can be reached from each other, largest first."""
    edges = set(edges)
    groups: dict[int, list[Node]] = {}
    for node, label in zip(nodes, _components(nodes, edges) if nodes else (), strict=True):
        groups.setdefault(label, []).append(node)
    own = {a for a, b in edges if a == b}
    found = [tuple(group) for group in groups.values() if len(group) > 1 or group[0] in own]
    return sorted(found, key=len, reverse=True)


def together(stages: Sequence[tuple[Node, ...]], edges: Iterable[tuple[Node, Node]]) -> tuple[tuple[Node, ...], ...]:
    """Merge adjacent stages where no edge joins a node of one to a node of the other."""
    joined = {frozenset(edge) for edge in edges}
    found: list[tuple[Node, ...]] = []
    for stage in stages:
        if found and not any(frozenset((a, b)) in joined for a in found[-1] for b in stage):
            found[-1] += stage
        else:
            found.append(stage)
    return tuple(found)
