"""Deformation of elastic craft in pictures: where the scene draws points, against ports and shapes of the structure."""

import json
from pathlib import Path

import numpy as np
import pytest

from dockfmu.base.scene import FILE, map_quantities, unpacked, variables_of
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.spacecraft.modes import declared
from dockfmu.fmus.scene import scene_files
from dockfmu.view.motion import evaluate, outward, poses
from tests.components.spacecraft.crafts import random_modes

STRUCTURES = Path(declared.__file__).with_name("structures")
CENTRE, AXES = np.array([0.4, -0.2, 0.3]), (0.3, -0.2, 0.5)
"""Of C in S: of no shipped craft, all of which have both at zero."""
PORTS = {
    "station_beam": np.array([[-20.0, 0.0, 0.0], [20.0, 0.0, 0.0]]),
    "station_frame": ElasticBody.load(STRUCTURES / "station_frame.npz").place,
}


def flown(component, ports, **values):
    """Return a craft that flies and turns, pushed at its first port for 40 steps of 5 ms."""
    start = {f"parameters.port[{k}].position": place for k, place in enumerate(ports, 1)}
    start |= {
        "parameters.mass": 7000.0, "parameters.inertia": np.diag([9e3, 3e4, 3.2e4]),
        "parameters.center_of_mass": CENTRE, "parameters.axes": AXES, "parameters.initial.position": (5.0, 6.0, 7.0),
        "parameters.initial.quaternion": (0.5, 0.5, -0.5, 0.5),
        "parameters.initial.angular_velocity": (0.02, -0.03, 0.05),
        "port[1].force": (3e3, -2e3, 1e3), "port[1].torque": (500.0, 300.0, -400.0),
    }  # fmt: skip
    craft = Instance(component, **(start | values))
    for k in range(40):
        craft.step(5e-3 * k, 5e-3)
    return craft


def drawn(craft):
    """Return (points as the page draws them in I, undeformed ones, shape of the scene) of a craft."""
    scene = json.loads(scene_files(craft.component)[FILE])
    names = [slot.name for slot in craft.component.record.variables]
    scalars, index = variables_of(names), craft.component.record.index

    def variable(one):
        if not isinstance(one, str):
            return one
        return {"v": one} if scalars[one] == (one,) else [{"v": name} for name in scalars[one]]

    def read(name):
        return craft.block[[index[name]]]

    scene = map_quantities(scene, variable)
    (shape,) = (one for one in scene["shapes"] if one["shape"] == "wireframe")
    points = unpacked(shape["positions"], "<f4").reshape(-1, 3).astype(float)
    ways = unpacked(shape["deformations"], "<f4").reshape(-1, len(points), 3)
    moved = points + np.tensordot(evaluate(shape["coordinates"], read)[0], ways, 1)
    at, turn = poses(scene, read)[shape["frame"]]
    return at[0] + outward(np.repeat(turn, len(points), axis=0), moved), points, shape


@pytest.mark.parametrize("name", ["station_beam", "station_frame"])
def test_the_structure_is_drawn_to_its_deformed_ports(name):
    """Points of the wireframe at the ports are where the ports are, of a craft whose frames C and S differ."""
    component = spacecraft.component(name, deformation=True)
    places = declared.declared_modes(name).wireframe.points
    ports = [places[np.argmin(np.linalg.norm(places - place, axis=1))] for place in PORTS[name]]
    assert np.allclose(ports, PORTS[name], atol=1e-6)
    craft = flown(component, [CENTRE + place for place in ports])
    points, rest, _ = drawn(craft)
    for port, place in zip(craft.m.port, ports, strict=True):
        here = int(np.argmin(np.linalg.norm(rest - place, axis=1)))
        # float32 of places of 20 m
        assert points[here] == pytest.approx(np.array(port.position), abs=5e-6)
    # what is compared is deformed
    assert np.abs(np.array(craft.m.mount[0].deformation)[:3]).max() > 1e-4


def test_wings_are_drawn_at_their_roots_and_bend_from_there():
    """Each wing with the shapes of its file, turned and placed; a root does not move."""
    modes = declared.declared_modes("transport_wings")
    wing = ElasticBody.load(STRUCTURES / "transport_wing.npz")
    count, n = len(wing.points), len(wing.frequency)
    assert len(modes.wireframe.lines) == 2 * len(wing.lines)
    turned = modes.wireframe.lines[len(wing.lines) :]
    assert np.array_equal(turned, wing.lines + count)
    q = np.random.default_rng(5).normal(size=2 * n)
    # both wings have the same frequencies, in pairs
    own = [q[0::2], q[1::2]]
    moved = modes.wireframe.points + modes.wireframe.shape @ q
    for k, (place, angle) in enumerate((((-1.5, 1.2, 0.0), 0.5 * np.pi), ((-1.5, -1.2, 0.0), -0.5 * np.pi))):
        R = np.array(from_angles(0.0, angle, 0.0)).T
        expected = place + (wing.points + wing.point_shape @ own[k]) @ R.T
        assert moved[k * count : (k + 1) * count] == pytest.approx(expected, abs=1e-12)
    roots = np.linalg.norm(np.abs(modes.wireframe.points) - (1.5, 1.2, 0.0), axis=1) < 1e-9
    assert roots.sum() == 2
    assert np.abs(modes.wireframe.shape[roots]).max() < 1e-9


@pytest.mark.parametrize(("name", "coupling"), [("station_beam", "one_way"), ("transport_wings", "two_way")])
def test_the_outputs_of_deformation_change_nothing_else(name, coupling):
    """All other variables are bitwise those of the craft without them."""
    options = {"modes": name, "coupling": coupling}
    plain, shown = (
        flown(spacecraft.component(**options, deformation=given), [(3.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
        for given in (False, True)
    )
    index = shown.component.record.index
    for slot in plain.component.record.variables:
        assert plain.block[slot.index] == shown.block[index[slot.name]], slot.name
    more = {slot.name for slot in shown.component.record.variables} - {
        slot.name for slot in plain.component.record.variables
    }
    assert more == {f"elastic.coordinate[{j}]" for j in range(1, len(plain.m.elastic.coordinate) + 1)}
    assert np.array_equal(shown.m.elastic.coordinate, plain.m.elastic.coordinate)
    assert np.abs(shown.m.elastic.coordinate).max() > 0.0
    assert "wireframe" not in scene_files(plain.component)[FILE].decode()


def test_modes_that_are_not_used_are_not_shown():
    """Coordinates beyond `modes_used` are zero, whatever their start."""
    modes = declared.declared_modes("transport_wings")
    object.__setattr__(modes, "initial_coordinate", np.ones(8))
    craft = flown(
        spacecraft.component(modes, deformation=True),
        [(3.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
        **{"parameters.modes_used": 3},
    )
    assert np.all(craft.m.elastic.coordinate[:3] != 0.0)
    assert np.all(craft.m.elastic.coordinate[3:] == 0.0)


@pytest.mark.quick
@pytest.mark.parametrize("modes", [None, random_modes()], ids=["rigid", "without lines"])
def test_modes_without_lines_cannot_be_shown(modes):
    """The message says which modes can."""
    with pytest.raises(ValueError, match=r"deformation = true needs modes with lines to draw: those of a beam or"):
        spacecraft.component(modes, deformation=True)
