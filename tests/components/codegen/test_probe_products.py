"""Kernels of the probe mechanism, generated and of massless chains, against loops over bodies in frame 0."""

from types import SimpleNamespace

import numpy as np
import pytest

from dockfmu.components.core.record import Record
from dockfmu.components.physics.mechanics.kinematics import placement
from dockfmu.components.probe_mechanism.generated import brake, housing_and_probe, spring, with_movable_limiter
from dockfmu.components.probe_mechanism.lateral import chains, massless
from tests.components.physics.linkage import loop_bodies as bodies
from tests.components.physics.linkage import loop_chain as chain
from tests.components.physics.linkage import loop_closure as closure
from tests.components.physics.linkage import loop_tree as linkage_tree

PARENTS = (-1, 0, 1, 2, 3)
JOINTS = (bodies.REVOLUTE_Y, bodies.REVOLUTE_Z, bodies.REVOLUTE_Y, bodies.REVOLUTE_Z, bodies.REVOLUTE_X)
LIMITER = 5  # body of the movable limiter: it slides on body 1
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


def static_moment(b):
    """Static moment of bodies about O_0: what a velocity of the base adds to their angular momentum, column by column.

    S x V = (L of a base with the velocity V) - (L of a base at rest).
    """
    still = np.array(linkage_tree.energy_and_momentum(b, BASE[0], (0.0, 0.0, 0.0))[1])
    by_x, by_y = (
        np.array(linkage_tree.energy_and_momentum(b, BASE[0], tuple(axis))[1]) - still for axis in np.eye(3)[:2]
    )
    return np.array([by_y[2], -by_x[2], by_x[1]])


@pytest.mark.parametrize(("kind", "kernels"), [("UPS", spring), ("RUS", brake)])
def test_chain_equals_loops(kind, kernels):
    """Rates, reduction to the node, accelerations and inertia wrench of one chain on a moving base."""
    m, node, links, active = reference(kind, heavy=True)
    b = m.bodies
    c = SimpleNamespace(
        base_axes=b.mounting[0],
        base_point=b.offset[0],
        node_point=m.node_point,
        length=m.length,
        rod_length=m.rod_length,
        mass=b.mass[list(links)],
        centre=b.centre[list(links), 0],
        inertia=b.inertia[list(links), 1, 1],
        cosine=b.cosine,
        sine=b.sine,
        stroke=b.q[2] if kind == "UPS" else 0.0,
        force=m.force[active],
        damping=m.damping[active],
        kept=np.zeros(kernels.KEPT),
    )
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
    found_torque, found_force, moment = np.zeros(3), np.zeros(3), np.zeros(3)
    kernels.momentum.py_func(c, BASE[0], velocity0, found_torque, found_force, moment)
    assert c.energy == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(found_torque, torque, **TOLERANCE)
    np.testing.assert_allclose(found_force, force, **TOLERANCE)
    np.testing.assert_allclose(moment, static_moment(b), **TOLERANCE)


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


@pytest.mark.parametrize("movable", [False, True], ids=["fixed limiter", "movable limiter"])
def test_tree_equals_loops(movable):
    """Links, accelerations, base wrench, momentum and energy with loads, dampings, chains and a moving base."""
    kernels = with_movable_limiter if movable else housing_and_probe
    parents, joints = (*PARENTS, 1)[: 5 + movable], (*JOINTS, bodies.PRISMATIC_X)[: 5 + movable]
    n = len(joints)
    p = SimpleNamespace(
        bearing_distance=0.35,
        housing_mass=35.0,
        housing_centre=np.array([0.02, -0.01, 0.03]),
        housing_inertia=np.diag([0.2, 2.0, 2.0]) + symmetric(3, 0.01),
        probe_mass=8.0,
        probe_centre=np.array([0.31, 0.01, -0.02]),
        probe_inertia=np.diag([0.02, 0.95, 0.95]) + symmetric(3, 0.001),
    )
    limiter = SimpleNamespace(mass=4.0, centre=-0.03, axial_inertia=0.2, lateral_inertia=0.11)
    m = Record(linkage_tree.tree("tree", n)).memory().tree
    b = m.bodies
    b.q, b.qd = RNG.normal(size=(2, n)) * 0.1
    b.offset[2, 0] = p.bearing_distance
    heavy = [
        (1, p.housing_mass, p.housing_centre, p.housing_inertia),
        (4, p.probe_mass, p.probe_centre, p.probe_inertia),
    ]
    if movable:
        inertia = np.diag([limiter.axial_inertia, limiter.lateral_inertia, limiter.lateral_inertia])
        heavy.append((LIMITER, limiter.mass, np.array([limiter.centre, 0.0, 0.0]), inertia))
    for j, mass, centre, inertia in heavy:
        b.mass[j], b.centre[j], b.inertia[j] = mass, centre, inertia
    bodies.angles(b, joints)
    bodies.place(b, parents, joints)
    bodies.move(b, parents)
    bodies.weigh(b)
    zeros = np.zeros
    # links as placed: the bodies that they are
    placed = (4, LIMITER, 1) if movable else (4, 1)
    loaded = placed[:2]
    link = [
        SimpleNamespace(position=zeros(3), rotation=zeros((3, 3)), velocity=zeros(3), angular_velocity=zeros(3))
        for _ in placed
    ]
    load = [SimpleNamespace(force=RNG.normal(size=3) * 100, torque=RNG.normal(size=3)) for _ in range(2)]
    t = SimpleNamespace(
        q=b.q,
        qd=b.qd,
        qdd=zeros(n),
        link=link,
        load=load,
        twist=zeros((2, 6)),
        pivot=zeros(n),
        turning=zeros(3),
        load_damping=np.array([symmetric(6, 0.5), symmetric(6, 0.2)]),
        node_inertia=symmetric(3, 0.1),
        node_torque=RNG.normal(size=3),
        force=RNG.normal(size=n - 2),
        damping=np.array([0.1, 0.2, 0.3, 0.4])[: n - 2],
        acceleration=zeros((2, 6)),
        implicit=zeros((2, 6)),
        base_torque=zeros(3),
        base_force=zeros(3),
        angular_momentum=zeros(3),
        momentum=zeros(3),
        static_moment=zeros(3),
        tip_slope=zeros(2),
        kept=zeros(kernels.KEPT),
        limiter=limiter,
    )
    t.length = length = 0.41
    length_rate = -0.05
    kernels.place.py_func(t, p, length_rate)
    carried = {j: to_body(b.rotation[j], b.point[j]) for j in placed}
    for k, j in enumerate(placed):
        np.testing.assert_allclose(link[k].rotation, b.rotation[j], **TOLERANCE)
        np.testing.assert_allclose(link[k].angular_velocity, b.velocity[j, :3], **TOLERANCE)
    for k, j in enumerate(loaded):
        np.testing.assert_allclose(t.twist[k], carried[j] @ b.velocity[j], **TOLERANCE)
    x = b.rotation[4, 0]
    head = b.point[4] + length * x
    np.testing.assert_allclose(link[0].position, head, **TOLERANCE)
    velocity = b.velocity[4, 3:] + np.cross(b.velocity[4, :3], head) + length_rate * x
    np.testing.assert_allclose(link[0].velocity, velocity, **TOLERANCE)
    if movable:
        origin = b.point[LIMITER]
        np.testing.assert_allclose(link[1].position, origin, **TOLERANCE)
        velocity = b.velocity[LIMITER, 3:] + np.cross(b.velocity[LIMITER, :3], origin)
        np.testing.assert_allclose(link[1].velocity, velocity, **TOLERANCE)

    for k, j in enumerate(loaded):
        force = b.rotation[j].T @ load[k].force
        torque = b.rotation[j].T @ load[k].torque + np.cross(link[k].position, force)
        m.load[j] = np.concatenate([torque, force])
        m.load_damping[j] = carried[j].T @ t.load_damping[k] @ carried[j]
    m.force[2:], m.damping[2:] = t.force, t.damping
    m.node_inertia, m.node_torque = t.node_inertia, t.node_torque
    assert linkage_tree.accelerate(m, parents, 1, *BASE) == 0
    kernels.accelerate.py_func(t, p, *map(np.array, BASE))
    np.testing.assert_allclose(t.qdd, b.qdd, **TOLERANCE)
    np.testing.assert_allclose(t.pivot, m.pivot, **TOLERANCE)
    np.testing.assert_allclose(t.turning, linkage_tree.node_acceleration(m, 1, *BASE[:2]), **TOLERANCE)
    for k, j in enumerate(loaded):
        np.testing.assert_allclose(t.acceleration[k], carried[j] @ m.acceleration[j], **TOLERANCE)
        applied = np.concatenate(linkage_tree.applied_load(m, j))
        np.testing.assert_allclose(carried[j].T @ t.implicit[k], applied - m.load[j], **TOLERANCE)
    kernels.react.py_func(t, p)
    torque, force = linkage_tree.base_wrench(m, BASE[0])
    np.testing.assert_allclose(t.base_torque, torque, **TOLERANCE)
    np.testing.assert_allclose(t.base_force, force, **TOLERANCE)

    velocity0 = np.array([0.3, -0.1, 0.2])
    energy, L, P = linkage_tree.energy_and_momentum(b, BASE[0], tuple(velocity0))
    kernels.momentum.py_func(t, p, BASE[0], velocity0)
    assert t.kinetic_energy == pytest.approx(energy, rel=1e-12)
    np.testing.assert_allclose(t.angular_momentum, L, **TOLERANCE)
    np.testing.assert_allclose(t.momentum, P, **TOLERANCE)
    np.testing.assert_allclose(t.static_moment, static_moment(b), **TOLERANCE)
    assert t.mass == pytest.approx(b.mass.sum(), rel=1e-12)


def test_spec06_oracle_12_a_locked_limiter_is_a_part_of_the_housing():
    """With its joint locked by inertia, the tree of six bodies is that of five, the limiter's mass on the housing."""
    limiter = SimpleNamespace(mass=4.0, centre=-0.03, axial_inertia=0.2, lateral_inertia=0.11)
    p = SimpleNamespace(
        bearing_distance=0.35,
        housing_mass=35.0,
        housing_centre=np.array([0.02, -0.01, 0.03]),
        housing_inertia=np.diag([0.2, 2.0, 2.0]),
        probe_mass=8.0,
        probe_centre=np.array([0.31, 0.01, -0.02]),
        probe_inertia=np.diag([0.02, 0.95, 0.95]),
    )
    at = 0.28
    offset = np.array([at + limiter.centre, 0.0, 0.0])
    own = np.diag([limiter.axial_inertia, limiter.lateral_inertia, limiter.lateral_inertia])
    # parallel axes: from the front edge to the centre of mass, and on to the hinge
    lateral = np.diag([0.0, 1.0, 1.0])
    inertia = own + limiter.mass * ((at + limiter.centre) ** 2 - limiter.centre**2) * lateral
    whole = SimpleNamespace(**vars(p))
    whole.housing_mass = p.housing_mass + limiter.mass
    whole.housing_centre = (p.housing_mass * p.housing_centre + limiter.mass * offset) / whole.housing_mass
    whole.housing_inertia = p.housing_inertia + inertia
    q, qd, zeros = RNG.normal(size=5) * 0.1, RNG.normal(size=5) * 0.1, np.zeros

    def tree(movable):
        n = 5 + movable
        links = [
            SimpleNamespace(position=zeros(3), rotation=zeros((3, 3)), velocity=zeros(3), angular_velocity=zeros(3))
            for _ in range(2 + movable)
        ]
        load = [SimpleNamespace(force=np.array([-900.0, 40.0, 70.0]), torque=np.array([1.0, 2.0, 3.0])),
                SimpleNamespace(force=zeros(3), torque=zeros(3))]  # fmt: skip
        kernels = with_movable_limiter if movable else housing_and_probe
        t = SimpleNamespace(
            q=np.append(q, at)[:n],
            qd=np.append(qd, 0.0)[:n],
            qdd=zeros(n),
            link=links,
            load=load,
            twist=zeros((2, 6)),
            pivot=zeros(n),
            turning=zeros(3),
            load_damping=zeros((2, 6, 6)),
            node_inertia=0.3 * np.eye(3),
            node_torque=np.array([0.0, 20.0, -10.0]),
            force=np.array([5.0, -4.0, 1.0, 0.0])[: n - 2],
            damping=np.array([0.0, 0.0, 0.0, 1e13])[: n - 2],
            acceleration=zeros((2, 6)),
            implicit=zeros((2, 6)),
            base_torque=zeros(3),
            base_force=zeros(3),
            kept=zeros(kernels.KEPT),
            limiter=limiter,
            length=0.41,
            tip_slope=zeros(2),
        )
        parameters = p if movable else whole
        kernels.place.py_func(t, parameters, 0.0)
        kernels.accelerate.py_func(t, parameters, *map(np.array, BASE))
        kernels.react.py_func(t, parameters)
        return t

    locked, rigid = tree(True), tree(False)
    assert abs(locked.qdd[5]) < 1e-9
    np.testing.assert_allclose(locked.qdd[:5], rigid.qdd, rtol=1e-9)
    np.testing.assert_allclose(locked.base_force, rigid.base_force, rtol=1e-9)
    np.testing.assert_allclose(locked.base_torque, rigid.base_torque, rtol=1e-9)
