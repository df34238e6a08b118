"""Positions, velocities and velocity-dependent accelerations of all bodies, from those of the joints.

Theory: multibody-formulations 3.4.

All vectors have inertial components.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.joints import JointState
from dockfmu.components.multibody.reference.system import AT_REST, BaseMotion, JointArc, RigidSystem


@dataclass(frozen=True)
class ArcMotion:
    """A joint in motion, in inertial components; attributes as those of `JointState`, and the points c on i+ and i-."""

    R: np.ndarray
    z: np.ndarray
    k: np.ndarray
    s: np.ndarray
    p: np.ndarray
    sigma: np.ndarray
    zd: np.ndarray
    Omega: np.ndarray
    c_plus: np.ndarray
    c_minus: np.ndarray


@dataclass(frozen=True)
class TreeMotion:
    """Motion of the tree. Index 0 of A, r, v, w is body 0; index of the arcs is that of the joints."""

    system: RigidSystem
    base: BaseMotion
    q: np.ndarray
    u: np.ndarray
    t: float
    arcs: list[ArcMotion]
    A: np.ndarray
    r: np.ndarray
    v: np.ndarray
    w: np.ndarray

    def inertia(self) -> np.ndarray:
        """Return the central inertias in inertial axes, n x 3 x 3."""
        A = self.A[1:]
        return A @ self.system.inertias @ A.transpose(0, 2, 1)

    def modes(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return modal coordinates and rates of an elastic body, by its index among them."""
        return self.q[self.system.mode_positions[k]], self.u[self.system.mode_rates[k]]

    def energy(self) -> float:
        """Return the kinetic energy, J."""
        w, v = self.w[1:], self.v[1:]
        spin = np.einsum("ia,iab,ib->", w, self.inertia(), w)
        found = 0.5 * float(self.system.masses @ (v * v).sum(axis=1) + spin)
        for k, part in enumerate(self.system.flexible):
            found += part.momentum(self.A[part.body], self.v[part.body], self.w[part.body], *self.modes(k))[2]
        return found

    def momentum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the linear momentum, and the angular momentum about the inertial origin, in inertial axes."""
        p = self.system.masses[:, None] * self.v[1:]
        h = cross(self.r[1:], p) + np.einsum("iab,ib->ia", self.inertia(), self.w[1:])
        linear, angular = p.sum(axis=0), h.sum(axis=0)
        for k, part in enumerate(self.system.flexible):
            b = part.body
            own, turning, _ = part.momentum(self.A[b], self.v[b], self.w[b], *self.modes(k))
            linear, angular = linear + own, angular + turning + cross(self.r[b], own)
        return linear, angular


def arc_motion(joint: JointArc, state: JointState, u: np.ndarray, A_plus: np.ndarray) -> ArcMotion:
    """Return a joint in motion, with the attitude of i+ known; the point on i- is left to `follow`."""
    F = A_plus @ joint.plus.R
    return ArcMotion(
        R=state.R,
        z=F @ state.z,
        k=state.k @ F.T,
        s=F @ state.s,
        p=state.p @ F.T,
        sigma=F @ state.sigma,
        zd=F @ state.velocity(u),
        Omega=F @ state.angular_velocity(u),
        c_plus=A_plus @ joint.plus.point,
        c_minus=F @ state.R @ joint.minus.R.T @ joint.minus.point,
    )


def follow(system: RigidSystem, q: ArrayLike, u: ArrayLike, t: float = 0.0, base: BaseMotion = AT_REST) -> TreeMotion:
    """Return the motion of the tree at coordinates q and rates u, body after body outwards from the base."""
    q, u = np.asarray(q, dtype=float), np.asarray(u, dtype=float)
    states = [
        joint.motion.evaluate(q[here], u[rates], t)
        for joint, here, rates in zip(system.joints, system.position_slices, system.rate_slices, strict=True)
    ]
    A = np.zeros((system.n + 1, 3, 3))
    r, v, w = (np.zeros((system.n + 1, 3)) for _ in range(3))
    A[0], r[0], v[0], w[0] = base.A, base.r, base.v, base.w
    arcs: dict[int, ArcMotion] = {}
    for body in system.outward:
        a, inner = system.before[body]
        joint, state = system.joints[a], states[a]
        relative = joint.plus.R @ state.R @ joint.minus.R.T
        if joint.leaves == inner:
            A[body] = A[inner] @ relative
        else:
            A[body] = A[inner] @ relative.T
        arc = arcs[a] = arc_motion(joint, state, u[system.rate_slices[a]], A[joint.leaves])
        # the joint point on i- is at z from that on i+, and the velocity z' + w+ x z relative to it
        w_plus = w[inner] if joint.leaves == inner else w[inner] - arc.Omega
        w_minus = w_plus + arc.Omega
        offset = arc.c_plus + arc.z - arc.c_minus
        rate = cross(w_plus, arc.c_plus + arc.z) + arc.zd - cross(w_minus, arc.c_minus)
        sign = 1.0 if joint.leaves == inner else -1.0
        w[body] = w_minus if joint.leaves == inner else w_plus
        r[body] = r[inner] + sign * offset
        v[body] = v[inner] + sign * rate
    return TreeMotion(system, base, q, u, t, [arcs[a] for a in range(len(system.joints))], A, r, v, w)
