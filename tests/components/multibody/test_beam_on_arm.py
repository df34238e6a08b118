"""The system `beam_on_arm` against its linear motion, in which the beam is its whole finite-element model."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh, expm
from scipy.spatial.transform import Rotation

import dockfmu
from dockfmu.components import multibody
from dockfmu.elastic.frame import read_frame
from dockfmu.elastic.reduce import reduce
from tests.components.multibody.nodal_impacts import cross_matrix

MODELS = Path(multibody.__file__).with_name("models")
JOINTS = ("yaw", "pitch", "elbow", "tilt", "turn")
AXES = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], float)
ANGLES = np.radians([0.0, -50.0, 90.0, -40.0, 60.0])
RATES = np.radians([0.2, -0.1, 0.1, 0.0, 0.0])
STIFFNESS, DAMPING = np.array([4e5, 4e5, 3e5, 2e5, 2e5]), np.array([8e3, 8e3, 6e3, 3e3, 3e3])
ENDS = np.array([[[4, 0, 1.8], [0, 0, -0.3]], [[0, 0, 0.3], [-3.5, 0, 0]], [[3.5, 0, 0], [-3.5, 0, 0]],
                 [[3.5, 0, 0], [-0.4, 0, 0]], [[0.4, 0, 0], [0, 0, 0]]])  # fmt: skip
"""Of each joint: its point on the body before it and on that behind it."""
BODIES = ((20000.0, (5e4, 1.9e5, 1.9e5)), (60.0, (2, 2, 2)), (140.0, (4, 580, 580)), (140.0, (4, 580, 580)),
          (60.0, (2, 2, 2)))  # fmt: skip
"""Mass and central inertia of the craft, the shoulder, both booms and the wrist."""
DAMPED = 0.005
"""Of the critical damping of the beam, held at its fixture."""


@cache
def linear():
    """Return M, C, K and start rates of small motion, what gives the load at the fixture, and the place of the far end.

    The load is that of the elements: minus the matrix times the displacements of the beam's nodes. Coordinates: motion
    of the craft, joints, and six components of each node of the beam behind the fixture, relative to it,
    in axes of the beam.
    """
    R, r = np.eye(3), np.zeros(3)
    places, turns, pivots, axes = [r], [R], [], []
    for axis, angle, (before, behind) in zip(AXES, ANGLES, ENDS, strict=True):
        pivots.append(r + R @ before)
        axes.append(R @ axis)
        R = R @ Rotation.from_rotvec(angle * axis).as_matrix()
        r = pivots[-1] - R @ behind
        places.append(r)
        turns.append(R)
    full, _ = read_frame(MODELS / "elastic_beam.toml")
    K_beam, M_beam = np.array(full.stiffness), np.array(full.mass)
    at = int(np.flatnonzero(full.nodes == 1)[0])
    free = np.array([6 * k + i for k in range(len(full.nodes)) if k != at for i in range(6)])
    size = 11 + len(free)

    def motion(place, joints):
        """Return the velocity and angular velocity of a place behind the first joints (6, size)."""
        T = np.zeros((6, size))
        T[:3, :3], T[3:, 3:6], T[:3, 3:6] = np.eye(3), np.eye(3), -cross_matrix(place)
        for j in range(joints):
            T[:3, 6 + j], T[3:, 6 + j] = np.cross(axes[j], place - pivots[j]), axes[j]
        return T

    M, K, C = (np.zeros((size, size)) for _ in range(3))
    for k, (mass, inertia) in enumerate(BODIES):
        T, A = motion(places[k], k), turns[k]
        M += mass * T[:3].T @ T[:3] + T[3:].T @ A @ np.diag(inertia) @ A.T @ T[3:]
    own = np.kron(np.eye(2), R.T)
    T = np.vstack([own @ motion(r + R @ (place - full.position[at]), 5) for place in full.position])
    T[free, 11 + np.arange(len(free))] = 1.0
    M += T.T @ M_beam @ T
    K[6:11, 6:11], C[6:11, 6:11] = np.diag(STIFFNESS), np.diag(DAMPING)
    inner = np.ix_(free, free)
    K[11:, 11:] = K_beam[inner]
    squares, shapes = eigh(K_beam[inner], M_beam[inner])
    moved = M_beam[inner] @ shapes
    C[11:, 11:] = moved * (2.0 * DAMPED * np.sqrt(squares)) @ moved.T
    start = np.zeros(size)
    start[6:11] = RATES
    fixture = np.arange(6 * at, 6 * at + 6)
    tip = int(np.flatnonzero(full.nodes == 2)[0])
    return M, C, K, start, K_beam[np.ix_(fixture, free)], int(np.flatnonzero(free == 6 * tip)[0]) + 11


def test_the_beam_is_that_of_its_model():
    """To the digits that other libraries of linear algebra leave."""
    kept = dockfmu.Multibody.load(MODELS / "beam_on_arm.toml").model
    (beam,) = (body.elastic for body in kept.bodies if body.name == "beam")
    sections = {"grapple": [(1, 3)]}
    again = reduce(MODELS / "elastic_beam.toml", interface=[1, 2], modes=8, frame=1, sections=sections)
    assert again.frequency == pytest.approx(beam.frequency, rel=1e-7)
    assert again.ok


def test_frequencies_of_the_beam_on_the_joints_are_those_of_the_whole_model():
    """The lowest eleven of the reduced beam on the arm; six motions of the whole have none."""
    system = dockfmu.Multibody.load(MODELS / "beam_on_arm.toml")
    found = np.sort(system.vibrations(system.start).frequencies)
    M, _, K, *_ = linear()
    expected = np.sqrt(np.abs(eigh(K, M, eigvals_only=True)))
    assert np.abs(found[:6]).max() < 1e-3
    assert found[6:11] == pytest.approx(expected[6:11], rel=3e-5)
    assert found[11:17] == pytest.approx(expected[11:17], rel=5e-4)


@pytest.mark.slow
def test_joints_far_end_and_loads_at_the_grapple_are_those_of_the_whole_model():
    """Motion and loads of 10 s; the rotation of the whole by 0.0038 rad/s is what the linear motion lacks."""
    names = [f"arm.joint.{joint}.angle.position" for joint in JOINTS]
    bent = [f"arm.node.beam_node2.displacement[{k}]" for k in (2, 3)]
    loads = [f"arm.section.beam.grapple.{kind}[{k}]" for kind in ("force", "torque") for k in (1, 2, 3)]
    run = dockfmu.load("beam_on_arm").run(stop=10.0, record=[*names, *bent, *loads], every=1)
    M, C, K, start, stiff, tip = linear()
    n = len(M)
    flow = np.zeros((2 * n, 2 * n))
    flow[:n, n:] = np.eye(n)
    flow[n:] = np.hstack([-np.linalg.solve(M, K), -np.linalg.solve(M, C)])
    step, x, rows = expm(0.01 * flow), np.concatenate([np.zeros(n), start]), []
    for _ in range(len(run[names[0]])):
        rows.append(np.concatenate([ANGLES + x[6:11], x[tip + 1 : tip + 3], -stiff @ x[11:n]]))
        x = step @ x
    for name, expected in zip([*names, *bent, *loads], np.transpose(rows), strict=True):
        size, apart = np.ptp(expected), np.abs(run[name] - expected)
        # static shapes do not ring after the jump of the start, along the beam and in torsion
        assert name in (loads[0], loads[3]) or apart.max() < 0.006 * size, name
        smooth = np.convolve(run[name] - expected, np.full(25, 0.04), "valid")
        assert np.abs(smooth).max() < 0.01 * size, name
