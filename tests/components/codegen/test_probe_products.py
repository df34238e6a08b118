"""Kernels of the probe mechanism, generated and of massless chains, against loops over bodies in frame 0."""

from types import SimpleNamespace

import numpy as np
import pytest

from components.contact.kinematics import placement
from components.core.record import Record
from components.probe_mechanism import chains, massless
from components.probe_mechanism.generated import brake, housing_and_probe, spring
from tests.components.linkage import loop_bodies as bodies
from tests.components.linkage import loop_chain as chain
from tests.components.linkage import loop_closure as closure
from tests.components.linkage import loop_tree as linkage_tree

PARENTS = (-1, 0, 1, 2, 3)
JOINTS = (bodies.REVOLUTE_Y, bodies.REVOLUTE_Z, bodies.REVOLUTE_Y, bodies.REVOLUTE_Z, bodies.REVOLUTE_X)
BASE = [(0.01, 0.02, -0.01), (0.03, -0.02, 0.01), (0.1, -0.2, 0.05)]
RNG = np.random.default_rng(5)
# the forms differ in some 500 operations of relative error 1e-16 each on terms of the size of the result
TOLERANCE = {"rtol": 1e-12, "atol": 1e-11}


def turn(*angles):
    """A rotation matrix by rotations about x, y and z."""
    A = np.eye(3)
    for axis, angle in enumerate(angles):
        b = SimpleNamespace(c=np.cos(angle), s=np.sin(angle))
        A = np.array(bodies.turned.py_func(axis, b.c, b.s, tuple(map(tuple, A))))
    return A


def reference(kind, heavy):
    """A chain of loops, closed and followed, with random loads; its node."""
    joints, mounting = (closure.UPS, np.eye(3)) if kind == "UPS" else (closure.RUS, turn(0.0, 0.0, 0.1))
    c = Record(chain.chain("chain", 3, 3)).memory().chain
    b = c.bodies
    b.offset[0], b.mounting[0] = (-0.15, 0.05, 0.02), mounting
    c.node_point[:] = (0.0, 0.1, 0.03)
    links = (1, 2) if kind == "UPS" else (0, 2)
    if heavy:
        for i, j in enumerate(links):
            b.mass[j], b.centre[j, 0], b.inertia[j, 1, 1] = 1.0 + i, 0.05 + 0.02 * i, 0.01 + 0.005 * i
            b.inertia[j, 2, 2] = b.inertia[j, 1, 1]
    c.length, c.rod_length, c.end_point[0] = 0.15, 0.0, 0.15
    if kind == "RUS":
        c.length, c.rod_length, c.end_point[0], b.offset[1, 0] = 0.05, 0.16, 0.16, 0.05
        b.offset[0] = (-0.15, 0.05, 0.02)
    node = SimpleNamespace(rotation=turn(0.0, 0.06, -0.04), angular_velocity=np.array([0.1, 0.4, -0.3]))
    rows = tuple(map(tuple, node.rotation))
    r = tuple(node.rotation.T @ c.node_point - b.offset[0])
    assert (closure.close_strut if kind == "UPS" else closure.close_crank)(c, r)
    bodies.place(b, closure.SERIAL, joints)
    assert chain.constrain(c, rows)
    chain.follow(c, closure.SERIAL, tuple(node.angular_velocity))
    active = 2 if kind == "UPS" else 0
    c.force[active], c.damping[active] = 40.0, 0.7
    return c, node, links, active


@pytest.mark.parametrize(("kind", "kernels"), [("UPS", spring), ("RUS", brake)])
def test_chain_equals_loops(kind, kernels):
    """Rates, reduction to the node, accelerations and inertia wrench of one chain on a moving base."""
    m, node, links, active = reference(kind, heavy=True)
    b = m.bodies
    c = SimpleNamespace(
        base_axes=b.mounting[0], base_point=b.offset[0], node_point=m.node_point, length=m.length,
        rod_length=m.rod_length, mass=b.mass[list(links)], centre=b.centre[list(links), 0],
        inertia=b.inertia[list(links), 1, 1], cosine=b.cosine, sine=b.sine, stroke=b.q[2] if kind == "UPS" else 0.0,
        force=m.force[active], damping=m.damping[active], kept=np.zeros(kernels.KEPT),
    )  # fmt: skip
    kernels.follow.py_func(c, node)
    assert c.rate == pytest.approx(b.qd[active], rel=1e-12)
    assert abs(c.determinant) == pytest.approx(abs(m.determinant), rel=1e-12)

    inertia, torque = np.zeros((3, 3)), np.zeros(3)
    chain.reduce(m, *BASE, inertia, torque)
    found_inertia, found_torque = np.zeros((3, 3)), np.zeros(3)
    kernels.reduce.py_func(c, *BASE, found_inertia, found_torque)
    np.testing.assert_allclose(np.triu(inertia), found_inertia, **TOLERANCE)
    np.testing.assert_allclose(found_torque, torque, **TOLERANCE)

    turning = np.array([0.5, -0.4, 0.6])
    chain.accelerate(m, turning)
    kernels.accelerate.py_func(c, turning)
    assert c.acceleration == pytest.approx(b.qdd[active], rel=1e-11)
    torque, force = chain.inertia_of_motion(m, *BASE)
    found_torque, found_force = np.zeros(3), np.zeros(3)
    kernels.lose.py_func(c, turning, found_torque, found_force)
    np.testing.assert_allclose(found_torque, np.negative(torque), **TOLERANCE)
    np.testing.assert_allclose(found_force, np.negative(force), **TOLERANCE)
    velocity0 = (0.3, -0.1, 0.2)
    energy, torque, force = linkage_tree.energy_and_momentum(b, BASE[0], velocity0)
    found_torque, found_force = np.zeros(3), np.zeros(3)
    kernels.momentum.py_func(c, BASE[0], velocity0, found_torque, found_force)
    assert c.energy == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(found_torque, torque, **TOLERANCE)
    np.testing.assert_allclose(found_force, force, **TOLERANCE)


@pytest.mark.parametrize("kind", ["UPS", "RUS"])
def test_massless_chain_equals_loops(kind):
    """Two-force links against the constraints resolved joint by joint: rates, reduction, accelerations."""
    m, node, _, active = reference(kind, heavy=False)
    b = m.bodies
    memory = Record(chains.struts("strut"), chains.cranks("crank"), placement("node", "the housing")).memory()
    c = (memory.strut if kind == "UPS" else memory.crank)[0]
    memory.node.rotation, memory.node.angular_velocity = node.rotation, node.angular_velocity
    c.base_axes, c.base_point, c.node_point = b.mounting[0], b.offset[0], m.node_point
    c.length = m.length
    if kind == "UPS":
        assert massless.follow_strut(c, memory.node)
        assert c.stroke == pytest.approx(b.q[2], rel=1e-12)
    else:
        c.rod_length, c.cosine, c.sine = m.rod_length, b.cosine, b.sine
        assert massless.follow_crank(c, memory.node)
    assert c.rate == pytest.approx(b.qd[active], rel=1e-12)
    c.force, c.damping = m.force[active], m.damping[active]
    inertia, torque = np.zeros((3, 3)), np.zeros(3)
    chain.reduce(m, *BASE, inertia, torque)
    found_inertia, found_torque = np.zeros((3, 3)), np.zeros(3)
    massless.reduce(c, found_inertia, found_torque)
    np.testing.assert_allclose(found_inertia, np.triu(inertia), **TOLERANCE)
    np.testing.assert_allclose(found_torque, torque, **TOLERANCE)
    turning = np.array([0.5, -0.4, 0.6])
    chain.accelerate(m, turning)
    massless.accelerate(c, turning)
    assert c.acceleration == pytest.approx(b.qdd[active], rel=1e-11)


def symmetric(n, scale):
    a = RNG.normal(size=(n, n))
    return scale * (a @ a.T)


def to_body(rotation, point):
    """Twist about O_0 in frame 0 -> about a point in axes of a body."""
    r = np.cross(np.eye(3), point).T  # w x point = r w
    return np.block([[rotation, np.zeros((3, 3))], [rotation @ r, rotation]])


def test_housing_and_probe_equal_loops():
    """Links, accelerations, base wrench, momentum and energy with loads, dampings, chains and a moving base."""
    p = SimpleNamespace(
        bearing_distance=0.35, housing_mass=35.0, housing_centre=np.array([0.02, -0.01, 0.03]),
        housing_inertia=np.diag([0.2, 2.0, 2.0]) + symmetric(3, 0.01), probe_mass=8.0,
        probe_centre=np.array([0.31, 0.01, -0.02]), probe_inertia=np.diag([0.02, 0.95, 0.95]) + symmetric(3, 0.001),
    )  # fmt: skip
    m = Record(linkage_tree.tree("tree", 5)).memory().tree
    b = m.bodies
    b.q, b.qd = RNG.normal(size=(2, 5)) * 0.1
    b.offset[2, 0] = p.bearing_distance
    for j, name in ((1, "housing"), (4, "probe")):
        b.mass[j] = getattr(p, f"{name}_mass")
        b.centre[j], b.inertia[j] = getattr(p, f"{name}_centre"), getattr(p, f"{name}_inertia")
    bodies.angles(b, JOINTS)
    bodies.place(b, PARENTS, JOINTS)
    bodies.move(b, PARENTS)
    bodies.weigh(b)
    zeros = np.zeros
    link = [SimpleNamespace(position=zeros(3), rotation=zeros((3, 3)), velocity=zeros(3), angular_velocity=zeros(3))
            for _ in range(2)]  # fmt: skip
    load = [SimpleNamespace(force=RNG.normal(size=3) * 100, torque=RNG.normal(size=3)) for _ in range(2)]
    t = SimpleNamespace(
        q=b.q, qd=b.qd, qdd=zeros(5), link=link, load=load, twist=zeros((2, 6)), pivot=zeros(5), turning=zeros(3),
        load_damping=np.array([symmetric(6, 0.5), symmetric(6, 0.2)]), node_inertia=symmetric(3, 0.1),
        node_torque=RNG.normal(size=3), force=RNG.normal(size=3), damping=np.array([0.1, 0.2, 0.3]),
        acceleration=zeros((2, 6)), implicit=zeros((2, 6)), base_torque=zeros(3), base_force=zeros(3),
        angular_momentum=zeros(3), momentum=zeros(3), tip_slope=zeros(2), kept=zeros(housing_and_probe.KEPT),
    )  # fmt: skip
    t.length = length = 0.41
    length_rate = -0.05
    housing_and_probe.place.py_func(p, t, length_rate)
    carried = {j: to_body(b.rotation[j], b.point[j]) for j in (1, 4)}
    for k, j in ((0, 4), (1, 1)):
        np.testing.assert_allclose(link[k].rotation, b.rotation[j], **TOLERANCE)
        np.testing.assert_allclose(t.twist[k], carried[j] @ b.velocity[j], **TOLERANCE)
    x = b.rotation[4, 0]
    head = b.point[4] + length * x
    np.testing.assert_allclose(link[0].position, head, **TOLERANCE)
    velocity = b.velocity[4, 3:] + np.cross(b.velocity[4, :3], head) + length_rate * x
    np.testing.assert_allclose(link[0].velocity, velocity, **TOLERANCE)

    for k, j in ((0, 4), (1, 1)):
        force = b.rotation[j].T @ load[k].force
        torque = b.rotation[j].T @ load[k].torque + np.cross(link[k].position, force)
        m.load[j] = np.concatenate([torque, force])
        m.load_damping[j] = carried[j].T @ t.load_damping[k] @ carried[j]
    m.force[2:], m.damping[2:] = t.force, t.damping
    m.node_inertia, m.node_torque = t.node_inertia, t.node_torque
    assert linkage_tree.accelerate(m, PARENTS, 1, *BASE) == 0
    housing_and_probe.accelerate.py_func(p, t, *map(np.array, BASE))
    np.testing.assert_allclose(t.qdd, b.qdd, **TOLERANCE)
    np.testing.assert_allclose(t.pivot, m.pivot, **TOLERANCE)
    np.testing.assert_allclose(t.turning, linkage_tree.node_acceleration(m, 1, *BASE[:2]), **TOLERANCE)
    for k, j in ((0, 4), (1, 1)):
        np.testing.assert_allclose(t.acceleration[k], carried[j] @ m.acceleration[j], **TOLERANCE)
        applied = np.concatenate(linkage_tree.applied_load(m, j))
        np.testing.assert_allclose(carried[j].T @ t.implicit[k], applied - m.load[j], **TOLERANCE)
    housing_and_probe.react.py_func(p, t)
    torque, force = linkage_tree.base_wrench(m, BASE[0])
    np.testing.assert_allclose(t.base_torque, torque, **TOLERANCE)
    np.testing.assert_allclose(t.base_force, force, **TOLERANCE)

    velocity0 = np.array([0.3, -0.1, 0.2])
    energy, L, P = linkage_tree.energy_and_momentum(b, BASE[0], tuple(velocity0))
    housing_and_probe.momentum.py_func(p, t, BASE[0], velocity0)
    assert t.kinetic_energy == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(t.angular_momentum, L, **TOLERANCE)
    np.testing.assert_allclose(t.momentum, P, **TOLERANCE)
