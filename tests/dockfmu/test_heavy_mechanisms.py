"""Declared mechanisms that are too heavy for their craft with LAGGED are told before the run diverges."""

import numpy as np
import pytest

import dockfmu
from dockfmu.declare import heavy_mechanisms

WING = """
name = "wing"
base = "carried"
[bodies.panel]
mass = 22
inertia = [1, 20, 20]
center = [1.5, 0, 0]
[joints.hinge]
kind = "revolute"
bodies = ["base", "panel"]
axis = [0, 1, 0]
angle = { stiffness = 20, damping = 1, rate = 0.3 }
"""
SYSTEM = """
name = "wing_on_craft"
[elements.craft]
component = "spacecraft"
[elements.wing]
component = "multibody"
model = "wing.toml"
[[connections]]
ports = ["craft.port[1]", "wing.base"]
[run]
stop = 5.0
step = 0.002
order = ["wing", "craft"]
"""
AFFINE = {"craft.parameters.port[1].base_motion": "AFFINE", "wing.parameters.base_motion": "AFFINE"}
PLACE = np.array([0.5, 0.0, 0.0])
"""From the centre of mass of the craft to the port."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wing")
    for name, text in (("wing", WING), ("system", SYSTEM)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def run(folder, mass, **settings):
    """Return (outcome, warnings on LAGGED) of a craft with radii of gyration of 1 m that turns about all axes."""
    values = {f"craft.parameters.inertia[{i},{i}]": mass for i in (1, 2, 3)}
    values |= {f"craft.parameters.initial.angular_velocity[{i}]": 0.01 * i for i in (1, 2, 3)}
    values |= {f"craft.parameters.port[1].position[{i}]": PLACE[i - 1] for i in (1, 2, 3)}
    values |= {"craft.parameters.mass": mass} | settings
    outcome = dockfmu.load(folder / "system.toml", values).run(check=False)
    return outcome, [warning for warning in outcome.result.warnings if "LAGGED" in warning]


def ratio(mass):
    """Return the largest eigenvalue of Y M_A in closed form: across the hinge the panel turns with the craft."""
    inertia = np.zeros((6, 6))
    arm = np.array([1.5, 0.0, 0.0])
    S = np.array([[0.0, -arm[2], arm[1]], [arm[2], 0.0, -arm[0]], [-arm[1], arm[0], 0.0]])
    inertia[:3, :3], inertia[:3, 3:], inertia[3:, :3] = 22.0 * np.eye(3), -22.0 * S, 22.0 * S
    inertia[3:, 3:] = np.diag([1.0, 20.0, 20.0]) - 22.0 * S @ S
    free = inertia[:, 4]
    felt = inertia - np.outer(free, free) / inertia[4, 4]
    R = np.array([[0.0, -PLACE[2], PLACE[1]], [PLACE[2], 0.0, -PLACE[0]], [-PLACE[1], PLACE[0], 0.0]])
    J = np.vstack([np.hstack([np.eye(3), -R]), np.hstack([np.zeros((3, 3)), np.eye(3)])])
    return float(np.abs(np.linalg.eigvals(J @ J.T @ felt)).max()) / mass


def test_a_wing_that_is_too_heavy_for_its_craft_is_told_with_the_ratio_and_the_remedy(folder):
    """The ratio is that of inertias felt at the port; the run diverges where it is beyond a third, and not below."""
    limit = 3.0 * ratio(1.0)
    outcome, told = run(folder, 1.04 * limit / 1.1)
    assert len(told) == 1
    assert told[0].startswith(f"wing has {1.1 / 1.04 / 3.0:.2g} times the inertia of craft at port[1]")
    assert told[0].endswith("set craft.parameters.port[1].base_motion and wing.parameters.base_motion to AFFINE")
    assert outcome.result.status == "failed"
    outcome, told = run(folder, 1.04 * limit)
    assert not told
    assert np.abs(outcome["craft.body.angular_velocity[2]"]).max() < 1.0


def test_the_ratio_is_found_once_for_the_same_masses(folder, monkeypatch):
    found = []
    compute = heavy_mechanisms._ratio
    monkeypatch.setattr(heavy_mechanisms, "_ratio", lambda *given: found.append(given) or compute(*given))
    for mass, initial in ((211.0, 0.0), (211.0, 1.0), (199.0, 1.0), (211.0, 2.0)):
        _, told = run(folder, mass, **{"craft.parameters.initial.position[1]": initial})
        assert len(told) == 1
    assert len(found) == 2


def test_affine_carries_a_wing_that_is_heavier_than_its_craft(folder):
    outcome, told = run(folder, 12.0, **AFFINE)
    assert not told
    assert outcome.result.status == "completed"
    assert np.abs(outcome["craft.body.angular_velocity[2]"]).max() < 1.0
