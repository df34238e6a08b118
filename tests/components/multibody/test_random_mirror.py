"""Random declarations in a mirror: all that acts in them, and not to the last bit another motion."""

import copy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.reference.impulse import ClosureError
from tests.components.multibody.declarations import choices, declaration, equipped, text_of
from tests.components.multibody.random_models import made
from tests.components.multibody.test_random_declarations import relaxed
from tests.components.multibody.test_random_equipment import STEADY

pytestmark = pytest.mark.slow

MIRROR = np.array([1.0, -1.0, 1.0])
"""Of vectors; axes of rotation and angular velocities have the opposite signs."""


def polar(values):
    return [float(value) for value in MIRROR * values]


def axial(values):
    return [float(value) for value in -MIRROR * values]


def angles(values):
    yaw, pitch, roll = values
    return [yaw, -pitch, -roll]


def mirrored(content):
    """Return a declaration in the mirror y = 0: the same coordinates, but for displacements along axes of rotation."""
    content = copy.deepcopy(content)
    content["gravity"] = polar(content["gravity"])
    for body in content["bodies"].values():
        xx, yy, zz, xy, xz, yz = body["inertia"]
        body |= {"center": polar(body["center"]), "inertia": [xx, yy, zz, -xy, xz, -yz]}
    turned = set()
    for name, joint in content["joints"].items():
        _mirror_joint(joint)
        if joint["kind"] == "cylindrical" and "displacement" in joint:
            turned.add((name, "displacement"))
            _reverse(joint["displacement"])
    for spring in content["springs"].values():
        spring["points"] = [polar(point) for point in spring["points"]]
    for surface in content.get("surfaces", {}).values():
        surface["point"] = polar(surface["point"])
        if "axis" in surface:
            surface["axis"] = polar(surface["axis"])
    for key, number in (("drives", "command"), ("locks", "at")):
        for one in content.get(key, {}).values():
            if (one["joint"], one.get("coordinate")) in turned and number in one:
                one[number] *= -1.0
    return content


def _mirror_joint(joint):
    joint["points"] = [polar(point) for point in joint["points"]]
    if "attitude" in joint:
        joint["attitude"] = angles(joint["attitude"])
    if "axis" in joint:
        joint["axis"] = (polar if joint["kind"] in ("prismatic", "knife_edge") else axial)(joint["axis"])
    if "axes" in joint:
        joint["axes"] = [axial(axis) for axis in joint["axes"]]
    if "normal" in joint:
        joint["normal"] = polar(joint["normal"])
    if "pitch" in joint:
        joint["pitch"] *= -1.0
    start = joint.get("start")
    if start:
        start |= {"angles": angles(start["angles"]), "angular_velocity": axial(start["angular_velocity"])}
        start |= {key: polar(start[key]) for key in ("position", "velocity") if key in start}


def _reverse(coordinate):
    for table in (coordinate, coordinate.get("hysteresis", {}), coordinate.get("motion", {})):
        for key in {"start", "rate", "rest", "preload", "position", "acceleration", "amplitude"} & set(table):
            table[key] *= -1.0
    if "upper" in coordinate:
        coordinate["lower"] = -coordinate.pop("upper")


def run(content):
    """Return an instance after 20 ms, None if a loop opens or is singular."""
    try:
        instance = Instance(made(read_text(text_of(content)).model), **STEADY)
        for k in range(4):
            instance.step(5e-3 * k, 5e-3)
    except ComponentError:
        return None
    return instance


@settings(relaxed, max_examples=12)
@given(st.one_of(equipped(), choices(), choices(loops=True, held=True)))
def test_any_declaration_moves_in_a_mirror_as_its_image(chosen):
    """With drives, locks, friction, hysteresis, contacts, loops and rolling: signs alone change, so bitwise.

    Planar joints have axes in their plane by a rule that is no mirror of itself.
    """
    assume("planar" not in (*(joint.kind for joint in chosen.joints), *chosen.cuts))
    try:
        content = declaration(chosen)
    except ClosureError:
        assume(False)
    one, other = run(content), run(mirrored(content))
    if one is None or other is None:
        assert one is other
        return
    for body, image in zip(one.m.body, other.m.body, strict=True):
        np.testing.assert_array_equal(image.position, MIRROR * body.position)
        np.testing.assert_array_equal(image.velocity, MIRROR * body.velocity)
        np.testing.assert_array_equal(image.angular_velocity, -MIRROR * body.angular_velocity)
    for key in ("kinetic_energy", "stored_energy", "dissipated_energy"):
        assert getattr(other.m.audit, key) == getattr(one.m.audit, key)
    assert [lock.closings for lock in other.m.lock] == [lock.closings for lock in one.m.lock]
