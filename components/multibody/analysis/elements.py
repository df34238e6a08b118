"""Forces and energies of the elements of a model: laws of coordinates, springs and tethers between points, gravity."""

from __future__ import annotations

import numpy as np

from dockfmu.components.multibody.model import BASE, CoordinateLaw, Model, PointSpring
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.graph_method import Loads
from dockfmu.components.multibody.reference.kinematics import TreeMotion


def rate_index(model: Model, joint: str, coordinate: int) -> int:
    """Return the index of a coordinate of a joint of the tree among the rates."""
    from dockfmu.components.multibody.model.parts import RATES

    first = 0
    for candidate in model.tree:
        if candidate.name == joint:
            return first + coordinate
        first += len(RATES[candidate.kind])
    raise KeyError(joint)


def coordinate_index(model: Model, joint: str, coordinate: int) -> int:
    """Return the index of a coordinate of a joint of the tree among the coordinates."""
    from dockfmu.components.multibody.model.parts import COORDINATES

    first = 0
    for candidate in model.tree:
        if candidate.name == joint:
            return first + coordinate
        first += len(COORDINATES[candidate.kind])
    raise KeyError(joint)


def law_force(law: CoordinateLaw, q: float, u: float) -> float:
    """Return the force of spring, damper and stops; friction, which has a state of its own, is left out."""
    force = law.preload - law.stiffness * (q - law.rest) - law.damping * u
    excess = max(q - law.upper, 0.0) + min(q - law.lower, 0.0)
    if excess != 0.0:
        stop = -law.stop_stiffness * excess - law.stop_damping * u
        # a stop never pulls
        force += min(stop, 0.0) if excess > 0.0 else max(stop, 0.0)
    return force


def law_energy(law: CoordinateLaw, q: float) -> float:
    """Return the energy of spring, preload and stops, 0 at rest position and inside the stops."""
    excess = max(q - law.upper, 0.0) + min(q - law.lower, 0.0)
    stretch = q - law.rest
    return 0.5 * law.stiffness * stretch**2 - law.preload * stretch + 0.5 * law.stop_stiffness * excess**2


def ends(motion: TreeMotion, model: Model, spring: PointSpring) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Return the bodies of a spring, the positions and the velocities of its ends, in axes of I."""
    number = {BASE: 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    bodies, points, velocities = [], [], []
    for name, point in ((spring.first, spring.first_point), (spring.second, spring.second_point)):
        body = number[name]
        center = model.bodies[body - 1].center if body else (0.0, 0.0, 0.0)
        arm = motion.A[body] @ (np.array(point) - np.array(center))
        bodies.append(body)
        points.append(motion.r[body] + arm)
        velocities.append(motion.v[body] + cross(motion.w[body], arm))
    return bodies, np.array(points), np.array(velocities)


def tension(spring: PointSpring, distance: float, rate: float) -> float:
    """Return the tension of a spring or tether, N."""
    if (spring.tether and distance <= spring.length) or (spring.pusher and distance >= spring.length):
        return 0.0
    force = spring.stiffness * (distance - spring.length) + spring.damping * rate
    if spring.pusher:
        return min(force, 0.0)
    return max(force, 0.0) if spring.tether else force


def element_loads(model: Model, motion: TreeMotion) -> Loads:
    """Return gravity, the forces of all springs, and those of elastic bodies on their modes, as loads."""
    system = motion.system
    gravity = np.array(model.gravity)
    F = system.masses[:, None] * gravity
    L, tau = np.zeros((system.n, 3)), np.zeros(system.rates)
    for k, part in enumerate(system.flexible):
        (w, xi), A = motion.modes(k), motion.A[part.body]
        F[part.body - 1] += part.own.mass * gravity
        L[part.body - 1] += cross(A @ part.static_moment(w), gravity)
        tau[system.mode_rates[k]] += part.own.translation.T @ (A.T @ gravity)
        tau[system.mode_rates[k]] -= part.frequency**2 * w + part.damping * xi
    cut = {joint.name for joint in model.cuts}
    for law in model.laws:
        if law.joint in cut:
            continue
        place = rate_index(model, law.joint, law.coordinate)
        q = motion.q[coordinate_index(model, law.joint, law.coordinate)]
        tau[place] += law_force(law, float(q), float(motion.u[place]))
    for spring in model.springs:
        bodies, points, velocities = ends(motion, model, spring)
        span = points[1] - points[0]
        distance = float(np.linalg.norm(span))
        if distance == 0.0:
            continue
        along = span / distance
        pull = tension(spring, distance, float((velocities[1] - velocities[0]) @ along)) * along
        for body, point, force in zip(bodies, points, (pull, -pull), strict=True):
            if body:
                F[body - 1] += force
                L[body - 1] += cross(point - motion.r[body], force)
    return Loads(F, L, tau)


def stored_energy(model: Model, motion: TreeMotion) -> tuple[float, float]:
    """Return the energies of gravity and of springs, with the strain energy of elastic bodies, J."""
    gravity = -float(motion.system.masses @ (motion.r[1:] @ np.array(model.gravity)))
    springs = 0.0
    for k, part in enumerate(motion.system.flexible):
        w, _ = motion.modes(k)
        moment = part.own.mass * motion.r[part.body] + motion.A[part.body] @ part.static_moment(w)
        gravity -= float(moment @ np.array(model.gravity))
        springs += 0.5 * float(part.frequency**2 @ w**2)
    cut = {joint.name for joint in model.cuts}
    for law in model.laws:
        if law.joint not in cut:
            springs += law_energy(law, float(motion.q[coordinate_index(model, law.joint, law.coordinate)]))
    for spring in model.springs:
        _, points, _ = ends(motion, model, spring)
        stretch = float(np.linalg.norm(points[1] - points[0])) - spring.length
        if not ((spring.tether and stretch <= 0.0) or (spring.pusher and stretch >= 0.0)):
            springs += 0.5 * spring.stiffness * stretch**2
    return gravity, springs
