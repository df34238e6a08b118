"""Scenes of components: what is carried in their FMUs, and what is refused."""

import json
import zipfile
from dataclasses import replace

import pytest

from dockfmu import fmus
from dockfmu.base.scene import FILE, SceneError
from dockfmu.components import multibody
from dockfmu.components.multibody.declaration import read_model
from dockfmu.fmus import catalogue
from dockfmu.fmus.scene import SceneFileError, scene_files
from tests.fmus import gadget

WITH_SCENE = ("Spacecraft", "ProbeMechanism", "ProbeMechanismTwoBrakes", "ProbeMechanismExternal", "ContactProbeCone",
              "ProbeMechanismMovableLimiter",
              "PeripheralMechanism", "PeripheralMechanismExternal", "ContactRing", "PeripheralCyclogram",
              "HydraulicRingMechanism", "ElectricRingMechanism", "GearedRingMechanism", "HuntRingMechanism",
              "ProbeCyclogram", "AttitudeControl")  # fmt: skip

MODELS = multibody.EXAMPLE.parent


def scene_of(component):
    return json.loads(scene_files(component)[FILE])


@pytest.fixture(scope="module")
def scenes():
    return {name: scene_of(catalogue.component(name)) for name in WITH_SCENE}


def labels(scene, shape):
    return [entry["label"] for entry in scene["shapes"] if entry["shape"] == shape]


def test_each_shape_that_touches_is_there_once(scenes):
    for name in ("ProbeMechanism", "ProbeMechanismTwoBrakes", "ContactProbeCone"):
        scene = scenes[name]
        assert labels(scene, "sphere") == ["head", "roller 1", "roller 2", "roller 3"]
        assert labels(scene, "contact") == [f"contact {k}" for k in range(1, 17)]
        assert labels(scene, "revolution")[0] == "receiving cone"
    assert labels(scenes["ProbeMechanismExternal"], "contact") == []


def test_bars_are_those_of_the_axial_device(scenes):
    def axial(name):
        (group,) = (group for group in scenes[name]["devices"] if group["title"] == "Axial damper")
        return [item["label"] for item in group["items"]]

    assert axial("ProbeMechanism") == ["travel", "spring, stroke", "friction brake, slip", "nut, speed", "nut, torque"]
    v3 = axial("ProbeMechanismMovableLimiter")
    assert v3 == ["travel", "FrB1, stroke", "FrB2, slip", "limiter, XLimD", "nut, torque"]
    assert axial("ProbeMechanismTwoBrakes") == ["travel", "FrB1, stroke", "FrB2, slip", "nut, torque"]


def test_the_housing_is_behind_a_movable_limiter_and_the_limiter_elsewhere(scenes):
    assert "position" not in scenes["ProbeMechanism"]["frames"]["housing"]
    assert "limiter.travel" in str(scenes["ProbeMechanismMovableLimiter"]["frames"]["housing"]["position"])
    for name in ("ProbeMechanism", "ProbeMechanismMovableLimiter"):
        assert "housing_behind_limiter" not in scenes[name]["frames"]


def test_rings_legs_and_cables_of_the_peripheral_mechanism(scenes):
    scene = scenes["PeripheralMechanism"]
    assert labels(scene, "rod") == [*(f"leg {k}" for k in range(1, 7)), *(f"cable {k}" for k in range(1, 4))]
    assert labels(scene, "radial") == ["passive petals", "active petals"]
    assert labels(scenes["PeripheralMechanismExternal"], "radial") == []
    assert labels(scenes["ContactRing"], "radial") == ["passive petals", "active petals"]


def test_repeated_tables_follow_the_number_of_ports_and_thrusters():
    scene = scene_of(catalogue.component("Spacecraft", ports=3, thrusters=4))
    assert [name for name in scene["frames"] if name.startswith("port")] == ["port1", "port2", "port3"]
    assert [s["origin"] for s in scene["shapes"] if s["shape"] == "arrow"] == [
        f"parameters.thruster[{k}].position" for k in (1, 2, 3, 4)
    ]


def of_file(tmp_path, text, **files):
    """The gadget with this scene beside it."""
    for name, content in files.items():
        (tmp_path / f"{name}.toml").write_text(content)
    (tmp_path / "scene.toml").write_text(text)
    return replace(gadget.component(), module=tmp_path / "ports.py")


def test_a_declared_mechanism_is_shown_by_itself_where_it_meets_a_unit():
    """All its surfaces are in a view about the port of the unit: a mechanism of half a metre between craft of 10 m."""
    model = read_model(MODELS / "small_probe.toml").model
    view = scene_of(multibody.component(MODELS / "small_probe.toml"))["view"]
    assert view["frame"] == "target of the system"
    farthest = max(abs(x) for surface in model.surfaces for vertex in surface.vertices for x in vertex)
    assert farthest < view["size"] < 3.0 * farthest
    assert "view" not in scene_of(multibody.component(MODELS / "solar_array.toml"))


def test_a_system_that_flies_freely_is_shown_without_its_base():
    """It may be kilometres from it; a base that something hangs on is shown. Each lock has a lamp."""
    scene = scene_of(multibody.component(MODELS / "solar_array.toml"))
    assert "base" not in {frame["label"] for frame in scene["frames"].values()}
    assert "base" in {frame["label"] for frame in scene_of(multibody.component(multibody.EXAMPLE))["frames"].values()}
    (locks,) = (group["items"] for group in scene["devices"] if group["title"] == "Locks")
    assert [lamp["variable"] for lamp in locks] == [f"lock.{n}.closed" for n in ("root", "hinge1", "hinge2", "hinge3")]


def test_a_missing_variable_is_refused_by_name(tmp_path):
    made = of_file(tmp_path, '[[shapes]]\nshape = "triad"\nlength = 1\nframe = "a"\n[frames.a]\nposition = "no.where"')
    with pytest.raises(SceneError, match=r"frames\.a\.position: the FMU has no variable 'no\.where'"):
        scene_files(made)


def test_a_part_for_another_build_is_left_out(tmp_path):
    text = (
        '[[devices]]\ntitle = "x"\nwhen = "no.where"\n[[devices.items]]\ndevice = "bar"\nlabel = "y"\nvariable = "no"'
    )
    assert scene_of(of_file(tmp_path, text))["devices"] == []


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(SceneFileError, match=r"scene\.toml: Invalid value"):
        scene_files(of_file(tmp_path, "frames = "))
    with pytest.raises(SceneFileError, match="includes itself"):
        scene_files(of_file(tmp_path, 'include = [{ file = "scene.toml" }]'))
    with pytest.raises(SceneFileError, match=r"other\.toml"):
        scene_files(of_file(tmp_path, 'include = [{ file = "other.toml" }]'))


def test_the_scene_is_in_the_fmu_and_changes_neither_guid_nor_state(tmp_path):
    component = catalogue.component("ProbeCyclogram")
    with zipfile.ZipFile(fmus.build(component, tmp_path)) as archive:
        assert archive.read(FILE) == scene_files(component)[FILE]
    without = replace(component, module=tmp_path / "elsewhere.py")
    assert scene_files(without) == {}


def test_copies_for_an_array_that_there_is_not_are_refused(tmp_path):
    made = of_file(tmp_path, '[[shapes]]\nshape = "triad"\nlength = 1\nrepeat = "no.array"')
    with pytest.raises(SceneError, match=r"repeat = 'no\.array': the component has no such array"):
        scene_files(made)
