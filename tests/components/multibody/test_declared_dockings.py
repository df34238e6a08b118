"""Mechanisms that are one file each: they dock and grip; the declared head in its cone equals the built-in unit."""

import numpy as np
import pytest

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.core.record import Record
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import ModelError, read_text
from dockfmu.components.physics.contact import probe_cone
from dockfmu.declare.declaration import read
from tests.components.multibody.random_models import interpreted

HEAD = """
name = "head"
[bodies.head]
mass = 8.0
inertia = [0.1, 0.1, 0.1]
[joints.fly]
kind = "free"
bodies = ["base", "head"]
[surfaces.sphere]
body = "head"
sphere = {radius}
[surfaces.cone]
body = "target"
profile = {profile}
[contacts.head]
surfaces = ["sphere", "cone"]
stiffness = {stiffness}
damping = {damping}
depth_limit = 1.0
"""


def test_spec05_A5_the_declared_head_in_its_stepped_cone_equals_the_unit_of_the_probe_mechanism() -> None:
    """Normal forces of head and cone at random places and velocities, wall and bottom of the socket included."""
    unit = Record(probe_cone.unit()).memory().probe_cone
    p = unit.parameters
    p.law_head.friction = p.limiter.pads = p.roller.count = p.sensor.count = 0.0
    for name in ("stiffness", "damping", "friction"):
        setattr(p.law_bottom, name, getattr(p.law_head, name))
    p.law_head.penetration_limit = p.law_bottom.penetration_limit = 1.0
    assert probe_cone.initialize(unit) == 0
    count = int(np.argmin(p.cone.r)) + 1
    profile = [[float(x), float(r)] for x, r in zip(p.cone.x[:count], p.cone.r[:count], strict=True)]
    text = HEAD.format(
        radius=float(p.head.radius),
        profile=profile,
        stiffness=float(p.law_head.stiffness),
        damping=float(p.law_head.damping),
    )
    declared = interpreted(component_of(read_text(text)))
    rng = np.random.default_rng(2)
    touched = 0
    while touched < 25:
        x, angle = rng.uniform(0.0, profile[-1][0]), rng.uniform(-np.pi, np.pi)
        r = np.interp(x, *np.array(profile[:-1]).T) - p.head.radius + rng.uniform(-0.004, 0.008)
        if r < 0.0:
            continue
        place, velocity = np.array([x, r * np.cos(angle), r * np.sin(angle)]), 0.2 * rng.normal(size=3)
        link = unit.input.link[0]
        unit.input.base.rotation[:] = link.rotation[:] = np.eye(3)
        unit.input.base.position[:], link.position[:], link.velocity[:] = 0.0, place, velocity
        assert probe_cone.evaluate(unit) == 0
        if unit.tally.count == 0.0:
            continue
        touched += 1
        start = {"parameters.joint.fly.position": place, "parameters.joint.fly.velocity": velocity}
        one = Instance(declared, **start, **{"target.position": (0.0, 0.0, 0.0)})
        np.testing.assert_allclose(one.m.target.force_now, unit.output.target.force, rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(one.m.target.torque_now, unit.output.target.torque, rtol=1e-10, atol=1e-9)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["small_probe", "ring_claw"])
def test_boxes_of_the_craft_end_at_their_docking_planes(name: str) -> None:
    """The page draws a craft as the box of its mass and inertia: it reaches to the port, to 10 mm, not beyond."""
    seen = 0
    for element in read(name).elements.values():
        values = element.values.values
        if "parameters.mass" not in values:
            continue
        seen += 1
        J = np.diag(values["parameters.inertia"])
        half = 0.5 * np.sqrt(6.0 * (J.sum() - 2.0 * J[0]) / values["parameters.mass"])
        assert -0.01 < half - abs(values["parameters.port[1].position"][0]) <= 1e-12
    assert seen == 2


@pytest.mark.slow
def test_small_probe_docks_with_the_latch_of_its_file() -> None:
    done = dockfmu.load("small_probe").run(every=10)
    times = done.events
    assert times["first_contact"] < times["capture"] < times["docked"]
    end = {name: done[name][-1] for name in done.variables if name.startswith("mechanism.")}
    assert end["mechanism.contact.pads.pairs"] == 3.0
    # the tips are behind the drogue, and pull the pads on its rim
    assert all(end[f"mechanism.sensor.behind{k}.value"] < -0.0035 for k in (1, 2, 3))
    assert end["mechanism.contact.fingers.normal_force"] > 0.5
    # at rest to each other: the gaps do not change any more
    late = done.time > done.time[-1] - 2.0
    for k in (1, 2, 3):
        assert np.ptp(done[f"mechanism.sensor.mated{k}.value"][late]) < 1e-5
    assert done.success
    assert done.result.outcome == "docked"


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "outcome"), [(0.3, "captured"), (0.35, "docked"), (0.5, "docked"), (0.8, "docked")])
def test_small_probe_locks_on_pads_that_bear_or_not_at_all(rate: float, outcome: str) -> None:
    """Craft that hold their attitude weakly turn so far that the pads never bear: captured, but not docked."""
    settings = {f"{craft}.parameters.hold_frequency": rate for craft in ("chaser", "client")}
    done = dockfmu.load("small_probe", settings).run(every=10)
    assert done.result.outcome == outcome
    bearing = done["mechanism.contact.pads.pairs"][-1]
    assert bearing == (3.0 if outcome == "docked" else 0.0)
    assert (done["mechanism.contact.fingers.normal_force"][-1] > 2.0) == (outcome == "docked")


@pytest.mark.slow
def test_outcome_of_a_declared_docking_tells_how_far_it_came() -> None:
    """Before capture none, before the planes meet captured, which is no success; a command line has exit status 3."""
    for stop, outcome in ((3.0, "none"), (6.0, "captured")):
        done = dockfmu.load("small_probe").run(every=10, stop=stop)
        assert (done.result.outcome, done.success) == (outcome, False)


def test_an_outcome_is_the_last_declared_one_whose_sensors_and_locks_are_closed() -> None:
    text = """
name = "slider"
[bodies.block]
mass = 2.0
[joints.guide]
kind = "prismatic"
bodies = ["base", "block"]
axis = [1, 0, 0]
displacement = { rate = 1.0 }
[locks.end]
joint = "guide"
at = 0.3
[sensors.near]
joint = "guide"
above = 0.2
[sensors.far]
joint = "guide"
below = 0.25
[outcomes.approached]
when = "near"
[outcomes.between]
when = ["near", "far"]
[outcomes.held]
when = "end"
"""
    one = Instance(interpreted(component_of(read_text(text))))
    seen = [one.m.outcome.decided]
    for k in range(5):
        one.step(0.08 * k, 0.08)
        seen.append(one.m.outcome.decided)
    # NONE, approached, between, held are 1 to 4; at 0.24 m both sensors, at 0.3 m the lock
    assert seen == [1.0, 1.0, 1.0, 3.0, 4.0, 4.0]
    assert [float(result.met) for result in one.m.result] == [1.0, 0.0, 1.0]


def test_what_is_wrong_with_outcomes_is_said_all_at_once() -> None:
    text = """
name = "slider"
[bodies.block]
mass = 2.0
[joints.guide]
kind = "prismatic"
bodies = ["base", "block"]
[locks.end]
joint = "guide"
[sensors.end]
joint = "guide"
above = 0.2
[outcomes.done]
when = ["end", "ende"]
[outcomes.Done]
[outcomes.none]
when = "end"
"""
    with pytest.raises(ModelError) as error:
        read_text(text)
    said = "\n".join(error.value.problems)
    for what in (
        "outcomes.done.when: 'end' is a sensor and a lock; give one of them another name",
        "outcomes.done.when: there is no sensor or lock 'ende'; did you mean end?",
        "outcomes.Done.when: is missing; give the names of the sensors and locks that are closed then",
        "outcomes.Done: and outcomes.done differ in their case only",
        "outcomes.none: this name has a meaning of its own; choose another",
    ):
        assert what in said, what


@pytest.mark.slow
def test_ring_claw_grips_the_ring_and_both_craft_move_as_one() -> None:
    done = dockfmu.load("ring_claw").run(every=10)
    times = done.events
    assert times["reach"] < times["hooked"] <= times["gripped"] + 0.01
    late = done.time > times["gripped"] + 3.0
    assert (done["claw.contact.palm.pairs"][late] == 2.0).all()
    assert (done["claw.contact.hooks.pairs"][late] >= 2.0).all()
    # the flange stays where it was gripped: within the depth of the contacts
    assert np.ptp(done["claw.sensor.reach.value"][late]) < 1e-4
    assert done.success
    assert done.result.outcome == "gripped"


@pytest.mark.slow
def test_locks_of_a_mechanism_that_steps_at_once_with_its_craft_are_told() -> None:
    """They learn nothing of how far it yields; one after the other, either first, they do (`test_yielding`)."""
    system = dockfmu.load("small_probe")
    for algorithm, told in (
        ("jacobi", "step at once with jacobi"),
        ("midpoint", "get inputs within their steps with midpoint"),
        ("quasi_newton", "get inputs within their steps with quasi_newton"),
        ("gauss_seidel", ""),
    ):
        warnings = system.run(algorithm=algorithm, stop=0.003, record=(), check=False).result.warnings
        found = [one for one in warnings if "impulse and loss of locks" in one]
        assert len(found) == bool(told)
        assert all(one.startswith(f"mechanism and chaser {told}: ") for one in found)
