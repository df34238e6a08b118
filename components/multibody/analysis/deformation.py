"""Elastic bodies in the analysis: masses of the deformed bodies, points that move with a node, static deflection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.components.multibody.analysis.results import MassProperties, MultibodyState
from dockfmu.components.multibody.model import RigidBody
from dockfmu.components.multibody.model.elastic import nearest_node
from dockfmu.components.multibody.reference.elastic import ElasticMarker, ElasticState
from dockfmu.components.multibody.reference.graph_method import GraphEquations
from dockfmu.components.multibody.reference.kinematics import TreeMotion
from dockfmu.components.multibody.reference.system import RigidSystem

SETTLING = 100
"""Iterations to the static deflection of a start."""
SETTLED = 1e-12
"""Change of the largest modal coordinate, relative to it, at which a deflection is static."""


class StaticStartError(DockfmuError, ValueError):
    """No deflection holds the loads of the start."""


def weighed(motion: TreeMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masses, centres of mass and central inertias of all bodies, deformed as they are, in inertial axes."""
    m, r, J = motion.system.masses.copy(), motion.r[1:].copy(), motion.inertia()
    for k, part in enumerate(motion.system.flexible):
        (w, _), A, own = motion.modes(k), motion.A[part.body], part.own.mass
        arm = part.static_moment(w) / own
        m[part.body - 1] = own
        r[part.body - 1] += A @ arm
        J[part.body - 1] = A @ (part.inertia(w) - own * (arm @ arm * np.eye(3) - np.outer(arm, arm))) @ A.T
    return m, r, J


def mass_properties(motion: TreeMotion) -> MassProperties:
    """Return mass, centre of mass and inertia of the whole system."""
    m, r, J = weighed(motion)
    total = float(m.sum())
    center = m @ r / total
    arm = r - center
    whole = J.sum(axis=0) + np.einsum("k,kab->ab", m, (arm**2).sum(axis=1)[:, None, None] * np.eye(3))
    return MassProperties(total, center, whole - np.einsum("k,ka,kb->ab", m, arm, arm))


def body_jacobian(
    body: RigidBody, index: int, point: np.ndarray, motion: TreeMotion, tree: GraphEquations
) -> np.ndarray:
    """Return the 6 x n matrix from rates to the twist of a point of an elastic body, carried by the nearest node."""
    assert body.elastic is not None
    x, y, z = map(float, point)
    node, _ = nearest_node(body, (x, y, z))
    number = motion.system.flexible[index].body
    place, A, none = body.elastic.place[node], motion.A[number], np.zeros(3)
    marker = ElasticMarker(number, place, body.elastic.shape[node], point - place)
    on_body = marker.motion(ElasticState(A, none, none, none, *motion.modes(index))).J
    modes = np.eye(motion.system.rates)[motion.system.mode_rates[index]]
    found = on_body @ np.vstack((A.T @ tree.D[:, number - 1].T, -A.T @ tree.P[:, number - 1].T, modes))
    return np.vstack((found[3:], found[:3]))


def settled(
    system: RigidSystem,
    state: MultibodyState,
    wanted: Sequence[bool],
    loads: Callable[[MultibodyState], np.ndarray],
    joined: Callable[[np.ndarray], MultibodyState],
) -> MultibodyState:
    """Return a state in which the elastic bodies that are wanted so are deflected by the loads of the start.

    `loads` gives the loads on all modes that are held, `joined` the state with these coordinates, its loops closed.
    """
    if not any(wanted):
        return state
    first = system.mode_rates[0].start
    for _ in range(SETTLING):
        found, q = loads(state), state.q.copy()
        change = size = 0.0
        for part, rates, here, asked in zip(
            system.flexible, system.mode_rates, system.mode_positions, wanted, strict=True
        ):
            if not asked:
                continue
            more = found[rates.start - first : rates.stop - first] / part.frequency**2
            q[here] += more
            change = max(change, float(np.abs(more).max(initial=0.0)))
            size = max(size, float(np.abs(q[here]).max(initial=0.0)))
        state = replace(joined(q), time=state.time)
        if change <= SETTLED * size:
            return state
    raise StaticStartError(
        f"elastic_start = 'static': no deflection holds the loads of the start after {SETTLING} iterations; the "
        "elastic bodies are too soft for them"
    )
