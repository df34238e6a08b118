"""Dependent chains: the numeric fixtures of dynamics section 13.2, and the oracles of kinematics section 13."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.components.physics.linkage.linkage_reference import (
    Chain,
    close,
    elementary,
    euler,
    evaluate,
    random_chains,
    record_of,
    skew,
)
from tests.components.physics.linkage.loop_chain import accelerate, base_wrench, follow, react
from tests.components.physics.linkage.loop_closure import RUS, UCU, UPS, close_crank

R_N = np.array([0.52, 0.01, -0.02])
A_N = euler(0.05, -0.03, 0.04)
U = np.array([0.1, -0.05, 0.02, 0.1, 0.2, -0.15])
UD = np.array([0.3, -0.2, 0.1, 0.5, -0.4, 0.6])
BASE = (np.array([0.01, 0.02, -0.01]), np.array([0.03, -0.02, 0.01]), np.array([0.1, -0.2, 0.05]))

STRUT = {"l0": np.array([0, 0.65, 0]), "lN": np.array([0, 0.5, 0.2]), "lL": np.array([0.6, 0, 0]), "length": 0.6}
HOUSING = (3.0, np.array([0.15, 0.01, -0.02]), np.diag([0.002, 0.03, 0.03]))
ROD = (2.0, np.array([0.35, 0.004, 0.003]), np.diag([0.001, 0.025, 0.025]))
FIXTURES = {
    "UPS": (
        Chain(UPS, mass={1: HOUSING, 2: ROD}, **STRUT),
        [0, 0, -120.0],
        {
            "p": [-0.3493879821, -0.2505091481, -0.0004813701],
            "pd": [0.0251221948, -0.0287541157, 0.2368824706],
            "h": [0.0258108839, -0.0134967056, 0.0020949153],
            "pdd": [-0.6055503328, -0.4715278085, 0.1329662053],
            "A": [0.3492111771, -0.0011531861, 0.3671585452, 0.0058127180, -0.0080000000, 2.0],
            "b": [0.0332073498, 0.2108171653, -120.3129885620],
            "reaction": [109.4650047697, -30.5122639843, 40.3278810046],
            "f0": [109.0694773984, -28.8798777297, 39.3136479398],
            "m0": [25.5595167828, 0, -70.8931034109],
        },
    ),
    "UCU": (
        Chain(UCU, mass={1: HOUSING, 3: ROD}, **STRUT),
        [0, 0, 1.5, -120.0],
        {
            "p": [-0.3493879821, -0.2505091481, -0.0621559321, -0.0004813701],
            "pd": [0.0251221948, -0.0287541157, 0.0521868673, 0.2368824706],
            "h": [0.0258108839, -0.0134967056, 0.0335980840, 0.0020949153],
            "b": [0.0332647141, 0.2108755670, 1.4988085895, -120.3130101192],
            "reaction": [108.9817625799, -31.5205287112, 40.9020488628, -1.6208334401],
            "f0": [108.5870137720, -29.8865246854, 39.8854156547],
            "m0": [24.4803277676, 0, -71.1080932476],
        },
    ),
    "RUS": (
        Chain(
            RUS,
            l0=np.array([0, 0.65, 0]),
            gamma0=np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 1]]),
            offsets={1: np.array([0.35, 0, 0])},
            lL=np.array([0.55, 0, 0]),
            lN=np.array([0, 0.5, 0.1]),
            length=0.35,
            rod_length=0.55,
            mass={
                0: (2.0, np.array([0.175, 0.01, 0.02]), np.diag([0.001, 0.02, 0.02])),
                2: (1.5, np.array([0.3, 0.01, 0]), np.diag([0.001, 0.04, 0.04])),
            },
        ),
        [40.0, 0, 0],
        {
            "p": [2.5061518019, -1.8428715851, -0.1810268108],
            "pd": [-0.5464166051, 0.6644983609, -0.1197204324],
            "h": [-0.0076388375, 0.1863199611, 0.0364235058],
            "A": [0.3615566695, 0.1329332912, 0.1695099129, -0.0281233548, -0.0008101787, 0.175],
            "b": [40.2340508572, 0.0718980283, 0.0111789286],
            "reaction": [73.5527660908, -94.4055280313, 22.0936468541],
            "f0": [72.9915119590, -93.0863395561, 21.5647127027],
            "m0": [20.0963038578, -4.5003477293, -87.4444827734],
        },
    ),
}


@pytest.mark.parametrize("kind", FIXTURES)
@pytest.mark.slow
def test_spec02_fixtures_13_2(kind):
    """The printed ten digits of dynamics section 13.2, all quantities of each chain."""
    assert A_N[0] == pytest.approx([0.9983008565, -0.0299955002, -0.0499566803], abs=1e-10)
    c, g, expected = FIXTURES[kind]
    m = record_of(c)
    evaluate(m, c, R_N, A_N, U, UD, g, BASE)
    torque, force = base_wrench(m, *map(tuple, BASE))
    found = {
        "p": m.bodies.q, "pd": m.bodies.qd, "h": m.quadratic, "pdd": m.bodies.qdd, "b": m.generalised_force,
        "reaction": m.reaction, "A": m.inertia[np.tril_indices(c.n)], "f0": force, "m0": torque,
    }  # fmt: skip
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=2e-9 if name in ("A", "p", "pd", "h") else 1e-8)


def poses(rng, count=20):
    """Node poses in the range of KO2: +-0.06 m, +-0.12 rad about the nominal one."""
    for _ in range(count):
        yield np.array([0.5, 0, 0]) + rng.uniform(-0.06, 0.06, 3), euler(*rng.uniform(-0.12, 0.12, 3))


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RUS", "RSU"])
@settings(max_examples=60)
@given(
    geometry=st.integers(0, 2**32 - 1),
    shift=st.tuples(*[st.floats(-0.06, 0.06)] * 3),
    turn=st.tuples(*[st.floats(-0.12, 0.12)] * 3),
    start=st.tuples(*[st.floats(-0.02, 0.02)] * 4),
)
def test_spec01_oracle_KO2_KO3_closed_form_closes_and_equals_newton(kind, geometry, shift, turn, start):
    """Random geometry and node pose: residual 1e-13 (a few roundings of 1 m), and the iteration ends there too."""
    c = random_chains(np.random.default_rng(geometry))[kind]
    m = record_of(c)
    r_N, A = np.array([0.5, 0, 0]) + shift, euler(*turn)
    close(m, c, r_N, A)
    assert np.abs(c.residual(m.bodies.q, r_N, A)).max() < 1e-13
    np.testing.assert_allclose(m.bodies.q, c.newton(m.bodies.q + start[: c.n], r_N, A), atol=1e-12)


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RUS", "RSU"])
def test_spec01_oracle_KO4_rates_and_accelerations_against_finite_differences(kind):
    """Coordinates along a smooth motion of the node, differentiated by central differences of eighth order.

    Step 0.02 s: truncation ~ h^8 |p^(9)| / 630 ~ 1e-14, rounding 2e-16 * 8 / h^2 ~ 4e-12 in the second derivative.
    """
    rng = np.random.default_rng(2)
    c = random_chains(rng)[kind]
    m = record_of(c)
    a, b = rng.uniform(-0.05, 0.05, (2, 6)), rng.uniform(-0.05, 0.05, (2, 6))
    constant = np.array([0.5, 0, 0, 0, 0, 0])

    def pose(t):
        x = constant + a[0] * np.sin(t) + a[1] * np.cos(0.7 * t)
        return x[:3], euler(*(x[3:] + b[0, 3:] * np.sin(1.3 * t)))

    h, first, second = 0.02, [4 / 5, -1 / 5, 4 / 105, -1 / 280], [8 / 5, -1 / 5, 8 / 315, -1 / 560]

    def derivatives(f, t):
        d = sum(w * (f(t + k * h) - f(t - k * h)) for k, w in enumerate(first, 1)) / h
        dd = (sum(w * (f(t + k * h) + f(t - k * h)) for k, w in enumerate(second, 1)) - 205 / 72 * f(t)) / h**2
        return d, dd

    t0 = 0.4
    r_N, A = pose(t0)
    v, vd = derivatives(lambda t: pose(t)[0], t0)
    Ad, Add = derivatives(lambda t: pose(t)[1], t0)
    W = -Ad @ A.T
    Wd = -Add @ A.T - Ad @ Ad.T
    vee = lambda S: 0.5 * np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])  # noqa: E731

    def coordinates(t):
        close(m, c, *pose(t))
        return m.bodies.q.copy()

    pd, pdd = derivatives(coordinates, t0)
    zero = np.zeros(3)
    evaluate(m, c, r_N, A, np.append(v, vee(W)), np.append(vd, vee(Wd)), np.zeros(c.n), (zero, zero, zero))
    np.testing.assert_allclose(m.bodies.qd, pd, atol=1e-10)
    np.testing.assert_allclose(m.bodies.qdd, pdd, atol=1e-8)


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RUS", "RSU"])
def test_spec02_oracles_DO1_DO2_DO8_against_body_axis_algorithms(kind):
    """A, b (D3, D4), H, h (K-J, K-C) and the base wrench (D8) of the spec's listings in body axes; moving base."""
    rng = np.random.default_rng(3)
    c = random_chains(rng)[kind]
    m = record_of(c)
    for r_N, A in poses(rng, 5):
        u, ud, g = rng.normal(size=6), rng.normal(size=6), rng.normal(size=c.n) * 50
        base = tuple(rng.normal(size=3) for _ in range(3))
        inertia, force = evaluate(m, c, r_N, A, u, ud, g, base)
        p, pd = m.bodies.q, m.bodies.qd
        Ci, Cd, right = c.constraints(p, pd, A, u[3:])
        H, h = np.linalg.solve(Cd, Ci), np.linalg.solve(Cd, right)
        turned = np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), A]])
        np.testing.assert_allclose(m.gain.T, H @ turned, atol=1e-12)
        np.testing.assert_allclose(pd, H @ u, atol=1e-12)
        np.testing.assert_allclose(m.quadratic, h, atol=1e-11)
        M, (b, fn, mn) = c.inertia(p), c.bias(p, pd, g, *base)
        np.testing.assert_allclose(m.inertia, M, atol=1e-12)
        np.testing.assert_allclose(m.generalised_force, b, atol=1e-11)
        np.testing.assert_allclose(inertia, turned.T @ H.T @ M @ H @ turned, atol=1e-11)
        np.testing.assert_allclose(force, turned.T @ H.T @ (b - M @ h), atol=1e-10)
        pdd = H @ ud + h
        reaction = np.linalg.solve(Cd.T, M @ pdd - b)
        np.testing.assert_allclose(m.reaction, reaction, rtol=1e-10, atol=1e-9)
        n_R = np.cross((c.gL @ c.frames(p)[0][-1][1])[1], (c.gN @ A)[2])
        f0, m0 = c.base_wrench(p, pdd, g, fn, mn, reaction, n_R)
        torque, push = base_wrench(m, *map(tuple, base))
        np.testing.assert_allclose(push, f0, atol=1e-9)
        np.testing.assert_allclose(torque, m0, atol=1e-9)


def test_spec01_oracles_KO5_KO6_closed_form_rates_of_a_strut():
    rng = np.random.default_rng(4)
    c = random_chains(rng)["UPS"]
    m = record_of(c)
    for r_N, A in poses(rng, 5):
        u = rng.normal(size=6)
        evaluate(m, c, r_N, A, u, u, np.zeros(3), (np.zeros(3),) * 3)
        (p1, p2, _), (d1, d2, d3) = m.bodies.q, m.bodies.qd
        c1, s1, c2, s2 = np.cos(p1), np.sin(p1), np.cos(p2), np.sin(p2)
        e, n2, n1 = [c1 * c2, s2, -s1 * c2], [-c1 * s2, c2, s1 * s2], [-s1, 0, -c1]
        lever = A.T @ c.lN
        J = c.gamma0 @ np.hstack([np.eye(3), -skew(lever)])
        om = A.T @ u[3:]
        w = c.gamma0 @ np.cross(om, np.cross(om, lever))
        L = np.linalg.norm(r_N + lever - c.l0)
        H = np.array([n1 @ J / (L * c2), n2 @ J / L, e @ J])
        h = [
            (n1 @ w - 2 * d3 * c2 * d1 + 2 * L * s2 * d1 * d2) / (L * c2),
            (n2 @ w - 2 * d3 * d2 - L * s2 * c2 * d1**2) / L,
            e @ w + L * (d2**2 + c2**2 * d1**2),
        ]
        np.testing.assert_allclose(m.gain.T, H, atol=1e-13)
        np.testing.assert_allclose(m.quadratic, h, atol=1e-12)
        assert abs(m.determinant) == pytest.approx(L**2 * c2, rel=1e-12)


def test_spec01_oracle_KO7_crank_equals_the_sources_plane_method():
    """With O_3 nominally in the plane of the crank both are exact (source 1.4.4, unit normal by erratum K9)."""
    c = FIXTURES["RUS"][0]
    c = Chain(**{**c.__dict__, "lN": np.array([0, 0.5, 0.0])})
    m = record_of(c)
    r_N, A = np.array([0.52, 0.01, -0.02]), A_N
    close(m, c, r_N, A)
    a, b, d = c.gamma0 @ (r_N + A.T @ c.lN - c.l0)
    flat, rod = np.hypot(a, b), np.sqrt(c.rod_length**2 - d**2)
    first = np.arccos((c.length**2 + flat**2 - rod**2) / (2 * c.length * flat)) + np.arctan2(b, a)
    second = -np.arccos(-(c.length**2 + rod**2 - flat**2) / (2 * c.length * rod))
    np.testing.assert_allclose(m.bodies.q, [first, second, np.arcsin(-d / c.rod_length)], atol=1e-13)


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RUS", "RSU"])
def test_spec01_oracle_KO8_reactions_of_the_closure_do_no_work(kind):
    """For any multipliers: what they do on the node they take from the chain, and C_i = C_d H of the product.

    C_i and C_d are those of the printed listing, H and the rates those of the kernels; sums of some ten terms of order
    1, and of |lambda| |u|, so 1e-13 of these.
    """
    rng = np.random.default_rng(8)
    c = random_chains(rng)[kind]
    m = record_of(c)
    for r_N, A in poses(rng):
        u = rng.normal(size=6)
        evaluate(m, c, r_N, A, u, u, np.zeros(c.n), (np.zeros(3),) * 3)
        Ci, Cd, _ = c.constraints(m.bodies.q, m.bodies.qd, A, u[3:])
        to_node = np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), A]])
        H = m.gain.T @ to_node.T
        np.testing.assert_allclose(Ci.T - H.T @ Cd.T, 0.0, atol=1e-13)
        for _ in range(5):
            multipliers = rng.normal(size=c.n)
            on_node, on_chain = multipliers @ (Ci @ u), multipliers @ (Cd @ m.bodies.qd)
            assert abs(on_node) > 1e-6
            assert on_node == pytest.approx(on_chain, abs=1e-13 * np.linalg.norm(multipliers) * np.linalg.norm(u))


@pytest.mark.parametrize(("kind", "constraints", "elements"), [("UPS", 3, 90), ("UCU", 4, 132)])
def test_spec01_oracle_KO11_elements_of_inertia_with_the_loops_cut_at_the_node(kind, constraints, elements):
    """Generalised inertia that the kernels compute for a hexapod: of the node, and of each chain.

    Cut at the base it would be 276 for both by the formula of section 4, with the four constraints of a U joint: the
    chains would hang on the node, with a block between the two.
    """
    chains = [random_chains(np.random.default_rng(k))[kind] for k in range(6)]
    records = [record_of(c) for c in chains]
    zero = np.zeros(3)
    node, _ = evaluate(
        records[0], chains[0], np.array([0.5, 0, 0]), np.eye(3), U, UD, np.zeros(chains[0].n), (zero,) * 3
    )
    assert all(m.constraint.shape[0] == constraints == m.inertia.shape[0] for m in records)
    assert np.size(node) + sum(m.inertia.size for m in records) == elements
    n_node, at_base = node.shape[0], 4
    assert n_node**2 + 6 * (n_node * at_base + at_base**2) == 276


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RUS", "RSU"])
def test_spec01_oracle_KO10_KO13_homogeneity_and_fixed_node(kind):
    """h is quadratic in the node's rates; a node that only turns gives the last three columns of H."""
    rng = np.random.default_rng(5)
    c = random_chains(rng)[kind]
    m, fixed = record_of(c), record_of(c, node=3)
    parents = (-1, 0, 1, 2)[: c.n]
    r_N, A = next(poses(rng))
    for record in (m, fixed):
        close(record, c, r_N, A)
    np.testing.assert_array_equal(m.gain[3:], fixed.gain)
    u = rng.normal(size=6)
    follow(m, parents, u)
    once = m.quadratic.copy()
    follow(m, parents, 3.0 * u)
    np.testing.assert_allclose(m.quadratic, 9.0 * once, rtol=1e-12, atol=1e-13)
    follow(m, parents, 0.0 * u)
    np.testing.assert_array_equal(m.quadratic, 0.0)
    u[:3] = 0.0
    follow(m, parents, u)
    follow(fixed, parents, u[3:])
    np.testing.assert_array_equal(m.bodies.qd, fixed.bodies.qd)
    np.testing.assert_array_equal(m.quadratic, fixed.quadratic)


def test_roll_is_continuous_through_whole_turns():
    """The nut angle of a strut needs its roll without jumps, kinematics section 17."""
    c = random_chains(np.random.default_rng(6))["UCU"]
    c.l0, c.lN, c.gamma0 = np.zeros(3), np.zeros(3), np.eye(3)
    m = record_of(c)
    rolls = []
    for angle in np.linspace(0.0, 4 * np.pi, 200):
        close(m, c, np.array([0.5, 0, 0]), elementary(0, angle))
        rolls.append(m.bodies.q[2])
    np.testing.assert_allclose(np.diff(rolls), 4 * np.pi / 199, atol=0.02)
    assert rolls[-1] - rolls[0] == pytest.approx(4 * np.pi, abs=1e-12)


def test_crank_out_of_reach_is_refused():
    c = FIXTURES["RUS"][0]
    m = record_of(c)
    assert not close_crank(m, (2.0, 0.0, 0.0))
    assert not close_crank(m, (0.0, 0.0, 0.6))
    assert not close_crank(m, (0.0, 0.0, 0.0))


def test_spec02_oracle_DO13_massless_strut_pushes_along_its_axis():
    """Node and base feel the joint force on the line of the strut, and nothing else."""
    c, g, _ = FIXTURES["UPS"]
    c = Chain(**{**c.__dict__, "mass": {}})
    m = record_of(c)
    inertia, force = evaluate(m, c, R_N, A_N, U, UD, g, BASE)
    np.testing.assert_array_equal(inertia, 0.0)
    lever = A_N.T @ c.lN
    e = R_N + lever - c.l0
    e = e / np.linalg.norm(e)
    np.testing.assert_allclose(force, g[2] * np.append(e, np.cross(lever, e)), atol=1e-12)
    torque, push = base_wrench(m, *map(tuple, BASE))
    np.testing.assert_allclose(push, -g[2] * e, atol=1e-12)
    np.testing.assert_allclose(torque, np.cross(c.l0, -g[2] * e), atol=1e-12)


def answers():
    """Inertias, forces and states of all chain types at one pose."""
    found = []
    for c in random_chains(np.random.default_rng(7)).values():
        m, u = record_of(c), np.arange(6.0) / 10
        pose = np.array([0.52, 0.01, -0.02]), euler(0.05, -0.03, 0.04)
        inertia, force = evaluate(m, c, *pose, u, u, u[: c.n], (u[:3],) * 3)
        found += [np.ravel(inertia), np.ravel(force), np.array(m.reaction), np.array(m.bodies.q).ravel()]
    return np.concatenate(found)


@pytest.mark.slow
def test_interpreter_equals_compiled():
    """All chain types in an interpreter without numba's compiler; contraction may differ in the last bits."""
    script = f"from {answers.__module__} import answers; print(*answers())"
    environment = {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ":".join(sys.path)}
    plain = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(np.array(plain.stdout.split(), float), answers(), rtol=1e-11, atol=1e-12)


def hexapod(rng=None, **strut):
    """Six struts between base and ring, pairs converging on the ring; heavy and rolling (UCU) if `rng` is given."""
    chains = []
    for k in range(6):
        pair, side = 2 * np.pi / 3 * (k // 2), -1 if k % 2 == 0 else 1
        below, above = pair + np.radians(48) * side, pair + np.radians(12) * side
        l0 = 0.62 * np.array([0, np.cos(below), np.sin(below)])
        lN = 0.58 * np.array([0, np.cos(above), np.sin(above)])
        x = np.array([0.33, 0, 0]) + lN - l0
        length, x = np.linalg.norm(x), x / np.linalg.norm(x)
        y = np.cross([1.0, 0, 0], x)
        y /= np.linalg.norm(y)
        data = {"l0": l0, "lN": lN, "lL": np.array([length, 0, 0]), "length": length}
        data["gamma0"] = np.array([x, y, np.cross(x, y)])
        if rng is None:
            chains.append(Chain(UPS, **data))
        else:
            turned = elementary(2, 0.4) @ data["gamma0"]
            chains.append(Chain(UCU, mass={1: HOUSING, 3: ROD}, gN=turned, **data))
    return chains


def strokes(chains, r_N, A):
    out = []
    for c in chains:
        m = record_of(c)
        close(m, c, r_N, A)
        out.append(m.bodies.q[-1])
    return np.array(out)


def test_spec01_oracle_KO9_spec02_oracle_DO18_symmetries_of_a_hexapod():
    """Pure heave gives equal strokes; a pose turned by 120 deg or mirrored gives them permuted."""
    chains = hexapod()
    heave = strokes(chains, np.array([0.40, 0, 0]), np.eye(3))
    np.testing.assert_allclose(heave, heave[0], atol=1e-14)
    length = chains[0].length
    assert heave[0] == pytest.approx(np.sqrt(length**2 + 0.40**2 - 0.33**2) - length, abs=1e-14)
    r_N, A = np.array([0.36, 0.03, -0.02]), euler(0.06, -0.04, 0.03)
    plain = strokes(chains, r_N, A)
    R = elementary(0, 2 * np.pi / 3)
    np.testing.assert_allclose(strokes(chains, R.T @ r_N, R.T @ A @ R), np.roll(plain, 2), atol=1e-13)
    M = np.diag([1.0, 1.0, -1.0])
    mirrored = strokes(chains, M @ r_N, M @ A @ M)
    np.testing.assert_allclose(mirrored, plain[[1, 0, 5, 4, 3, 2]], atol=1e-13)


def test_spec02_oracle_DO14_stiffness_of_a_hexapod_with_light_struts():
    """Heave 6 k cos^2 and lateral 3 k sin^2 of the angle of struts to the axis; all of K as a sum of Plucker lines."""
    k, step = 2e4, 1e-6
    chains = hexapod()
    records = [record_of(c) for c in chains]
    zero = np.zeros(6)

    def force(x):
        total = np.zeros(6)
        for c, m in zip(chains, records, strict=True):
            r_N, A = np.array([0.33, 0, 0]) + x[:3], euler(x[4], x[5], x[3])
            close(m, c, r_N, A)
            total += evaluate(m, c, r_N, A, zero, zero, [0, 0, -k * m.bodies.q[2]], (zero[:3],) * 3)[1]
        return total

    K = np.array([(force(-step * e) - force(step * e)) / (2 * step) for e in np.eye(6)]).T
    lines = [np.append(c.gamma0[0], np.cross(c.lN, c.gamma0[0])) for c in chains]
    np.testing.assert_allclose(K, k * sum(np.outer(p, p) for p in lines), atol=1e-3)
    cosine = chains[0].gamma0[0, 0]
    assert K[0, 0] == pytest.approx(6 * k * cosine**2, rel=1e-6)
    assert K[1, 1] == pytest.approx(3 * k * (1 - cosine**2), rel=1e-6)


def test_spec02_oracle_DO7_reduced_equations_equal_the_dae_with_multipliers():
    """A ring on six heavy UCU struts: A* du/dt = b* against the KKT system in ring and joint accelerations."""
    rng = np.random.default_rng(9)
    chains = hexapod(rng)
    mass, J = 45.0, np.diag([14.0, 7.5, 7.5])
    r_N, A = np.array([0.35, 0.02, -0.01]), euler(0.05, -0.03, 0.04)
    u, ring = rng.normal(size=6) * 0.3, rng.normal(size=6) * 100
    base = (np.zeros(3),) * 3
    A_star, b_star = np.zeros((6, 6)), ring.copy()
    A_star[:3, :3], A_star[3:, 3:] = mass * np.eye(3), A.T @ J @ A
    M = np.zeros((30, 30))
    M[:6, :6] = A_star
    C, right, s = np.zeros((24, 30)), np.zeros(24), np.zeros(30)
    s[:6] = ring
    turned = np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), A]])
    records = [record_of(c) for c in chains]
    for k, (c, m) in enumerate(zip(chains, records, strict=True)):
        g = rng.normal(size=4) * [1, 1, 5, 200]
        inertia, force = evaluate(m, c, r_N, A, u, np.zeros(6), g, base)
        A_star = A_star + inertia
        b_star += force
        rows, columns = slice(4 * k, 4 * k + 4), slice(6 + 4 * k, 10 + 4 * k)
        Ci, Cd, missing = c.constraints(m.bodies.q, m.bodies.qd, A, u[3:])
        M[columns, columns], s[columns] = m.inertia, m.generalised_force
        C[rows, :6], C[rows, columns], right[rows] = Ci @ turned, -Cd, -missing
    full = np.linalg.solve(np.block([[M, C.T], [C, np.zeros((24, 24))]]), np.concatenate([s, right]))
    ud = np.linalg.solve(A_star, b_star)
    np.testing.assert_allclose(ud, full[:6], rtol=1e-10, atol=1e-9)
    for k, m in enumerate(records):
        accelerate(m, ud)
        react(m)
        np.testing.assert_allclose(m.bodies.qdd, full[6 + 4 * k : 10 + 4 * k], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(m.reaction, full[30 + 4 * k : 34 + 4 * k], rtol=1e-9, atol=1e-8)
