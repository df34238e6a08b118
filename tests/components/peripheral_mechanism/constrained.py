"""The mechanism in maximal coordinates: 13 free bodies whose joints are constraints with Lagrange multipliers (numpy).

Independent of the product's algorithms: no joint coordinates, no recursion, no reduction. Each leg has a housing and a
rod; nothing in frame 0 moves but them and the ring. Rows of constraint accelerations J a = -(dJ/dt) v are differenced
along the motion, J itself is written from the geometry of the joints.

Bodies: ring 0, housings 1 + 2k, rods 2 + 2k. Velocities: of the centres of mass and angular, absolute, in axes that
momentarily are those of frame 0. State: positions, rotation matrices (body -> frame 0), twists.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

X, Y, Z = np.eye(3)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def cross(a, b):
    """Return the vector product of two vectors of three, ten times as fast as np.cross."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def turned(w):
    """Return the active rotation by the vector `w`, by the formula of Rodrigues."""
    angle = np.linalg.norm(w)
    if angle == 0.0:
        return np.eye(3)
    K = skew(w / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@dataclass
class Leg:
    lower: np.ndarray
    """lower joint in frame 0"""
    upper: np.ndarray
    """upper joint in ring axes"""
    axes: np.ndarray
    """rows: axes of the joints at the initial position, in frame 0 and in the ring"""
    ratio: float
    """nut angle per stroke, with the hand"""


@dataclass
class Machine:
    """Masses (kg) and inertias about the centres of mass (kg m^2, diagonal in body axes x along the leg)."""

    legs: list[Leg]
    ring: tuple
    housing: tuple
    screw: tuple
    nut: float
    housing_centre: float
    screw_centre: float

    def bodies(self, position, rotation):
        """Poses of all bodies from the ring's: [(centre, R body -> 0), ...], with the stroke and roll of each leg."""
        found, joints = [(position, rotation)], []
        for leg in self.legs:
            end = position + rotation @ leg.upper
            s = end - leg.lower
            length = np.linalg.norm(s)
            u = s / length
            first = leg.axes[1]
            second = cross(u, first)
            second /= np.linalg.norm(second)  # second axis of the lower joint, across leg and first axis
            housing = np.column_stack([u, cross(second, u), second])
            found.append((leg.lower + self.housing_centre * u, housing))
            ring_z = rotation @ leg.axes[2]
            y = cross(ring_z, u)  # first axis of the upper joint, on the rod: across leg and ring axis
            y /= np.linalg.norm(y)
            rod = np.column_stack([u, y, cross(u, y)])
            found.append((end + self.screw_centre * u, rod))
            joints.append((length, np.arctan2(rod[:, 1] @ housing[:, 2], rod[:, 1] @ housing[:, 1])))
        return found, np.array(joints)

    def constraints(self, poses):
        """Rows J (5 for each of lower, middle, upper joint ...) over the twists [v, w] of the bodies."""
        rows = []
        n = len(poses)

        def row(parts):
            r = np.zeros(6 * n)
            for body, force, torque in parts:
                r[6 * body : 6 * body + 3] += force
                r[6 * body + 3 : 6 * body + 6] += torque
            rows.append(r)

        for k, leg in enumerate(self.legs):
            h, r = 1 + 2 * k, 2 + 2 * k
            (xh, Rh), (xr, Rr), (x0, ring) = poses[h], poses[r], poses[0]
            for e in np.eye(3):
                row([(h, e, cross(leg.lower - xh, e))])
            # lower universal joint: frame-fixed y and housing-fixed z stay perpendicular
            row([(h, np.zeros(3), cross(Rh[:, 2], leg.axes[1]))])
            # cylindrical joint: the rod's axis is the housing's, in direction and in place
            for e in (Rh[:, 1], Rh[:, 2]):
                row([(r, np.zeros(3), e), (h, np.zeros(3), -e)])
                row([(r, e, np.zeros(3)), (h, -e, -cross(xr - xh, e))])
            end = x0 + ring @ leg.upper
            for e in np.eye(3):
                row([(0, e, cross(end - x0, e)), (r, -e, -cross(end - xr, e))])
            # upper universal joint: rod-fixed y and ring-fixed z stay perpendicular
            n_R = cross(Rr[:, 1], ring @ leg.axes[2])
            row([(0, np.zeros(3), n_R), (r, np.zeros(3), -n_R)])
        return np.array(rows)

    def nuts(self, poses):
        """Rows N with N v = rate of each nut relative to its housing: ratio * stroke rate + roll rate."""
        rows = []
        for k, leg in enumerate(self.legs):
            h, r = 1 + 2 * k, 2 + 2 * k
            u = poses[h][1][:, 0]
            row = np.zeros(6 * len(poses))
            arm = poses[r][0] - poses[h][0]
            row[6 * r : 6 * r + 3] = leg.ratio * u
            row[6 * h : 6 * h + 3] = -leg.ratio * u
            row[6 * h + 3 : 6 * h + 6] = -leg.ratio * cross(arm, u) - u
            row[6 * r + 3 : 6 * r + 6] = u
            rows.append(row)
        return np.array(rows)

    def mass(self, poses):
        M = np.zeros((6 * len(poses),) * 2)
        for b, (_, R) in enumerate(poses):
            mass, inertia = self.ring if b == 0 else (self.housing, self.screw)[(b - 1) % 2]
            M[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = mass * np.eye(3)
            M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = R @ np.diag(inertia) @ R.T
        return M

    def twists(self, poses, velocity, spin):
        """Twists (relative to frame 0) of all bodies from the ring's, by the constraints alone."""
        J = self.constraints(poses)
        known = np.concatenate([velocity, spin])
        rest = np.linalg.solve(J[:, 6:], -J[:, :6] @ known)
        return np.concatenate([known, rest])

    def equations(self, position, rotation, velocity, spin, force, torque, base=None):
        """M, Q, J, J' v, N, N' v and the poses: M a = Q + J^T l + N^T torque, J a = -J' v, nuts turn with N v.

        `velocity`, `spin` of the ring relative to frame 0, all in frame 0; `base` (w, epsilon, a) of frame 0. Inertia
        forces of the moving base are those in a frame that moves with it.
        """
        w0, e0, a0 = (np.zeros(3),) * 3 if base is None else base
        poses, _ = self.bodies(position, rotation)
        v = self.twists(poses, velocity, spin)
        J, N, M = self.constraints(poses), self.nuts(poses), self.mass(poses)
        step = 1e-4
        stencil = [(-2, 1.0 / 12), (-1, -8.0 / 12), (1, 8.0 / 12), (2, -1.0 / 12)]
        moved = [
            (
                [
                    (x + s * step * v[6 * b : 6 * b + 3], turned(s * step * v[6 * b + 3 : 6 * b + 6]) @ R)
                    for b, (x, R) in enumerate(poses)
                ],
                c,
            )
            for s, c in stencil
        ]
        # along the straight motion with constant twists: d(J v)/dt has no other part than (dJ/dt) v
        Jv = sum(c * self.constraints(p) @ v for p, c in moved) / step
        Nv = sum(c * self.nuts(p) @ v for p, c in moved) / step
        Q = np.zeros(len(v))
        Q[:3], Q[3:6] = force, torque
        needed = np.zeros(len(v))
        for b, (x, R) in enumerate(poses):
            mass, inertia = self.ring if b == 0 else (self.housing, self.screw)[(b - 1) % 2]
            J_b = R @ np.diag(inertia) @ R.T
            vb, wb = v[6 * b : 6 * b + 3], v[6 * b + 3 : 6 * b + 6]
            w = w0 + wb
            needed[6 * b : 6 * b + 3] = mass * (a0 + cross(e0, x) + cross(w0, cross(w0, x)) + 2.0 * cross(w0, vb))
            needed[6 * b + 3 : 6 * b + 6] = J_b @ (e0 + cross(w0, wb)) + cross(w, J_b @ w)
        return M, Q - needed, J, Jv, N, Nv, poses

    def accelerate(self, position, rotation, velocity, spin, force, torque, nut_torque, base=None):
        """Accelerations of the ring and the wrench on the base about O_0, frame 0; arguments of `equations`."""
        M, Q, J, Jv, N, Nv, poses = self.equations(position, rotation, velocity, spin, force, torque, base)
        Q = Q + N.T @ (nut_torque - self.nut * Nv)
        A = M + self.nut * N.T @ N
        size = len(J)
        K = np.block([[A, -J.T], [J, np.zeros((size, size))]])
        found = np.linalg.solve(K, np.concatenate([Q, -Jv]))
        a, multipliers = found[: len(Q)], found[len(Q) :]
        # on the base: the reactions of the lower joints
        f, m = np.zeros(3), np.zeros(3)
        for k, leg in enumerate(self.legs):
            reaction = multipliers[12 * k : 12 * k + 4]
            f -= reaction[:3]
            housing = poses[1 + 2 * k][1]
            m -= cross(leg.lower, reaction[:3]) + reaction[3] * cross(housing[:, 2], leg.axes[1])
            # what the nut takes to spin, the housing's spring bears (ruling R14)
            m -= self.nut * (N[k] @ a + Nv[k]) * housing[:, 0]
        return a[:6], f, m

    def energy(self, position, rotation, velocity, spin):
        poses, _ = self.bodies(position, rotation)
        v = self.twists(poses, velocity, spin)
        turns = self.nuts(poses) @ v
        return 0.5 * v @ self.mass(poses) @ v + 0.5 * self.nut * turns @ turns
