"""Gear tree of explicit differentials in maximal coordinates: every shaft a coordinate, every gear a multiplier.

Nut k turns by phi_k; idlers behind left-hand screws turn by e_k = h_k phi_k. A differential has two legs and a carrier
that turns by their mean; another, behind an idler that turns one leg back, by half their difference. Three carriers of
pairs drive the shafts by trains that add them, with weights 1/3 and (2/3) cos, (2/3) sin of the pair's azimuth.
"""

import numpy as np


def constraints(hands):
    """Rows C over [nuts 6, idlers 6, sums 3, differences 3, shafts 6] with C x' = 0."""
    n = 24
    phi, e, s, d, y = range(6), range(6, 12), range(12, 15), range(15, 18), range(18, 24)
    rows = []

    def row(**parts):
        r = np.zeros(n)
        for index, weight in parts.values():
            r[index] += weight
        rows.append(r)

    for k in range(6):
        row(idler=(e[k], 1.0), nut=(phi[k], -hands[k]))
    for i in range(3):
        row(carrier=(s[i], 2.0), one=(e[2 * i], -1.0), other=(e[2 * i + 1], -1.0))
        row(carrier=(d[i], 2.0), one=(e[2 * i], -1.0), other=(e[2 * i + 1], 1.0))
    for group, carriers in ((0, s), (3, d)):
        row(shaft=(y[group], 3.0), **{f"c{i}": (carriers[i], -1.0) for i in range(3)})
        for j, wave in ((1, np.cos), (2, np.sin)):
            weights = {f"c{i}": (carriers[i], -2.0 * wave(2.0 * np.pi * i / 3.0)) for i in range(3)}
            row(shaft=(y[group + j], 3.0), **weights)
    return np.array(rows)


def accelerate(machine, hands, inertia, torque, state, base):
    """Acceleration of the ring (frame 0), of all shafts, and the wrench on the base but for the nuts' own share.

    Bodies, nuts and every shaft of the tree are unknowns; joints, screws and differentials are constraints.
    """
    M, Q, J, Jv, N, Nv, poses = machine.equations(*state, base)
    C = constraints(hands)
    bodies, shafts = len(Q), C.shape[1]
    size = bodies + shafts
    A = np.zeros((size, size))
    A[:bodies, :bodies] = M
    A[bodies : bodies + 6, bodies : bodies + 6] = machine.nut * np.eye(6)
    A[-6:, -6:] = np.diag(inertia)
    load = np.concatenate([Q, np.zeros(shafts - 6), torque])
    screws = np.hstack([-N, np.eye(6), np.zeros((6, shafts - 6))])
    rows = np.vstack(
        [
            np.hstack([J, np.zeros((len(J), shafts))]),
            screws,
            np.hstack([np.zeros((len(C), bodies)), C]),
        ]
    )
    right = np.concatenate([-Jv, Nv, np.zeros(len(C))])
    K = np.block([[A, -rows.T], [rows, np.zeros((len(rows),) * 2)]])
    found = np.linalg.solve(K, np.concatenate([load, right]))
    a, multipliers = found[:size], found[size:]
    force, moment = np.zeros(3), np.zeros(3)
    for k, leg in enumerate(machine.legs):
        reaction = multipliers[12 * k : 12 * k + 4]
        housing = poses[1 + 2 * k][1]
        force -= reaction[:3]
        moment -= np.cross(leg.lower, reaction[:3]) + reaction[3] * np.cross(housing[:, 2], leg.axes[1])
        # what turns the nut, less what the screw gives the rod, the housing's gearbox bears: the tree stands on it
        moment -= machine.nut * a[bodies + k] * housing[:, 0]
    return a[:6], a[-6:], force, moment
