"""Scenes of systems: full names, inputs as what sets them, and FMUs without a scene."""

import json
import zipfile

import pytest

from dockfmu.base.scene import FILE
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from dockfmu.view.recording import names_in
from dockfmu.view.scenes import poses_among, scenes_of


@pytest.fixture
def with_scene(oscillator, tmp_path):
    """A function that writes Oscillator.fmu with another scene, or with None."""

    def write(scene) -> Structure:
        file = tmp_path / "Oscillator.fmu"
        with zipfile.ZipFile(oscillator) as source, zipfile.ZipFile(file, "w") as target:
            for name in source.namelist():
                if name != FILE:
                    target.writestr(name, source.read(name))
            if scene is not None:
                target.writestr(FILE, scene if isinstance(scene, str) else json.dumps({"scene": 1, **scene}))
        system = Structure("pair")
        system.add("left", file)
        system.add("right", file, {"force": 3.0})
        system.connect("left", "position", "right", "force", factor=0.2, convert_units=False)
        return system

    return write


def numbers(variable):
    return {"devices": [{"title": "x", "items": [{"device": "number", "label": "y", "variable": variable}]}]}


def shown(scenes, element):
    return scenes.elements[element]["devices"][0]["items"][0]["variable"]


def test_outputs_and_parameters_get_full_names(with_scene):
    scenes = scenes_of(with_scene(numbers("position")))
    assert shown(scenes, "left") == {"v": "left.position"}
    assert shown(scenes_of(with_scene(numbers("parameters.mass"))), "left") == {"p": "left.parameters.mass"}
    assert scenes.notes == ()


def test_an_input_is_what_sets_it(with_scene):
    scenes = scenes_of(with_scene(numbers("force")))
    # no variable tells the unit any more
    assert [scenes.elements[name]["devices"][0]["items"][0]["unit"] for name in ("left", "right")] == ["N", "N"]
    assert shown(scenes, "right") == {"sum": [0.0, {"product": [0.2, {"v": "left.position"}]}]}
    assert shown(scenes, "left") == 0.0


def test_a_scene_that_is_wrong_is_named_and_outputs_are_shown_instead(with_scene):
    for wrong in (numbers("nowhere"), "{", {"shapes": 3}):
        scenes = scenes_of(with_scene(wrong))
        assert scenes.notes[0].startswith("left: its scene is not used: Oscillator.fmu, resources/scene.json: ")
        assert shown(scenes, "left") == {"v": "left.position"}
    assert "the FMU has no variable 'nowhere'" in scenes_of(with_scene(numbers("nowhere"))).notes[0]


def test_a_foreign_fmu_is_drawn_by_its_ports(with_scene):
    scenes = scenes_of(with_scene(None))
    assert "left.position" in set(names_in(scenes.elements["left"]))
    pose = [*(f"port.position[{k}]" for k in (1, 2, 3)), *(f"port.quaternion[{k}]" for k in (1, 2, 3, 4))]
    assert poses_among(["x", *pose, "other.position[1]"]) == ["port"]
    assert poses_among(pose[:-1]) == []


CONTROL = {"control": "stick", "axis": "x", "label": "push", "variable": "force", "full": 5}


def test_controls_are_those_of_inputs_that_nothing_sets(with_scene):
    system = with_scene({"controls": [CONTROL]})
    scenes = scenes_of(system)
    assert scenes.elements["left"]["controls"] == [{**CONTROL, "variable": "left.force"}]
    assert scenes.elements["right"]["controls"] == []
    assert scenes.locals == ()
    # what an operator drives is recorded, and shown in the replay
    driven = scenes_of(system, ["left.force"])
    assert driven.locals == ("left.force",)
    (group,) = driven.elements["left"]["devices"]
    assert group["items"][0]["variable"] == {"v": "left.force"}
    # a foreign scene may name what is no input
    for variable in ("position", "parameters.mass"):
        foreign = scenes_of(with_scene({"controls": [{**CONTROL, "variable": variable}]}))
        assert foreign.elements["left"]["controls"] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"axis": "w"}, "is not x or y or z"), ({"control": "lever"}, "must be one of stick"),
        ({"variable": "nowhere"}, "no variable 'nowhere'"), ({"full": "nowhere"}, "no variable 'nowhere'"),
        ({"control": "choice"}, "there is no key 'axis'"),
    ],
)  # fmt: skip
def test_wrong_controls_are_refused_by_name(with_scene, change, says):
    assert says in scenes_of(with_scene({"controls": [{**CONTROL, **change}]})).notes[0]


def test_a_recording_has_the_scenes_and_all_that_they_show(central_impact):
    with read_results(central_impact.folder / "results.h5") as results:
        scenes = json.loads(results.attributes["scenes"])
        assert set(scenes) == set(results.fmus)
        names = set(names_in(scenes))
        assert len(names) > 150
        assert sorted(names - set(results.variables)) == []
        # local variables are recorded for the scene, without extremes
        assert "mechanism.contact[16].position[3]" in names
        assert not results.has_envelope("mechanism.contact[1].normal_force")
        assert results["mechanism.contact[1].normal_force"].max() > 1000.0
