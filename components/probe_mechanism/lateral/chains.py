"""The chains of the lateral damper: struts U P S and cranks R U S between base and housing, on generated kernels.

Each is closed on the housing, then followed, reduced to it and carried along, in the order of dynamics section 6: by
generated kernels if a link has mass, else by those of `massless`, with a seventh of the work. `c` is the record of one
chain.
"""

from __future__ import annotations

from math import atan2, fabs

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage.closure import crank_joint, rod_joints, strut_joints
from dockfmu.components.physics.mechanics.rotation import IDENTITY, apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import load, subtract
from dockfmu.components.probe_mechanism.generated import brake, spring
from dockfmu.components.probe_mechanism.lateral import massless

# determinant over its nominal value at which a chain counts as singular
SINGULAR = 1e-3


def _chain(name: str, kept: int, *own) -> Group:
    return Group(
        name,
        private("base_point", "m", "joint on the base, frame 0", shape=3),
        private("base_axes", "1", "frame 0 -> first joint", IDENTITY, shape=(3, 3)),
        private("node_point", "m", "joint on the housing, frame M", shape=3),
        *own,
        private("heavy", "1", "a link has mass or inertia"),
        private("mass", "kg", "of the two links", shape=2),
        private("centre", "m", "of mass of the two links, along them", shape=2),
        private("inertia", "kg.m2", "of the two links, transverse", shape=2),
        private("cosine", "1", "of the joints' angles", 1.0, shape=3),
        private("sine", "1", "of the joints' angles", shape=3),
        private("force", "1", "on the active joint, N or N.m"),
        private("damping", "1", "-d force / d rate times the step: linearly implicit damping"),
        private("rate", "1/s", "of the active joint"),
        private("acceleration", "1/s2", "of the active joint"),
        private("gain", "1", "massless: rate per angular velocity of the housing, frame 0", shape=3),
        private("quadratic", "1/s2", "massless: the part of the acceleration due to the rates"),
        private("determinant", "1", "of the constraints; massless: length of the strut, lever of the crank"),
        private("nominal_determinant", "1", "of the constraints in the reference position; 0 if not known"),
        private("energy", "J", "kinetic energy of the links"),
        private("kept", "1", "values that one kernel passes to the next", shape=kept),
        count=2,
    )


def struts(name: str) -> Group:
    """Return the group of two spring mechanisms; the active joint is the stroke."""
    return _chain(
        name,
        spring.KEPT,
        private("length", "m", "of the strut with no stroke"),
        private("stroke", "m", "lengthening of the strut"),
    )


def cranks(name: str) -> Group:
    """Return the group of two magnetic brakes; the active joint is the crank's."""
    return _chain(
        name,
        brake.KEPT,
        private("length", "m", "of the crank"),
        private("rod_length", "m", "of the rod"),
        private("angle", "rad", "of the crank"),
    )


@kernel
def attach(p, k, c):
    """Set the joints and links of chain k of the devices `p`."""
    c.heavy = 0.0
    for i in range(2):
        c.mass[i] = p.link_mass[k, i]
        c.centre[i] = p.link_centre[k, i]
        c.inertia[i] = p.link_inertia[k, i]
        if c.mass[i] > 0.0 or c.inertia[i] > 0.0:
            c.heavy = 1.0
    for i in range(3):
        c.base_point[i] = p.base_point[k, i]
        c.node_point[i] = p.node_point[k, i]
        for j in range(3):
            c.base_axes[i, j] = p.base_axes[k, i, j]
    c.nominal_determinant = 0.0


@kernel
def _reach(c, node):
    """Return the vector from the joint on the base to the joint on the housing, axes of the first joint."""
    cut = apply_transposed(load_matrix(node.rotation), load(c.node_point))
    return apply(load_matrix(c.base_axes), subtract(cut, load(c.base_point)))


@kernel
def _regular(c):
    return fabs(c.determinant) > SINGULAR * fabs(c.nominal_determinant)


@kernel
def place_strut(c, node):
    """Set the stroke and its rate for the housing `node` (rotation, angular velocity).

    Returns False near a singular position.
    """
    if c.heavy == 0.0:
        return massless.follow_strut(c, node) and _regular(c)
    closed, c1, s1, c2, s2, length = strut_joints(_reach(c, node))
    if not closed:
        return False
    c.cosine[0] = c1
    c.sine[0] = s1
    c.cosine[1] = c2
    c.sine[1] = s2
    c.stroke = length - c.length
    spring.follow(c, node)
    return _regular(c)


@kernel
def place_crank(c, node):
    """Set the angle of the crank and its rate for the housing `node`.

    Returns False out of reach or near a singular position.
    """
    closed, c1, s1, d = crank_joint(_reach(c, node), c.length, c.rod_length)
    if not closed:
        return False
    c.cosine[0] = c1
    c.sine[0] = s1
    c.angle = atan2(s1, c1)
    if c.heavy == 0.0:
        return massless.follow_crank(c, node) and _regular(c)
    c2, s2, c3, s3 = rod_joints(d)
    c.cosine[1] = c2
    c.sine[1] = s2
    c.cosine[2] = c3
    c.sine[2] = s3
    brake.follow(c, node)
    return _regular(c)


@kernel
def reduce(strut, crank, omega0, epsilon0, acceleration0, inertia, torque):
    """Add a strut and a crank, as felt by the housing, to its `inertia` (upper triangle) and `torque`, frame 0."""
    if strut.heavy > 0.0:
        spring.reduce(strut, omega0, epsilon0, acceleration0, inertia, torque)
    else:
        massless.reduce(strut, inertia, torque)
    if crank.heavy > 0.0:
        brake.reduce(crank, omega0, epsilon0, acceleration0, inertia, torque)
    else:
        massless.reduce(crank, inertia, torque)


@kernel
def accelerate(strut, crank, turning):
    """Set the accelerations of the active joints for that of the housing, `turning`."""
    if strut.heavy > 0.0:
        spring.accelerate(strut, turning)
    else:
        massless.accelerate(strut, turning)
    if crank.heavy > 0.0:
        brake.accelerate(crank, turning)
    else:
        massless.accelerate(crank, turning)


@kernel
def lose(strut, crank, turning, torque, force):
    """Subtract the inertia of links with mass from the wrench on the base (torque about O_0, force)."""
    if strut.heavy > 0.0:
        spring.lose(strut, turning, torque, force)
    if crank.heavy > 0.0:
        brake.lose(crank, turning, torque, force)


@kernel
def momentum(strut, crank, omega0, velocity0, t):
    """Add momenta, kinetic energy, mass and static moment of a strut and a crank to those of the tree `t`."""
    if strut.heavy > 0.0:
        spring.momentum(strut, omega0, velocity0, t.angular_momentum, t.momentum, t.static_moment)
        t.kinetic_energy += strut.energy
        t.mass += strut.mass[0] + strut.mass[1]
    if crank.heavy > 0.0:
        brake.momentum(crank, omega0, velocity0, t.angular_momentum, t.momentum, t.static_moment)
        t.kinetic_energy += crank.energy
        t.mass += crank.mass[0] + crank.mass[1]
