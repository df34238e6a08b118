"""Elastic bodies in declarations: what is read, what the text contains, and what bad input gets."""

from dataclasses import replace

import numpy as np
import pytest

import dockfmu
from dockfmu.components.multibody import component
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import ModelError, read_model, read_text
from dockfmu.components.multibody.model.elastic import expanded
from dockfmu.components.multibody.reference.from_model import rigid_system
from tests.dockfmu.elastic import models

pytestmark = pytest.mark.quick

SWING = """
name = "swing"
[bodies.beam]
elastic = "beam.npz"
{more}
[bodies.ball]
mass = 3
inertia = [0.1, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
bodies = ["base", "beam"]
points = [[0, 0, 0], [{at}, 0, 0]]
axis = [0, 1, 0]
[joints.tip]
kind = "spherical"
bodies = ["beam", "ball"]
points = [[5, 0, 0], [0, 0, 0.2]]
[springs.tether]
bodies = ["base", "beam"]
points = [[0, 0, 1], [0, 0, 0]]
stiffness = 10
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("elastic")
    dockfmu.reduce(models.beam(place), interface=[1, 31, 21], modes=2).write(place / "beam.npz")
    return place


def declared(folder, more="", at=-5.0, text=SWING):
    file = folder / "swing.toml"
    file.write_text(text.format(more=more, at=at), encoding="utf-8")
    return file


def told(file):
    with pytest.raises(ModelError) as error:
        read_model(file)
    return str(error.value)


def test_nodes_become_bodies_and_the_text_is_complete(folder, tmp_path):
    found = read_model(declared(folder))
    beam = found.model.bodies[0]
    assert (beam.mass, beam.settled) == (pytest.approx(20.0), False)
    whole = expanded(found.model)
    assert [body.name for body in whole.bodies] == ["beam", "ball", "beam_node1", "beam_node21", "beam_node31"]
    assert whole.joints[0].successor == "beam_node1"
    assert whole.springs[0].second == "beam_node31"
    assert [joint.predecessor for joint in whole.joints if joint.deforms] == ["beam_node1", "beam", "beam"]
    # the text alone, elsewhere, is the same system
    again = component(found.text)
    same = read_text(found.text, folder=tmp_path).model.bodies[0]
    assert np.array_equal(same.elastic.shape, beam.elastic.shape)
    names = {slot.name for slot in again.record.slots}
    assert {"elastic.beam.strain_energy", "node.beam_node21.displacement[3]", "mode.beam.mode1.coordinate"} <= names


def test_kept_modes_bound_the_longest_micro_step_and_residual_ones_do_not(folder, tmp_path):
    """The beam keeps modes of up to 20 rad/s; of a beam that is ten times as stiff and short they are faster."""
    record = component(declared(folder)).record
    start = {slot.name: slot.start for slot in record.slots}
    assert start["parameters.stepping.longest_micro_step"] == 1e-3
    stiff = models.BEAM.replace('"100 MPa"', '"1000000 MPa"').replace("shear = 2e4", "shear = 2e8")
    body = dockfmu.reduce(models.beam(tmp_path, stiff), interface=[1, 31, 21], modes=2)
    body.write(tmp_path / "beam.npz")
    kept = body.frequency[~body.residual].max()
    assert 1e3 < kept < body.frequency.max() / 2.0
    start = {slot.name: slot.start for slot in component(declared(tmp_path)).record.slots}
    assert start["parameters.stepping.longest_micro_step"] == pytest.approx(max(0.5 / kept, 1e-4))


def test_reach_attaches_beside_a_node(folder):
    whole = expanded(read_model(declared(folder, "reach = 0.5\nelastic_start = 'static'", -4.6)).model)
    assert whole.joints[0].on_successor.point == (pytest.approx(0.4), 0.0, 0.0)
    assert whole.bodies[0].settled


def test_a_point_at_no_node_is_refused_with_the_nearest(folder):
    message = told(declared(folder, at=-4.6))
    assert "swing.toml: joints.hinge.points: [-4.6, 0, 0] on the elastic body beam is 0.4 m from its nearest" in message
    assert "interface node, 1 at [-5, 0, 0] m in its frame" in message
    assert "bodies.beam.reach" in message


def test_keys_of_rigid_bodies_and_unknown_starts_are_refused(folder):
    message = told(declared(folder, "mass = 3\nelastic_start = 'still'\nreach = -1"))
    assert "bodies.beam.mass: there is no such key" in message
    assert "bodies.beam.elastic_start = 'still': must be one of rest, static" in message
    assert "bodies.beam.reach = -1: must not be negative" in message


def test_missing_damaged_and_foreign_files_are_named(folder, tmp_path):
    message = told(declared(tmp_path))
    assert "bodies.beam.elastic" in message
    assert "beam.npz: there is no such file" in message
    (tmp_path / "beam.npz").write_bytes((folder / "beam.npz").read_bytes()[:300])
    assert "damaged" in told(declared(tmp_path))
    np.savez(tmp_path / "beam.npz", a=np.zeros(3))
    assert "is no elastic body" in told(declared(tmp_path))


def test_too_many_shapes_are_refused(folder, tmp_path):
    dockfmu.reduce(models.beam(tmp_path), interface=[1, 31, 21], modes=60).write(tmp_path / "beam.npz")
    assert "a body of a multibody system at most 60" in told(declared(tmp_path))


def test_a_body_with_the_name_of_a_node_is_refused(folder):
    message = told(declared(folder, text=SWING.replace("ball", "beam_node21")))
    assert "bodies.beam_node21: this is the name of node 21 of the elastic body beam" in message


def test_formulations_of_rigid_bodies_refuse_elastic_ones(folder):
    """ABA and CART in numpy; `dockfmu.Multibody` takes elastic bodies."""
    model = read_model(declared(folder)).model
    with pytest.raises(ModelError, match=r"bodies\.beam: is elastic"):
        rigid_system(model)
    assert "beam.mode1" in Multibody(model).rates


def test_damaged_embedded_data_are_told(folder):
    with pytest.raises(ModelError, match=r"bodies\.beam\.elastic: the embedded file is damaged"):
        read_text(SWING.replace("beam.npz", "data:application/x-npz;base64,@@").format(more="", at=-5.0))


def test_bodies_and_embedded_data_of_strangers_are_told(folder, tmp_path):
    """Name what is wrong: each of these, found by the fuzz script of models, ended in an exception of a library."""
    good = read_model(declared(folder)).text
    start = good.index("base64,") + len("base64,")
    for wrong, says in (
        (good[:start] + "\u0661" + good[start:], "the embedded file is damaged"),
        (good[: start + 400] + "AAAA" + good[start + 404 :], "damaged"),
        (good.replace("base64,", "base64 "), "neither the name of a file nor one that is embedded"),
    ):
        with pytest.raises(ModelError, match=says) as error:
            read_text(wrong)
        assert len(str(error.value)) < 1000
    with np.load(folder / "beam.npz") as content:
        arrays = {name: content[name] for name in content.files}
    mass = arrays["invariants.modal_mass"]
    for k, wrong_mass in enumerate((-mass, mass + np.triu(np.full_like(mass, 0.1), 1))):
        np.savez(tmp_path / "beam.npz", **{**arrays, "invariants.modal_mass": wrong_mass})
        assert "'invariants.modal_mass' is not symmetric and positive" in told(declared(tmp_path)), k


def test_sections_are_variables_of_the_fmu_and_need_names_of_variables(folder):
    cut = dockfmu.reduce(folder / "beam.toml", interface=[1, 31, 21], modes=2, sections={"truss": [(29, 21)]})
    cut.write(folder / "beam.npz")
    record = component(declared(folder)).record
    listed = {slot.name: slot.field for slot in record.variables}
    assert listed["section.beam.truss.force[3]"].unit == "N"
    assert listed["section.beam.truss.torque[1]"].causality == "output"
    for names in (("of 2",), ("a", "a")):
        sections = replace(
            cut.sections,
            names=names,
            **{name: np.repeat(getattr(cut.sections, name), len(names), axis=0) for name in cut.sections.shapes(0, 0)},
        )
        replace(cut, sections=sections).write(folder / "beam.npz")
        assert f"section {names[0]!r} of beam makes no name of a variable" in told(declared(folder))
