"""Arrange the diagram of a system, so that tools draw it legibly.

Elements form a row, each with its connected inputs on the left and its connected outputs on the right. All connections
from one element to another are the wires of one cable and share one lane. A cable runs straight across the gap between
neighbours; otherwise it runs on a track above the row if it leads forward, below it if it leads back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dockfmu.ssp.model import Geometry, SsdConnection, SsdElement, SsdSystem

WIDTH, PITCH, LANE = 160.0, 8.0, 10.0
"""Width of a box, spacing of connectors, and spacing of lanes and tracks, in units of the diagram."""

Cable = tuple[str, str]
"""A pair (source element, target element)."""


@dataclass(frozen=True)
class _End:
    """A connector in the diagram: its element, its name, and its side, 0 (input, left) or 1 (output, right)."""

    element: str
    name: str
    side: float


def arrange(system: SsdSystem) -> SsdSystem:
    """Return the system with a new geometry of its elements, connectors and connections."""
    wires = [(connection, *ends) for connection in system.connections if (ends := _ends(system, connection))]
    connected = {end for _, *ends in wires for end in ends}
    columns = {element.name: k for k, element in enumerate(system.elements)}
    cables = list(dict.fromkeys((source.element, target.element) for _, source, target in wires))
    lanes = _Lanes(columns, cables)
    placed: dict[str, SsdElement] = {}
    x = 0.0
    for column, element in enumerate(system.elements):
        x += lanes.gap(column)
        placed[element.name] = _box(element, connected, x)
        x += WIDTH
    geometry = {name: element.geometry for name, element in placed.items() if element.geometry is not None}
    top = max((box.y2 for box in geometry.values()), default=0.0)
    positions = {(e.name, c.name): c.position for e in placed.values() for c in e.connectors if c.position is not None}
    routed = {}
    for connection, source, target in wires:
        heights = [
            geometry[end.element].y1 + positions[end.element, end.name][1] * _height(geometry[end.element])
            for end in (source, target)
        ]
        points = lanes.route((source.element, target.element), heights, geometry, top)
        # waypoints lead from the start of the connection, which need not be its source
        forward = connection.ends[0] == (source.element, source.name)
        routed[id(connection)] = _coordinates(points if forward else points[::-1])
    above, below = (sum(lanes.side(cable) == side for cable in cables) + 2 for side in (1, -1))
    return replace(
        system,
        elements=list(placed.values()),
        connections=[replace(c, waypoints=routed.get(id(c), c.waypoints)) for c in system.connections],
        diagram=(0.0, -LANE * below, x + lanes.gap(len(columns)), top + LANE * above),
    )


def _ends(system: SsdSystem, connection: SsdConnection) -> tuple[_End, _End] | None:
    """Return (source, target); None for a connection to a connector of the system itself."""
    found = []
    for name, which in connection.ends:
        element = None if name is None else system.element(name)
        if element is None:
            return None
        gives = next(c.gives for c in element.connectors if c.name == which)
        found.append(_End(element.name, which, 1.0 if gives else 0.0))
    first, second = found
    return (first, second) if first.side >= second.side else (second, first)


def _box(element: SsdElement, connected: set[_End], x: float) -> SsdElement:
    """Return the element at `x`, with its connected connectors on its sides in their order from top to bottom."""
    sides = {
        side: [c.name for c in element.connectors if _End(element.name, c.name, side) in connected]
        for side in (0.0, 1.0)
    }
    height = PITCH * (max(len(names) for names in sides.values()) + 4)
    positions = {}
    for side, names in sides.items():
        for k, name in enumerate(names):
            positions[name] = (side, 1.0 - PITCH * (k + 3) / height)
    return replace(
        element,
        geometry=Geometry(x, 0.0, x + WIDTH, height),
        connectors=[replace(c, position=positions.get(c.name)) for c in element.connectors],
    )


def _height(box: Geometry) -> float:
    return box.y2 - box.y1


def _coordinates(points: list[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    xs, ys = zip(*points, strict=True)
    return tuple(xs), tuple(ys)


class _Lanes:
    """Vertical lanes in the gaps between columns, and horizontal tracks above and below the row, by cable."""

    def __init__(self, columns: dict[str, int], cables: list[Cable]) -> None:
        self.columns = columns
        self.lanes: list[list[Cable]] = [[] for _ in range(len(columns) + 1)]
        self.tracks: dict[int, list[Cable]] = {1: [], -1: []}
        for cable in cables:
            # gap k lies left of column k
            for gap in dict.fromkeys(self._gaps(cable)):
                self.lanes[gap].append(cable)
            if self.side(cable):
                self.tracks[self.side(cable)].append(cable)

    def _gaps(self, cable: Cable) -> tuple[int, int]:
        return self.columns[cable[0]] + 1, self.columns[cable[1]]

    def side(self, cable: Cable) -> int:
        """Return 0 for a cable straight across a gap, 1 for a cable above the row, -1 for a cable below it."""
        leaves, arrives = self._gaps(cable)
        return 0 if leaves == arrives else (1 if arrives > leaves else -1)

    def gap(self, column: int) -> float:
        """Return the width of the gap left of a column."""
        return LANE * (len(self.lanes[column]) + 3)

    def route(
        self, cable: Cable, heights: list[float], boxes: dict[str, Geometry], top: float
    ) -> list[tuple[float, float]]:
        """Return the bends of a wire from the source, at the first height, to the target, at the second."""
        leaves, arrives = self._gaps(cable)
        source, target = boxes[cable[0]], boxes[cable[1]]
        x1 = source.x2 + LANE * (self.lanes[leaves].index(cable) + 2)
        if leaves == arrives:
            return [(x1, heights[0]), (x1, heights[1])]
        x2 = target.x1 - self.gap(arrives) + LANE * (self.lanes[arrives].index(cable) + 2)
        side = self.side(cable)
        track = LANE * (self.tracks[side].index(cable) + 1)
        y = top + track if side > 0 else -track
        return [(x1, heights[0]), (x1, y), (x2, y), (x2, heights[1])]
