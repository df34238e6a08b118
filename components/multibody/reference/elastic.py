"""Systems of rigid and elastic bodies by Cartesian coordinates and constraint rows: flexible 3.3 to 3.6, in numpy.

Unknowns are [a; epsilon; zeta] of each body: accelerations of the origin of its frame and modal ones, a and epsilon in
axes of the frame. A rigid body has no shapes. Markers are placed on interface nodes with an offset; constraint rows are
on the accelerations of two markers. All is dense: an oracle for the recursion.

Errata: (24) has the sign plus and the part omega x H' xi of the angular acceleration; the tilde of (23) covers the
whole bracket. Variant B throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import factorial

import numpy as np

from dockfmu.components.multibody.reference.algebra import cross, skew
from dockfmu.components.physics.elastic.invariants import ElasticInvariants

ORDER = 20
"""Of the series of rotations: to rounding for two radians."""


def rigid_invariants(mass: float, center: np.ndarray, inertia: np.ndarray) -> ElasticInvariants:
    """Return the invariants of a rigid body: H = 0. `inertia` is about the centre of mass."""
    whole = np.asarray(inertia) + mass * (center @ center * np.eye(3) - np.outer(center, center))
    none = np.zeros((3, 0))
    return ElasticInvariants(
        mass, mass * np.asarray(center), none, whole, np.zeros((0, 3, 3)), np.zeros((0, 0, 3, 3)), none,
        np.zeros((0, 3, 0)), np.zeros((0, 0)),
    )  # fmt: skip


@dataclass(frozen=True)
class ElasticState:
    """The motion of a body: A maps its frame E to I, r and v are in I, w in E; modal coordinates and rates."""

    A: np.ndarray
    r: np.ndarray
    v: np.ndarray
    w: np.ndarray
    coordinates: np.ndarray
    rates: np.ndarray


def inertial_load(own: ElasticInvariants, omega: np.ndarray, w: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """Return k of (11), (6 + H,), so that M {a, epsilon, zeta} = k + forces; all in axes of E."""
    S = own.static_moment + own.translation @ w
    slope = own.inertia_slope + 2.0 * np.einsum("b,abij->aij", w, own.inertia_curvature)
    J = own.inertia + np.einsum("a,aij->ij", w, own.inertia_slope)
    J = J + np.einsum("a,b,abij->ij", w, w, own.inertia_curvature)
    Jw = own.rotation + np.einsum("a,aib->ib", w, own.gyration)
    Jw_rate = np.einsum("a,aib->ib", xi, own.gyration)
    J_rate = np.einsum("a,aij->ij", xi, slope)
    force = cross(omega, cross(omega, S)) + 2.0 * cross(omega, own.translation @ xi)
    torque = cross(omega, J @ omega) + J_rate @ omega + cross(omega, Jw @ xi) + Jw_rate @ xi
    modal = -0.5 * np.einsum("i,aij,j->a", omega, slope, omega)
    modal = modal - np.einsum("i,aib,b->a", omega, own.gyration, xi) + Jw_rate.T @ omega
    return -np.concatenate((force, torque, modal))


def rotation_series(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (exp(phi), its left Jacobian) as power series of the skew matrix."""
    power, total, jacobian = np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))
    for k in range(ORDER):
        total = total + power / factorial(k)
        jacobian = jacobian + power / factorial(k + 1)
        power = power @ skew(phi)
    return total, jacobian


def jacobian_rate(phi: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the rate of the left Jacobian for a rotation vector that changes by `rate`."""
    turn, change = skew(phi), skew(rate)
    power, power_rate, total = np.eye(3), np.zeros((3, 3)), np.zeros((3, 3))
    for k in range(1, ORDER):
        power, power_rate = power @ turn, power_rate @ turn + power @ change
        total = total + power_rate / factorial(k + 1)
    return total


@dataclass(frozen=True)
class MarkerMotion:
    """A marker: rotation marker -> I, position, velocity, angular velocity in I.

    With J (6, 6 + H) and h (6,) its accelerations in I are J {a, epsilon, zeta} + h.
    """

    A: np.ndarray
    r: np.ndarray
    v: np.ndarray
    w: np.ndarray
    J: np.ndarray
    h: np.ndarray


def marker_terms(
    place: np.ndarray, shape: np.ndarray, offset: np.ndarray, omega: np.ndarray, w: np.ndarray, xi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (J, h) of (23) and (24), linear rotations: the accelerations of a marker in E are J {a, eps, zeta} + h.

    `offset` is that from the node in axes of E at present; `shape` (6, H) are the rows of the node, of which those of
    the rotation give its angular velocity relative to E.
    """
    H, turn = shape[:3], shape[3:]
    arm = place + H @ w + offset
    spin = turn @ xi
    J = np.block([
        [np.eye(3), -skew(arm), H - skew(offset) @ turn],
        [np.zeros((3, 3)), np.eye(3), turn],
    ])  # fmt: skip
    linear = cross(omega, cross(omega, arm)) + 2.0 * cross(omega, H @ xi)
    linear = linear + cross(2.0 * omega + spin, cross(spin, offset))
    return J, np.concatenate((linear, cross(omega, spin)))


@dataclass(frozen=True)
class ElasticMarker:
    """A joint frame on body `body` (0 the base): node's place and shapes, then offset and rotation on the node."""

    body: int
    place: np.ndarray
    shape: np.ndarray
    offset: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    """Components in axes of the marker to those of the node."""

    def _fixed(self, state: ElasticState) -> MarkerMotion:
        """Return the motion of a marker that does not move in its frame."""
        arm = self.place + self.offset
        carried = cross(state.w, arm)
        J = np.zeros((6, 6 + len(state.rates)))
        J[:, :6] = np.block([[state.A, -state.A @ skew(arm)], [np.zeros((3, 3)), state.A]])
        h = np.concatenate((state.A @ cross(state.w, carried), np.zeros(3)))
        twist = state.v + state.A @ carried, state.A @ state.w
        return MarkerMotion(state.A @ self.R, state.r + state.A @ arm, *twist, J, h)

    def motion(self, state: ElasticState) -> MarkerMotion:
        """Return the motion of the marker."""
        if not self.shape.any():
            return self._fixed(state)
        phi, rate = self.shape[3:] @ state.coordinates, self.shape[3:] @ state.rates
        turned, jacobian = rotation_series(phi)
        shape = np.vstack((self.shape[:3], jacobian @ self.shape[3:]))
        offset = turned @ self.offset
        J, h = marker_terms(self.place, shape, offset, state.w, state.coordinates, state.rates)
        own = jacobian_rate(phi, rate) @ rate
        h = h + np.concatenate((cross(own, offset), own))
        arm = self.place + self.shape[:3] @ state.coordinates + offset
        spin = shape[3:] @ state.rates
        v = cross(state.w, arm) + self.shape[:3] @ state.rates + cross(spin, offset)
        both = np.kron(np.eye(2), state.A)
        return MarkerMotion(
            state.A @ turned @ self.R, state.r + state.A @ arm, state.v + state.A @ v, state.A @ (state.w + spin),
            both @ J, both @ h,
        )  # fmt: skip


ACROSS: dict[str, tuple[tuple[int, ...], tuple[tuple[int, int], ...]]] = {
    "free": ((), ()),
    "spherical": ((0, 1, 2), ()),
    "universal": ((0, 1, 2), ((0, 1),)),
    "revolute": ((0, 1, 2), ((0, 2), (1, 2))),
    "cylindrical": ((0, 1), ((0, 2), (1, 2))),
    "prismatic": ((0, 1), ((0, 1), (1, 2), (2, 0))),
    "planar": ((2,), ((0, 2), (1, 2))),
    "fixed": ((0, 1, 2), ((0, 1), (1, 2), (2, 0))),
}
"""Axes of the first marker along which nothing moves, and pairs of axes of both that stay across each other."""


def joint_rows(kind: str, one: MarkerMotion, other: MarkerMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows on the accelerations of both markers (n, 12), h, violation): rows {a1, e1, a2, e2} + h = 0."""
    rows, h, g = [], [], []
    d, rate = other.r - one.r, other.v - one.v
    for axis in ACROSS[kind][0]:
        n = one.A[:, axis]
        rows.append(np.concatenate((-n, cross(n, d), n, np.zeros(3))))
        turning = cross(one.w, n)
        h.append(cross(one.w, turning) @ d + 2.0 * turning @ rate)
        g.append(n @ d)
    for first, second in ACROSS[kind][1]:
        u, x = one.A[:, first], other.A[:, second]
        rows.append(np.concatenate((np.zeros(3), cross(u, x), np.zeros(3), cross(x, u))))
        du, dx = cross(one.w, u), cross(other.w, x)
        h.append(cross(one.w, du) @ x + u @ cross(other.w, dx) + 2.0 * du @ dx)
        g.append(u @ x)
    return np.reshape(rows, (-1, 12)), np.array(h), np.array(g)


@dataclass(frozen=True)
class ElasticSystem:
    """Bodies from 1, the base being 0 and at rest, and joints (kind, first marker, second marker)."""

    bodies: tuple[ElasticInvariants, ...]
    stiffness: tuple[np.ndarray, ...]
    damping: tuple[np.ndarray, ...]
    joints: tuple[tuple[str, ElasticMarker, ElasticMarker], ...]
    gravity: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def accelerations(
        self,
        states: Sequence[ElasticState],
        wrenches: Sequence[tuple[ElasticMarker, np.ndarray]] = (),
        stabilisation: tuple[float, float] = (0.0, 0.0),
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return ([{a, epsilon, zeta}] of each body, a in its frame; multipliers) (28) to (32).

        `states` begins with the base; wrenches are (marker, force and torque in I). Redundant rows get the multipliers
        of least norm. `stabilisation` is what is added to h for a violation g and its rate, k0 g + k1 g' (33): positive
        factors bring the constraint back.
        """
        sizes = [6 + own.count for own in self.bodies]
        ends = np.cumsum([0, *sizes])
        M, load = np.zeros((ends[-1], ends[-1])), np.zeros(ends[-1])
        for k, own in enumerate(self.bodies):
            here, state = slice(ends[k], ends[k + 1]), states[k + 1]
            M[here, here] = own.mass_matrix(state.coordinates)
            load[here] = inertial_load(own, state.w, state.coordinates, state.rates)
            load[here] += M[here, here][:, :3] @ (state.A.T @ self.gravity)
            load[ends[k] + 6 : ends[k + 1]] -= self.stiffness[k] @ state.coordinates + self.damping[k] @ state.rates
        for marker, wrench in wrenches:
            if marker.body:
                here = slice(ends[marker.body - 1], ends[marker.body])
                load[here] += marker.motion(states[marker.body]).J.T @ wrench
        G, h = [], []
        for kind, *sides in self.joints:
            motions = [side.motion(states[side.body]) for side in sides]
            rows, terms, gap = joint_rows(kind, *motions)
            rate = rows @ np.concatenate([part for motion in motions for part in (motion.v, motion.w)])
            terms = terms + stabilisation[0] * gap + stabilisation[1] * rate
            block = np.zeros((len(rows), ends[-1]))
            for number, (side, motion) in enumerate(zip(sides, motions, strict=True)):
                part = rows[:, 6 * number : 6 * number + 6]
                terms = terms + part @ motion.h
                if side.body:
                    block[:, ends[side.body - 1] : ends[side.body]] += part @ motion.J
            G.append(block)
            h.append(terms)
        rows, right = np.vstack(G), np.concatenate(h)
        free = np.linalg.solve(M, load)
        response = np.linalg.solve(M, rows.T)
        multipliers = np.linalg.lstsq(rows @ response, -right - rows @ free, rcond=1e-12)[0]
        found = free + response @ multipliers
        return np.split(found, ends[1:-1]), multipliers


def energy(own: ElasticInvariants, state: ElasticState) -> float:
    """Return the kinetic energy of a body, J."""
    u = np.concatenate((state.A.T @ state.v, state.w, state.rates))
    return float(0.5 * u @ own.mass_matrix(state.coordinates) @ u)
