"""Oracles of flexible 6 that concern reduction: O1 to O4, and the invariants of O6."""

import numpy as np
import pytest

import dockfmu
from dockfmu.elastic.frame import read_frame
from dockfmu.elastic.reduction import craig_bampton, free_frequencies, solve_held
from tests.dockfmu.elastic import models

pytestmark = pytest.mark.quick

FREE = [31.64067, 44.74667, 87.21996, 123.34765, 170.99381, 241.82176, 282.69130, 314.48235]
CANTILEVER = [4.972397, 7.032031, 31.161542, 44.069076, 87.254466, 123.396449, 157.120009, 170.991810]
ROOTS = np.array([4.730040744863, 7.853204624096])
"""beta L of the first bending modes of a free beam."""


def test_spec11_oracle_O1_full_frequencies_and_closed_forms(tmp_path):
    _, consistent = read_frame(models.beam(tmp_path))
    full = free_frequencies(consistent, 8)
    assert full == pytest.approx(FREE, rel=2e-7)
    # Euler and Bernoulli: the elements of 0.5 m are above by the fourth power of beta h
    exact = np.sort(np.outer(ROOTS**2, np.sqrt([4e4 / 2e4, 8e4 / 2e4])).ravel())
    assert np.all(full[:4] > exact)
    assert full[:4] == pytest.approx(exact, rel=3e-5)


def test_spec11_oracle_O1_cantilever(tmp_path):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1], modes=8, frame=1, mass="matrix")
    assert body.frequency == pytest.approx(CANTILEVER, rel=2e-7)
    roots = np.array([1.875104068712, 4.694091132974])
    exact = np.sort(np.outer(roots**2, np.sqrt([2.0, 4.0])).ravel())
    assert body.frequency[:4] == pytest.approx(exact, rel=3e-6)


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (0, [0.199, 0.199, 0.486, 0.486]),
        (4, [3.6e-3, 3.6e-3, 4.4e-3, 4.4e-3]),
        (8, [4.1e-4, 4.1e-4, 9.1e-4, 4.4e-3]),
        (12, [8.6e-5, 8.6e-5, 2.6e-4, 9.1e-4]),
    ],
)
def test_spec11_oracle_O1_errors_of_the_reduction(tmp_path, modes, expected):
    """The oracle gives two digits."""
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=modes, mass="matrix")
    found = models.errors(body)
    assert found[:4] == pytest.approx(expected, rel=0.03)
    assert np.all(found > 0.0)
    assert body.frequency[:4] == pytest.approx(np.array(FREE[:4]) * (1 + found[:4]), rel=1e-6)
    assert len(body.frequency) == 12 + modes - 6
    assert body.ok


def test_frequencies_converge_from_above(tmp_path):
    """Shapes of more modes contain those of fewer: each frequency falls, down to that of the full model."""
    file = models.beam(tmp_path)
    found = [
        models.errors(dockfmu.reduce(file, interface=[1, 21], modes=modes, frame=1)) for modes in (0, 5, 20, 60, 114)
    ]
    size = min(map(len, found))
    steps = np.array([errors[:size] for errors in found])
    assert np.all(np.diff(steps, axis=0) < 1e-9)
    assert np.abs(steps[-1]).max() < 1e-9


@pytest.mark.parametrize("modes", [0, 4, 12])
@pytest.mark.parametrize("frame", ["mean", 1])
def test_spec11_oracle_O2_static_exactness(tmp_path, modes, frame):
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=modes, frame=frame)
    check = next(check for check in body.checks if check.name == "static exactness")
    assert check.value < 1e-10
    if frame == 1:
        tip = body.shape[list(body.nodes).index(21)]
        bent = tip @ (tip[2] * 10.0 / body.frequency**2)
        assert bent[2] == pytest.approx(0.0833333333333, rel=1e-10)
        assert bent[4] == pytest.approx(-0.0125, rel=1e-10)


@pytest.mark.parametrize(("modes", "expected"), [(4, [2.5e-5, 2.5e-5, 6.5e-5, 6.5e-5]), (2, [1.0e-3, 1.0e-3])])
def test_spec11_oracle_O3_hub_and_beam(tmp_path, modes, expected):
    file = models.beam(tmp_path, models.BEAM + models.HUB)
    _, consistent = read_frame(file)
    full = free_frequencies(consistent, 6)
    assert full == pytest.approx([7.528946, 10.647538, 32.146027, 45.461348, 87.795189, 124.161146], rel=2e-7)
    found = models.errors(dockfmu.reduce(file, interface=[1], modes=modes, mass="matrix"))[: len(expected)]
    assert found == pytest.approx(expected, rel=0.03)


def test_spec11_oracle_O4_displaced_rigid_bodies(tmp_path):
    lumped, consistent = read_frame(models.beam(tmp_path))
    rigid = lumped.rigid(np.zeros(3))
    block = rigid.T @ lumped.mass @ rigid
    assert block == pytest.approx(rigid.T @ consistent.mass @ rigid, rel=1e-12, abs=1e-10)
    assert block[0, 0] == pytest.approx(20.0, rel=1e-12)
    assert block[4, 4] == pytest.approx(2000.0 / 3.0, rel=1e-9)
    error = free_frequencies(lumped, 4) / free_frequencies(consistent, 4) - 1.0
    assert error == pytest.approx([-0.0013, -0.0013, -0.0048, -0.0048], rel=0.05)


def test_spec11_oracle_O6_invariants(tmp_path):
    """The deterministic state: lumped beam and hub, frame at the root, first four modes; signs positive at the tip."""
    body = dockfmu.reduce(models.beam(tmp_path, models.BEAM + models.HUB), interface=[1], modes=4, frame=1)
    assert body.method == "bodies"
    assert body.frequency == pytest.approx([4.97284051, 7.03265849, 31.11833455, 44.00797076], rel=1e-8)
    found = body.invariants
    assert found.mass == pytest.approx(1020.0, rel=1e-12)
    assert found.static_moment == pytest.approx([-900.0, 0.0, 0.0], abs=1e-9)
    assert np.diag(found.inertia) == pytest.approx([800.2, 2266.6666667, 2266.6666667], rel=1e-9)
    tip = body.point_shape[list(body.points[:, 0]).index(10.0)]
    sign = np.sign([tip[2, 0], tip[1, 1], tip[2, 2], tip[1, 3]])
    assert (found.translation * sign)[2] == pytest.approx([3.50071838, 0.0, -1.93869698, 0.0], abs=2e-8)
    assert (found.translation * sign)[1] == pytest.approx([0.0, 3.50071838, 0.0, -1.93869698], abs=2e-8)
    assert (found.rotation * sign)[1] == pytest.approx([-25.43751801, 0.0, 4.06198965, 0.0], abs=2e-8)
    assert (found.rotation * sign)[2] == pytest.approx([0.0, 25.43751801, 0.0, -4.06198965], abs=2e-8)
    # accelerations at rest under a force at the centre of the hub (9)
    matrix = found.mass_matrix(np.zeros(4))
    force = np.concatenate([[0.0, 100.0, 50.0], np.cross([-1.0, 0.0, 0.0], [0.0, 100.0, 50.0]), np.zeros(4)])
    answer = np.linalg.solve(matrix, force)
    assert answer[:3] == pytest.approx([0.0, 0.09846392, 0.04923196], abs=1e-8)
    assert answer[3:6] == pytest.approx([0.0, 0.00057355, -0.00114709], abs=1e-8)
    assert answer[6:] * sign == pytest.approx([-0.15775761, -0.31551523, 0.09311611, 0.18623221], abs=1e-8)


def skew(v):
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@pytest.mark.parametrize("frame", ["mean", 1])
def test_invariants_are_the_direct_sums_over_the_full_model(tmp_path, frame):
    """The mass matrix (9) of a deformed body against that of its displaced rigid bodies, summed one by one."""
    file = models.beam(tmp_path, models.BEAM + models.HUB)
    lumped, _ = read_frame(file)
    file.write_text(file.read_text() + '[[masses]]\nnode = 21\nmass = 3\noffset = ["10cm", 0.2, 0.3]\n')
    lumped, _ = read_frame(file)
    body = dockfmu.reduce(file, interface=[1, 21], modes=5, frame=frame)
    shapes = craig_bampton(lumped, [1, 21], 5, None, None if frame == "mean" else 1)
    every = lumped.at_nodes(shapes.shape, lumped.nodes)
    rng = np.random.default_rng(5)
    w = rng.normal(size=len(body.frequency))
    total = np.zeros((6 + len(w), 6 + len(w)))
    for m, offset, J, p, shape in zip(
        lumped.bodies.mass,
        lumped.bodies.offset,
        lumped.bodies.inertia,
        lumped.position - body.origin,
        every,
        strict=True,
    ):
        hat = shape[:3] - skew(offset) @ shape[3:]
        s = p + offset + hat @ w
        moves = np.hstack([np.eye(3), -skew(s), hat])
        turns = np.hstack([np.zeros((3, 3)), np.eye(3), shape[3:]])
        total += m * moves.T @ moves + turns.T @ J @ turns
    found = body.invariants.mass_matrix(w)
    assert np.abs(found - total).max() < 1e-13 * np.abs(total).max()


def test_the_matrix_gives_the_same_invariants_where_masses_are_points(tmp_path):
    """A diagonal mass matrix is its own bodies: both ways to the invariants are then one."""
    lumped, _ = read_frame(models.beam(tmp_path))
    diagonal = np.tile([1.0, 1.0, 1.0, 0.01, 0.01, 0.01], len(lumped.nodes))
    file = tmp_path / "points.npz"
    np.savez(file, K=lumped.stiffness, M=np.diag(diagonal), nodes=lumped.nodes, x=lumped.position)
    body = dockfmu.reduce(file, interface=[1, 21], modes=3, units="m,kg")
    check = next(check for check in body.checks if check.name == "error of the invariants")
    assert body.method == "matrix"
    assert check.value < 1e-12
    shapes = craig_bampton(lumped.__class__(**{**vars(lumped), "mass": np.diag(diagonal)}), [1, 21], 3, None, None)
    every = lumped.at_nodes(shapes.shape, lumped.nodes)
    k = len(every)
    bodies = dockfmu.ElasticInvariants.of_bodies(
        np.ones(k), lumped.position - body.origin, np.zeros((k, 3)), 0.01 * np.tile(np.eye(3), (k, 1, 1)), every
    )
    w = np.random.default_rng(1).normal(size=body.invariants.count)
    one, two = body.invariants.mass_matrix(w), bodies.mass_matrix(w)
    assert np.abs(one - two).max() < 1e-11 * np.abs(two).max()


def test_a_frame_in_space_has_no_energy_in_rigid_motion_and_bends_the_same_in_any_direction(tmp_path):
    text = models.BEAM.replace('21 = ["10m", 0, 0]', '21 = ["6m", "0.8m", 7.959899496852959]')
    straight, turned = read_frame(models.beam(tmp_path))[1], read_frame(models.beam(tmp_path, text))[1]
    rigid = turned.rigid(np.zeros(3))
    assert np.abs(turned.stiffness @ rigid).max() < 1e-12 * np.abs(turned.stiffness).max()
    assert free_frequencies(turned, 8) == pytest.approx(free_frequencies(straight, 8), rel=1e-9)
    tip = turned.rows_of(21)
    forces = np.zeros((len(turned.freedom), 1))
    forces[tip[:3], 0] = np.array([6.0, 0.8, 7.959899496852959]) / 10.0 * 1e6
    stretch = solve_held(turned, turned.rows_of(1), forces)[tip[:3], 0]
    assert np.linalg.norm(stretch) == pytest.approx(0.1, rel=1e-8)  # F L / EA


def test_many_freedoms_are_reduced_by_sparse_matrices(tmp_path):
    file = models.beam(tmp_path, models.BEAM.replace("elements = 20", "elements = 240"))
    body = dockfmu.reduce(file, interface=[1, 21], modes=6, frame=1)
    assert body.ok
    small = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], modes=6, frame=1)
    assert body.frequency[:4] == pytest.approx(small.frequency[:4], rel=0.02)


def test_a_cut_off_keeps_the_modes_of_the_held_interface_below_it(tmp_path):
    """Beam clamped at both ends: (beta L)^2 is 22.3733, the frequencies about 5.04, 7.12, 13.9 and 19.6 Hz."""
    for hertz, modes in ((5.0, 0), (10.0, 2), (20.0, 4)):
        body = dockfmu.reduce(models.beam(tmp_path), interface=[1, 21], cut_off=hertz, frame=1)
        assert len(body.frequency) == 6 + modes
