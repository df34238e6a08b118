"""Elastic bodies in the analysis: masses of the deformed bodies, points that move with a node, static deflection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
CLOSING = 1e-8
"""The same above which what loops lack is closed to rounding."""
SLUGGISH = 1e2
"""Inertia of the slowest mode that is to settle, of a unit modal mass; see `settled`."""


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
    solved: Callable[[MultibodyState, Mapping[int, float], float], np.ndarray],
    joined: Callable[[np.ndarray], MultibodyState],
) -> MultibodyState:
    """Return a state in which the elastic bodies that are wanted so are deflected by the loads of the start.

    Modes that are to settle get an inertia in proportion to their stiffness, s K: s times their accelerations are then
    the changes of their coordinates, K^-1 (f - K w + G^T lambda), that balance the loads and keep the rows G of cut
    joints. `solved` gives the accelerations of all rates with such inertias, by rate, where loops are to close by what
    they lack times a number; modes of other bodies are held. `joined` gives the state with these coordinates, its loops
    closed.
    """
    if not any(wanted):
        return state
    parts = [
        (part.frequency**2, rates, here)
        for part, rates, here, asked in zip(
            system.flexible, system.mode_rates, system.mode_positions, wanted, strict=True
        )
        if asked
    ]
    s = SLUGGISH / min(float(stiffness.min()) for stiffness, _, _ in parts)
    inertias = {rates.start + j: s * float(one) for stiffness, rates, _ in parts for j, one in enumerate(stiffness)}
    change, size = 1.0, 1.0
    for _ in range(SETTLING):
        found, q = s * solved(state, inertias, 1.0 / s if change > CLOSING * size else 0.0), state.q.copy()
        change = size = 0.0
        for _, rates, here in parts:
            q[here] += found[rates]
            change = max(change, float(np.abs(found[rates]).max(initial=0.0)))
            size = max(size, float(np.abs(q[here]).max(initial=0.0)))
        state = replace(joined(q), time=state.time)
        if change <= SETTLED * size:
            return state
    raise StaticStartError(
        f"elastic_start = 'static': no deflection holds the loads of the start after {SETTLING} iterations; the "
        "elastic bodies are too soft for them"
    )
