"""Reduced elastic bodies against time integrations of the whole finite-element model in nodal coordinates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import Model, Mounting, MultibodyJoint, PrescribedMotion
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.elastic.frame import read_frame
from tests.components.multibody.random_models import made

BEAM = """
name = "beam"
[nodes]
1 = [0, 0, 0]
9 = [2, 0, 0]
[sections.s]
area = 1e-3
bending_y = 2e-8
bending_z = 5e-8
torsion = 4e-8
[materials.m]
modulus = "2000 MPa"
shear = "700 MPa"
density = 1000
[[beams]]
nodes = [1, 9]
section = "s"
material = "m"
elements = 4
"""


def whole_body(file: Path) -> tuple[ElasticInvariants, np.ndarray, int]:
    """Return (invariants, stiffness, first freedom of the tip) of all nodal coordinates with the frame at node 1."""
    full, _ = read_frame(file)
    free = 6 * len(full.nodes) - 6
    root = list(full.nodes).index(1)
    kept = [k for k in range(6 * len(full.nodes)) if k // 6 != root]
    shape = np.zeros((len(full.nodes), 6, free))
    for column, k in enumerate(kept):
        shape[k // 6, k % 6, column] = 1.0
    own = ElasticInvariants.of_bodies(full.bodies.mass, full.position, full.bodies.offset, full.bodies.inertia, shape)
    tip = kept.index(6 * list(full.nodes).index(9))
    return own, full.stiffness[np.ix_(kept, kept)], tip


def reduced_body(file: Path, elements: int = 4):
    """Return the body with as many shapes as freedoms: all modes with the ends held, the frame at node 1."""
    body = dockfmu.reduce(file, interface=[1, 9], modes=6 * (elements - 1), frame=1, damping=1e-9)
    assert len(body.frequency) == 6 * elements
    return elastic_rigid_body("beam", body)


def course(model: Model, end: float, micro: float):
    """Return the instance of a model after fixed micro-steps."""
    instance = Instance(made(model))
    stepping = instance.m.parameters.stepping
    stepping.micro_tolerance, stepping.micro_step = 0.0, micro
    instance.step(0.0, end)
    return instance


def extrapolated(model: Model, end: float, micro: float, read) -> np.ndarray:
    """Return the limit of a method of second order from two micro-steps: errors of fourth order remain."""
    coarse, fine = (np.array(read(course(model, end, size))) for size in (micro, 0.5 * micro))
    return (4.0 * fine - coarse) / 3.0


@pytest.mark.slow
def test_spinning_elastic_beam_equals_the_whole_finite_element_model(tmp_path):
    """Six digits of the deflection of the tip of a beam that turns to and fro with up to 3 rad/s.

    The whole model is integrated in nodal coordinates in the turning frame, node by node, without invariants.
    """
    file = tmp_path / "beam.toml"
    file.write_text(BEAM, encoding="utf-8")
    amplitude, frequency, end = 1.0, 3.0, 1.0
    motion = PrescribedMotion(amplitude=amplitude, frequency=frequency, phase=-0.5 * np.pi)
    joint = MultibodyJoint("axis", "revolute", "base", "beam", motions={0: motion})
    model = Model("Spin", (reduced_body(file),), (joint,))

    def tip(instance):
        m = instance.m
        at = max(range(2), key=lambda k: m.deflection[k].link)
        return np.concatenate((m.deflection[at].displacement, m.deflection[at].rotation))

    model = Model("Spin", model.bodies, model.joints, ports=(_port("beam", (2.0, 0.0, 0.0)),))
    found = extrapolated(model, end, 2.5e-4, tip)

    full, _ = read_frame(file)
    count, root = len(full.nodes), list(full.nodes).index(1)
    kept = np.array([k for k in range(6 * count) if k // 6 != root])
    mass, offset, inertia = full.bodies.mass, full.bodies.offset, full.bodies.inertia
    # displacement of each displaced body by the freedoms of its node, and its rotation
    moved, turned = np.zeros((count, 3, len(kept))), np.zeros((count, 3, len(kept)))
    for column, k in enumerate(kept):
        unit = np.eye(6)[k % 6]
        moved[k // 6, :, column] = unit[:3] + np.cross(unit[3:], offset[k // 6])
        turned[k // 6, :, column] = unit[3:]
    M = np.einsum("k,kia,kib->ab", mass, moved, moved) + np.einsum("kia,kij,kjb->ab", turned, inertia, turned)
    K = full.stiffness[np.ix_(kept, kept)]
    inverse = np.linalg.inv(M)
    place = full.position + offset

    def rate(t, y):
        u, v = np.split(y, 2)
        w = np.array([0.0, 0.0, amplitude * frequency * np.sin(frequency * t)])
        e = np.array([0.0, 0.0, amplitude * frequency**2 * np.cos(frequency * t)])
        s, s_rate = place + moved @ u, moved @ v
        a = 2.0 * np.cross(w, s_rate) + np.cross(w, np.cross(w, s)) + np.cross(e, s)
        load = -K @ u - np.einsum("k,kia,ki->a", mass, moved, a) - np.einsum("kia,kij,j->a", turned, inertia, e)
        return np.concatenate((v, inverse @ load))

    whole = solve_ivp(rate, (0.0, end), np.zeros(2 * len(kept)), method="DOP853", rtol=1e-10, atol=1e-13).y[:, -1]
    first = list(kept).index(6 * list(full.nodes).index(9))
    expected = whole[first : first + 6]
    assert abs(expected[1]) > 0.01
    assert found[1] == pytest.approx(expected[1], rel=1e-6)
    assert found[5] == pytest.approx(expected[5], rel=1e-6)
    assert found == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def _port(body, point):
    from dockfmu.components.multibody.model import Port

    return Port("tip", body, point)


def about_y() -> Mounting:
    """Return a joint frame whose z axis is y of the body."""
    return Mounting(rotation=((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))


@pytest.mark.slow
def test_slider_crank_with_an_elastic_rod_equals_the_whole_finite_element_model(tmp_path):
    """Six digits of the crank's angle and of the slider after a tenth of a second under 50 m/s2.

    The rod in nodal coordinates with Cartesian coordinates of all bodies and constraint rows, against the recursion
    with a cut joint and modes.
    """
    file = tmp_path / "beam.toml"
    text = (
        BEAM.replace('"2000 MPa"', '"200 MPa"').replace('"700 MPa"', '"70 MPa"').replace("elements = 4", "elements = 2")
    )
    file.write_text(text.replace("2e-8", "2e-7").replace("5e-8", "5e-7").replace("4e-8", "4e-7"), encoding="utf-8")
    angle, length, end = 1.0, 0.5, 0.1
    back = -np.arcsin(length * np.sin(angle) / 2.0)
    slide = length * np.cos(angle) + 2.0 * np.cos(back)
    from dataclasses import replace

    from dockfmu.components.multibody.model import RigidBody

    crank = RigidBody("crank", 1.0, (0.25, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.03)))
    slider = RigidBody("slider", 3.0, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    rod = replace(reduced_body(file, 2), name="rod")
    hinge = about_y()
    along = Mounting(rotation=((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)))
    joints = (
        # a positive angle about y lowers x: crank upward, rod downward
        MultibodyJoint("axis", "revolute", "base", "crank", hinge, hinge, coordinates=(-angle,)),
        MultibodyJoint("pin", "revolute", "crank", "rod", replace(hinge, point=(length, 0.0, 0.0)), hinge,
                       coordinates=(angle - back,)),
        MultibodyJoint("guide", "prismatic", "base", "slider", along, along, coordinates=(slide,)),
        MultibodyJoint("wrist", "spherical", "rod", "slider", Mounting((2.0, 0.0, 0.0)), Mounting(), cut=True),
    )  # fmt: skip
    model = Model("Crank", (crank, rod, slider), joints, gravity=(0.0, 0.0, -50.0))

    def read(instance):
        m = instance.m
        at = max(range(2), key=lambda k: m.deflection[k].link)
        return [m.coordinate[0].position, m.coordinate[2].position, *m.deflection[at].displacement]

    found = extrapolated(model, end, 2.5e-4, read)
    expected = whole_slider_crank(file, angle, back, slide, length, end)
    assert abs(expected[0] + angle) > 0.04
    assert found[:2] == pytest.approx(expected[:2], rel=1e-6)
    assert np.abs(expected[2:]).max() > 1e-4
    assert found[2:] == pytest.approx(expected[2:], abs=1e-6 * np.abs(expected[2:]).max())


def whole_slider_crank(file, angle, back, slide, length, end):
    """Return (angle of the crank, displacement of the slider, deflection of the rod's end) of the whole model."""
    from dockfmu.components.multibody.reference.elastic import (
        ElasticMarker,
        ElasticState,
        ElasticSystem,
        rigid_invariants,
        rotation_series,
    )

    own, K, tip = whole_body(file)
    n = own.count
    none, rigid = np.zeros(0), np.zeros((6, 0))
    R = np.array(about_y().rotation).T
    along = np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))).T
    held, end_shape = np.zeros((6, n)), np.zeros((6, n))
    end_shape[:, tip : tip + 6] = np.eye(6)
    crank = rigid_invariants(1.0, np.array([0.25, 0.0, 0.0]), np.diag([0.01, 0.03, 0.03]))
    slider = rigid_invariants(3.0, np.zeros(3), 0.1 * np.eye(3))
    zero = np.zeros((0, 0))
    system = ElasticSystem(
        (crank, own, slider), (zero, K, zero), (zero, np.zeros((n, n)), zero),
        (
            ("revolute", ElasticMarker(0, np.zeros(3), rigid, R=R), ElasticMarker(1, np.zeros(3), rigid, R=R)),
            ("revolute", ElasticMarker(1, np.array([length, 0.0, 0.0]), rigid, R=R),
             ElasticMarker(2, np.zeros(3), held, R=R)),
            ("prismatic", ElasticMarker(0, np.zeros(3), rigid, R=along), ElasticMarker(3, np.zeros(3), rigid, R=along)),
            ("spherical", ElasticMarker(2, np.array([2.0, 0.0, 0.0]), end_shape), ElasticMarker(3, np.zeros(3), rigid)),
        ),
        np.array([0.0, 0.0, -50.0]),
    )  # fmt: skip
    ground = ElasticState(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), none, none)
    sizes = [12, 12 + 2 * n, 12]
    ends = np.cumsum(sizes)[:-1]

    def body_state(y, count):
        return ElasticState(rotation_series(y[:3])[0], y[3:6], y[6:9], y[9:12], y[12 : 12 + count], y[12 + count :])

    def states(y):
        return [ground, *(body_state(part, len(part) // 2 - 6) for part in np.split(y, ends))]

    def rate(_, y):
        now = states(y)
        found, _ = system.accelerations(now)
        parts = []
        for part, state, change in zip(np.split(y, ends), now[1:], found, strict=True):
            jacobian = rotation_series(part[:3])[1]
            # the rotation vector's rate: w in I is J of it
            turn = np.linalg.solve(jacobian, state.A @ state.w)
            parts += [turn, state.v, state.A @ change[:3], change[3:6], state.rates, change[6:]]
        return np.concatenate(parts)

    start = np.zeros(sum(sizes))
    start[1] = -angle
    start[ends[0] + 1] = -back
    start[ends[0] + 3 : ends[0] + 6] = [length * np.cos(angle), 0.0, length * np.sin(angle)]
    start[ends[1] + 3] = slide
    found = solve_ivp(rate, (0.0, end), start, method="DOP853", rtol=1e-9, atol=1e-12).y[:, -1]
    crank_part, rod_part, slider_part = np.split(found, ends)
    return np.concatenate(([crank_part[1], slider_part[3]], rod_part[12 + tip : 15 + tip]))
