"""Modes of spacecraft from files of `dockfmu reduce`: appendages, and the structure of a whole craft."""

from __future__ import annotations

import numpy as np
import pytest

import dockfmu
from benchmarks.coupling.hub_and_beam import hub_and_beam
from dockfmu.components import spacecraft
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.components.spacecraft.modes.reduced import appendage_modes, moved_coupling
from tests.components.multibody.elastic_models import random_elastic
from tests.dockfmu.elastic import models

BODIES = hub_and_beam()
NONE = (0.0, 0.0, 0.0)
DECREMENT = 2.0 * np.pi * 0.005 / np.sqrt(1.0 - 0.005**2)
"""Of 0.005 of the critical damping, that of the files."""


def beam(folder, interface=(1, 21), modes=4, frame=1):
    return dockfmu.reduce(models.beam(folder), interface=list(interface), modes=modes, frame=frame)


@pytest.mark.quick
def test_invariants_move_to_the_centre_of_mass_of_the_craft():
    """Against the invariants of the same bodies computed there."""
    random = np.random.default_rng(2)
    place, R = random.normal(size=3), np.array(from_angles(0.4, -0.3, 0.7)).T
    k, n = 6, 4
    at, offset, mass = random.normal(size=(k, 3)), 0.1 * random.normal(size=(k, 3)), random.uniform(0.2, 1.0, k)
    root = random.normal(size=(k, 3, 3))
    inertia, shape = np.einsum("kij,klj->kil", root, root), random.normal(size=(k, 6, n))
    body = random_elastic(1)
    object.__setattr__(body, "invariants", ElasticInvariants.of_bodies(mass, at, offset, inertia, shape))
    found = moved_coupling(body, place, R)
    turned = np.einsum("ij,kja->kia", np.kron(np.eye(2), R), shape)
    own = ElasticInvariants.of_bodies(
        mass, place + at @ R.T, offset @ R.T, np.einsum("ij,kjl,ml->kim", R, inertia, R), turned
    )
    assert found.translation == pytest.approx(own.translation, abs=1e-12)
    assert found.rotation == pytest.approx(own.rotation, abs=1e-12)
    assert found.inertia == pytest.approx(own.inertia_slope, abs=1e-12)
    assert found.curvature == pytest.approx(own.inertia_curvature, abs=1e-12)
    assert found.gyration == pytest.approx(own.gyration.transpose(0, 2, 1), abs=1e-12)


@pytest.mark.quick
def test_spec11_oracle_O6_hub_with_the_beam_as_an_appendage(tmp_path):
    """The craft of O6 from the file of its beam alone: coupling of the same bodies, and the motion after a push."""
    body = beam(tmp_path, interface=(1,))
    modes = appendage_modes([(body, -BODIES.center, NONE)], [NONE, NONE], [NONE])
    expected = BODIES.modes()
    assert modes.frequency == pytest.approx(expected.frequency, rel=1e-7)
    for name in ("translation", "rotation"):
        one, other = (np.abs(getattr(which.coupling, name)) for which in (modes, expected))
        assert one == pytest.approx(other, abs=1e-6)
    assert modes.decrement == pytest.approx(2 * np.pi * 0.005, rel=1e-4)
    crafts = [BODIES.craft(decrement=DECREMENT), BODIES.craft(modes=modes)]
    for craft in crafts:
        for k in range(30):
            craft.m.port[0].force[:] = [0.0, 1000.0, 500.0] if k < 10 else 0.0
            craft.step(0.01 * k, 0.01)
    one, other = crafts
    assert other.m.body.angular_velocity == pytest.approx(np.array(one.m.body.angular_velocity), abs=1e-9)
    assert np.abs(other.m.elastic.coordinate).max() > 1e-3


DECLARED = """
name = "wings"
ports = { value = [[0, 0, 0], [12, 0, 0]], unit = "m", source = "test" }
thrusters = { value = [[0, 0, 0]], unit = "m", source = "test" }
[appendages]
value = [
    { file = "beam.npz", place = [2, 0, 0] },
    { file = "beam.npz", place = [-2, 0, 0], angles = [3.141592653589793, 0, 0] },
]
unit = "1"
source = "test"
"""


@pytest.mark.quick
def test_a_declaration_with_two_wings_makes_a_symmetric_craft(tmp_path):
    body = beam(tmp_path)
    body.write(tmp_path / "beam.npz")
    file = tmp_path / "wings.toml"
    file.write_text(DECLARED, encoding="utf-8")
    modes = declared_modes(str(file))
    assert len(modes.frequency) == 2 * len(body.frequency)
    # port 1 is on the craft, port 2 on the tip of the first wing
    assert not modes.port[0].any()
    assert np.sort(np.abs(modes.port[1]).max(axis=0))[-len(body.frequency)] > 0.0
    # opposite wings: a symmetric mode moves the craft, an antisymmetric one turns it
    first = modes.coupling.translation[:, :2]
    assert np.abs(first[:, 0]) == pytest.approx(np.abs(first[:, 1]), abs=1e-9)
    assert spacecraft.component(str(file), coupling="two_way").name == "TwoWaySpacecraft"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('file = "beam.npz", place = [2, 0, 0]', "place = [2, 0, 0]"), "appendages, 1: no file"),
        (("place = [2, 0, 0]", "at = [2, 0, 0]"), "appendages, 1: unknown key at"),
        (("place = [2, 0, 0]", "place = [2, 0]"), "appendages, 1: place = \\[2, 0\\] must be three numbers"),
        (('"beam.npz"', '"other.npz"'), "other.npz: there is no such file"),
        (("[[0, 0, 0], [12, 0, 0]]", "[1, 2]"), "1 is no position"),
        (('"beam.npz"', '"mean.npz"'), "beam is in mean axes, an appendage is held"),
    ],
)
def test_what_is_wrong_with_appendages_is_told_with_the_file(tmp_path, change, told):
    beam(tmp_path).write(tmp_path / "beam.npz")
    beam(tmp_path, frame="mean").write(tmp_path / "mean.npz")
    file = tmp_path / "wings.toml"
    file.write_text(DECLARED.replace(*change), encoding="utf-8")
    with pytest.raises(ValueError, match=told) as error:
        declared_modes(str(file))
    assert "npz" in str(error.value) or "wings.toml" in str(error.value)


@pytest.mark.quick
def test_the_structure_of_a_whole_craft_is_a_modal_model(tmp_path):
    """A free beam in mean axes: its modes carry no momentum; another frame is refused."""
    for name, frame in (("whole", "mean"), ("held", 1)):
        beam(tmp_path, frame=frame).write(tmp_path / f"{name}.npz")
        (tmp_path / f"{name}.toml").write_text(
            f'file = {{ value = "{name}.npz", unit = "1", source = "test" }}\n'
            'ports = { value = [1, 21], unit = "1", source = "test" }\n'
            'thrusters = { value = [21], unit = "1", source = "test" }\n',
            encoding="utf-8",
        )
    modes = declared_modes(str(tmp_path / "whole.toml"))
    assert np.abs(modes.coupling.translation).max() < 1e-9
    assert modes.port.shape == (2, 6, len(modes.frequency))
    with pytest.raises(ValueError, match="declare it as one of the appendages"):
        declared_modes(str(tmp_path / "held.toml"))
