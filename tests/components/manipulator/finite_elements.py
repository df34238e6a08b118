"""An arm with held joints and its payload as a whole finite-element model in numpy, in the axes of the root."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.linalg import eigh

from tests.components.manipulator.arms import axis_turn

GAUSS = np.polynomial.legendre.leggauss(4)
RIGID, BEAM, LUMPED = 2, 3, 4


def tilde(v):
    """Return the cross-product matrix."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def carried(v):
    """Return the motion (6, 6) of a place at v from a body by the body's motion."""
    return np.block([[np.eye(3), -tilde(v)], [np.zeros((3, 3)), np.eye(3)]])


def hermite(x, size, e):
    """Return displacement and rotation (6, 12) at x in a beam element along e by the motions of its two nodes."""
    along, across, turn = np.outer(e, e), np.eye(3) - np.outer(e, e), tilde(e)
    values = []
    for c, s, dc, ds, line in (
        (1 - 3 * x**2 + 2 * x**3, x - 2 * x**2 + x**3, -6 * x + 6 * x**2, 1 - 4 * x + 3 * x**2, 1 - x),
        (3 * x**2 - 2 * x**3, x**3 - x**2, 6 * x - 6 * x**2, 3 * x**2 - 2 * x, x),
    ):
        # slopes are rotations times the direction: u' = theta x e
        values.append(
            np.block([[line * along + c * across, -s * size * turn], [dc / size * turn, line * along + ds * across]])
        )
    return np.hstack(values)


def element_stiffness(size, e, bending, torsion, extension):
    """Return the textbook stiffness (12, 12) of a beam element, from the energy of its Hermite shapes."""
    K = np.zeros((12, 12))
    h = 1e-3
    for x, w in zip(*GAUSS, strict=True):
        x = 0.5 * (1 + x)
        rate = (hermite(x + h, size, e) - hermite(x - h, size, e)) / (2 * h * size)
        strain, twist = e @ rate[:3], e @ rate[3:]
        bend = (np.eye(3) - np.outer(e, e)) @ rate[3:]
        density = extension * np.outer(strain, strain) + torsion * np.outer(twist, twist) + bending * bend.T @ bend
        K += 0.5 * w * size * density
    return K


class HeldArm:
    """Mass and stiffness matrices of an arm at joint angles q: each beam of `elements` elements.

    `gears` are torsional springs of the joints, N m/rad, `rotors` inertias about them, kg m2; None: joints are held.
    """

    def __init__(self, m, q, elements=8, gears=None, rotors=None):
        self.energies: list[tuple[np.ndarray, np.ndarray]] = []
        self.inertias: list[tuple[np.ndarray, np.ndarray]] = []
        self.size = 0
        p = m.parameters
        self.motion, place, turn = np.zeros((6, 0)), np.zeros(3), np.eye(3)
        for j in range(len(q) + 1):
            if j:
                axis = turn.T[:, int(p.link.axis[j - 1]) - 1]
                if gears is not None:
                    self._spring(axis, gears[j - 1], rotors[j - 1])
                turn = axis_turn(p.link.axis[j - 1], q[j - 1]) @ turn
            used = [s for s in range(3) if p.segment.kind[j, s] != 1]
            lengths = np.array([p.segment.length[j, s] for s in used]).reshape(-1, 3)
            own, shift, sections = self._mass(p, j, lengths)
            total = np.linalg.norm(lengths, axis=1).sum()
            for s, length in zip(used, lengths, strict=True):
                share = np.linalg.norm(length) / total if total else 0.0
                data = (share * own, turn.T @ shift, share * turn.T @ sections @ turn)
                kind, v = int(p.segment.kind[j, s]), turn.T @ length
                if kind == BEAM:
                    stiff = (p.segment.bending[j, s], p.segment.torsion[j, s], p.segment.extension[j, s])
                    self._beam(v, stiff, data, elements)
                else:
                    if kind == LUMPED:
                        for a, k in enumerate((p.segment.twist_stiffness[j, s], *[p.segment.tilt_stiffness[j, s]] * 2)):
                            self._spring(turn.T[:, a], k, 0.0)
                    self._line(v, data)
                    self.motion = carried(v) @ self.motion
                place = place + v
        self.place, self.turn = place, turn
        self.tip = self.center = self.motion
        self._payload(m)

    def _mass(self, p, j, lengths):
        """Return mass, offset of its line, and central inertia of its sections (link axes) of link j."""
        if not j:
            return 0.0, np.zeros(3), np.zeros((3, 3))
        mass, center = float(p.link.mass[j - 1]), np.array(p.link.center_of_mass[j - 1])
        sizes = np.linalg.norm(lengths, axis=1)
        ends = np.vstack([np.zeros(3), np.cumsum(lengths, axis=0)])
        points = np.array([[a + x * (b - a) for x in (0.5 - 12**-0.5, 0.5 + 12**-0.5)] for a, b in pairwise(ends)])
        weights = np.repeat(sizes / sizes.sum() / 2, 2)
        r = points.reshape(-1, 3)
        middle = weights @ r
        r = r - middle
        line = mass * np.einsum("k,kij->ij", weights, [v @ v * np.eye(3) - np.outer(v, v) for v in r])
        return mass, center - middle, np.array(p.link.inertia[j - 1]) - line

    def _grow(self, count):
        """Add coordinates, and return the motion by them alone."""
        self.size += count
        self.motion = np.pad(self.motion, ((0, 0), (0, count)))
        return np.eye(self.size)[-count:]

    def _spring(self, axis, stiffness, rotor):
        (new,) = self._grow(1)
        self.motion = self.motion + np.outer(np.concatenate([np.zeros(3), axis]), new)
        self.energies.append((np.array([[stiffness]]), new[None]))
        self.inertias.append((np.array([[rotor]]), new[None]))

    def _body(self, mass, inertia, motion):
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = mass * np.eye(3), inertia
        self.inertias.append((M, motion))

    def _line(self, v, data):
        mass, shift, sections = data
        square = mass / 12.0 * (v @ v * np.eye(3) - np.outer(v, v))
        self._body(mass, sections + square, carried(0.5 * v + shift) @ self.motion)

    def _beam(self, v, stiff, data, elements):
        mass, shift, sections = data
        size, e = np.linalg.norm(v) / elements, v / np.linalg.norm(v)
        K = element_stiffness(size, e, *stiff)
        for _ in range(elements):
            before = self.motion
            new = self._grow(6)
            ends = np.vstack([np.pad(before, ((0, 0), (0, 6))), new])
            self.energies.append((K, ends))
            for x, w in zip(*GAUSS, strict=True):
                moved = carried(shift) @ hermite(0.5 * (1 + x), size, e) @ ends
                self._body(0.5 * w * mass / elements, 0.5 * w / elements * sections, moved)
            self.motion = new

    def _payload(self, m):
        p = m.parameters
        # PL -> R: the payload starts parallel to the base, which the root is parallel to
        at = -np.array(p.grapple.position)
        self.center = carried(at) @ self.motion
        self._body(float(p.payload.mass), np.array(p.payload.inertia), self.center)

    def assembled(self, parts):
        """Return the matrix of all coordinates from parts (matrix, motion)."""
        total = np.zeros((self.size, self.size))
        for matrix, motion in parts:
            wide = np.pad(motion, ((0, 0), (0, self.size - motion.shape[1])))
            total += wide.T @ matrix @ wide
        return total

    @property
    def M(self):
        """Mass matrix."""
        return self.assembled(self.inertias)

    @property
    def K(self):
        """Stiffness matrix."""
        return self.assembled(self.energies)

    def frequencies(self, count):
        """Return the lowest natural frequencies, rad/s."""
        return np.sqrt(eigh(self.K, self.M, eigvals_only=True, subset_by_index=[0, count - 1]))

    def compliance(self):
        """Return the motion of E by a wrench on it, axes of R."""
        wide = np.pad(self.tip, ((0, 0), (0, self.size - self.tip.shape[1])))
        return wide @ np.linalg.solve(self.K, wide.T)
