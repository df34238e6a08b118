"""The platform of symbolic O6 and O7: reference algorithms, generated kernels, operation counts."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from dockfmu.base.compiler import jit
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.core.record import Record
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import advance, compose, from_quaternion
from dockfmu.components.physics.mechanics.vector import cross
from tests.components.codegen import gough_stewart

pytestmark = pytest.mark.slow

POSITION = np.array([0.5, 0.02, -0.03])
ANGLES = (0.05, -0.04, 0.1)
VELOCITY = np.array([0.1, -0.05, 0.02])
SPIN = np.array([0.1, -0.2, 0.15])
ACCELERATION = [-0.5657140561, -1.0507880056, 0.5018434680, -2.0042873787, -0.4655991928, -0.9239967193]
BASE_FORCE = [115.38742, 8.58143, 16.34986]
BASE_TORQUE = [19.61703, -22.36343, 10.29477]
STROKES = [-0.0262254355, 0.0377598687, 0.0078451945, 0.0337978499, -0.0750284505, 0.0341066889]
REST = ((0.0, 0.0, 0.0),) * 3


def pair(angle):
    return np.cos(angle), np.sin(angle)


ALPHA = gough_stewart.euler(*map(pair, ANGLES)).astype(float)


def machine():
    """The platform as a record of `linkage.hexapod` in the state of O7."""
    m = Record(hexapod.hexapod()).memory().hexapod
    m.ring.mass, m.ring.principal = gough_stewart.RING.mass, gough_stewart.RING.inertia
    m.ring.position, m.ring.rotation = POSITION, ALPHA
    m.ring.velocity, m.ring.angular_velocity = VELOCITY, SPIN
    m.ring.force, m.ring.torque = (100.0, -20.0, 30.0), (5.0, -10.0, 8.0)
    for k in range(6):
        c = m.strut[k]
        c.base_axes, c.base_point, c.node_point = gough_stewart.geometry(k)
        c.node_axis = c.base_axes[2]
        c.length = gough_stewart.LENGTH
        for i, data in enumerate((gough_stewart.HOUSING, gough_stewart.SCREW)):
            c.mass[i], c.centre[i] = data["mass"], data["moment"][0] / data["mass"]
            c.axial[i], c.transverse[i] = data["inertia"][0, 0], data["inertia"][1, 1]
        c.nut_ratio = (1 if k % 2 == 0 else -1) * 2 * np.pi / gough_stewart.LEAD
        c.nut_inertia, c.nut_torque = 2e-4, 0.05
        c.force[:] = (0.0, 0.0, 0.1, -10.0 * (k + 1))
    return m


def state(m, angles=ANGLES, **base):
    """The same state for the reference algorithms, with joint angles of the kernels' closed form."""
    n = m.ring
    coordinates = [(c.cosine[0], c.sine[0], c.cosine[1], c.sine[1], c.stroke, c.cosine[2], c.sine[2]) for c in m.strut]
    at_rest = {"omega0": np.zeros(3), "epsilon0": np.zeros(3), "acceleration0": np.zeros(3)}
    return SimpleNamespace(
        yaw=pair(angles[0]),
        pitch=pair(angles[1]),
        roll=pair(angles[2]),
        position=np.array(n.position),
        velocity=np.array(n.velocity),
        spin=np.array(n.angular_velocity),
        force=np.array(n.force),
        moment=np.array(n.torque),
        coordinates=coordinates,
        nut_torque=[0.05] * 6,
        roll_moment=[0.1] * 6,
        strut_force=[-10.0 * (k + 1) for k in range(6)],
        **{**at_rest, **base},
    )


def test_spec09_oracle_O7_reference():
    """The algorithms with numbers, all printed digits of O7; both forms of the base wrench."""
    m = machine()
    hexapod.follow(m)
    found = gough_stewart.right_hand_side(state(m))
    rates = [0.0273430596, 0.1956858070, 0.0838159000, 0.0785000562]
    diagonal = [99.294324044, 47.290175931, 48.767305148, 19.411957254, 14.450695722, 14.908683141]
    force = [-60.1670148414, -48.7101033242, 26.8251120438, -40.1605332209, -3.8900634862, -10.2933647936]
    np.testing.assert_allclose(found.legs[0].rates.astype(float), rates, atol=1e-9)
    np.testing.assert_allclose(np.diag(found.A).astype(float), diagonal, atol=1e-9)
    np.testing.assert_allclose(found.b.astype(float), force, atol=2e-9)
    np.testing.assert_allclose(found.acceleration.astype(float), ACCELERATION, atol=1e-9)
    for one in (found, gough_stewart.right_hand_side(state(m), recursion=True)):
        np.testing.assert_allclose(one.force.astype(float), BASE_FORCE, atol=5e-6)
        np.testing.assert_allclose(one.moment.astype(float), BASE_TORQUE, atol=5e-6)


def test_spec09_oracle_O7_generated():
    """The same state through the generated kernels, joints in the product's order."""
    m = machine()
    assert hexapod.follow(m) == 0
    np.testing.assert_allclose([c.stroke for c in m.strut], STROKES, atol=1e-10)
    np.testing.assert_allclose(m.strut[0].rate, [0.0273430596, 0.1956858070, 0.0785000562, 0.0838159000], atol=1e-9)
    hexapod.accelerate(m, *REST)
    hexapod.react(m)
    np.testing.assert_allclose(m.ring.acceleration, ACCELERATION, atol=1e-9)
    np.testing.assert_allclose(m.base_force, BASE_FORCE, atol=5e-6)
    np.testing.assert_allclose(m.base_torque, BASE_TORQUE, atol=5e-6)


def test_spec09_oracle_O5_generated_equals_reference_on_random_states():
    """Relative difference below 1e-12 in states and base motions at random."""
    rng = np.random.default_rng(3)
    m = machine()
    for _ in range(20):
        angles = rng.uniform(-0.1, 0.1, 3)
        m.ring.position = np.array([0.5, 0, 0]) + rng.uniform(-0.05, 0.05, 3)
        m.ring.rotation = gough_stewart.euler(*map(pair, angles)).astype(float)
        m.ring.velocity, m.ring.angular_velocity = rng.uniform(-0.3, 0.3, (2, 3))
        base = dict(zip(("omega0", "epsilon0", "acceleration0"), rng.uniform(-0.5, 0.5, (3, 3)), strict=True))
        hexapod.follow(m)
        hexapod.accelerate(m, *map(tuple, base.values()))
        hexapod.react(m)
        found = gough_stewart.right_hand_side(state(m, angles, **base))
        for one, other in (
            (m.ring.acceleration, found.acceleration),
            (m.base_force, found.force),
            (m.base_torque, found.moment),
        ):
            np.testing.assert_allclose(one, other.astype(float), rtol=0, atol=1e-12 * np.abs(other).max())


def test_a_degenerate_strut_is_reported():
    """A strut whose ends coincide has no direction."""
    m = machine()
    m.strut[3].node_point = m.ring.rotation @ (m.strut[3].base_point - m.ring.position)
    assert hexapod.follow(m) == 4


def symbolic(moving_base):
    """Operations of the platform with its geometry baked in, as in the source: angles are inputs."""
    graph = Graph()

    def angle(name):
        a = graph.input(name)
        return a.cos(), a.sin()

    coordinates = [
        (*angle(f"p1[{k}]"), *angle(f"p2[{k}]"), graph.input(f"p3[{k}]"), *angle(f"p4[{k}]")) for k in range(6)
    ]
    vectors = ("omega0", "epsilon0", "acceleration0", "position", "velocity", "spin", "force", "moment")
    s = SimpleNamespace(
        yaw=angle("yaw"),
        pitch=angle("pitch"),
        roll=angle("roll"),
        coordinates=coordinates,
        **{name: graph.array(name, 3) for name in vectors},
        **{name: graph.array(name, 6) for name in ("nut_torque", "strut_force", "roll_moment")},
    )
    found = gough_stewart.right_hand_side(s, moving_base)
    outputs = [*found.acceleration, *found.force, *found.moment, *found.angle_rates]
    return Counter(graph.rows[number].operation for number in graph.needed(outputs))


@pytest.mark.parametrize("moving_base", [False, True])
def test_spec09_oracle_O6_operation_count(moving_base):
    """Within 10 % of the source's 4686 multiplications and 3155 additions; 13 divisions and 42 sines, cosines exactly.

    The source does not say whether its base moves.
    """
    count = symbolic(moving_base)
    assert count["*"] == pytest.approx(4686, rel=0.10)
    assert count["+"] + count["-"] == pytest.approx(3155, rel=0.10)
    assert count["reciprocal"] == 13
    assert count["cos"] + count["sin"] == 42


def test_spec09_oracle_O8_energy():
    """Free motion for 1 s with steps of 1e-4 s by the classical Runge-Kutta method: energy to 1e-9."""
    m = machine()
    m.ring.force[:], m.ring.torque[:] = 0.0, 0.0
    for c in m.strut:
        c.force[:], c.nut_torque = 0.0, 0.0
    m.ring.velocity, m.ring.angular_velocity = 0.3 * VELOCITY, 0.3 * SPIN
    start = energy_now(m)
    integrate(m, tuple(map(tuple, ALPHA)), 1e-4, 10_000)
    assert energy_now(m) == pytest.approx(start, rel=1e-9)


def reduced_energy(m):
    """Kinetic energy relative to frame 0, J, from the reduced inertia (upper triangle) of the last `accelerate`."""
    u = np.concatenate([m.ring.velocity, m.ring.angular_velocity])
    inertia = np.triu(m.inertia)
    return 0.5 * u @ (inertia + np.triu(inertia, 1).T) @ u


def energy_now(m):
    hexapod.follow(m)
    hexapod.accelerate(m, *REST)
    return reduced_energy(m)


@jit
def slope(m, q, turned, y, out):
    """out <- rates of y = [position, velocity, rotation vector since q, angular velocity]."""
    n = m.ring
    phi, spin = (y[6], y[7], y[8]), (y[9], y[10], y[11])
    attitude = compose(from_quaternion(advance(q, phi)), turned)
    for i in range(3):
        n.position[i], n.velocity[i], n.angular_velocity[i] = y[i], y[3 + i], spin[i]
        for k in range(3):
            n.rotation[i, k] = attitude[i][k]
    zero = (0.0, 0.0, 0.0)
    hexapod.follow(m)
    hexapod.accelerate(m, zero, zero, zero)
    # inverse of the right Jacobian of the rotation vector, to the third order
    once = cross(phi, spin)
    twice = cross(phi, once)
    for i in range(3):
        out[i], out[3 + i], out[9 + i] = y[3 + i], n.acceleration[i], n.acceleration[3 + i]
        out[6 + i] = spin[i] + 0.5 * once[i] + twice[i] / 12.0


@jit
def integrate(m, turned, h, steps):
    """Runge-Kutta 4 with the attitude as a rotation vector from the start of each step (exact to that order)."""
    n = m.ring
    q = (1.0, 0.0, 0.0, 0.0)  # of the attitude since `turned`
    y = np.zeros(12)
    for i in range(3):
        y[i], y[3 + i], y[9 + i] = n.position[i], n.velocity[i], n.angular_velocity[i]
    k1, k2, k3, k4 = np.zeros(12), np.zeros(12), np.zeros(12), np.zeros(12)
    for _ in range(steps):
        slope(m, q, turned, y, k1)
        slope(m, q, turned, y + 0.5 * h * k1, k2)
        slope(m, q, turned, y + 0.5 * h * k2, k3)
        slope(m, q, turned, y + h * k3, k4)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        q = advance(q, (y[6], y[7], y[8]))
        y[6:9] = 0.0
    slope(m, q, turned, y, k1)
