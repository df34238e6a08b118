"""Stiffness of the arm at its gripper and damping: the source's algorithm, textbook beams, modes of the payload."""

import numpy as np
import pytest
from scipy.linalg import eigh

from dockfmu.components.core.component import ComponentError
from dockfmu.components.manipulator import compliance
from dockfmu.components.manipulator.arm_data import SEGMENT
from tests.components.manipulator import unit_loads
from tests.components.manipulator.arms import REF, SETS, instance, run

BEAM, LUMPED = SEGMENT.codes["BEAM"], SEGMENT.codes["LUMPED"]


@pytest.fixture(scope="module")
def reference():
    return instance().m


def test_spec08_oracle_O8_algorithm_of_unit_loads(reference):
    """Both give one matrix; the finite rotations of the source differ by what vanishes with the load."""
    P = np.array(reference.flexure.compliance)
    blocks = np.abs(P).reshape(2, 3, 2, 3).max(axis=(1, 3))
    scale = np.kron(blocks, np.ones((3, 3)))
    error = [np.abs((unit_loads.compliance(reference, REF, size) - P) / scale).max() for size in (1.0, 0.1)]
    assert error[0] < 2e-5
    assert error[1] < 0.11 * error[0]
    assert np.linalg.eigvalsh(P).min() > 0.0
    assert (P == P.T).all()


def test_spec08_oracle_O9_O10_stiffness_of_the_reference_pose(reference):
    expected = (2581.77, 4629.04, 58194.5, 184118, 922632, 1648485)
    np.testing.assert_allclose(np.linalg.eigvalsh(np.array(reference.compliance.stiffness)), expected, rtol=1e-5)
    expected = (7.8081e-5, 3.4089e-4, 1.9389e-4, 5.2715e-6, 3.9946e-6, 5.5319e-6)
    np.testing.assert_allclose(np.diag(reference.flexure.compliance), expected, rtol=1e-4)
    np.testing.assert_allclose(reference.flexure.compliance @ reference.compliance.stiffness, np.eye(6), atol=1e-9)


def beams(*lengths):
    """P of beams in a row as the first link of an arm whose other links are rigid and short."""
    kind, length = np.full((8, 3), 1), np.zeros((8, 3, 3))
    for k, size in enumerate(lengths):
        kind[0, k], length[0, k, 0] = BEAM, size
    return np.array(
        instance(
            "SSRMS",
            **{
                "parameters.link.half_width": 10.0,
                "parameters.segment.kind": kind,
                "parameters.segment.length": length,
                "parameters.segment.bending": 3e6,
                "parameters.segment.torsion": 2e6,
                "parameters.segment.extension": 1e8,
            },
        ).m.flexure.compliance
    )


def test_spec08_oracle_O11_cantilevers():
    """One beam is the textbook's cantilever, and two in a row are one of both lengths."""
    P, l = beams(5.0), 5.0  # noqa: E741
    expected = np.diag([l / 1e8, l**3 / 9e6, l**3 / 9e6, l / 2e6, l / 3e6, l / 3e6])
    expected[1, 5] = expected[5, 1] = l**2 / 6e6
    expected[2, 4] = expected[4, 2] = -(l**2) / 6e6
    np.testing.assert_allclose(P, expected, rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(beams(2.0, 3.0), P, rtol=1e-12, atol=1e-18)


def test_beams_lie_in_any_direction():
    """A beam along -x, y or a diagonal is one along x in turned axes."""
    rng = np.random.default_rng(0)
    along, other = np.zeros((6, 6)), np.zeros((6, 6))
    compliance.set_beam((2.0, 0.0, 0.0), 3e6, 2e6, 1e8, along)
    for direction in (np.array([-1.0, 0, 0]), np.array([0, 1.0, 0]), rng.normal(size=3)):
        e = direction / np.linalg.norm(direction)
        compliance.set_beam(tuple(2.0 * e), 3e6, 2e6, 1e8, other)
        basis = np.linalg.qr(np.column_stack([e, rng.normal(size=(3, 2))]))[0]
        basis[:, 0] = e
        basis[:, 2] = np.cross(e, basis[:, 1])
        turn = np.kron(np.eye(2), basis)
        np.testing.assert_allclose(other, turn @ along @ turn.T, atol=1e-18)


def test_spec08_oracle_O12_O13_modes_and_their_damping(reference):
    """Frequencies by LAPACK from K and M; C is symmetric and damps each mode alike, and nothing else."""
    K, C = np.array(reference.compliance.stiffness), np.array(reference.compliance.damping)
    p = reference.parameters
    turn = np.array(reference.free_body.fixture)
    arm = -turn @ np.array(p.grapple.position)
    S = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
    mass = p.payload.mass
    M = np.block([[mass * np.eye(3), mass * S.T], [mass * S, turn @ p.payload.inertia @ turn.T + mass * S.T @ S]])
    values, modes = eigh(K, M)
    frequencies = np.sqrt(values) / (2 * np.pi)
    np.testing.assert_allclose(reference.compliance.frequency, frequencies, rtol=1e-9)
    np.testing.assert_allclose(frequencies, (0.0851, 0.1102, 0.3753, 0.6179, 1.1927, 1.7773), rtol=1e-3)
    np.testing.assert_allclose(C, C.T, atol=1e-9 * np.abs(C).max())
    modal = modes.T @ C @ modes
    zeta = 0.2 / np.sqrt(4 * np.pi**2 + 0.04)
    np.testing.assert_allclose(np.diag(modal) / (2 * np.sqrt(values)), zeta, rtol=1e-6)
    np.testing.assert_allclose(modal - np.diag(np.diag(modal)), 0.0, atol=1e-6 * modal.max())


def test_the_diagonal_of_the_damping_does_not_suffice():
    """manipulator E24: what the source keeps changes the damping of modes by factors of about 0.8 to 2.1."""
    m = instance(**{"parameters.compliance.diagonal_damping": 1}).m
    C, K = np.array(m.compliance.damping), np.array(m.compliance.stiffness)
    assert (np.diag(np.diag(C)) == C).all()
    full = instance().m
    L = np.array(full.flexure.mass)
    _, modes = eigh(K, np.tril(L) @ np.tril(L).T)
    ratio = np.diag(modes.T @ C @ modes) / np.diag(modes.T @ np.array(full.compliance.damping) @ modes)
    assert ratio.min() == pytest.approx(0.8, abs=0.1)
    assert ratio.max() == pytest.approx(2.1, abs=0.15)


@pytest.mark.slow
def test_spec08_oracle_O14_free_decay_of_one_mode():
    """All joints locked: one mode decays by exp(delta) a period."""
    arm = instance(**{"parameters.joint.locked": 1})
    m = arm.m
    L = np.tril(np.array(m.flexure.mass))
    values, modes = eigh(np.array(m.compliance.stiffness), L @ L.T)
    for k in (0, 2, 4):
        arm = instance(**{"parameters.joint.locked": 1})
        m = arm.m
        # pull the grapple fixture along the mode: small, so that the rotation is linear
        mode = 1e-4 * modes[:, k]
        to_E = np.array(m.arm[7].rotation)
        turn = to_E.T @ mode[3:]
        for i in range(3):
            m.free_body.quaternion[i + 1] = 0.5 * turn[i]
        q = np.array(m.free_body.quaternion)
        w, v = q[0] / np.linalg.norm(q), q[1:] / np.linalg.norm(q)
        S = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        A = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) - 2 * w * S
        shift = to_E.T @ mode[:3] - (A.T - np.eye(3)) @ np.array(m.parameters.grapple.position)
        for i in range(3):
            m.free_body.position[i] += shift[i]
            for j in range(3):
                m.free_body.rotation[i, j] = A[i, j]
        period = 2 * np.pi / np.sqrt(values[k])
        weights = modes[:, k] @ (L @ L.T)
        rows = run(arm, 4.2 * period, 1e-3, lambda m, w=weights: w @ np.array(m.free_body.deflection))
        peaks = [np.abs(rows[int((n - 0.3) * period * 1e3) : int((n + 0.3) * period * 1e3)]).max() for n in range(1, 5)]
        np.testing.assert_allclose(np.array(peaks[:-1]) / np.array(peaks[1:]), np.exp(0.2), rtol=5e-3)


def test_stiffness_anew_on_request():
    """After a turn of the elbow the request gives what a start in that pose gives; the flag tells when it is due."""
    arm = instance(
        **{"command.mode": 7, "command.joint": 4, "command.rate": 0.04, "parameters.compliance.automatic": 0}
    )
    before = np.array(arm.m.compliance.stiffness)
    run(arm, 4.0)
    assert arm.m.flag.stiffness_outdated == 1.0
    assert (np.array(arm.m.compliance.stiffness) == before).all()
    angles = [d.motor_angle / ratio for d, ratio in zip(arm.m.drive, arm.m.parameters.gear.ratio, strict=True)]
    arm.m.command.stiffness_update = 1.0
    run(arm, 1e-3, start=4.0)
    assert arm.m.flag.stiffness_outdated == 0.0
    there = instance(**{"parameters.initial.angle": angles}).m
    np.testing.assert_allclose(arm.m.compliance.stiffness, there.compliance.stiffness, rtol=1e-9, atol=1e-6)
    after = np.array(arm.m.compliance.stiffness)
    run(arm, 0.5, start=4.001)
    assert (np.array(arm.m.compliance.stiffness) == after).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parameters.segment.bending[4,1]", 0.0, r"link 3, segment 1 .* parameters.segment.bending above 0"),
        ("parameters.segment.torsion[5,1]", 0.0, r"link 4, segment 1 .* parameters.segment.torsion above 0"),
        ("parameters.segment.extension[4,1]", 0.0, r"link 3, segment 1 .* parameters.segment.extension above 0"),
        ("parameters.segment.twist_stiffness[1,1]", 0.0, r"link 0, segment 1 .* parameters.segment.twist_stiffness"),
        ("parameters.segment.tilt_stiffness[8,2]", 0.0, r"link 7, segment 2 .* parameters.segment.tilt_stiffness"),
        ("parameters.segment.length[5,1,1]", 0.0, r"link 4, segment 1 .* length in parameters.segment.length"),
        ("parameters.segment.kind", 2, r"is rigid in direction .* parameters.segment"),
    ],
)
def test_a_segment_without_stiffness_is_named(name, value, message):
    with pytest.raises(ComponentError, match=message):
        instance(**{name: value})


def test_sets_say_where_their_values_come_from():
    for entry in SETS.values():
        assert all(source for source in entry.sources.values())
        assert all(
            any(word in source for word in ("assumed", "public", "source", "Nguyen")) or "joints have drives" in source
            for source in entry.sources.values()
        )
