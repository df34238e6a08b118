"""Draw the diagram of a system from the geometry in its description."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dockfmu.ssp.model import Connector, Geometry, SsdConnection, SsdElement, SsdSystem, SspError

SCALE = 1.3
"""Points on paper per unit of the diagram."""


def draw(system: SsdSystem) -> Figure:
    """Return a figure of the diagram. Raises SspError if no element has a geometry."""
    boxes = {element.name: element.geometry for element in system.elements if element.geometry is not None}
    if not boxes:
        raise SspError(f"the system {system.name} has no geometry to draw")
    x1, y1, x2, y2 = system.diagram or _extent(list(boxes.values()))
    figure = Figure(figsize=((x2 - x1) * SCALE / 72.0, (y2 - y1) * SCALE / 72.0), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(x1, x2), ylim=(y1, y2))
    axes.axis("off")
    shades = dict(zip(boxes, cycle(f"C{k}" for k in range(10)), strict=False))
    for connection in system.connections:
        _draw_connection(axes, system, connection, shades)
    for element in system.elements:
        if element.geometry is not None:
            _draw_element(axes, element, element.geometry)
    for note in system.notes:
        axes.text(note.x1, note.y2, note.text, fontsize=8, va="top", wrap=True)
    return figure


def _extent(boxes: list[Geometry]) -> tuple[float, float, float, float]:
    margin = 20.0
    xs, ys = [x for box in boxes for x in (box.x1, box.x2)], [y for box in boxes for y in (box.y1, box.y2)]
    return min(xs) - margin, min(ys) - margin, max(xs) + margin, max(ys) + margin


def _connector(system: SsdSystem, element: str | None, name: str) -> Connector:
    owner: SsdElement | None = system if element is None else system.element(element)
    connector = next((c for c in owner.connectors if c.name == name), None) if owner is not None else None
    if connector is None:
        raise SspError(f"{system.name}: there is no connector {element or ''}.{name}")
    return connector


def _position(system: SsdSystem, element: str | None, name: str) -> tuple[float, float] | None:
    """Return the position of a connector in the diagram, or None if it has no geometry."""
    position = _connector(system, element, name).position
    if element is None:
        corners = system.diagram
    else:
        owner = system.element(element)
        box = owner.geometry if owner is not None else None
        corners = None if box is None else (box.x1, box.y1, box.x2, box.y2)
    if corners is None or position is None:
        return None
    x1, y1, x2, y2 = corners
    return x1 + position[0] * (x2 - x1), y1 + position[1] * (y2 - y1)


def _draw_connection(axes: Any, system: SsdSystem, connection: SsdConnection, shades: dict[str, str]) -> None:
    """Draw a connection in the colour of its source element."""
    first, last = (_position(system, *end) for end in connection.ends)
    if first is not None and last is not None:
        xs, ys = connection.waypoints or ((), ())
        source = next((e for e, c in connection.ends if e is not None and _connector(system, e, c).gives), "")
        colour = shades.get(source, "black")
        axes.plot([first[0], *xs, last[0]], [first[1], *ys, last[1]], color=colour, linewidth=0.8)


def _draw_element(axes: Any, element: SsdElement, box: Geometry) -> None:
    width, height = box.x2 - box.x1, box.y2 - box.y1
    axes.add_patch(Rectangle((box.x1, box.y1), width, height, facecolor="white", edgecolor="black", zorder=3))
    axes.text(
        box.x1 + width / 2, box.y2 - 6.0, element.name, fontsize=10, weight="bold", ha="center", va="top", zorder=4
    )
    for connector in element.connectors:
        if connector.position is not None:
            u, v = connector.position
            x, y = box.x1 + u * width, box.y1 + v * height
            left = u < 0.5
            axes.plot([x], [y], marker=">", markersize=3, color="black", zorder=4)
            inwards, aligned = (4.0, "left") if left else (-4.0, "right")
            axes.text(x + inwards, y, connector.name, fontsize=6, ha=aligned, va="center", zorder=4)
