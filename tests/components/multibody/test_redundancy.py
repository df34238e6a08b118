"""Redundant constraints of the whole model: which cut joints, rank against number of equations, for known linkages."""

from math import asin, atan2, cos, pi, sin, sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component, component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import read_text
from dockfmu.declare.packages import assembly
from tests.components.multibody.random_models import interpreted

BODY = """
[bodies.{0}]
mass = 1
inertia = [0.01, 0.02, 0.02]
"""
HINGE = """
[joints.{0}]
kind = "revolute"
bodies = ["{1}", "{2}"]
points = [[{3}, {4}, {5}], [0, 0, 0]]
attitude = [{6!r}, {7!r}, {8!r}]
axis = [0, 0, 1]
"""


def four_bar(crank: float, coupler: float, rocker: float, ground: float, angle: float, kind: str = "revolute") -> str:
    """Return a planar four-bar in space at an angle of its crank; its cut joint is of a kind."""
    x, y = crank * cos(angle) - ground, crank * sin(angle)
    d = sqrt(x * x + y * y)
    turn = atan2(y, x) + asin((rocker**2 + d**2 - coupler**2) / (2 * rocker * d)) - pi / 2
    turn = turn + 2 * (atan2(y, x) - turn) if turn > atan2(y, x) else turn
    end = (ground + rocker * cos(turn) - crank * cos(angle), rocker * sin(turn) - crank * sin(angle))
    along = atan2(end[1], end[0])
    text = 'name = "four_bar"' + "".join(BODY.format(name) for name in ("crank", "coupler", "rocker"))
    text += HINGE.format("a", "base", "crank", 0, 0, 0, 0.0, 0.0, 0.0) + f"angle.start = {angle!r}\n"
    text += HINGE.format("b", "crank", "coupler", crank, 0, 0, 0.0, 0.0, 0.0) + f"angle.start = {along - angle!r}\n"
    text += HINGE.format("d", "base", "rocker", ground, 0, 0, 0.0, 0.0, 0.0) + f"angle.start = {turn!r}\n"
    text += f'[joints.c]\nkind = "{kind}"\nbodies = ["coupler", "rocker"]\n'
    return text + f"points = [[{coupler!r}, 0, 0], [{rocker!r}, 0, 0]]\ncut = true\n"


def bennett(a: float, b: float, alpha: float, theta: float) -> str:
    """Return Bennett's linkage: opposite links are equal, and a sin(beta) = b sin(alpha); it moves with one freedom.

    Links along x with the twist about x to the next axis; tan(theta/2) tan(phi/2) = sin((beta + alpha)/2)
    / sin((alpha - beta)/2) for the two angles of neighbouring joints.
    """
    beta = asin(b * sin(alpha) / a)
    phi = 2 * np.arctan(sin((beta + alpha) / 2) / sin((alpha - beta) / 2) / np.tan(theta / 2))
    text = 'name = "bennett"' + "".join(BODY.format(name) for name in ("one", "two", "three"))
    # theta about an axis, then along the link and its twist; the links are base, one, two, three
    hinges = (("h1", "base", "one", a, alpha), ("h2", "one", "two", b, beta), ("h3", "two", "three", a, alpha))
    for (name, inner, outer, length, twist), angle in zip(hinges, (phi, theta, -phi), strict=True):
        text += HINGE.format(name, inner, outer, length, 0, 0, 0.0, 0.0, twist) + f"angle.start = {float(angle)!r}\n"
        text = text.replace("axis = [0, 0, 1]\nangle", f"axis = [0, {-sin(twist)!r}, {cos(twist)!r}]\nangle")
    text += f'[joints.h4]\nkind = "revolute"\nbodies = ["three", "base"]\npoints = [[{b!r}, 0, 0], [0, 0, 0]]\n'
    text += f"axis = [0, {-sin(beta)!r}, {cos(beta)!r}]\nattitude = [0, 0, {beta!r}]\ncut = true\n"
    return text


CASES = {
    # a plane loop: 5 equations, 3 that the other joints satisfy already
    "four_bar": (four_bar(0.2, 0.5, 0.4, 0.6, 0.9), 5, 2, {"c": (3, 5)}),
    "parallelogram": (four_bar(0.3, 0.6, 0.3, 0.6, 0.7), 5, 2, {"c": (3, 5)}),
    # a ball joint leaves the displacement out of the plane alone twice
    "four_bar_ball": (four_bar(0.2, 0.5, 0.4, 0.6, 0.9, "spherical"), 3, 2, {"c": (1, 3)}),
    # Gruebler's count is -2: three of the five follow, by its proportions alone
    "bennett": (bennett(0.5, 0.4, 0.6, 1.1), 5, 2, {"h4": (3, 5)}),
}


@pytest.mark.parametrize("name", CASES)
def test_rank_of_linkages_that_are_known(name: str) -> None:
    text, equations, rank, redundant = CASES[name]
    report = Multibody(read_text(text).model).freedoms()
    assert (report.constraints, report.rank, report.number) == (equations, rank, 1)
    assert report.redundant == redundant
    shown = Instance(interpreted(component_of(read_text(text)))).m
    assert (shown.closure.equations, shown.closure.rank, shown.closure.freedoms) == (equations, rank, 1)
    ((some, _),) = redundant.values()
    assert shown.cut[0].redundant == some


def test_bennetts_linkage_moves_and_stays_of_its_rank() -> None:
    """It turns by a radian and more: the loop stays closed, with three constraints that are never needed."""
    text = bennett(0.5, 0.4, 0.6, 1.1).replace("angle.start", "angle.rate = 6.0\nangle.start", 1)
    one = Instance(interpreted(component_of(read_text(text))))
    before = one.m.coordinate[0].position
    for k in range(50):
        one.step(0.01 * k, 0.01)
    assert abs(one.m.coordinate[0].position - before) > 0.5
    assert one.m.cut[0].error < 1e-6
    system = Multibody(read_text(text).model)
    state = system.state({label: c.position for label, c in zip(system.coordinates, one.m.coordinate, strict=True)
                          if label.startswith("h1")})  # fmt: skip
    assert system.freedoms(state).rank == 2


def test_two_loops_are_told_together() -> None:
    """A parallelogram on two cranks and a third crank that holds the coupler too: all the third adds is redundant."""
    text = four_bar(0.3, 0.6, 0.3, 0.6, 0.7) + BODY.format("third")
    text += HINGE.format("e", "base", "third", 0.3, 0, 0, 0.0, 0.0, 0.0) + "angle.start = 0.7\n"
    text += '[joints.f]\nkind = "revolute"\nbodies = ["coupler", "third"]\npoints = [[0.3, 0, 0], [0.3, 0, 0]]\n'
    text += "cut = true\n"
    report = Multibody(read_text(text).model).freedoms()
    assert (report.number, report.constraints, report.rank) == (1, 10, 3)
    assert report.redundant == {"c": (3, 5), "f": (4, 5)}
    assert str(report).endswith("; redundant are 3 of the 5 of cut joint c, 4 of the 5 of cut joint f")
    shown = Instance(interpreted(component_of(read_text(text)))).m
    assert (shown.closure.equations, shown.closure.rank, shown.closure.freedoms) == (10, 3, 1)
    assert sum(cut.redundant for cut in shown.cut) == 7


def test_the_build_tells_the_rank(tmp_path, monkeypatch) -> None:
    """The message of a build has what `freedoms` says; a tree has none."""
    monkeypatch.setattr(assembly, "build", lambda component, folder, progress: folder)
    said: list[str] = []
    file = tmp_path / "linkage.toml"
    file.write_text(CASES["four_bar"][0], encoding="utf-8")
    assembly.build_fmu(component(file), tmp_path, said.append)
    assert said == [
        "four_bar: closed loops: 1 degrees of freedom, 5 constraints of rank 2: the reactions of a, b, d, c are not "
        "determined; redundant are 3 of the 5 of cut joint c"
    ]
    assembly.build_fmu(component(), tmp_path, said.append)
    assert len(said) == 1
