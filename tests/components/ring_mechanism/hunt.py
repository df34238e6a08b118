"""The Hunt platform in maximal coordinates: ring, six cranks and six rods as free bodies, joints as constraints.

Independent of the product's joint coordinates, closed forms and recursions; `Machine` assembles the equations.
"""

from __future__ import annotations

import numpy as np

from tests.components.peripheral_mechanism.constrained import Leg, Machine

CRANK, ROD = 0.25, 0.45


class HuntMachine(Machine):
    """Bodies: ring 0, cranks 1 + 2k, rods 2 + 2k. `housing` is the crank, `screw` the rod."""

    def bodies(self, position, rotation):
        """Poses of all bodies from the ring's, and the angles of the cranks: the elbow of the larger angle."""
        found, angles = [(position, rotation)], []
        for leg in self.legs:
            x, y, z = leg.axes
            end = position + rotation @ leg.upper
            d = end - leg.lower
            a, b = x @ d, y @ d
            angle = np.arctan2(b, a) + np.arccos((CRANK**2 + d @ d - ROD**2) / (2 * CRANK * np.hypot(a, b)))
            u = np.cos(angle) * x + np.sin(angle) * y
            found.append((leg.lower + self.housing_centre * u, np.column_stack([u, np.cross(z, u), z])))
            elbow = leg.lower + CRANK * u
            v = (end - elbow) / np.linalg.norm(end - elbow)
            across = np.cross(z, v)
            across /= np.linalg.norm(across)
            found.append((elbow + self.screw_centre * v, np.column_stack([v, across, np.cross(v, across)])))
            angles.append(angle)
        return found, np.array(angles)

    def constraints(self, poses):
        """Twelve rows for each leg: revolute joint on the base, universal at the elbow, spherical on the ring."""
        rows = []
        zero = np.zeros(3)

        def row(parts):
            r = np.zeros(6 * len(poses))
            for body, force, torque in parts:
                r[6 * body : 6 * body + 6] += np.concatenate([force, torque])
            rows.append(r)

        x0, ring = poses[0]
        for k, leg in enumerate(self.legs):
            h, r = 1 + 2 * k, 2 + 2 * k
            (xh, Rh), (xr, Rr) = poses[h], poses[r]
            elbow = xh + (CRANK - self.housing_centre) * Rh[:, 0]
            end = x0 + ring @ leg.upper
            for e in np.eye(3):
                row([(h, e, np.cross(leg.lower - xh, e))])
            row([(h, zero, Rh[:, 0])])
            row([(h, zero, Rh[:, 1])])
            for e in np.eye(3):
                row([(h, e, np.cross(elbow - xh, e)), (r, -e, -np.cross(elbow - xr, e))])
            normal = np.cross(Rr[:, 1], Rh[:, 2])
            row([(r, zero, normal), (h, zero, -normal)])
            for e in np.eye(3):
                row([(0, e, np.cross(end - x0, e)), (r, -e, -np.cross(end - xr, e))])
        return np.array(rows)

    def nuts(self, poses):
        """Rows N with N v = rate of each crank."""
        rows = np.zeros((6, 6 * len(poses)))
        for k in range(6):
            rows[k, 6 * (1 + 2 * k) + 3 : 6 * (1 + 2 * k) + 6] = poses[1 + 2 * k][1][:, 2]
        return rows

    def accelerate(self, position, rotation, velocity, spin, force, torque, crank_torque, base=None):
        """Accelerations of the ring and the wrench on the base about O_0, frame 0; arguments of `equations`."""
        M, Q, J, Jv, N, _, poses = self.equations(position, rotation, velocity, spin, force, torque, base)
        zero = np.zeros((len(J), len(J)))
        K = np.block([[M, -J.T], [J, zero]])
        found = np.linalg.solve(K, np.concatenate([Q + N.T @ crank_torque, -Jv]))
        a, multipliers = found[: len(Q)], found[len(Q) :]
        on_base, about = np.zeros(3), np.zeros(3)
        for k, leg in enumerate(self.legs):
            reaction = multipliers[12 * k : 12 * k + 5]
            crank = poses[1 + 2 * k][1]
            on_base -= reaction[:3]
            about -= np.cross(leg.lower, reaction[:3]) + crank[:, :2] @ reaction[3:] + crank_torque[k] * crank[:, 2]
        return a[:6], on_base, about


def platform():
    """The Hunt platform of set CR-1, from its numbers alone."""
    legs = []
    for k in range(6):
        side = -1.0 if k % 2 == 0 else 1.0
        a, b = (np.radians(120.0 * (k // 2) + side * half) for half in (14.0, 45.0))
        outward = np.array([0, np.cos(a), np.sin(a)])
        axes = np.array([-outward, [1.0, 0, 0], np.cross(-outward, [1.0, 0, 0])])
        legs.append(Leg(0.5 * outward, 0.6 * np.array([0, np.cos(b), np.sin(b)]), axes, 1.0))
    return HuntMachine(
        legs,
        ring=(40.0, (14.4, 7.3, 7.3)),
        housing=(5.0, (0.004, 0.03, 0.03)),
        screw=(4.0, (0.001, 0.055, 0.055)),
        nut=0.0,
        housing_centre=0.1,
        screw_centre=0.2,
    )
