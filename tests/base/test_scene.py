"""Scenes as data: what is refused, with the place and the name."""

import copy
import json

import numpy as np
import pytest

from dockfmu.base.scene import LONGEST, SceneError, check_scene, map_quantities, packed, read_scene, variables_of

NAMES = [
    *(f"body.position[{k}]" for k in (1, 2, 3)),
    *(f"body.quaternion[{k}]" for k in (1, 2, 3, 4)),
    *(f"cone.x[{k}]" for k in (1, 2, 3, 4, 5)),
    *(f"cone.r[{k}]" for k in (1, 2, 3, 4, 5)),
    "radius",
    "flag",
    "stroke",
]
SCENE = {
    "scene": 1,
    "frames": {
        "body": {"position": "body.position", "quaternion": "body.quaternion"},
        "tip": {"parent": "body", "position": [{"sum": ["radius", 0.5]}, 0, 0]},
    },
    "view": {"frame": "body", "size": 1, "through": {"frame": "tip", "point": [1, 0, 0]}},
    "shapes": [
        {"shape": "sphere", "frame": "tip", "radius": "radius", "lit": ["flag"], "label": "head"},
        {"shape": "revolution", "frame": "body", "x": "cone.x", "r": {"product": [2, "cone.r"]}},
        {"shape": "radial", "frame": "body", "points": [[0, 1], "body.position"], "count": 3},
    ],
    "devices": [{"title": "Damper", "items": [{"device": "bar", "label": "stroke", "variable": "stroke"}]}],
    "curves": ["stroke"],
}


def checked(change=lambda scene: None):
    scene = copy.deepcopy(SCENE)
    change(scene)
    check_scene(scene, variables_of(NAMES), "Thing.fmu")


def test_a_scene_that_is_right_is_taken():
    checked()
    assert read_scene(json.dumps(SCENE).encode(), variables_of(NAMES), "Thing.fmu") == SCENE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["shapes"][0].update(radius="radios"), r"\[1\], sphere.radius: .*'radios'; did you mean radius"),
        (lambda s: s["frames"]["body"].update(position="body.place"), r"body.position: .*'body.place'"),
        (lambda s: s["shapes"][0].update(lit="flags"), r"lit\[1\]: .*'flags'; did you mean flag"),
        (lambda s: s["devices"][0]["items"][0].update(variable="strike"), r"items\[1\].variable: .*'strike'"),
        (lambda s: s["curves"].append("body.position"), r"curves\[2\]: 'body.position' is not the name of a scalar"),
        (lambda s: s["view"]["through"].update(point=["lost", 0, 0]), r"through.point\[1\]: .*'lost'"),
        (lambda s: s["shapes"][0].update(frame="tap"), r"there is no frame 'tap'; did you mean tip"),
        (lambda s: s["frames"]["body"].update(parent="tip"), r"frames.body.parent: there is no frame 'tip'"),
        (lambda s: s["shapes"][0].update(shape="ball"), r"shape = 'ball': must be one of revolution, sphere"),
        (lambda s: s["shapes"][0].pop("radius"), r"shapes\[1\], sphere: needs 'radius'"),
        (lambda s: s["shapes"][0].update(radios=1), r"there is no key 'radios'; did you mean radius"),
        (lambda s: s["shapes"][0].update(radius="cone.x"), r"the size of a number is 1, not 5"),
        (lambda s: s["shapes"][0].update(radius=float("nan")), r"nan is not a quantity"),
        (lambda s: s["shapes"][0].update(radius={"sum": ["cone.x", "body.position"]}), r"sum of unequal sizes 3 and 5"),
        (lambda s: s["shapes"][0].update(radius={"tan": "radios"}), r"radius.tan: .*'radios'"),
        (lambda s: s["shapes"][0].update(radius={"exp": "radius"}), r"there is no 'exp' of quantities"),
        (lambda s: s.update(scene=2), r"version 2; this dockfmu reads version 1"),
        (lambda s: s.update(shapes={}), r"shapes: \{\} is not a list"),
        (lambda s: s["devices"][0]["items"][0].update(device="dial"), r"a dial needs limits"),
    ],
)  # fmt: skip
def test_a_scene_that_is_wrong_is_refused_by_name(change, message):
    with pytest.raises(SceneError, match=rf"^Thing.fmu: .*{message}"):
        checked(change)


def wireframe(**change):
    points, ways = np.zeros((3, 3)), np.ones((2, 3, 3))
    shape = {"positions": packed(points, "<f4"), "edges": packed(np.array([[0, 1], [1, 2]]), "<u4"),
             "deformations": packed(ways, "<f4"), "coordinates": ["radius", "stroke"]}  # fmt: skip
    return {"shape": "wireframe", "frame": "body", **shape, **change}


def test_a_wireframe_has_a_displacement_of_each_point_for_each_coordinate():
    """Refuse numbers that do not fit each other, by their counts."""
    checked(lambda scene: scene["shapes"].append(wireframe()))
    one = packed(np.ones((1, 3, 3)), "<f4")
    checked(lambda scene: scene["shapes"].append(wireframe(coordinates="radius", deformations=one)))
    for change, message in (
        ({"coordinates": ["radius"]}, r"18 numbers of deformations; 9 are needed for 3 points and 1 coordinates"),
        ({"deformations": one}, r"9 numbers of deformations; 18 are needed for 3 points and 2 coordinates"),
        ({"edges": packed(np.array([[0, 3]]), "<u4")}, r"corner 3 of 3 points"),
        ({"edges": packed(np.array([0, 1, 2]), "<u4")}, r"edges: 3 numbers; groups of 2"),
        ({"deformations": packed(np.full((2, 3, 3), np.nan), "<f4")}, r"deformations: a number is not finite"),
        ({"coordinates": ["radius", "nowhere"]}, r"coordinates\[2\]: the FMU has no variable 'nowhere'"),
        ({"positions": "?"}, r"positions: not numbers in base64"),
    ):
        with pytest.raises(SceneError, match=rf"^Thing.fmu: shapes\[4\].*{message}"):
            checked(lambda scene, change=change: scene["shapes"].append(wireframe(**change)))


def test_quantities_are_not_nested_without_end():
    deep = "radius"
    for _ in range(20):
        deep = {"sum": [deep]}
    with pytest.raises(SceneError, match="nested too deeply"):
        checked(lambda scene: scene["shapes"][0].update(radius=deep))


@pytest.mark.parametrize("data", [b"{", b"[" * 100_000, b"\xff", b"[]", b'"scene"', b" " * (LONGEST + 1)])
def test_bytes_that_are_no_scene_are_refused(data):
    with pytest.raises(SceneError, match=r"Thing\.fmu"):
        read_scene(data, variables_of(NAMES), "Thing.fmu")


def test_every_name_of_a_quantity_is_replaced_and_no_other_text():
    seen = []

    def change(quantity):
        seen.append(quantity)
        return {"v": quantity} if isinstance(quantity, str) else quantity

    made = map_quantities(SCENE, change)
    assert {name for name in seen if isinstance(name, str)} == {
        "body.position",
        "body.quaternion",
        "radius",
        "flag",
        "cone.x",
        "cone.r",
        "stroke",
    }
    assert made["shapes"][0] == {**SCENE["shapes"][0], "radius": {"v": "radius"}, "lit": [{"v": "flag"}]}
    assert made["frames"]["tip"]["parent"] == "body"
    assert made["view"]["frame"] == "body"
