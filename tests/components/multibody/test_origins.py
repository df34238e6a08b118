"""The key that `origin` names for a parameter is the one that gives it: changed there, the parameter changes."""

from copy import deepcopy
from pathlib import Path

import pytest

from dockfmu.components import multibody
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read, read_text
from dockfmu.components.multibody.declaration.origins import origin

MODELS = [
    file
    for file in sorted((Path(multibody.__file__).parent / "models").glob("*.toml"))
    # the others are structures of which elastic bodies were made
    if "\n[bodies." in file.read_text(encoding="utf-8")
]
MIXED = (
    Path(__file__).with_name("mixed.toml").read_text(encoding="utf-8")
    + """
[surfaces.bead]
body = "lug"
sphere = "20 mm"
[surfaces.edge]
body = "hull"
segment = [[0.5, -0.1, 0], [0.5, 0.1, 0]]
radius = 0.01
[surfaces.dish]
body = "hull"
profile = [[0.01, 0.3], [0.2, 0.1]]
point = [0, 0, -1]
[contacts.knock]
pairs = [["bead", "edge"], ["bead", "dish"]]
stiffness = { value = 1e4, unit = "N/m", source = "a drop test" }
[sensors.near]
gap = ["bead", "dish"]
below = 0.1
"""
)
OTHERS = ("axis", "axes", "attitude", "pitch", "command", "solid")
"""Keys of numbers that are no parameters, and of solids, which have a test of their own."""


def changed(value):
    """Return a value with other numbers, zeros too; None without a number in it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value * 1.001 + 0.001
    if isinstance(value, str):
        number, _, unit = value.partition(" ")
        try:
            return f"{changed(float(number))} {unit}"
        except ValueError:
            return None
    if isinstance(value, dict):
        return value | {"value": changed(value["value"])}
    items = [changed(item) for item in value]
    return None if not items or None in items else items


def leaves(table, place=()):
    """Yield (place, value) of all keys of a declaration that have numbers."""
    for key, value in table.items():
        quantity = isinstance(value, dict) and "value" in value
        if key in OTHERS or (place[:1] == ("ports",) and key == "angles"):
            continue
        if isinstance(value, dict) and not quantity:
            yield from leaves(value, (*place, key))
        elif changed(value) is not None:
            yield (*place, key), changed(value)


def starts(text):
    """Return the start value of each parameter of a declaration that users can set."""
    record = component_of(read_text(text)).record
    return {slot.name: record.start[slot.index] for slot in record.slots if slot.field.causality == "parameter"}


def arrays(names):
    """Return the names of the arrays of scalars."""
    return {name.partition("[")[0] for name in names}


def test_a_changed_key_changes_the_parameters_that_name_it(monkeypatch):
    content = read.parse_toml(MIXED)
    before = starts(MIXED)
    named = {name: origin(name, content, "mixed.toml") for name in before}
    places = list(leaves(content))
    assert len(places) > 80
    for place, value in places:
        other = deepcopy(content)
        table = other
        for name in place[:-1]:
            table = table[name]
        table[place[-1]] = value
        monkeypatch.setattr(read, "parse_toml", lambda _, other=other: other)
        after = starts(MIXED)
        differ = {name for name in before if after[name] != before[name]}
        where = ".".join(place)
        naming = {name for name, source in named.items() if source.partition(": ")[0] == f"mixed.toml, {where}"}
        by_mass = {name for name in differ if place[-1] == "mass" and ".inertia[" in name}
        assert differ, where
        assert arrays(naming) == arrays(differ - by_mass), where


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_each_parameter_of_a_declared_component_has_an_origin(file):
    component = multibody.component(file)
    parameters = [slot.name for slot in component.record.slots if slot.field.causality == "parameter"]
    origins = {name: component.origin(name) for name in parameters}
    assert {name for name, text in origins.items() if text.startswith("assumed")} == {
        name for name in parameters if ".stepping." in name or name.endswith("base_motion")
    }
    assert all(f"{file.name}" in text for text in origins.values() if not text.startswith("assumed"))


def test_the_source_beside_a_value_is_told_and_what_is_left_out_is_a_default():
    component = component_of(read_text(MIXED))
    told = {
        "contact.knock.stiffness": "the declaration, contacts.knock.stiffness: a drop test",
        "contact.knock.damping": "default: the declaration gives no contacts.knock.damping",
        "body.hull.inertia[1,2]": "the declaration, bodies.hull.solid",
        "joint.flight.quaternion[1]": "the declaration, joints.flight.start.angles",
        "joint.table.angle.velocity": "default: the declaration gives no joints.table.angle.motion.rate",
        "drive.shoulder.voltage_constant": "the declaration, drives.shoulder.torque_constant",
        "stepping.micro_step": "assumed: default of mixed",
    }
    assert {name: component.origin(f"parameters.{name}") for name in told} == told
