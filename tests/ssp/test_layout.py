"""The diagram of any system: boxes apart, wires in right angles that pass through no box, all of it on the canvas."""

import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu.ssp.diagram import draw
from dockfmu.ssp.layout import arrange
from dockfmu.ssp.model import Connector, Geometry, SsdComponent, SsdConnection, SsdSystem, SspError

pytestmark = pytest.mark.quick


@st.composite
def systems(draw):
    """Elements with a few inputs and outputs, connected at random, from either end."""
    elements = [
        SsdComponent(
            f"e{k}",
            "a.fmu",
            connectors=[
                *(Connector(f"u{i}", "input") for i in range(draw(st.integers(0, 4)))),
                *(Connector(f"y{i}", "output") for i in range(draw(st.integers(0, 4)))),
            ],
        )
        for k in range(draw(st.integers(1, 5)))
    ]
    ends = {
        kind: [(e.name, c.name) for e in elements for c in e.connectors if c.kind == kind]
        for kind in ("input", "output")
    }
    connections = []
    if ends["output"]:
        for target in ends["input"]:
            if draw(st.booleans()):
                pair = [draw(st.sampled_from(ends["output"])), target]
                if draw(st.booleans()):
                    pair.reverse()
                connections.append(SsdConnection(*pair[0], *pair[1]))
    return SsdSystem("random", elements=elements, connections=connections)


def place(system, element, connector):
    owner = system.element(element)
    x, y = next(c.position for c in owner.connectors if c.name == connector)
    box = owner.geometry
    return box.x1 + x * (box.x2 - box.x1), box.y1 + y * (box.y2 - box.y1)


def polylines(system):
    for c in system.connections:
        inner = list(zip(*c.waypoints, strict=True))
        yield [place(system, c.start_element, c.start_connector), *inner, place(system, c.end_element, c.end_connector)]


@given(systems())
@settings(max_examples=150)
def test_the_invariants_of_a_legible_diagram(plain):
    system = arrange(plain)
    boxes = [element.geometry for element in system.elements]
    x1, y1, x2, y2 = system.diagram
    assert all(one.x2 < other.x1 for one, other in pairwise(boxes))
    assert all(x1 <= box.x1 < box.x2 <= x2 and y1 <= box.y1 < box.y2 <= y2 for box in boxes)
    joined = {
        end
        for c in plain.connections
        for end in ((c.start_element, c.start_connector), (c.end_element, c.end_connector))
    }
    for element in system.elements:
        for connector in element.connectors:
            assert (connector.position is not None) == ((element.name, connector.name) in joined)
            if connector.position is not None:
                assert connector.position[0] == (0.0 if connector.kind == "input" else 1.0)
                assert 0.0 < connector.position[1] < 1.0
    for points in polylines(system):
        for (xa, ya), (xb, yb) in pairwise(points):
            assert xa == pytest.approx(xb) or ya == pytest.approx(yb)
            assert x1 <= min(xa, xb) <= max(xa, xb) <= x2
            assert y1 <= min(ya, yb) <= max(ya, yb) <= y2
            for box in boxes:
                beside = max(xa, xb) <= box.x1 or min(xa, xb) >= box.x2
                assert beside or max(ya, yb) <= box.y1 or min(ya, yb) >= box.y2
    assert [(c.start_element, c.end_connector) for c in system.connections] == [
        (c.start_element, c.end_connector) for c in plain.connections
    ]


@given(systems())
@settings(max_examples=10)
def test_what_is_arranged_can_be_drawn(plain):
    stream = io.BytesIO()
    draw(arrange(plain)).savefig(stream, format="svg")
    assert stream.getvalue().startswith(b"<?xml")


@pytest.mark.parametrize("kind", ["output", "calculatedParameter"])
def test_wires_have_the_colour_of_their_source_at_either_end(kind):
    """Also those that leave the system."""
    own, inner = (Connector("y", kind, position=(1.0, 0.5)) for _ in range(2))
    a = SsdComponent("a", "a.fmu", connectors=[inner], geometry=Geometry(0.0, 0.0, 50.0, 50.0))
    ends = ((None, "y"), ("a", "y"))
    for first, last in (ends, ends[::-1]):
        wire = SsdConnection(*first, *last)
        system = SsdSystem("s", connectors=[own], elements=[a], connections=[wire], diagram=(-20.0, -20.0, 90.0, 70.0))
        (axes,) = draw(system).axes
        assert axes.lines[0].get_xdata().tolist() in ([50.0, 90.0], [90.0, 50.0])
        assert axes.lines[0].get_color() == "C0"


def test_a_system_without_geometry_cannot_be_drawn():
    with pytest.raises(SspError, match="has no geometry"):
        draw(SsdSystem("plain", elements=[SsdComponent("a", "a.fmu")]))
