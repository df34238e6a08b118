"""Hysteretic springs in joints of closed chains: against a tree, the area of the law's loop, and the whole system."""

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import Choice, Choices, declaration
from tests.components.multibody.random_models import interpreted
from tests.components.multibody.test_balance_of_changes import balance
from tests.components.multibody.test_yielding import in_one_model, on_a_craft, random_craft

CRANK, COUPLER, GROUND = 0.3, 0.8, 0.8
FOUR_BAR = """
name = "four_bar"
[bodies.crank]
mass = 1.0
center = [0.15, 0, 0]
inertia = [0.02, 0.02, 0.02]
[bodies.coupler]
mass = 1.0
center = [0.4, 0, 0]
inertia = [0.1, 0.1, 0.1]
[bodies.rocker]
mass = 1.0
center = [0.15, 0, 0]
inertia = [0.03, 0.03, 0.03]
[joints.shaft]
kind = "revolute"
bodies = ["base", "crank"]
angle = {{ {shaft} }}
[joints.pin]
kind = "revolute"
bodies = ["crank", "coupler"]
points = [[0.3, 0, 0], [0, 0, 0]]
angle = {{ {pin} }}
[joints.pivot]
kind = "revolute"
bodies = ["base", "rocker"]
points = [[0.8, 0, 0], [0, 0, 0]]
angle = {{ {pivot} }}
[joints.loop]
kind = "revolute"
bodies = ["coupler", "rocker"]
points = [[0.8, 0, 0], [{rocker}, 0, 0]]
cut = true
"""
TREE = """
name = "tree"
[bodies.crank]
mass = 1.0
inertia = [1, 1, {inertia}]
[joints.shaft]
kind = "revolute"
bodies = ["base", "crank"]
angle = {{ {shaft} }}
"""
LOOP = "hysteresis = {{ stiffness = 40.0, range = {range!r}, loss = {loss}, ratio = 3.0, rest = {rest!r} }}"


def instance(text: str, micro_step: float) -> Instance:
    steps = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": micro_step}
    return Instance(interpreted(component_of(read_text(text))), **steps)


def lost(one: Instance) -> float:
    return float(one.m.audit.dissipated_hysteresis)


@pytest.mark.parametrize("where", ["shaft", "pin", "pivot"])
def test_a_parallelogram_with_hysteresis_in_any_of_its_joints_is_a_wheel(where: str) -> None:
    """Crank and rocker turn as one, the coupler does not: one inertia, one law. The loop has redundant rows too."""
    start = {"shaft": "start = 0.9, rate = 5.0", "pin": "start = -0.9, rate = -5.0", "pivot": "start = 0.9, rate = 5.0"}
    law = LOOP.format(range=0.6, loss=0.4, rest=-0.9 if where == "pin" else 0.9)
    chain = instance(FOUR_BAR.format(**start | {where: f"{start[where]}, {law}"}, rocker=CRANK), 2e-4)
    inertia = 0.02 + 0.03 + 2 * 0.15**2 + CRANK**2
    law = LOOP.format(range=0.6, loss=0.4, rest=0.9)
    wheel = instance(TREE.format(inertia=inertia, shaft=f"{start['shaft']}, {law}"), 2e-4)
    before, rates = balance(chain), []
    for k in range(60):
        for one in (chain, wheel):
            one.step(0.01 * k, 0.01)
        assert chain.m.coordinate[0].position == pytest.approx(wheel.m.coordinate[0].position, abs=1e-12)
        rates.append(float(wheel.m.coordinate[0].rate))
    # loading, unloading, both sides, and back
    assert np.sum(np.diff(np.sign(rates)) != 0.0) >= 3
    assert lost(wheel) > 1.0
    assert lost(chain) == pytest.approx(lost(wheel), rel=1e-11)
    assert balance(chain) == pytest.approx(before, rel=1e-12)


def rocker_angle(crank: float, rocker: float) -> float:
    """Return the angle of the rocker at an angle of the crank, above the line between the pivots."""
    x, y = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)
    r = np.hypot(x, y)
    turned = np.arctan2(y, x) - np.arccos((r * r + rocker**2 - COUPLER**2) / (2.0 * r * rocker))
    return float(np.mod(turned, 2.0 * np.pi))


def test_a_turn_of_a_crank_rocker_loses_the_area_of_the_loops_of_its_law() -> None:
    """The rocker swings between its dead centres: k A^2 / 2 of loading to each side, of which `loss` is lost."""
    rocker, start, loss = 0.6, 1.0, 0.4
    ends = [
        np.pi - np.arccos((GROUND**2 + rocker**2 - reach**2) / (2.0 * GROUND * rocker))
        for reach in (COUPLER + CRANK, COUPLER - CRANK)
    ]
    middle, swing = float(np.mean(ends)), float(abs(ends[0] - ends[1]) / 2.0)
    psi = rocker_angle(start, rocker)
    tip = np.array(
        [GROUND + rocker * np.cos(psi) - CRANK * np.cos(start), rocker * np.sin(psi) - CRANK * np.sin(start)]
    )
    pin = float(np.arctan2(tip[1], tip[0])) - start
    law = LOOP.format(range=swing * (1.0 + 1e-7), loss=loss, rest=middle)
    text = FOUR_BAR.format(
        shaft=f"motion = {{ position = {start}, rate = {2.0 * np.pi!r} }}",
        pin=f"start = {pin!r}",
        pivot=f"start = {psi!r}, {law}",
        rocker=rocker,
    )
    area = loss * 40.0 * swing**2
    errors = []
    for micro_step in (4e-4, 2e-4):
        one = instance(text, micro_step)
        before, done = balance(one), []
        for k in range(200):
            one.step(0.01 * k, 0.01)
            if k % 100 == 99:
                done.append((lost(one), float(one.m.audit.work_motions)))
        cycle = np.diff(done, axis=0)[0]
        # what is lost is work of the crank: it turns at one rate
        np.testing.assert_allclose(cycle, area, rtol=2e-5)
        errors.append(abs(balance(one) - before))
    assert errors[1] < 0.3 * errors[0] + 1e-9


def test_loops_with_hysteresis_on_a_light_craft_converge_to_one_model() -> None:
    """AFFINE: rates and the balance of both with the second order of the step."""
    joints = tuple(
        Choice(kind, k, k == 1, "hysteresis") for k, kind in enumerate(("revolute", "universal", "revolute"))
    )
    content = declaration(Choices(1, joints, ("spherical",), 1, "carried"))
    content |= {"gravity": [0.0, 0.0, 0.0], "locks": {}}
    craft = random_craft(51, 10.0)
    expected = in_one_model(content, craft).rates
    runs = [on_a_craft(content, craft, step) for step in (1e-2, 5e-3)]
    errors = [np.abs(one.rates - expected).max() for one in runs]
    assert errors[0] < 5e-3
    assert errors[1] < 0.35 * errors[0]
    assert abs(runs[1].lacking) < 0.35 * abs(runs[0].lacking)
