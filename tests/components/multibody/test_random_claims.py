"""Claims that hold for all declared models, attacked with random declarations: scenes, and momentum with contacts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.model import BASE
from tests.components.multibody.declarations import declaration, equipped, text_of
from tests.components.multibody.test_random_declarations import CONDITION, relaxed

pytestmark = pytest.mark.slow


def well_posed(system: Multibody) -> bool:
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    return not free or np.linalg.cond(system.mass_matrix()[np.ix_(free, free)]) < CONDITION


def names_of_scene(value: Any, found: set[str]) -> set[str]:
    """Return all strings of a scene that look like names of variables."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("label", "frame", "to_frame", "parent", "title", "shape", "style", "device"):
                names_of_scene(inner, found)
    elif isinstance(value, list | tuple):
        for inner in value:
            names_of_scene(inner, found)
    elif isinstance(value, str):
        found.add(value)
    return found


@settings(relaxed, max_examples=60)
@given(equipped())
def test_every_variable_of_a_scene_is_one_of_the_model(chosen):
    declared = component_of(read_text(text_of(declaration(chosen))))
    scalars = set(declared.record.index)
    arrays = {name.partition("[")[0] for name in scalars}
    scene = declared.scene
    wanted = names_of_scene([scene["frames"], scene["shapes"], scene["devices"], scene["curves"]], set())
    assert wanted - scalars - arrays == set()
    frames = {shape[key] for shape in scene["shapes"] for key in ("frame", "to_frame") if key in shape}
    assert frames <= set(scene["frames"])


@settings(relaxed, max_examples=40)
@given(equipped())
def test_reactions_on_the_base_balance_momentum_with_contacts(chosen):
    """Forces of joints on the base, gravity, contacts and springs to the base = rate of the momentum, to rounding."""
    model = read_text(text_of(declaration(chosen))).model
    system = Multibody(model)
    assume(well_posed(system))
    contacts = system.contact_forces()
    reactions = system.reactions(contacts=contacts)
    assume(all(np.isfinite(one.force).all() for one in reactions.values()))
    motion = system._motion(None)
    size = 1.0
    total = np.zeros(3)
    arcs = {joint.name: joint for joint in (*system.system.joints, *system.system.cuts)}
    for joint in model.joints:
        ends = (joint.predecessor, joint.successor)
        if BASE in ends:
            arc = arcs[joint.name]
            force = motion.A[arc.leaves] @ arc.plus.R @ reactions[joint.name].force
            # what the predecessor exerts on the successor; wanted is what the base exerts
            total += force if ends[0] == BASE else -force
            size += np.linalg.norm(force)
    masses = system.system.masses
    total += masses.sum() * np.array(model.gravity)
    for one in contacts:
        for body, force in zip(one.bodies, (-one.force, one.force), strict=True):
            if body != BASE:
                total += force
                size += np.linalg.norm(force)
    rates = system.forward_dynamics(contacts=contacts)
    tree = system._equations(motion, None)
    a = np.einsum("nka,n->ka", tree.D, rates) + tree.U
    change = masses @ a
    springs = np.zeros(3)
    for spring in model.springs:
        if (spring.first == BASE) != (spring.second == BASE):
            springs += _pull(model, motion, spring)
    size += np.linalg.norm(change) + np.linalg.norm(springs)
    np.testing.assert_allclose(total + springs, change, rtol=0, atol=1e-9 * size)


def _pull(model, motion, spring):
    """Return the force of a spring between the base and a body on the body."""
    from dockfmu.components.multibody.analysis.elements import ends, tension

    _, points, velocities = ends(motion, model, spring)
    span = points[1] - points[0]
    distance = float(np.linalg.norm(span))
    along = span / distance
    pull = tension(spring, distance, float((velocities[1] - velocities[0]) @ along)) * along
    return pull if spring.second == BASE else -pull
