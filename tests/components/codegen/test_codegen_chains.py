"""Every chain type, with numbers: against algorithms in numpy, SymPy, and the fixtures of dynamics."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from dockfmu.components.codegen import algebra, chain
from dockfmu.components.codegen.catalogue import CHAINS
from dockfmu.components.codegen.legs import Leg, Nut, Ring
from dockfmu.components.codegen.mechanism import Body, Joint, Motion
from tests.components.physics.linkage.linkage_reference import Chain as Reference
from tests.components.physics.linkage.linkage_reference import euler

R_N, A_N = np.array([0.52, 0.01, -0.02]), euler(0.05, -0.03, 0.04)
U = np.array([0.1, -0.05, 0.02, 0.1, 0.2, -0.15])
UD = np.array([0.3, -0.2, 0.1, 0.5, -0.4, 0.6])
BASE = (np.array([0.01, 0.02, -0.01]), np.array([0.03, -0.02, 0.01]), np.array([0.1, -0.2, 0.05]))
SPATIAL = [name for name, structure in CHAINS.items() if not structure.planar]


def reference(kind, rng, everywhere=True):
    """A chain of `kind` with random bodies (everywhere, or where its type has mass) at a pose that it can reach."""
    structure = CHAINS[kind]
    n = len(structure.axes)
    mass = {}
    for j in range(n) if everywhere else structure.heavy:
        a = rng.normal(size=(3, 3))
        mass[j] = (rng.uniform(0.5, 3), rng.uniform(-0.2, 0.2, 3), 0.01 * (a @ a.T + np.eye(3)))
    offsets = {j: np.array([0.35, 0.0, 0.0]) for j in structure.offset}
    strut = not structure.offset
    c = Reference(
        tuple(3 if j in structure.slides else axis for j, axis in enumerate(structure.axes)),
        l0=np.array([0.0, 0.65, 0.0]),
        lN=np.array([0.0, 0.5, 0.15]) + rng.uniform(-0.05, 0.05, 3),
        lL=np.array([0.6 if strut else 0.55, 0.0, 0.0]),
        mass=mass,
        offsets=offsets,
        gamma0=euler(*rng.uniform(-0.3, 0.3, 3)),
        gL=euler(0.2, 0.1, 0.3),
        gN=euler(*rng.uniform(-0.2, 0.2, 3)),
    )
    start = {"RUS": [1.0, -1.5, 0.0], "RSU": [1.0, -1.5, 0.0, 0.0], "UUU": [0.2, 1.0, -1.8, 0.1]}.get(kind, [0.0] * n)
    p = np.array(start)
    for _ in range(60):  # damped until near, so that any of the branches is reached safely
        f = c.residual(p, R_N, A_N)
        numeric = np.stack([(c.residual(p + 1e-6 * e, R_N, A_N) - f) / 1e-6 for e in np.eye(n)], 1)
        step = np.linalg.solve(numeric, f)
        p = p - step * 0.2 / max(0.2, np.abs(step).max())
    p = c.newton(p, R_N, A_N)
    assert np.abs(c.residual(p, R_N, A_N)).max() < 1e-12
    return c, p


def leg_of(c, kind, p, nut=None):
    """The same chain for the algorithms of `codegen`."""
    structure = CHAINS[kind]
    joints = []
    for j, axis in enumerate(structure.axes):
        m, first, inertia = c.body(j)
        slides = j in structure.slides
        body = Body(axis, slides, c.offsets.get(j, np.zeros(3)), np.eye(3), m, first, inertia)
        joints.append(Joint(body, stroke=p[j]) if slides else Joint(body, np.cos(p[j]), np.sin(p[j])))
    axes = (c.gL[1], c.gN[2]) if structure.universal else (None, None)
    return Leg(joints, c.gamma0, c.l0, c.lL, c.lN, *axes, nut)


def numbers(a):
    return np.asarray(a, object).astype(float)


@pytest.mark.parametrize("kind", SPATIAL)
@pytest.mark.parametrize("seed", range(4))
def test_chain_equals_the_algorithms_in_numpy(kind, seed):
    """H, h (K-C), A (D3), b (D4), lambda and the wrench on the base (D8): two implementations, moving base.

    Both invert Cd, of a condition up to 1e3: 1e-10 of the largest entry.
    """
    rng = np.random.default_rng(seed)
    c, p = reference(kind, rng)
    g = rng.normal(size=c.n)
    Ci, Cd, _ = c.constraints(p, np.zeros(c.n), A_N, U[3:])
    H = np.linalg.solve(Cd, Ci)
    pd = H @ U
    bias = c.constraints(p, pd, A_N, U[3:])[2]
    h = np.linalg.solve(Cd, bias)
    pdd = H @ UD + h
    b, fn, mn = c.bias(p, pd, g, *BASE)
    A = c.inertia(p)
    lam = np.linalg.solve(Cd.T, A @ pdd - b)
    n_R = np.cross((c.gL @ c.frames(p)[0][-1][1])[1], (c.gN @ A_N)[2])
    force, moment = c.base_wrench(p, pdd, g, fn, mn, lam, n_R)

    leg = leg_of(c, kind, p)
    constraint = leg.follow(A_N, U[:3], U[3:])
    share, push = leg.reduce(Motion(*BASE), g)
    found_force, found_moment = leg.react(UD)
    for found, expected in (
        (constraint.gain, H),
        (leg.rates, pd),
        (leg.quadratic, h),
        (leg.inertia, A),
        (leg.forces, b - A @ h),
        (share, H.T @ A @ H),
        (push, H.T @ (b - A @ h)),
        (leg.accelerations, pdd),
        (found_force, force),
        (found_moment, moment),
    ):
        np.testing.assert_allclose(numbers(found), expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("kind", SPATIAL)
def test_wrench_by_reaction_equals_newtons_law(kind):
    """The leg's wrench on the base is its reaction on the node, moved to O_0, and its inertia (D8 and erratum D10)."""
    c, p = reference(kind, np.random.default_rng(9))
    leg = leg_of(c, kind, p)
    leg.follow(A_N, U[:3], U[3:])
    leg.reduce(Motion(*BASE), np.ones(c.n))
    force, moment = leg.react(UD)
    inertia_force, inertia_moment = leg.lose(UD)
    pushed = leg.axes.T @ leg.reaction[:3]
    turned = np.cross((R_N + A_N.T @ c.lN).astype(float), numbers(pushed))
    if c.n == 4:
        turned = turned + numbers(leg.axes.T @ (leg.constraint.moment_axis * leg.reaction[3]))
    np.testing.assert_allclose(numbers(force), numbers(inertia_force + pushed), atol=1e-9)
    np.testing.assert_allclose(numbers(moment), numbers(inertia_moment) + turned, atol=1e-9)


HOUSING = (3.0, np.array([0.15, 0.01, -0.02]), np.diag([0.002, 0.03, 0.03]))
ROD = (2.0, np.array([0.35, 0.004, 0.003]), np.diag([0.001, 0.025, 0.025]))
STRUT = {"l0": np.array([0, 0.65, 0]), "lN": np.array([0, 0.5, 0.2]), "lL": np.array([0.6, 0, 0])}
FIXTURES = {
    "UPS": (
        Reference((1, 2, 3), mass={1: HOUSING, 2: ROD}, **STRUT),
        [-0.3493879821, -0.2505091481, -0.0004813701],
        [0, 0, -120.0],
        {
            "rates": [0.0251221948, -0.0287541157, 0.2368824706],
            "quadratic": [0.0258108839, -0.0134967056, 0.0020949153],
            "accelerations": [-0.6055503328, -0.4715278085, 0.1329662053],
            "forces": [0.0332073498, 0.2108171653, -120.3129885620],
            "reaction": [109.4650047697, -30.5122639843, 40.3278810046],
            "force": [109.0694773984, -28.8798777297, 39.3136479398],
            "moment": [25.5595167828, 0, -70.8931034109],
        },
    ),
    "UCU": (
        Reference((1, 2, 0, 3), mass={1: HOUSING, 3: ROD}, **STRUT),
        [-0.3493879821, -0.2505091481, -0.0621559321, -0.0004813701],
        [0, 0, 1.5, -120.0],
        {
            "rates": [0.0251221948, -0.0287541157, 0.0521868673, 0.2368824706],
            "quadratic": [0.0258108839, -0.0134967056, 0.0335980840, 0.0020949153],
            "forces": [0.0332647141, 0.2108755670, 1.4988085895, -120.3130101192],
            "reaction": [108.9817625799, -31.5205287112, 40.9020488628, -1.6208334401],
            "force": [108.5870137720, -29.8865246854, 39.8854156547],
            "moment": [24.4803277676, 0, -71.1080932476],
        },
    ),
    "RUS": (
        Reference(
            (2, 2, 1), l0=np.array([0, 0.65, 0]), lN=np.array([0, 0.5, 0.1]), lL=np.array([0.55, 0, 0]),
            gamma0=np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 1]]), offsets={1: np.array([0.35, 0, 0])},
            mass={0: (2.0, np.array([0.175, 0.01, 0.02]), np.diag([0.001, 0.02, 0.02])),
                  2: (1.5, np.array([0.3, 0.01, 0]), np.diag([0.001, 0.04, 0.04]))},
        ),
        [2.5061518019, -1.8428715851, -0.1810268108],
        [40.0, 0, 0],
        {
            "rates": [-0.5464166051, 0.6644983609, -0.1197204324],
            "quadratic": [-0.0076388375, 0.1863199611, 0.0364235058],
            "forces": [40.2340508572, 0.0718980283, 0.0111789286],
            "reaction": [73.5527660908, -94.4055280313, 22.0936468541],
            "force": [72.9915119590, -93.0863395561, 21.5647127027],
            "moment": [20.0963038578, -4.5003477293, -87.4444827734],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FIXTURES)
def test_spec02_fixtures_13_2_by_codegen(kind):
    """The printed digits of dynamics 13.2; the coordinates have ten of them, which leaves 1e-8 of the reactions."""
    c, p, g, expected = FIXTURES[kind]
    leg = leg_of(c, kind, np.array(p))
    leg.follow(A_N, U[:3], U[3:])
    leg.reduce(Motion(*BASE), np.array(g))
    force, moment = leg.react(UD)
    in_frame_0 = np.concatenate([leg.axes.T @ leg.reaction[:3], leg.reaction[3:]])
    b = leg.forces + leg.inertia @ leg.quadratic
    others = {"force": force, "moment": moment, "reaction": in_frame_0, "forces": b}
    for name, values in expected.items():
        found = others[name] if name in others else getattr(leg, name)
        np.testing.assert_allclose(numbers(found), values, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_spec01_oracle_KO5_KO6_strut_in_sympy():
    """Rows of H of a U P S strut and |det Cd| = L^2 cos p2, as formulas."""
    p1, p2, L = sympy.symbols("p1 p2 L", positive=True)
    c1, s1, c2, s2 = sympy.cos(p1), sympy.sin(p1), sympy.cos(p2), sympy.sin(p2)
    joints = [Joint(Body(1), c1, s1), Joint(Body(2), c2, s2), Joint(Body(0, slides=True), stroke=L)]
    hinge = chain.Node(sympy.eye(3), sympy.zeros(3), [0, 0, 0], [0, 0, 0])
    hinge.translation = np.array(hinge.translation.tolist(), object)
    found = chain.constrain(joints, chain.Closure(np.zeros(3, int)), hinge)
    assert sympy.simplify(found.determinant**2 - (L**2 * c2) ** 2) == 0
    rows = sympy.Matrix([[-s1, 0, -c1], [-c1 * s2, c2, s1 * s2], [c1 * c2, s2, -s1 * c2]])
    expected = sympy.diag(1 / (L * c2), 1 / L, 1) * rows
    assert sympy.simplify(sympy.Matrix(found.gain) - expected) == sympy.zeros(3)


def test_spec01_oracle_KO12_planar_loop():
    """R P R on a crank: H and h of kinematics 8.5, in closed form."""
    base, end, L0 = np.array([0.3, -0.1, 0.0]), np.array([0.12, 0.05, 0.0]), 0.2
    angle, rate = 0.7, 0.9
    x = np.array(algebra.rotation(2, np.cos(angle), np.sin(angle)), float).T @ end
    v = x - base
    L = np.hypot(*v[:2])
    e = v / L
    n, V = np.array([-e[1], e[0], 0.0]), np.array([-x[1], x[0], 0.0])
    joints = [Joint(Body(2), e[0], e[1]), Joint(Body(0, slides=True), stroke=L - L0)]
    hinge = chain.crank(x, rate)
    closure = chain.Closure(np.array([L0, 0.0, 0.0]), planar=True)
    found = chain.constrain(joints, closure, hinge)
    H = np.array([n @ V / L, e @ V])
    np.testing.assert_allclose(numbers(found.gain)[:, 0], H, rtol=1e-13)
    pd = H * rate
    for joint, value in zip(joints, pd, strict=True):
        joint.rate = value
    h = [(-(rate**2) * n @ x - 2 * pd[1] * pd[0]) / L, -(rate**2) * e @ x + L * pd[0] ** 2]
    np.testing.assert_allclose(numbers(chain.quadratic(joints, closure, hinge, found)), h, rtol=1e-12)


def at_rest(leg):
    """Return a leg in the same position, with zero rates, velocity terms and torque of the nut."""
    nut = None if leg.nut is None else replace(leg.nut, torque=0.0)
    joints = [replace(joint, rate=0.0) for joint in leg.joints]
    still = Leg(joints, leg.axes, leg.point, leg.end, leg.node_point, leg.end_axis, leg.node_axis, nut)
    still.constraint, still.closure = leg.constraint, leg.closure
    still.quadratic = algebra.array(np.zeros(len(joints)))
    return still


def affine_mass(ring, legs, inertia):
    """Return M_A (6, 6) of [force; moment] = W - M_A [w_0; epsilon_0], dynamics section 11; call `reduce` before.

    It is computed column by column, as the wrench on the base for a unit acceleration of the base with all rates zero.
    `inertia` is the total inertia reduced to the ring. Nuts enter as inertia of their joints.
    """
    columns = []
    still = [at_rest(leg) for leg in legs]
    zero = algebra.array(np.zeros(3))
    for i in range(6):
        unit = algebra.array(np.eye(6)[i])
        base = Motion(zero, unit[3:], unit[:3])
        body = replace(ring, velocity=zero, spin=zero, base=base)
        load = body.force
        for leg in still:
            load = load + leg.reduce(base, algebra.array(np.zeros(len(leg.joints))))[1]
        acceleration = algebra.solve_symmetric(inertia, load)
        force, moment = body.passes_on(body.force, acceleration)
        for leg in still:
            f, m = leg.lose(acceleration)
            force, moment = force + f, moment + m
        columns.append(-np.concatenate([force, moment]))
    return np.stack(columns, 1)


def test_spec02_oracle_DO17_affine_mass():
    """M_A of a hexapod: symmetric, and the change of the wrench with the acceleration of a moving base, to 1e-10."""
    rng = np.random.default_rng(1)
    legs = []
    for k in range(6):
        c, p = reference("UCU", rng)
        nut = Nut(np.array([0.0, 0.0, 1.0, 300.0]), 1e-4, 0.2) if k % 2 else None
        legs.append(leg_of(c, "UCU", p, nut))
    body = Body(0, mass=20.0, inertia=np.diag([5.0, 2.6, 2.6]))

    def wrench(epsilon0, acceleration0):
        base = Motion(BASE[0], epsilon0, acceleration0)
        ring = Ring(body, R_N, A_N, U[:3], U[3:], base)
        load, inertia = ring.force, ring.inertia
        for leg in legs:
            leg.follow(A_N, U[:3], U[3:])
            share, push = leg.reduce(base, np.ones(4))
            inertia, load = inertia + share, load + push
        acceleration = algebra.solve_symmetric(inertia, load)
        force, moment = ring.passes_on(ring.force, acceleration)
        for leg in legs:
            f, m = leg.lose(acceleration)
            force, moment = force + f, moment + m
        return ring, inertia, numbers(np.concatenate([force, moment]))

    ring, inertia, start = wrench(BASE[1], BASE[2])
    found = numbers(affine_mass(ring, legs, inertia))
    change = rng.normal(size=6)
    _, _, after = wrench(BASE[1] + change[3:], BASE[2] + change[:3])
    np.testing.assert_allclose(found @ change, start - after, atol=1e-10 * np.abs(start).max())
