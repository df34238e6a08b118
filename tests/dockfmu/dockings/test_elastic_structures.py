"""Dockings of craft whose structure is a reduced finite-element model: loads inside it (flexible 3.2), balances."""

import numpy as np
import pytest

from dockfmu import load
from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.declare.declaration import read
from dockfmu.elastic.reduce import reduce
from tests.dockfmu.declare.test_craft_with_mechanism import ROOT, block

STRUCTURES = ROOT / "components" / "spacecraft" / "modes" / "structures"


def made(name):
    """The options in the head of a model, with which its body was reduced."""
    return {
        "station_frame": {
            "interface": [1, 2],
            "cut_off": 8.0,
            "sections": {"module": [(3, 1)], "truss": [(5, 6)], "wing": [(8, 12)]},
        },
        "transport_wing": {"interface": [1], "modes": 4, "frame": 1, "sections": {"root": [(1, 2)]}},
    }[name]


@pytest.mark.parametrize("name", ["station_frame", "transport_wing"])
def test_the_bodies_are_those_of_their_models(name):
    """To the digits that other libraries of linear algebra leave; signs of shapes are free."""
    kept, again = ElasticBody.load(STRUCTURES / f"{name}.npz"), reduce(STRUCTURES / f"{name}.toml", **made(name))
    assert again.frequency == pytest.approx(kept.frequency, rel=1e-7)
    assert again.sections.names == kept.sections.names
    assert again.sections.node == pytest.approx(kept.sections.node, abs=1e-7 * np.abs(kept.sections.node).max())
    assert again.source == kept.source
    assert kept.ok


def test_mass_and_places_of_the_craft_are_those_of_their_structures():
    """The set of the station against the invariants of its structure, and the ports of both craft."""
    station = block(read("atv_probe_cone_elastic_station").elements["station"])
    body = ElasticBody.load(STRUCTURES / "station_frame.npz")
    p = station.parameters
    assert p.mass == pytest.approx(body.invariants.mass, rel=1e-12)
    assert np.array(p.inertia) == pytest.approx(body.invariants.inertia, abs=1e-3)
    for port, place in zip(p.port, body.place, strict=True):
        assert np.array(port.position) == pytest.approx(place, abs=1e-9)
    craft = block(read("soyuz_elastic_wings").elements["chaser"])
    modes = declared_modes("transport_wings")
    assert modes.sections.names == ("appendage 1 root", "appendage 2 root")
    assert len(craft.modes.frequency) == 8
    # both wings point along y and move the craft across their panels, one each in a mode
    carried = np.abs(modes.coupling.translation[2, :2]) ** 2
    assert carried == pytest.approx([carried[0]] * 2)
    assert carried[0] > 20.0


@pytest.mark.slow
def test_the_section_behind_the_port_carries_what_does_not_accelerate_the_port():
    """Newton for the modules between section and port: 51.8 t, nearly rigid; impulses until 3 s.

    The port's motion stands for that of these modules; they bend by a hundredth of the rest of the station.
    """
    force = "station.port[1].force[1]"
    run = load("atv_probe_cone_elastic_station").run(
        stop=3.0, record=[force, "station.section[1].force[1]", "station.port[1].velocity[1]"]
    )
    mass = 6000.0 + 2.5 * 10.0 / 3.0 * 5500.0
    h = np.diff(run.time, prepend=0.0)
    pushed, passed = (float(np.sum(run[name] * h)) for name in (force, "station.section[1].force[1]"))
    gained = mass * (run["station.port[1].velocity[1]"][-1] - run["station.port[1].velocity[1]"][0])
    assert abs(pushed) > 500.0
    assert pushed - passed == pytest.approx(gained, abs=0.02 * abs(pushed))
    assert abs(passed) > 0.5 * abs(pushed)


@pytest.mark.slow
def test_a_craft_with_two_elastic_wings_docks():
    """To the capture: balances of `two_way` with a mechanism, and loads at the roots that the wings' motion makes."""
    run = load("soyuz_elastic_wings").run(
        stop=3.0, record=["chaser.section[1].force[3]", "chaser.section[2].force[3]", "mechanism.sensor.capture"]
    )
    assert run["mechanism.sensor.capture"].any()
    audit = run.result.summary()["audit"]
    assert audit["linear_momentum_drift"] < 1e-10
    assert audit["energy_residual"] < 1e-3
    for k in (1, 2):
        assert 5.0 < np.abs(run[f"chaser.section[{k}].force[3]"]).max() < 500.0
