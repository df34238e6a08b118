"""Cranks with rods as the legs of a ring: the Hunt platform (kinematics 9.4, ring-mechanisms 10.4).

A crank turns on the base about the z axis of its frame; a rod leads from its end, on a universal joint, to a spherical
joint on the ring: R U S. The spin of the rod about its own axis does not depend on the ring. The elbow is on the side
of the larger angle, 0 < angle < 180 deg.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage.closure import crank_joint, rod_joints
from dockfmu.components.physics.linkage.generated import crank
from dockfmu.components.physics.mechanics.rotation import IDENTITY, apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, load, subtract


def cranks() -> Group:
    """Return the group of the six cranks."""
    return Group(
        "crank",
        private("base_axes", "1", "frame 0 -> joint on the base, z along its axis", IDENTITY, shape=(3, 3)),
        private("base_point", "m", "joint on the base", shape=3),
        private("node_point", "m", "joint on the ring, ring axes", shape=3),
        private("length", "m", "of the crank"),
        private("rod_length", "m", "of the rod"),
        private("mass", "kg", "crank, rod", shape=2),
        private("centre", "m", "centre of mass along the link, from its inner joint", shape=2),
        private("axial", "kg.m2", "inertia about the axis of the link", shape=2),
        private("transverse", "kg.m2", "inertia about its inner joint", shape=2),
        private("force", "N.m", "torques of the joints", shape=3),
        private("cosine", "1", "of the three angles", 1.0, shape=3),
        private("sine", "1", "of the three angles", shape=3),
        private("rate", "rad/s", "of the joints", shape=3),
        private("acceleration", "rad/s2", "of the joints", shape=3),
        private("determinant", "1", "of Cd"),
        private("energy", "J", "kinetic, of the last `momentum`"),
        private("kept", "1", "work space of the generated kernels", shape=crank.KEPT),
        count=6,
    )


@kernel
def close(c, n):
    """Set the joint coordinates of crank `c` from the pose of the ring `n`.

    Theory: kinematics 9.4. Returns True if in reach.
    """
    reach = add(load(n.position), apply_transposed(load_matrix(n.rotation), load(c.node_point)))
    r = apply(load_matrix(c.base_axes), subtract(reach, load(c.base_point)))
    closed, c.cosine[0], c.sine[0], rod = crank_joint(r, c.length, c.rod_length)
    if not closed:
        return False
    c.cosine[1], c.sine[1], c.cosine[2], c.sine[2] = rod_joints(rod)
    return True


@kernel
def follow(m):
    """Set coordinates and rates of the cranks. Returns 0, or the number of one that is out of reach."""
    for k in range(6):
        if not close(m.crank[k], m.ring):
            return 1 + k
        crank.follow(m.crank[k], m.ring)
        if m.crank[k].determinant == 0.0:
            return 1 + k
    return 0


@kernel
def reduce(m, omega0, epsilon0, acceleration0):
    """Add inertia and forces of the cranks to those reduced to the ring."""
    for k in range(6):
        crank.reduce(m.crank[k], m.ring, omega0, epsilon0, acceleration0, m.inertia, m.force)


@kernel
def lose(m):
    """Set the accelerations of the cranks and subtract the inertia of their links from the wrench on the base."""
    for k in range(6):
        crank.lose(m.crank[k], m.ring.acceleration, m.base_force, m.base_torque)


@kernel
def momentum(m, omega0, velocity0):
    """Add momenta, kinetic energy, mass and static moment of the cranks."""
    for k in range(6):
        c = m.crank[k]
        crank.momentum(c, omega0, velocity0, m.angular_momentum, m.momentum, m.static_moment)
        m.kinetic_energy += c.energy
        m.mass += c.mass[0] + c.mass[1]
