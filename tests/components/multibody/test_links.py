"""The recursion against Pinocchio, and its invariances."""

from dataclasses import replace

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.model import Model, MultibodyJoint
from dockfmu.components.physics.mechanics.rotation import conjugate, from_quaternion
from dockfmu.components.physics.tree import momentum
from tests.components.multibody import pinocchio_model, random_models
from tests.components.multibody.random_models import KINDS, made, random_model

ROUNDING = 1e-10
"""Of accelerations relative to the largest: trees of twelve bodies have condition numbers of 1e4 or so."""


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    size = 1.0 + max(float(np.abs(a).max()) for a in expected.values())
    return max(float(np.abs(found[name] - expected[name]).max()) for name in expected) / size


@pytest.mark.parametrize("seed", range(50))
def test_forward_dynamics_equal_those_of_pinocchio(seed: int) -> None:
    kinds = (KINDS[1 + seed % 8],) if seed < 16 else KINDS
    model = random_model(seed, 8, kinds)
    found = random_models.body_accelerations(Instance(made(model)), model)
    assert difference(found, pinocchio_model.body_accelerations(model)) < ROUNDING


def test_inertia_of_all_links_about_a_point_is_that_about_their_centres_and_of_their_masses() -> None:
    """By Steiner from each centre of mass; the links keep theirs about a point of the joint."""
    link, origin = Instance(made(random_model(5, 6, KINDS))).m.link, np.array([0.3, -0.7, 0.2])
    mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    for b in link[1:]:
        A, J = np.array(b.rotation), np.zeros((3, 3))
        J[np.triu_indices(3)] = b.inertia
        J += np.triu(J, 1).T
        c = np.array(b.moment) / b.mass if b.mass else np.zeros(3)
        arm = b.position + A.T @ c - origin
        central = J - b.mass * (c @ c * np.eye(3) - np.outer(c, c))
        mass += b.mass
        moment += b.mass * arm
        inertia += A.T @ central @ A + b.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    found = momentum.composite(link, tuple(origin))
    assert found[0] == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(found[1], moment, rtol=0, atol=1e-12 * np.abs(moment).max())
    np.testing.assert_allclose(found[2], inertia, rtol=0, atol=1e-12 * np.abs(inertia).max())


def turned_around(joint: MultibodyJoint) -> MultibodyJoint:
    """Return the same joint in the same state, directed the other way."""
    q, v = map(np.array, joint.start)
    ends = {
        "predecessor": joint.successor, "successor": joint.predecessor,
        "on_predecessor": joint.on_successor, "on_successor": joint.on_predecessor,
    }  # fmt: skip
    if joint.kind in ("revolute", "prismatic", "screw", "cylindrical"):
        return replace(joint, **ends, coordinates=tuple(-q), rates=tuple(-v))
    quaternion = tuple(q[-4:])
    A = np.array(from_quaternion(quaternion))
    spin = -A.T @ v[-3:]
    back = np.array(conjugate(quaternion))
    if joint.kind == "spherical":
        return replace(joint, **ends, coordinates=tuple(back), rates=tuple(spin))
    place = -A @ q[:3]
    speed = -A @ v[:3] + np.cross(v[-3:], A @ q[:3])
    return replace(joint, **ends, coordinates=(*place, *back), rates=(*speed, *spin))


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "screw", "cylindrical", "spherical", "free"])
def test_spec10_oracle_5_direction_of_an_arc_changes_nothing(kind: str) -> None:
    model = random_model(11, 6, (kind,))
    other = replace(
        model, joints=tuple(turned_around(joint) if k % 2 else joint for k, joint in enumerate(model.joints))
    )
    instances = Instance(made(model)), Instance(made(other))
    found, expected = (random_models.body_accelerations(one, model) for one in instances)
    assert difference(found, expected) < ROUNDING
    # the outputs of the joints are given back as they were declared
    m = instances[1].m
    for joint in other.joints:
        q, v = joint.start
        if joint.kind in ("spherical", "free"):
            shown = m.rotation[[j.name for j in other.joints].index(joint.name)]
            sign = np.sign(shown.quaternion @ q[-4:])
            np.testing.assert_allclose(sign * shown.quaternion, q[-4:], atol=1e-14)
            np.testing.assert_allclose(shown.angular_velocity, v[-3:], atol=1e-14)
            if joint.kind == "free":
                np.testing.assert_allclose(shown.position, q[:3], atol=1e-14)
                np.testing.assert_allclose(shown.velocity, v[:3], atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_spec10_oracle_5_numbering_of_bodies_changes_nothing(seed: int) -> None:
    model = random_model(seed, 9, reverse=0.5)
    order = np.random.default_rng(seed).permutation(9)
    other = replace(
        model,
        bodies=tuple(model.bodies[k] for k in order),
        joints=tuple(model.joints[k] for k in order[::-1]),
    )
    found, expected = (random_models.body_accelerations(Instance(made(one)), one) for one in (other, model))
    assert difference(found, expected) < ROUNDING


def test_spec10_oracle_5_joint_point_along_a_revolute_axis_changes_nothing() -> None:
    model = random_model(5, 7, ("revolute",))

    def moved(joint: MultibodyJoint) -> MultibodyJoint:
        ends = {}
        for name in ("on_predecessor", "on_successor"):
            place = getattr(joint, name)
            point = np.array(place.point) + 0.7 * np.array(place.rotation)[2]
            ends[name] = replace(place, point=tuple(point))
        return replace(joint, **ends)

    other: Model = replace(model, joints=tuple(map(moved, model.joints)))
    found, expected = (random_models.body_accelerations(Instance(made(one)), one) for one in (other, model))
    assert difference(found, expected) < ROUNDING
