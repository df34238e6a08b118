"""Locks between elastic bodies: impulses against whole finite-element bodies, node by node, and their release."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.components import multibody
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import locks
from dockfmu.components.multibody.declaration import read_model
from dockfmu.components.multibody.groups import groups_of
from dockfmu.components.multibody.model import (
    JointLock,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from tests.components.multibody.elastic_models import reference_states
from tests.components.multibody.nodal_impacts import (
    NodalBody,
    NodalImpact,
    nodal_body,
    nodal_impact,
    own_rates,
    rigid_nodal_body,
)
from tests.components.multibody.nodal_models import (
    ENDS,
    FRAME,
    chain,
    elastic_pair,
    mounted,
    moving,
    ring,
    small_motion,
)
from tests.components.multibody.random_models import made

LATCHES: list[tuple[Kind, int]] = [(kind, 0) for kind in ("revolute", "prismatic", "screw", "spherical", "free")]
LATCHES += [("cylindrical", 0), ("cylindrical", 1)]


def nodal(model: Model, frame: NodalBody) -> list[NodalBody]:
    """Return all bodies of a model node by node."""
    return [rigid_nodal_body(body) if body.elastic is None else frame for body in model.bodies]


def close(instance: Instance, number: int = 0) -> None:
    """Close a lock by command, at the present time."""
    m = instance.m
    m.lock[number].close = 1.0
    locks.command(groups_of(m))
    assert m.lock[number].closed == 1.0


def compare(instance: Instance, model: Model, frame: NodalBody, name: str, coordinate: int = 0) -> NodalImpact:
    """Close the first lock, and compare all velocities after it, momenta and the energy lost with the nodes' own."""
    bodies = nodal(model, frame)
    expected = nodal_impact(model, bodies, reference_states(instance, model)[1:], name, coordinate)
    close(instance)
    states = reference_states(instance, model)
    size = max(np.abs(one).max() for one in expected.rates)
    for body, state, rates, twists in zip(bodies, states[1:], expected.rates, expected.nodes, strict=True):
        np.testing.assert_allclose(own_rates(state), rates, rtol=0.0, atol=1e-9 * size)
        found = body.motions(state.coordinates) @ own_rates(state)
        np.testing.assert_allclose(found, twists, rtol=0.0, atol=1e-9 * max(size, np.abs(twists).max()))
    # a difference of kinetic energies
    assert instance.m.lock[0].loss == pytest.approx(expected.lost, rel=1e-9, abs=1e-13 * expected.kinetic)
    assert expected.lost > 1e-3 * expected.kinetic
    assert expected.lost == pytest.approx(-0.5 * float(expected.impulse @ expected.rate), rel=1e-8)
    return expected


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "reduced"])
@pytest.mark.parametrize(
    ("kind", "coordinate"),
    [
        ("revolute", 0),
        ("prismatic", 0),
        ("screw", 0),
        ("cylindrical", 0),
        ("cylindrical", 1),
        ("spherical", 0),
        ("free", 0),
    ],
)
def test_a_latch_between_elastic_bodies_stops_the_nodes_as_their_masses_say(tmp_path, kind, coordinate, whole):
    """Modal velocities, twists of all nodes, impulse, energy lost and both momenta of a free system."""
    elastic, frame = elastic_pair(tmp_path, whole)
    model = chain(elastic, kind, coordinate)
    instance = moving(model)
    expected = compare(instance, model, frame, "latch", coordinate)
    impulse = instance.m.lock[0].impulse
    if len(expected.rate) == 1:
        assert impulse == pytest.approx(float(expected.impulse[0]), rel=1e-8)
    else:
        # of a free joint the force, of a ball joint the torque
        assert impulse == pytest.approx(np.linalg.norm(expected.impulse[:3]), rel=1e-8)
    before, after = expected.momenta
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-10 * np.abs(before).max())


def test_an_elastic_body_is_latched_to_the_base_at_an_interface_node(tmp_path):
    """The base takes the momentum; the body keeps the velocities of the nodes that its own elasticity moves."""
    elastic, frame = elastic_pair(tmp_path, whole=False)
    rates = (0.2, -0.1, 0.3, 0.2, -0.3, 0.1)
    joints = (
        MultibodyJoint("berth", "free", "base", "one", Mounting((0.3, 0.1, 0.0)), mounted(ENDS[1], 4), rates=rates),
        MultibodyJoint("hinge", "revolute", "one", "two", mounted(ENDS[0], 3), mounted(ENDS[1], 2), rates=(0.6,)),
    )
    bodies = (replace(elastic, name="one"), replace(elastic, name="two"))
    model = Model("Berth", bodies, joints, locks=(JointLock("berth", "berth"),))
    instance = moving(model)
    expected = compare(instance, model, frame, "berth")
    node = instance.m.link[int(instance.m.lock[0].link)]
    np.testing.assert_allclose(np.hstack((node.velocity, node.angular_velocity)), np.zeros(6), atol=1e-12)
    before, after = expected.momenta
    assert instance.m.lock[0].impulse == pytest.approx(np.linalg.norm((after - before)[:3]), rel=1e-9)


def test_a_prescribed_joint_keeps_its_rate_while_a_latch_closes_beside_it(tmp_path):
    """Count the work of what drives the joint in the impulse, which is not lost."""
    elastic, frame = elastic_pair(tmp_path, whole=False)
    model = chain(elastic, "revolute", root="fixed")
    driven = replace(model.joints[1], rates=(), motions={0: PrescribedMotion(rate=0.7)})
    model = replace(model, joints=(model.joints[0], driven, *model.joints[2:]))
    instance = moving(model)
    expected = compare(instance, model, frame, "latch")
    assert instance.m.link[2].rate == 0.7
    assert instance.m.run.motions == pytest.approx(expected.work, rel=1e-7)
    assert abs(expected.work) > 1e-3 * expected.lost


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "reduced"])
@pytest.mark.parametrize(
    ("kind", "cut"), [("revolute", "spherical"), ("spherical", "revolute"), ("free", "spherical"), ("free", "fixed")]
)
def test_a_latch_in_a_closed_chain_of_elastic_bodies(tmp_path, kind, cut, whole):
    """With a free joint the latch is what closes the chain: six velocities between two interface nodes stop at once."""
    elastic, frame = elastic_pair(tmp_path, whole)
    model = ring(elastic, kind, cut)
    instance = moving(model)
    expected = compare(instance, model, frame, "latch")
    before, after = expected.momenta
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-10 * np.abs(before).max())
    assert instance.m.run.open == 0.0


FITTING = RigidBody("fitting", 0.05, (0.0, 0.0, 0.0), ((1e-4, 0.0, 0.0), (0.0, 1e-4, 0.0), (0.0, 0.0, 1e-4)))


def test_two_latches_between_the_same_elastic_bodies_close_as_if_at_once(tmp_path):
    """The second latch holds a fitting that a cut joint ties to the other body; each order gives the same end.

    Two latches are one between rigid bodies, but not between elastic ones.
    """
    elastic, frame = elastic_pair(tmp_path, whole=False)
    bodies = (replace(elastic, name="one"), replace(elastic, name="two"), FITTING)
    rates = (0.05, -0.1, 0.08, 0.2, -0.3, 0.1)
    joints = (
        MultibodyJoint("flight", "free", "base", "one", rates=(0.2, 0.1, -0.3, 0.05, 0.1, -0.08)),
        MultibodyJoint("first", "free", "one", "two", rates=rates),
        MultibodyJoint("second", "free", "one", "fitting", Mounting(ENDS[1])),
        MultibodyJoint("bolt", "fixed", "fitting", "two", Mounting(), Mounting(ENDS[1]), cut=True),
    )
    both = (JointLock("first", "first"), JointLock("second", "second"))
    model = Model("Bolted", bodies, joints, locks=both)
    ends, lost = [], []
    for order in ((0, 1), (1, 0)):
        instance = moving(model)
        before = reference_states(instance, model)[1:]
        # the fitting goes with the body that it is tied to
        np.testing.assert_allclose(instance.m.cut[0].error, 0.0, atol=1e-9)
        for number in order:
            close(instance, number)
        ends.append(np.concatenate([own_rates(state) for state in reference_states(instance, model)[1:]]))
        lost.append(float(instance.m.run.locks_lost))
    size = np.abs(ends[0]).max()
    np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=1e-9 * size)
    tied = replace(model, joints=(*joints[:2], replace(joints[2], kind="fixed"), joints[3]))
    expected = nodal_impact(tied, nodal(model, frame), before, "first")
    np.testing.assert_allclose(ends[0], np.concatenate(expected.rates), rtol=0.0, atol=1e-9 * size)
    assert lost == pytest.approx([expected.lost] * 2, rel=1e-8)
    # a single latch loses less
    alone = moving(model)
    close(alone)
    assert 0.0 < alone.m.run.locks_lost < 0.9 * lost[0]


def test_the_more_shapes_a_body_has_the_less_its_latch_loses(tmp_path):
    """Compare rigid bodies, static shapes, modes, and node by node: what is not lost goes into vibration."""
    file = tmp_path / "frame.toml"
    file.write_text(FRAME, encoding="utf-8")
    bodies = []
    for nodes, modes in (((1, 3), 0), ((1, 3), 4), ((1, 2, 3, 4, 5), 0)):
        bodies.append(elastic_rigid_body("frame", dockfmu.reduce(file, interface=list(nodes), modes=modes, frame=1)))
    losses = []
    for body in (replace(bodies[0], elastic=None), *bodies):
        instance = Instance(made(chain(body, "revolute")))
        close(instance)
        losses.append(float(instance.m.lock[0].loss))
    # as the theory of flexible bodies has them
    assert losses == pytest.approx([0.668, 0.0633, 0.0596, 0.0581], abs=6e-5, rel=1e-3)
    assert all(later < earlier for earlier, later in pairwise(losses))


def test_the_latches_of_the_guide_hold_two_panels_at_two_nodes(tmp_path):
    """The page's block as it stands: both latches closed by command leave no rate between the nodes that they hold."""
    panel = Path(multibody.__file__).with_name("models") / "elastic_panel.toml"
    reduced = dockfmu.reduce(panel, interface=[3, 4, 5, 6], modes=4, frame=3)
    reduced.write(tmp_path / "panel.npz")
    page = (Path(__file__).parents[3] / "docs" / "guide" / "multibody.md").read_text(encoding="utf-8")
    (block,) = (match[1] for match in re.finditer(r"^```toml\n(.*?)^```", page, re.M | re.S) if "latch2" in match[1])
    file = tmp_path / "latches.toml"
    file.write_text(block, encoding="utf-8")
    model = read_model(file).model
    instance = Instance(made(model))
    nodes = nodal_body(panel, reduced, 4)

    def apart() -> list[float]:
        """Return how much the twists of the two pairs of corners differ."""
        frame, carried = reference_states(instance, model)[1:3]
        pairs = (((1.6, 0.0, 0.0), (0.0, 0.0, 0.0)), ((1.6, 1.0, 0.0), (0.0, 1.0, 0.0)))
        twists = [
            [nodes.point_motion(point, state)[2] @ own_rates(state) for point, state in ((a, frame), (b, carried))]
            for a, b in pairs
        ]
        return [float(np.abs(one - other).max()) for one, other in twists]

    assert min(apart()) > 0.05
    close(instance, 0)
    first, second = apart()
    assert first < 1e-10
    assert second > 1e-3
    close(instance, 1)
    assert max(apart()) < 1e-10


@pytest.mark.slow
def test_latching_and_release_in_flight_equal_the_linear_finite_element_bodies(tmp_path):
    """Modal coordinates and rates after two bodies met, vibrated as one, and separated with what strained them."""
    elastic, frame = elastic_pair(tmp_path, whole=False)
    size, spans = 1e-6, (0.04, 0.11, 0.07)
    body = elastic.elastic
    undamped = replace(elastic, elastic=replace(body, damping=1e-9 * body.damping))
    joints = (
        MultibodyJoint("flight", "free", "base", "one", rates=(0.5 * size, 0.0, -size, 0.3 * size, 0.0, 0.4 * size)),
        MultibodyJoint("latch", "free", "one", "two", mounted(ENDS[1], 3), mounted(ENDS[1], 4),
                       rates=(size, -2.0 * size, 1.5 * size, size, 0.5 * size, -2.0 * size)),
    )  # fmt: skip
    bodies = (replace(undamped, name="one"), replace(undamped, name="two"))
    model = Model("Meeting", bodies, joints, locks=(JointLock("latch", "latch"),))
    found = []
    for micro in (5e-5, 2.5e-5):
        instance = Instance(made(model))
        m = instance.m
        m.parameters.stepping.micro_tolerance, m.parameters.stepping.micro_step = 0.0, micro
        states = reference_states(instance, model)[1:]
        start = np.concatenate([own_rates(state) for state in states])
        time, stored = 0.0, []
        for span, latched in zip(spans, (False, True, False), strict=True):
            m.lock[0].close, m.lock[0].open = float(latched), float(not latched)
            instance.step(time, span)
            time += span
            stored.append(float(m.audit.kinetic_energy + m.audit.stored_energy))
        states = reference_states(instance, model)[1:]
        modes = [np.concatenate((state.coordinates * body.frequency, state.rates)) for state in states]
        found.append(np.concatenate((*modes, *(own_rates(state)[:6] for state in states), [m.lock[0].loss / size])))
        assert stored[2] == pytest.approx(stored[1], rel=1e-6)
        assert stored[1] == pytest.approx(stored[0] - m.lock[0].loss, rel=1e-6)
    x, v, lost = small_motion(model, frame, start, spans)
    parts, rates = np.split(x, 2), np.split(v, 2)
    modes = [np.concatenate((q[6:] * body.frequency, u[6:])) for q, u in zip(parts, rates, strict=True)]
    expected = np.concatenate((*modes, *(u[:6] for u in rates), [lost / size]))
    extrapolated = (4.0 * found[1] - found[0]) / 3.0
    np.testing.assert_allclose(extrapolated, expected, rtol=0.0, atol=5e-5 * np.abs(expected).max())
