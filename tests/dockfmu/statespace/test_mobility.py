"""Mobilities of ports against closed forms, and against linear models, which take another way."""

import json
from dataclasses import replace

import numpy as np
import pytest

import dockfmu
from dockfmu.cli import main
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.declare.declaration import read
from dockfmu.statespace.errors import LinearisationError
from tests.dockfmu.declare.test_craft_with_mechanism import block

CRAFT = {
    "parameters.mass": 7000.0,
    "parameters.inertia": [[8e3, 100.0, 0.0], [100.0, 3e4, 200.0], [0.0, 200.0, 3.5e4]],
    "parameters.port[1].position": [3.0, 0.4, -0.2],
    "parameters.port[1].angles": [0.3, 0.2, -0.5],
}


def skew(r):
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def axes(yaw, pitch, roll):
    """Return body axes -> axes of the port, of angles as conventions 2 has them: yaw about y, pitch z, roll x."""
    c, s = np.cos, np.sin
    y = np.array([[c(yaw), 0, -s(yaw)], [0, 1, 0], [s(yaw), 0, c(yaw)]])
    z = np.array([[c(pitch), s(pitch), 0], [-s(pitch), c(pitch), 0], [0, 0, 1]])
    x = np.array([[1, 0, 0], [0, c(roll), s(roll)], [0, -s(roll), c(roll)]])
    return x @ z @ y


def rigid(mass, inertia, arm, turn=None):
    """Return J M^-1 J^T of a rigid body at a port with its own axes."""
    J = np.block([[np.eye(3), -skew(np.asarray(arm))], [np.zeros((3, 3)), np.eye(3)]])
    M = np.block([[mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), np.asarray(inertia)]])
    T = np.kron(np.eye(2), np.eye(3) if turn is None else turn)
    return T @ J @ np.linalg.solve(M, J.T) @ T.T


def test_spec11_section_4_2_mobility_of_a_rigid_craft_is_the_closed_form(craft):
    """And what a linear model of the same port says, which moves the inputs of the FMU in another way."""
    port = dockfmu.mobility(craft, settings=CRAFT)["Spacecraft.port[1]"]
    closed = rigid(7000.0, CRAFT["parameters.inertia"], [3.0, 0.4, -0.2], axes(0.3, 0.2, -0.5))
    assert port.matrix == pytest.approx(closed, rel=1e-7, abs=1e-11)
    assert port.effective_mass == pytest.approx(1.0 / np.diag(closed)[:3], rel=1e-7)
    assert port.asymmetry < 1e-7
    wanted = {
        "inputs": ["port[1].force", "port[1].torque"],
        "outputs": ["port[1].velocity", "port[1].angular_velocity"],
    }
    model = dockfmu.linearise(craft, settings=CRAFT, step=1e-3, **wanted)
    rows = [
        model.outputs.index(f"Spacecraft.port[1].{n}[{i}]") for n in ("velocity", "angular_velocity") for i in (1, 2, 3)
    ]
    columns = [model.inputs.index(f"Spacecraft.port[1].{n}[{i}]") for n in ("force", "torque") for i in (1, 2, 3)]
    by_model = model.discrete[3][np.ix_(rows, columns)] / 1e-3
    assert port.matrix == pytest.approx(by_model, rel=1e-5, abs=1e-9)


def test_a_common_velocity_and_a_turn_do_not_matter(craft):
    """Axes of the port turn by 1 deg/s in the step, with 7.5 km/s: the matrix is that at rest."""
    moving = {
        "parameters.initial.velocity": [0.0, 7500.0, 0.0],
        "parameters.initial.angular_velocity": [0.0, 0.0, 0.0175],
    }
    still, fast = (dockfmu.mobility(craft, settings=CRAFT | more)["Spacecraft.port[1]"] for more in ({}, moving))
    size = np.sqrt(np.outer(np.diag(still.matrix), np.diag(still.matrix)))
    assert np.abs((fast.matrix - still.matrix) / size).max() < 2e-5


def test_a_fixed_craft_has_no_mobility(craft, capsys):
    assert main(["mobility", str(craft), "--set", "parameters.fixed=true", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["ports"][0]
    assert np.abs(found["mobility"]).max() == 0.0
    assert found["effective_mass"] == [None] * 3


def step_weight(frequency, decrement, h):
    """Return c2 / h: what a mode under a held force changes its rate by in a step, over that force and step."""
    a = -frequency * decrement / np.sqrt(4.0 * np.pi**2 + decrement**2)
    b = np.sqrt(frequency**2 - a**2)
    return np.exp(a * h) * np.sin(b * h) / (b * h)


def shapes_of(p, modes, turn):
    """Return the rows of a port: rigid motion about the centre of mass and modes, axes of the port."""
    arm = np.asarray(p.port[0].position) - np.asarray(p.center_of_mass)
    rigid_rows = np.block([[np.eye(3), -skew(arm)], [np.zeros((3, 3)), np.eye(3)]])
    return np.kron(np.eye(2), turn) @ np.hstack([rigid_rows, modes.port[0]])


def of_modes(p, modes, h):
    """Return the mobility of the first port of a craft over a step of h, by the masses of its modes in that step."""
    n = len(modes.frequency)
    M = np.zeros((6 + n, 6 + n))
    M[:3, :3], M[3:6, 3:6] = p.mass * np.eye(3), p.inertia
    M[6:, 6:] = np.diag(1.0 / step_weight(modes.frequency, modes.decrement, h))
    if modes.coupling is not None:
        M[:3, 6:], M[3:6, 6:] = modes.coupling.translation, modes.coupling.rotation
        M[6:, :6] = M[:6, 6:].T
    J = shapes_of(p, modes, axes(*p.port[0].angles))
    return J @ np.linalg.solve(M, J.T)


@pytest.fixture(scope="module")
def winged():
    """Return a docking of a craft with wings that act back and a station whose modes do not, and its first ports."""
    craft = read("soyuz_elastic_wings").elements
    return dockfmu.load("soyuz_elastic_wings"), {name: block(craft[name]).parameters for name in ("chaser", "station")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "name", "way"), [("chaser", "transport_wings", 1.0), ("station", "station_beam", 0.0)]
)
def test_spec11_section_4_2_mobility_of_elastic_craft_is_that_of_their_modes(winged, element, name, way):
    """J M^-1 J^T with the modes over one step; the modes of free craft carry nothing, so their coupling is left out."""
    system, parameters = winged
    modes = declared_modes(name)
    if way == 0.0:
        modes = replace(modes, coupling=None)
    found = dockfmu.mobility(system, ports=[f"{element}.port[1]"])[f"{element}.port[1]"]
    closed = of_modes(parameters[element], modes, 1e-3)
    size = np.sqrt(np.outer(np.diag(closed), np.diag(closed)))
    assert np.abs((found.matrix - closed) / size).max() < 1e-5
    without = of_modes(parameters[element], replace(modes, port=0.0 * modes.port, coupling=None), 1e-3)
    assert np.abs((found.matrix - without) / size).max() > 5e-3


@pytest.mark.slow
def test_over_a_second_a_craft_with_wings_feels_like_a_rigid_one(winged):
    """Wings of which 70 kg take no part in a step of 1 ms come along in a second, some periods of their bending."""
    system, parameters = winged
    mass = float(parameters["chaser"].mass)
    short, long = (
        dockfmu.mobility(system, over=over, ports=["chaser.port[1]"])["chaser.port[1]"].effective_mass[0]
        for over in (None, 1.0)
    )
    assert 40.0 < mass - short < 100.0
    assert long == pytest.approx(mass, rel=2e-3)


def test_effective_mass_between_two_craft(craft):
    """The second is turned by 90 deg about z: a force along y of the first passes its centre of mass, 3 m away."""
    system = dockfmu.System("pair")
    inertia = np.diag([900.0, 900.0, 900.0]).tolist()
    system.add("first", craft, {"parameters.mass": 2000.0})
    system.add("second", craft, {
        "parameters.mass": 6000.0, "parameters.inertia": inertia, "parameters.port[1].position": [3.0, 0.0, 0.0],
        "parameters.initial.quaternion": [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)],
    })  # fmt: skip
    system.add("between", craft)
    for k, name in enumerate(("first", "second"), 1):
        system.connect(f"{name}.port[1].position[1]", f"between.control.force[{k}]", convert_units=False)
    found = dockfmu.mobility(system, 0.5, step=1e-3)
    assert [entry.port for entry in found.ports if entry.port.startswith("between")] == [
        "between.port[1]",
        "between.port[2]",
    ]
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.by) == ("first.port[1]", "second.port[1]", "between")
    across = 1.0 / 6000.0 + 9.0 / 900.0
    closed = [1.0 / (1.0 / 2000.0 + second) for second in (across, 1.0 / 6000.0, across)]
    assert pair.effective_mass == pytest.approx(closed, rel=1e-6)
    assert found.time == pytest.approx(0.5)


def test_the_command_prints_a_table(craft, capsys):
    settings = [word for name, value in CRAFT.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    assert main(["mobility", str(craft), "--ports", "port[2]", "--over", "20ms", *settings]) == 0
    said = capsys.readouterr().out
    assert "mean accelerations over 0.02 s" in said
    (row,) = [line for line in said.splitlines() if line.startswith("Spacecraft.port[2]")]
    assert [float(x) for x in row.split()[1:4]] == pytest.approx([7000.0] * 3, rel=1e-3)
    assert "port[1]" not in said


def test_what_cannot_be_answered_is_told(craft, oscillator, capsys):
    with pytest.raises(LinearisationError, match="Oscillator: no element has a port: inputs force and torque"):
        dockfmu.mobility(oscillator)
    with pytest.raises(LinearisationError, match=r"ports: 'prot\[1\]' names no port; there are Spacecraft.port\[1\]"):
        dockfmu.mobility(craft, ports=["prot[1]"])
    for wrong in ({"over": 0.0}, {"over": np.nan}, {"step": -1.0}, {"at": -1.0}, {"at": np.inf}):
        (name,) = wrong
        with pytest.raises(LinearisationError, match=f"^{name} must be a"):
            dockfmu.mobility(craft, **wrong)
    assert main(["mobility", str(craft), "--over", "20"]) == 0
    assert main(["mobility", "no_system"]) == 2
    assert "no_system" in capsys.readouterr().err
    with pytest.raises(KeyError, match=r"no port 'x'; there are Spacecraft.port\[1\]"):
        dockfmu.mobility(craft)["x"]
