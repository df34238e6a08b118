"""Contact as a component of its own: equal to the contact inside the mechanism, of the order that is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.contact_probe_cone import component as contact_component
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.physics.contact.evaluation import EVALUATION
from dockfmu.components.physics.contact.probe_cone.pairs import HEAD_CONE
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion
from dockfmu.components.probe_mechanism import component as mechanism_component
from tests.components.contact_probe_cone.contact_pair import ON_CONE, ON_WALL, Pair, prepared, smooth, tell_contact

VELOCITY = (0.05, 0.02, 0.0)
STEPS = (2e-4, 1e-4, 5e-5, 2.5e-5)


def order(errors):
    """Slope of log error over log step, least squares."""
    return np.polyfit(np.log(STEPS), np.log(errors), 1)[0]


@pytest.mark.parametrize("position", [ON_CONE, ON_WALL, (-0.4685, 0.002, -0.001)], ids=["cone", "wall", "slots"])
def test_one_evaluation_equals_that_inside_the_mechanism(position):
    """Wrenches on passive unit, links and rollers where the base is tilted about the head and turns; to rounding: links
    go through quaternions."""
    A = from_angles(0.01, -0.02, 0.03)
    where = {
        "base.position": np.add(position, (0.8, 0.0, 0.0)) - 0.8 * np.array(A[0]),
        "base.quaternion": quaternion(A),
        "base.velocity": VELOCITY,
        "base.angular_velocity": (0.01, -0.02, 0.03),
        "target.position": 0.0,
    }
    inside = prepared(mechanism_component(), **where)
    component = contact_component()
    c = component.record.view(component.start())
    tell_contact(c, prepared(mechanism_component("external"), **where))
    assert component.initialize(c) == 0
    assert np.linalg.norm(inside.probe_cone.output.target.force) > 10.0
    own = inside.probe_cone.output.target
    pairs = [(c.target.force_now, own.force), (c.target.torque_now, own.torque)]
    for j in range(2):
        own = inside.probe_cone.output.link[j]
        pairs += [(c.link[j].force_now, own.force), (c.link[j].torque_now, own.torque)]
    pairs += [(c.roller[k].force, inside.probe_cone.output.roller[k].force) for k in range(3)]
    for outside, within in pairs:
        assert np.allclose(outside, within, rtol=1e-9, atol=1e-7)
    assert c.audit.stored_energy == pytest.approx(inside.probe_cone.output.stored_energy, rel=1e-9)
    for sensor in ("first_contact", "socket_bottom", "capture"):
        assert c.sensor[sensor] == inside.sensor[sensor]
    assert np.array_equal(c.flag.latch, inside.flag.latch)


def test_midpoint_is_of_second_order_and_as_good_as_contact_inside():
    """Contact closed all the while, without damping and friction: both are drift - kick - drift with the same force."""
    exact = Pair(ON_CONE, VELOCITY, laws=smooth(), outside=False, h=2.5e-6)
    assert exact.run(400) == 0
    errors = {}
    for outside in (False, True):
        found = []
        for h in STEPS:
            pair = Pair(ON_CONE, VELOCITY, laws=smooth(), outside=outside, h=h)
            assert pair.run(round(1e-3 / h)) == 0
            found.append(np.abs(pair.state - exact.state).max())
        errors[outside] = np.array(found)
        assert order(errors[outside]) == pytest.approx(2.0, abs=0.05)
    assert np.allclose(errors[True], errors[False], rtol=1e-3)


def test_contact_of_a_movable_limiter_converges_to_that_inside():
    """Pads of V3 on the shortened cone, the limiter off its stops: both of second order, and to the same motion."""
    v3 = {
        "build": {"axial": "two_brakes", "limiter": "movable"},
        "sets": ("AX-2", "LD-2", "LD-3", "PR-2", "DR-2", "ShortCone25", "HB-3", "ML-2", "ML-1-pads"),
        # the limiter off its stops and off the head, the head off the bottom
        "mechanism": {"parameters.limiter.initial_travel": 0.02, "parameters.initial_travel": 0.0717},
        "laws": smooth(),
    }
    probe = Pair((-2.0, 0.0, 0.0), outside=False, **v3)
    # where the pads bear on the whole cone, 0.05 mm deep
    front = 0.0825 + (0.264999 - 0.252083) / np.tan(np.radians(25.0)) + 0.05e-3 / np.sin(np.radians(25.0))
    start = (front - probe.m.tree.q[5], 2e-5, 0.0)
    exact = Pair(start, VELOCITY, outside=False, h=2.5e-6, **v3)
    assert exact.m.probe_cone.output.limiter_contact == 1.0
    assert exact.run(400) == 0
    moved = abs(exact.m.tree.q[5] - probe.m.tree.q[5])
    assert moved > 1e-5
    errors = {}
    for outside in (False, True):
        found = []
        for h in STEPS:
            pair = Pair(start, VELOCITY, outside=outside, h=h, **v3)
            assert pair.run(round(1e-3 / h)) == 0
            found.append(np.abs(pair.state - exact.state).max())
        errors[outside] = np.array(found)
        assert order(errors[outside]) == pytest.approx(2.0, abs=0.1)
    assert errors[True].max() < 0.05 * moved
    assert np.allclose(errors[True], errors[False], rtol=1e-2)


def test_start_of_the_step_is_of_first_order():
    exact = Pair(ON_CONE, VELOCITY, laws=smooth(), outside=False, h=2.5e-6)
    assert exact.run(400) == 0
    found = []
    for h in STEPS:
        at_start = {"parameters.evaluation": EVALUATION.codes["start"]}
        pair = Pair(ON_CONE, VELOCITY, laws=smooth(), h=h, **at_start)
        assert pair.run(round(1e-3 / h)) == 0
        found.append(np.abs(pair.state - exact.state).max())
    assert order(found) == pytest.approx(1.0, abs=0.1)


def test_damping_and_friction_are_of_first_order():
    """Their velocities are those of the start of the step, also where contact ends on the way."""
    exact = Pair(ON_CONE, VELOCITY, outside=False, h=2.5e-6)
    assert exact.run(4000) == 0
    found = []
    for h in STEPS:
        pair = Pair(ON_CONE, VELOCITY, h=h)
        assert pair.run(round(1e-2 / h)) == 0
        found.append(np.abs(pair.state - exact.state).max())
    assert order(found) == pytest.approx(1.0, abs=0.25)


def test_energy_of_both_components_closes_at_second_order():
    """Close the energy of an impact of 60 mJ, in which damping and friction take 8 mJ where there are any.

    Contact closed all the while: order 2; where it ends within a step, a single error of second order whose phase
    varies.
    """
    for laws, end, spread, largest in ((smooth(), 1e-3, 0.05, 2e-5), ({}, 1e-2, 0.5, 1e-5)):
        found = []
        for h in STEPS:
            pair = Pair(ON_CONE, VELOCITY, laws=laws, h=h)
            before = pair.energy
            assert pair.run(round(end / h)) == 0
            found.append(abs(pair.energy - before))
        assert found[1] < largest
        assert order(found) == pytest.approx(2.0, abs=spread)


@pytest.mark.parametrize(("evaluation", "ahead"), [("start", 0.0), ("midpoint", 0.5), ("delayed_midpoint", 1.5)])
def test_where_in_the_step_contact_is_evaluated(evaluation, ahead):
    """A spring without damping, pressed by a base that moves along its normal: force of the depth at t + ahead H."""
    h, v = 1e-3, 0.02
    normal = np.array([np.sin(np.radians(40.0)), np.cos(np.radians(40.0)), 0.0])
    head = {"base.position": ON_CONE, "target.position": 0.0, "link[1].position": (0.8, 0.0, 0.0)}
    how = {"base.velocity": v * normal, "parameters.evaluation": EVALUATION.codes[evaluation]}
    c = Instance(contact_component(), **smooth(), **head, **how)
    depth = c.m.contact[0].penetration
    c.step(0.0, h)
    assert np.linalg.norm(c.m.target.force) == pytest.approx(2e6 * (depth + ahead * h * v), rel=1e-6)
    assert np.linalg.norm(c.m.target.force_now) == pytest.approx(2e6 * (depth + h * v), rel=1e-6)


def effective_mass(position, direction):
    """Mass of the mechanism at its head against a force along a direction, kg: from the velocity that a push gives."""
    component = mechanism_component("external")
    h, push = 1e-6, 100.0
    m = prepared(component, **{"base.position": position, "target.position": 0.0})
    m.link[0].force[:] = push * np.asarray(direction)
    assert component.step(m, 0.0, h) == 0
    return push * h / float(np.dot(m.link[0].velocity, direction))


def leaning_on_the_wall():
    """The head at rest on the wall of the socket, 0.05 mm deep, where the tilted housing presses it; no friction."""
    laws = {name: value for name, value in smooth().items() if "friction" in name}
    pair = Pair((-0.48, 0.0020, 0.0), (0.0, 0.01, 0.0), laws=laws, **{"command.latches_armed": 0.0})
    assert pair.run(5000) == 0
    pair.m.base.velocity[:] = 0.0
    assert pair.run(10000) == 0
    return pair


def test_spec04_section_12_stability_limit_on_the_mechanism():
    """k H^2 < 4 m without damping, m the mechanism's mass at the head (4.6 kg): a small swing of a head that leans on
    the wall stays small 5 % below the limit, and grows 5 % above it. Springs behind the head shift the limit by less:
    4e4 N/m against 2e6."""
    mass = effective_mass((-0.48, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert 4.0 < mass < 5.0
    limit = np.sqrt(4.0 * mass / 2e6)
    largest = {}
    for factor in (0.95, 1.05):
        pair = leaning_on_the_wall()
        pair.contact.probe_cone.kind[int(HEAD_CONE) - 1].damping = 0.0
        pair.m.tree.qd[1] += 1e-3
        pair.h = factor * limit
        speeds = [abs(float(pair.m.link[0].velocity[1])) for _ in range(60) if pair.run(1) == 0]
        largest[factor] = np.inf if len(speeds) < 60 else max(speeds)
    # the push alone gives 0.8 mm/s; near the limit the amplitude swells by 1 / sqrt(1 - 0.95^2) at most
    assert largest[0.95] < 0.01
    assert largest[1.05] > 0.05


@pytest.mark.parametrize("h", [1e-5, 1e-4, 1e-3])
def test_friction_held_over_a_step_is_that_of_its_end(h):
    """In its first step a head of 4 kg that slides across at 10 mm/s gets k_Fr f_N s / sqrt(s^2 + v_eps^2) at the speed
    s = 10 mm/s - h f / m to which this brakes it: 10 um keep what 1 ms may not."""
    pair = Pair(ON_CONE, (0.0, 0.0, 0.01), h=h)
    normal = pair.contact.contact[0].normal_force
    pair.run(1)
    # by the normal force of the middle of the step, to which the spring adds 1 um/ms
    friction = abs(pair.contact.target.force[2])
    after = 0.01 - h * friction / 4.0
    assert after > 0.0
    assert friction == pytest.approx(0.1 * normal * after / np.hypot(after, 1e-3), rel=0.02)


def test_what_comes_in_is_checked():
    def instance(**values):
        return Instance(contact_component(), **values)

    c = instance()
    c.m.link[1].velocity[2] = np.nan
    with pytest.raises(ComponentError, match=r"port 4 .* is not finite"):
        c.step(0.0, 1e-4)
    with pytest.raises(ComponentError, match=r"quaternion of port 1 .* has norm 0"):
        instance(**{"base.quaternion": (0.0, 0.0, 0.0, 0.0)})
    c = instance()
    c.m.roller[1].position[0] = np.inf
    with pytest.raises(ComponentError, match="roller, is not finite"):
        c.step(0.0, 1e-4)
    with pytest.raises(ComponentError, match=r"penetration .* of head on cone, edge or socket wall exceeds its limit"):
        instance(**{"target.position": 0.0, "base.position": (-0.6, 0.1, 0.0), "link[1].position": (0.8, 0.0, 0.0)})
    m = Instance(mechanism_component("external"))
    m.m.link[0].torque[1] = np.nan
    with pytest.raises(ComponentError, match="wrench of the external contact is not finite"):
        m.step(0.0, 1e-4)


def test_without_contact_both_builds_of_the_mechanism_move_alike():
    """Driven and shaken in free space: bit for bit, apart from the books of contact."""
    builds = []
    for contact in ("internal", "external"):
        i = Instance(mechanism_component(contact), **{"base.acceleration": (0.1, 0.3, -0.2)})
        i.m.command.motor_voltage[:] = 27.0
        for k in range(20):
            i.step(k * 1e-3, 1e-3)
        builds.append(i)
    index = [i.component.record.index for i in builds]
    public = [{slot.name for slot in i.component.record.variables if slot.field.causality == "output"} for i in builds]
    common = sorted(public[0] & public[1])
    assert len(common) > 80
    inside, outside = (
        np.array([i.block[names[name]] for name in common]) for i, names in zip(builds, index, strict=True)
    )
    assert np.array_equal(inside, outside)


def test_unknown_place_of_contact():
    with pytest.raises(ValueError, match="internal or external, not 'outside'"):
        mechanism_component("outside")
