"""Elastic bodies in the graph method: joints that are a deformation, and the inertia of the deformed body.

Theory: flexible 3.3 to 3.6.

The frame E of an elastic body is a body of the tree without mass; its nodes hang on it by joints whose coordinates are
the modal coordinates of the body, which all of them share. What the body weighs is added to the equations of the tree.
Vectors have inertial components, but for those named as in E.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.components.multibody.reference.elastic import inertial_load, jacobian_rate, rotation_series
from dockfmu.components.multibody.reference.joints import JointState
from dockfmu.components.physics.elastic.invariants import ElasticInvariants


@dataclass(frozen=True)
class NodeDeflection:
    """The motion of an interface node relative to the frame E of its body; `shape` is (6, H)."""

    shape: np.ndarray

    @property
    def positions(self) -> int:
        """Return the number of modal coordinates."""
        return self.shape.shape[1]

    @property
    def rates(self) -> int:
        """Return the number of modal rates."""
        return self.shape.shape[1]

    def evaluate(self, q: np.ndarray, u: np.ndarray, t: float) -> JointState:
        """Return the motion: the displacement H w, and the rotation of the vector H' w."""
        phi, rate = self.shape[3:] @ q, self.shape[3:] @ u
        R, jacobian = rotation_series(phi)
        none = np.zeros(3)
        own = jacobian_rate(phi, rate) @ rate
        return JointState(R, self.shape[:3] @ q, self.shape[:3].T, none, (jacobian @ self.shape[3:]).T, own, none, none)

    def moved(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the modal coordinates after a step."""
        return np.asarray(q + change)

    def coordinate_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the modal rates."""
        return np.asarray(u)


@dataclass(frozen=True)
class FlexibleBody:
    """An elastic body: the number of its frame among the bodies, its invariants, and its modes.

    `frequency` (rad/s) and `damping` (1/s) are those of shapes of a unit modal mass.
    """

    body: int
    own: ElasticInvariants
    frequency: np.ndarray
    damping: np.ndarray

    @property
    def count(self) -> int:
        """Return the number of modes."""
        return len(self.frequency)

    def static_moment(self, w: np.ndarray) -> np.ndarray:
        """Return the static moment about the origin of E at modal coordinates w, in E."""
        return self.own.static_moment + self.own.translation @ w

    def inertia(self, w: np.ndarray) -> np.ndarray:
        """Return the inertia about the origin of E at modal coordinates w, in E."""
        return self.own.mass_matrix(w)[3:6, 3:6]

    def momentum(
        self, A: np.ndarray, v: np.ndarray, spin: np.ndarray, w: np.ndarray, xi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return (momentum, angular momentum about the origin of E, kinetic energy) for a motion of E and the modes."""
        u = np.concatenate((A.T @ v, A.T @ spin, xi))
        p = self.own.mass_matrix(w) @ u
        return A @ p[:3], A @ p[3:6], 0.5 * float(u @ p)

    def inertial_forces(
        self,
        A: np.ndarray,
        spin: np.ndarray,
        a: np.ndarray,
        e: np.ndarray,
        zeta: np.ndarray,
        w: np.ndarray,
        xi: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the force, and the moment about the origin of E, that move the body with accelerations a, e, zeta."""
        both = self.own.mass_matrix(w) @ np.concatenate((A.T @ a, A.T @ e, zeta))
        both = both - inertial_load(self.own, A.T @ spin, w, xi)
        return A @ both[:3], A @ both[3:6]

    def equations(
        self, A: np.ndarray, spin: np.ndarray, partials: np.ndarray, bias: np.ndarray, w: np.ndarray, xi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what the body adds to A and B of the tree (11).

        `partials` (6 + H, N) and `bias` (6 + H,) give {a, epsilon, zeta} = partials u' + bias, a and epsilon inertial.
        """
        turn = np.zeros((6 + self.count, 6 + self.count))
        turn[:3, :3] = turn[3:6, 3:6] = A.T
        turn[6:, 6:] = np.eye(self.count)
        G, h = turn @ partials, turn @ bias
        M = self.own.mass_matrix(w)
        return G.T @ M @ G, G.T @ (inertial_load(self.own, A.T @ spin, w, xi) - M @ h)
