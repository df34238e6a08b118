"""Declarations in TOML: what is read, and what bad input gets."""

import re

import numpy as np
import pytest

from dockfmu.components.multibody.declaration import ModelError, read_model, read_text

pytestmark = pytest.mark.quick

WING = """
name = "wing"
description = "two panels on a fixed craft"
gravity = [0, 0, "-9.81 m/s2"]

[bodies.inner]
mass = "12 kg"
solid = { box = ["1.6 m", "20 mm", 1.0] }

[bodies.outer]
mass = { value = 0.01, unit = "t", source = "assumed" }
inertia = [0.5, 2.0, 1.9]

[joints.root]
kind = "revolute"
bodies = ["base", "inner"]
points = [[0, 0, 0], [-0.8, 0.02, 0]]
axis = [0, 0, 1]

[joints.root.angle]
start = "90 deg"
rate = "6 deg/s"
stiffness = "20 N.m/rad"
damping = 0.1
friction = "1 N.m"
friction_stiffness = 1e3

[joints.hinge]
kind = "universal"
bodies = ["inner", "outer"]
points = [["80 cm", -0.02, 0], [-0.75, -0.02, 0]]
axes = [[0, 0, 1], [1, 0, 0]]
attitude = [0, 0, "180 deg"]
angle_x = { lower = "-90 deg", upper = "0 deg", stop_stiffness = 1e4, start = "-90 deg" }
angle_y = { motion = { amplitude = "0.1 rad", frequency = "2 rad/s" } }

[springs.cable]
bodies = ["base", "outer"]
points = [[0, 0, 1], [0, 0, 0]]
stiffness = "1 kN/m"
length = "3 m"
tether = true

[locks.latch]
joint = "hinge"
coordinate = "angle_x"
at = "0 deg"
direction = "up"

[ports.tip]
body = "outer"
point = [0.75, 0, 0]
angles = ["90 deg", 0, 0]
"""


def test_every_kind_of_entry_is_read() -> None:
    model = read_text(WING).model
    inner, outer = model.bodies
    root, hinge = model.joints
    assert model.gravity == (0.0, 0.0, -9.81)
    assert inner.mass == 12.0
    np.testing.assert_allclose(np.diag(inner.inertia), [1.0004, 3.56, 2.5604])
    assert outer.mass == 10.0
    assert root.coordinates == (pytest.approx(np.pi / 2),)
    assert root.rates == (pytest.approx(np.radians(6.0)),)
    np.testing.assert_allclose(hinge.on_predecessor.rotation, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15)
    assert hinge.on_predecessor.point == (0.8, -0.02, 0.0)
    assert hinge.start == ((-np.pi / 2, 0.0), (0.0, 0.2))
    law = model.laws[0]
    assert (law.stiffness, law.damping, law.friction, law.friction_stiffness) == (20.0, 0.1, 1.0, 1000.0)
    assert (model.laws[1].lower, model.laws[1].upper) == (pytest.approx(-np.pi / 2), 0.0)
    assert model.springs[0].stiffness == 1000.0
    assert model.springs[0].tether
    assert (model.locks[0].at, model.locks[0].direction, model.locks[0].coordinate) == (0.0, 1, 0)
    np.testing.assert_allclose(model.ports[0].rotation, [[0, 0, -1], [0, 1, 0], [1, 0, 0]], atol=1e-15)


def problems(text: str) -> list[str]:
    with pytest.raises(ModelError) as found:
        read_text(text, "wing.toml")
    return list(found.value.problems)


BODIES = "name = 'a'\n[bodies.a]\nmass = 1.0\ninertia = [1, 1, 1]\n[bodies.b]\nmass = 1.0\ninertia = [1, 1, 1]\n"
TREE = (
    BODIES + "[joints.j]\nkind = 'free'\nbodies = ['base', 'a']\n[joints.k]\nkind = 'revolute'\nbodies = ['a', 'b']\n"
)


@pytest.mark.parametrize(
    ("change", "place", "remedy"),
    [
        (("['a', 'b']", "['a', 'c']"), "joints.k.bodies", "there is no body 'c'"),
        (("['a', 'b']", "['base', 'a', 'b']"), "joints.k.bodies = ['base', 'a', 'b']", "exactly two bodies"),
        (("'free'", "'freee'"), "joints.j.kind = 'freee'", "did you mean free?"),
        (("[joints.k]", "[joints.l]\nkind='fixed'\nbodies=['base','b']\n[joints.k]"), "joints.k", "cut = true"),
        (("[joints.j]\nkind = 'free'\nbodies = ['base', 'a']", ""), "bodies.a", "a second root"),
        (("[bodies.b]\nmass = 1.0\ninertia = [1, 1, 1]", "[bodies.b]\nmass = 0.0"), "bodies.b.mass", "without mass"),
        (("[bodies.b]\nmass = 1.0\ninertia = [1, 1, 1]", "[bodies.b]\nmass = 1.0\ninertia = [1, 1, 3]"),
         "bodies.b.inertia", "triangle inequality"),
        (("['a', 'b']", "['a', 'b']\naxis = [0, 0, 1.1]"), "joints.k.axis = [0, 0, 1.1]", "its length is 1.1"),
        (("mass = 1.0", "mass = '1 m'"), "bodies.a.mass = '1 m'", "give it in kg"),
        (("mass = 1.0", "mass = -1.0"), "bodies.a.mass", "negative"),
        (("['a', 'b']", "['a', 'b']\nangle = { stiffness = '3 N.m' }"), "joints.k.angle.stiffness = '3 N.m'",
         "N.m/rad"),
        (("['a', 'b']", "['a', 'b']\nangel = { stiffness = 3 }"), "joints.k.angel", "did you mean angle?"),
        (("['a', 'b']", "['a', 'b']\nangle = { upper = 1 }"), "joints.k.angle.stop_stiffness", "needs a stiffness"),
        (("['a', 'b']", "['a', 'b']\n[ports.p]\nbody = 'd'"), "ports.p.body", "there is no body 'd'"),
        (("['a', 'b']", "['a', 'b']\n[ports.'port[0]']\nbody = 'a'"), "ports.'port[0]'", "letters, digits"),
        (("['a', 'b']", "['a', 'b']\n[locks.p]\njoint = 'j'\nat = 1"), "locks.p.at", "no coordinate that passes"),
        (("['a', 'b']", "['a', 'b']\n[springs.p]\nbodies = ['a', 'a']\nstiffness = 1"), "springs.p.bodies", "itself"),
        (("'revolute'", "'screw'"), "joints.k.pitch", "is missing"),
        (("[bodies.a]", "description = \"\\u0007\"\n[bodies.a]"), "description = '\\x07'", "the character U+0007"),
    ],
)  # fmt: skip
def test_bad_input_names_file_table_key_value_and_what_to_do(change: tuple[str, str], place: str, remedy: str) -> None:
    assert change[0] in TREE
    found = problems(TREE.replace(*change, 1))
    assert any(text.startswith(f"wing.toml: {place}:") and remedy in text for text in found), found


def test_all_mistakes_are_reported_at_once() -> None:
    text = TREE.replace("mass = 1.0", "mass = '1 m'").replace("['a', 'b']", "['a', 'c']\naxis = [1, 1, 0]")
    assert len(problems(text)) == 4


def test_a_joint_of_unknown_kind_hides_none_of_its_other_mistakes() -> None:
    wrong = "kind = 'hinge'\nbodies = ['a', 'c']\naxis = [0, 0, 2]\npoints = [[0, 0]]\nclosure_limit = -1.0\n"
    found = problems(TREE + f"[joints.l]\n{wrong}")
    assert [re.split("[: ]", text.removeprefix("wing.toml: joints.l."))[0] for text in found] == [
        "kind", "bodies", "points", "axis", "closure_limit",
    ]  # fmt: skip
    assert "there is no body 'c'" in found[1]


def test_a_correct_tree_has_no_mistakes() -> None:
    assert read_text(TREE).model.name == "a"


SURFACES = TREE + (
    "[surfaces.tip]\nbody = 'b'\nsphere = 0.1\n[surfaces.hole]\nbody = 'target'\ncone = [0.5, 0.1, 0.4]\n"
    "[contacts.c]\nsurfaces = ['tip', 'hole']\nstiffness = 1e5\n"
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("body = 'b'\nsphere", "body = 'bb'\nsphere"), "surfaces.tip.body: there is no body 'bb'; did you mean"),
        (("'tip', 'hole'", "'tap', 'hole'"), "contacts.c: there is no surface 'tap'; did you mean tip?"),
        (("body = 'target'", "body = 'b'"), "tip and hole: both are on b; a pair needs surfaces on two bodies"),
        (("sphere = 0.1", "plane = 0.1"), "there is no pair of plane and cone; spheres meet everything"),
        (("cone = [0.5, 0.1, 0.4]", "sphere = 0.0\n[surfaces.p]\nbody = 'a'\nsphere = 0"), None),
        (("cone = [0.5, 0.1, 0.4]", "cone = [0.1, 0.5, 0.4]"), "r neither rise nor be negative"),
        (("cone = [0.5, 0.1, 0.4]", "section = [[0, 1], [1, 1], [0.5, 0.9], [1, 2]]"), "must be a convex polygon"),
        (("cone = [0.5, 0.1, 0.4]", "point = [0, 0, 0]"), "exactly one form: sphere, segment, cone"),
        (("sphere = 0.1", "sphere = '0.1 kg'"), "surfaces.tip.sphere = '0.1 kg': units 'kg' and 'm'"),
        (("stiffness = 1e5", "damping = 1"), "contacts.c.stiffness: is missing; give one finite number in N/m"),
        (
            ("stiffness = 1e5", "stiffness = 1e5\n[sensors.s]\ncontact = 'd'"),
            "there is no contact 'd'; there are c",
        ),
        (
            ("stiffness = 1e5", "stiffness = 1e5\n[sensors.s]\njoint = 'k'"),
            "sensors.s.above: give either above or below",
        ),
        (("stiffness = 1e5", "stiffness = 1e5\n[sensors.s]\ncontact = 'c'\npairs = 2"), "c has only 1 pairs"),
        (("stiffness = 1e5", "stiffness = 1e5\n[locks.l]\njoint = 'k'\nclose_when = 's'"), "there is no sensor 's'"),
    ],
)
def test_mistakes_in_surfaces_contacts_and_sensors_are_told(change: tuple[str, str], expected: str | None) -> None:
    text = SURFACES.replace(*change)
    if expected is None:
        read_text(text)
        return
    assert any(expected in problem and problem.startswith("wing.toml: ") for problem in problems(text)), problems(text)


@pytest.mark.parametrize(
    ("form", "numbers", "metres"),
    [
        ("profile", "[[0, 400], [300, 100]]", "[[0, 0.4], [0.3, 0.1]]"),
        ("section", "[[0, 100], [0, 200], [50, 150]]", "[[0, 0.1], [0, 0.2], [0.05, 0.15]]"),
        ("plane", "[400, 100]", "[0.4, 0.1]"),
    ],
)
def test_lists_of_a_surface_may_have_unit_and_source(form: str, numbers: str, metres: str) -> None:
    given, plain = (
        read_text(SURFACES.replace("cone = [0.5, 0.1, 0.4]", f"{form} = {value}"))
        for value in (f"{{ value = {numbers}, unit = 'mm', source = 'a page' }}", metres)
    )
    assert given.model.surfaces == plain.model.surfaces


def test_all_mistakes_in_surfaces_are_told_at_once() -> None:
    text = SURFACES.replace("'tip', 'hole'", "'tap', 'hole'").replace("body = 'b'\nsphere", "body = 'x'\nsphere")
    assert len(problems(text + "[sensors.s]\ngap = ['tip', 'wall']\nabove = 1\n")) == 3


def test_a_file_that_is_none_or_no_text_is_told_in_words(tmp_path):
    file = tmp_path / "wing.toml"
    with pytest.raises(ModelError, match=r"wing\.toml: there is no such file$"):
        read_model(file)
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(ModelError, match=r"wing\.toml: must be text in UTF-8: invalid start byte at byte 8$"):
        read_model(file)
    with pytest.raises(ModelError, match=r": cannot be read: \S"):
        read_model(tmp_path)
