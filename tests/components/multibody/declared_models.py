"""Random declared models: trees of all kinds of joints, with random mountings, directions and centres of mass."""

from dataclasses import replace

import numpy as np

from dockfmu.components.multibody.model import BASE, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.multibody.model.parts import COORDINATES, RATES
from dockfmu.components.multibody.reference.from_model import motion_of as motion_of_kind
from dockfmu.components.multibody.reference.from_model import rigid_system
from dockfmu.components.multibody.reference.impulse import closed_rates
from dockfmu.components.multibody.reference.kinematics import follow
from tests.components.multibody import random_systems

KINDS = tuple(COORDINATES)


def rows(matrix):
    return tuple(tuple(float(value) for value in row) for row in matrix)


def mounting(rng):
    return Mounting(tuple(map(float, rng.uniform(-0.6, 0.6, size=3))), rows(random_systems.attitude(rng)))


def body(name, rng):
    made = random_systems.body(name, rng)
    return RigidBody(name, float(made.mass), tuple(map(float, rng.uniform(-0.3, 0.3, size=3))), rows(made.inertia))


def joint(name, kind, ends, rng, **options):
    q = rng.uniform(-1.0, 1.0, size=len(COORDINATES[kind]))
    if kind in ("spherical", "free"):
        q[-4:] /= np.linalg.norm(q[-4:])
    pitch = float(rng.uniform(0.05, 0.5)) if kind == "screw" else 0.0
    return MultibodyJoint(
        name,
        kind,
        *ends,
        mounting(rng),
        mounting(rng),
        pitch=pitch,
        coordinates=tuple(map(float, q)),
        rates=tuple(map(float, rng.normal(size=len(RATES[kind])))),
        **options,
    )


def tree(rng, bodies=6, kinds=KINDS, gravity=True, turned=True):
    """Return a model with bodies before at random, and predecessors and successors exchanged at random if `turned`."""
    names = [BASE, *(f"body{k}" for k in range(1, bodies + 1))]
    joints = []
    for k in range(1, bodies + 1):
        ends = [names[int(rng.integers(max(0, k - 4), k))], names[k]]
        if turned and rng.random() < 0.5:
            ends.reverse()
        joints.append(joint(f"joint{k}", str(rng.choice(kinds)), ends, rng))
    field = tuple(map(float, rng.normal(size=3))) if gravity else (0.0, 0.0, 0.0)
    return Model("Random", tuple(body(name, rng) for name in names[1:]), tuple(joints), gravity=field)


def motion_of(system, state=None):
    """Return the motion of the bodies of a Multibody."""
    state = system.start if state is None else state
    return follow(system.system, state.q, state.u, state.time)


def closed_tree(rng, kind, bodies=5, kinds=KINDS):
    """Return a tree with a cut joint of a kind that is closed in the pose of the start, whose rates keep it closed."""
    model = tree(rng, bodies, kinds)
    names = [BASE, *(made.name for made in model.bodies)]
    one, other = (str(name) for name in rng.choice(names, size=2, replace=False))
    cut = joint("cut", kind, (one, other), rng, cut=True)
    system = rigid_system(model)
    q, u = (np.concatenate([np.array(made.start[k]) for made in model.tree]) for k in (0, 1))
    motion = follow(system, q, u)
    relative = motion_of_kind(kind, cut.pitch).evaluate(np.array(cut.start[0]), np.zeros(len(cut.start[1])), 0.0)
    i, j = names.index(one), names.index(other)
    centers = [np.zeros(3), *(np.array(made.center) for made in model.bodies)]
    # frame on the predecessor in axes of the base, then that on the successor
    F = motion.A[i] @ np.array(cut.on_predecessor.rotation).T
    point = motion.r[i] + motion.A[i] @ (np.array(cut.on_predecessor.point) - centers[i]) + F @ relative.z
    inside = motion.A[j].T @ (point - motion.r[j]) + centers[j]
    side = Mounting(tuple(map(float, inside)), rows((F @ relative.R).T @ motion.A[j]))
    closed = replace(model, joints=(*model.joints, replace(cut, on_successor=side)))
    rates = closed_rates(rigid_system(closed), q, u)
    joints = tuple(
        replace(made, rates=tuple(map(float, rates[part])))
        for made, part in zip(closed.tree, system.rate_slices, strict=True)
    )
    return replace(closed, joints=(*joints, *closed.cuts))
