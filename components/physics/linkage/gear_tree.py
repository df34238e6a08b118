"""Gear tree that couples the six nuts of a hexapod: shafts whose angles are linear in those of the nuts.

Theory: ring-mechanisms D6b.

y = D phi, with phi the angles of the nuts. Each shaft has an inertia and a torque. Both act on the ring through
G = D N, with N the nuts' gain: A += G^T I_y G, b += G^T (tau_y - I_y D n). Shafts are assumed to turn in the base, in
pairs of opposite sense: they have energy but no angular momentum.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage.generated import strut

SHAFTS = 6


def shafts() -> Group:
    """Return the group `gear`: constants that the caller sets, torques that it sets, and work space."""
    return Group(
        "gear",
        private("ratio", "1", "D: angle of a shaft per angle of a nut", shape=(SHAFTS, 6)),
        private("inertia", "kg.m2", "of the shafts with all parts that turn with them", shape=SHAFTS),
        private("torque", "N.m", "on the shafts", shape=SHAFTS),
        private("rate", "rad/s", "of the shafts", shape=SHAFTS),
        private("row", "1", "acceleration of a nut: gain N, and n at no acceleration of the ring", shape=(6, 7)),
        private("gain", "1", "G, and D n", shape=(SHAFTS, 7)),
    )


@kernel
def follow(m):
    """Set the rates of the shafts from those of the struts' joints."""
    g = m.gear
    for i in range(SHAFTS):
        rate = 0.0
        for k in range(6):
            c = m.strut[k]
            rate += g.ratio[i, k] * (c.rate[2] + c.nut_ratio * c.rate[3])
        g.rate[i] = rate


@kernel
def couple(m):
    """Add inertia and torques of the shafts to those reduced to the ring, after `reduce` of all struts."""
    g = m.gear
    for k in range(6):
        strut.turn(m.strut[k], g.row[k])
    for i in range(SHAFTS):
        for j in range(7):
            total = 0.0
            for k in range(6):
                total += g.ratio[i, k] * g.row[k, j]
            g.gain[i, j] = total
    for i in range(SHAFTS):
        left = g.torque[i] - g.inertia[i] * g.gain[i, 6]
        for j in range(6):
            m.force[j] += g.gain[i, j] * left
            for k in range(j, 6):
                m.inertia[j, k] += g.gain[i, j] * g.inertia[i] * g.gain[i, k]


@kernel
def kinetic_energy(m):
    """Return the kinetic energy of the shafts, J, after `follow`."""
    g = m.gear
    energy = 0.0
    for i in range(SHAFTS):
        energy += 0.5 * g.inertia[i] * g.rate[i] * g.rate[i]
    return energy
