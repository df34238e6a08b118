"""Models with elastic bodies whose finite elements are known node by node, and their motion as linear bodies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag, expm, null_space

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import JointLock, Kind, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from tests.components.multibody.elastic_models import reference_states
from tests.components.multibody.nodal_impacts import NodalBody, nodal_body, relative_rows
from tests.components.multibody.random_models import attitude, made, matrix

FRAME = """
name = "frame"
[nodes]
1 = [0, 0, 0]
2 = [1.2, 0, 0]
3 = [1.6, 0.8, 0.3]
[sections.s]
area = 1e-3
bending_y = 2e-7
bending_z = 5e-7
torsion = 4e-7
polar = 1e-5
[materials.m]
modulus = "2000 MPa"
shear = "700 MPa"
density = 1500
[[beams]]
nodes = [1, 2]
section = "s"
material = "m"
elements = 2
[[beams]]
nodes = [2, 3]
section = "s"
material = "m"
elements = 2
[[masses]]
node = 2
mass = 0.8
inertia = [0.01, 0.02, 0.015]
offset = [0, 0.1, 0.05]
[[masses]]
node = 3
mass = 1.5
inertia = [0.2, 0.3, 0.4]
offset = [0.05, 0, 0]
"""
ENDS = ((0.0, 0.0, 0.0), (1.6, 0.8, 0.3))
"""Places of nodes 1 and 3."""


def elastic_pair(folder: Path, whole: bool) -> tuple[RigidBody, NodalBody]:
    """Return the bent frame of 24 freedoms, whole or reduced to 10 shapes, and the same node by node."""
    file = folder / "frame.toml"
    file.write_text(FRAME, encoding="utf-8")
    modes = 0 if whole else 4
    nodes = (1, 2, 3, 4, 5) if whole else (1, 3)
    body = dockfmu.reduce(file, interface=list(nodes), modes=modes, frame=1)
    assert body.shape.shape[2] == (24 if whole else 10)
    return elastic_rigid_body("frame", body), nodal_body(file, body, modes)


HULL = RigidBody("hull", 6.0, (0.1, -0.2, 0.3), ((1.5, 0.1, 0.0), (0.1, 2.0, 0.2), (0.0, 0.2, 1.2)))
LOAD = RigidBody("load", 2.0, (0.2, 0.1, 0.0), ((0.2, 0.0, 0.01), (0.0, 0.3, 0.0), (0.01, 0.0, 0.25)))


def mounted(point: tuple[float, float, float], seed: int) -> Mounting:
    """Return a joint frame with random axes."""
    return Mounting(point, matrix(from_quaternion(tuple(attitude(np.random.default_rng(seed))))))


def chain(elastic: RigidBody, kind: Kind, coordinate: int = 0, root: Kind = "free") -> Model:
    """Return a hull, two elastic bodies joined at interface nodes by the joint `latch`, and a load; free of gravity."""
    random = np.random.default_rng(7)
    whole = {"spherical": 4, "free": 7, "cylindrical": 2}.get(kind, 1)
    q = 0.3 * random.normal(size=whole)
    if kind in ("spherical", "free"):
        q[-4:] = attitude(random)
    rates = 3.0 * random.normal(size={"spherical": 3, "free": 6, "cylindrical": 2}.get(kind, 1))
    flight = MultibodyJoint("flight", root, "base", "hull", rates=(0.5, -1.0, 0.3, 0.4, 0.5, -0.6) * (root == "free"))
    joints = (
        flight,
        MultibodyJoint("root", "revolute", "hull", "one", mounted((0.4, 0.0, 0.2), 1), mounted(ENDS[0], 2),
                       rates=(0.7,)),
        # against its direction: the latch is declared from the outer body to the inner one
        MultibodyJoint("latch", kind, "two", "one", mounted(ENDS[1], 3), mounted(ENDS[1], 4), 0.3 * (kind == "screw"),
                       tuple(q.tolist()), tuple(rates.tolist())),
        MultibodyJoint("wrist", "spherical", "two", "load", mounted(ENDS[0], 5), mounted((0.1, 0.0, 0.0), 6),
                       rates=(0.3, -0.8, 0.2)),
    )  # fmt: skip
    bodies = (HULL, replace(elastic, name="one"), replace(elastic, name="two"), LOAD)
    return Model("Chain", bodies, joints, locks=(JointLock("latch", "latch", coordinate),))


def moving(model: Model, seed: int = 3) -> Instance:
    """Return an instance whose elastic bodies are deflected and vibrate."""
    instance, random = Instance(made(model)), np.random.default_rng(seed)
    m = instance.m
    for k in range(int(m.run.modes)):
        link = m.link[int(m.modal[k].link)]
        link.q, link.rate = 1e-3 * random.normal(), 0.05 * random.normal()
    assert instance.component.initialize(m) == 0
    return instance


def ring(elastic: RigidBody, kind: Kind, cut: Kind) -> Model:
    """Return the hull with two elastic bodies that meet in the latch; a cut joint ties the second to the hull again."""
    open_chain = chain(elastic, kind)
    root, latch = open_chain.joints[1:3]
    joints = (
        open_chain.joints[0],
        replace(root, kind="spherical", rates=(0.7, -0.3, 0.4)),
        latch,
        MultibodyJoint("cut", cut, "two", "hull", mounted(ENDS[0], 8), mounted((-0.5, 0.6, 0.0), 9), cut=True),
    )
    return replace(open_chain, bodies=open_chain.bodies[:3], joints=joints)


def small_motion(model: Model, frame: NodalBody, start: np.ndarray, spans: tuple[float, float, float]):
    """Return (coordinates, rates, energy lost) of two bodies that fly, are latched, and are released, linear.

    `start` are the rates of both at the undeformed pose; coordinates are small motions of the frames, in their axes,
    and modes. The stiffness is that of the shapes; each span is solved by the exponential of its matrix.
    """
    states = reference_states(Instance(made(model)), model)[1:]
    bodies = [frame, frame]
    motion = block_diag(*(body.motions(np.zeros(body.shape.shape[2])) for body in bodies))
    M = motion.T @ block_diag(*(body.masses for body in bodies)) @ motion
    elastic = model.bodies[0].elastic
    assert elastic is not None
    one = np.concatenate((np.zeros(6), elastic.frequency**2))
    K = np.diag(np.concatenate((one, one)))
    allowed = null_space(relative_rows(model, bodies, states, model.joints[1]))
    x, v = np.zeros(len(start)), start
    for span, latched in zip(spans, (False, True, False), strict=True):
        Z = allowed if latched else np.eye(len(x))
        mass = Z.T @ M @ Z
        y = np.linalg.solve(mass, Z.T @ M @ v)
        if latched:
            lost = 0.5 * float(v @ M @ v - y @ mass @ y)
        n = len(y)
        # of changes, their rates, and one
        flow = np.zeros((2 * n + 1, 2 * n + 1))
        flow[:n, n : 2 * n] = np.eye(n)
        flow[n : 2 * n, :n] = -np.linalg.solve(mass, Z.T @ K @ Z)
        flow[n : 2 * n, 2 * n] = -np.linalg.solve(mass, Z.T @ K @ x)
        end = expm(span * flow) @ np.concatenate((np.zeros(n), y, [1.0]))
        x, v = x + Z @ end[:n], Z @ end[n : 2 * n]
    return x, v, lost
