"""A ring on six legs, on generated kernels: accelerations and wrench on the base.

Legs are struts with differential ball screws, U C U chains with joints y, z, roll and stroke (kinematics 9.2, 9.3;
dynamics section 7), or cranks with rods (`cranks`), depending on the record. Vectors are in frame 0; angular velocity,
torque and angular acceleration of the ring are in ring axes about its centre of mass.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.field import Field, Group, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics.linkage import cranks, gear_tree
from dockfmu.components.physics.linkage.closure import strut_joints
from dockfmu.components.physics.linkage.generated import ring, strut
from dockfmu.components.physics.mechanics.rotation import IDENTITY, apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, dot, load, scale, store, subtract


def struts() -> Group:
    """Return the group of the six struts."""
    return Group(
        "strut",
        private("base_axes", "1", "gamma_0: frame 0 -> first joint, x along the strut", IDENTITY, shape=(3, 3)),
        private("base_point", "m", "first joint", shape=3),
        private("node_point", "m", "cut joint, ring axes", shape=3),
        private("node_axis", "1", "z axis of the cut joint on the ring, ring axes", (0.0, 0.0, 1.0), shape=3),
        private("length", "m", "with no stroke"),
        private("mass", "kg", "housing, screw", shape=2),
        private("centre", "m", "centre of mass on the axis: from the base joint, from the cut joint", shape=2),
        private("axial", "kg.m2", "inertia about the axis", shape=2),
        private("transverse", "kg.m2", "inertia about the base joint, about the cut joint", shape=2),
        private("nut_ratio", "rad/m", "angle of the nut per stroke; its sign is the hand of the screw"),
        private("nut_inertia", "kg.m2", "of the nut about the strut"),
        private("nut_torque", "N.m", "on the nut"),
        private("force", "1", "of the joints, N.m and N", shape=4),
        private("cosine", "1", "of the three angles", 1.0, shape=3),
        private("sine", "1", "of the three angles", shape=3),
        private("stroke", "m", "of the strut"),
        private("rate", "1", "of the joints, rad/s and m/s", shape=4),
        private("acceleration", "1", "of the joints, rad/s2 and m/s2", shape=4),
        private("determinant", "1", "of Cd"),
        private("energy", "J", "kinetic, of the last `momentum`"),
        private("kept", "1", "work space of the generated kernels", shape=strut.KEPT),
        count=6,
    )


def hexapod(name: str = "hexapod", *more: Field | Group, cranked: bool = False) -> Group:
    """Return the group of ring, legs and work space; the caller sets constants, motion of the ring and forces.

    Legs are struts, or cranks with rods if `cranked`. With `gear_tree.shafts()` as `more`, the nuts of the struts are
    geared together.
    """
    return Group(
        name,
        # optional members come first: otherwise numba would take the longer record for the shorter one, and warn
        *more,
        Group(
            "ring",
            private("mass", "kg", "of the ring"),
            private("principal", "kg.m2", "inertia about the centre of mass, ring axes", shape=(3, 3)),
            private("position", "m", "of the centre of mass", shape=3),
            private("rotation", "1", "frame 0 -> ring", IDENTITY, shape=(3, 3)),
            private("velocity", "m/s", "of the centre of mass relative to frame 0", shape=3),
            private("angular_velocity", "rad/s", "relative to frame 0, ring axes", shape=3),
            private("force", "N", "load", shape=3),
            private("torque", "N.m", "load, ring axes", shape=3),
            private("acceleration", "1", "of velocity and angular velocity", shape=6),
            private("base_force", "N", "passed on by the ring", shape=3),
            private("base_torque", "N.m", "passed on by the ring, about O_0", shape=3),
            private("kept", "1", "work space of the generated kernels", shape=ring.KEPT),
        ),
        cranks.cranks() if cranked else struts(),
        private("inertia", "1", "of all, reduced to the ring: upper half", shape=(6, 6)),
        private("force", "1", "on the ring, reduced", shape=6),
        private("base_force", "N", "of all on the base", shape=3),
        private("base_torque", "N.m", "of all on the base about O_0", shape=3),
        private("kinetic_energy", "J", "absolute"),
        private("momentum", "N.s", "absolute, frame 0", shape=3),
        private("angular_momentum", "N.m.s", "absolute, about O_0, frame 0", shape=3),
        private("mass", "kg", "of all"),
        private("static_moment", "kg.m", "of all about O_0, frame 0", shape=3),
        private(
            "response", "1", "du/dt of the ring per acceleration and angular acceleration of the base", shape=(6, 6)
        ),
        private("affine_mass", "1", "M_A in [f; m] = W - M_A [w_0; epsilon_0]", shape=(6, 6)),
    )


@kernel
def close(c, n):
    """Set the joint coordinates of strut `c` from the pose of the ring `n` (kinematics 9.2, 9.3).

    Returns True if well-posed.

    The roll keeps the cut joint's axes perpendicular, on the branch within 90 degrees.
    """
    gamma = load_matrix(c.base_axes)
    alpha = load_matrix(n.rotation)
    reach = add(load(n.position), apply_transposed(alpha, load(c.node_point)))
    closed, c1, s1, c2, s2, length = strut_joints(apply(gamma, subtract(reach, load(c.base_point))))
    c.cosine[0], c.sine[0], c.cosine[1], c.sine[1] = c1, s1, c2, s2
    c.stroke = length - c.length
    x, y, z = apply(gamma, apply_transposed(alpha, load(c.node_axis)))
    up = s1 * x + c1 * z
    across = c2 * y - s2 * (c1 * x - s1 * z)
    size = sqrt(up * up + across * across)
    if not (closed and size > 0.0):
        return False
    c.cosine[2], c.sine[2] = up / size, -across / size
    return True


@kernel
def _uncoupled(m):
    """Do nothing: the nuts turn independently."""


@kernel
def _no_energy(m):
    """Return 0: there are no shafts."""
    return 0.0


_turn = variant("gear", gear_tree.follow, _uncoupled)
_couple = variant("gear", gear_tree.couple, _uncoupled)
_gear_energy = variant("gear", gear_tree.kinetic_energy, _no_energy)


@kernel
def _follow_struts(m):
    for k in range(6):
        if not close(m.strut[k], m.ring):
            return 1 + k
        strut.follow(m.strut[k], m.ring)
        if m.strut[k].determinant == 0.0:
            return 1 + k
    _turn(m)
    return 0


@kernel
def _reduce_struts(m, omega0, epsilon0, acceleration0):
    for k in range(6):
        strut.reduce(m.strut[k], m.ring, omega0, epsilon0, acceleration0, m.inertia, m.force)
    _couple(m)


@kernel
def _lose_struts(m):
    for k in range(6):
        strut.lose(m.strut[k], m.ring.acceleration, m.base_force, m.base_torque)


@kernel
def _momentum_of_struts(m, omega0, velocity0):
    for k in range(6):
        c = m.strut[k]
        strut.momentum(c, omega0, velocity0, m.angular_momentum, m.momentum, m.static_moment)
        m.kinetic_energy += c.energy
        m.mass += c.mass[0] + c.mass[1]
    m.kinetic_energy += _gear_energy(m)


_follow = variant("crank", cranks.follow, _follow_struts)
_reduce = variant("crank", cranks.reduce, _reduce_struts)
_lose = variant("crank", cranks.lose, _lose_struts)
_momentum = variant("crank", cranks.momentum, _momentum_of_struts)


@kernel
def follow(m):
    """Set the coordinates and rates of the legs, on which their devices act, from the motion of the ring.

    Returns 0, or the number of a degenerate leg.
    """
    return _follow(m)


@kernel
def accelerate(m, omega0, epsilon0, acceleration0):
    """Set the acceleration of the ring, after `follow`, with forces set.

    The arguments are tuples in frame 0: angular velocity and acceleration of the base, acceleration of O_0.
    """
    ring.start(m.ring, omega0, epsilon0, acceleration0, m.inertia, m.force)
    _reduce(m, omega0, epsilon0, acceleration0)
    ring.accelerate(m.ring, m.inertia, m.force)


@kernel
def react(m):
    """Set the accelerations of the legs and the wrench on the base, after `accelerate`."""
    for i in range(3):
        m.base_force[i] = m.ring.base_force[i]
        m.base_torque[i] = m.ring.base_torque[i]
    _lose(m)


@kernel
def momentum(m, velocity0, omega0):
    """Set kinetic energy, momenta, mass and static moment of ring and legs on a moving base, after `follow`.

    `velocity0` of O_0 and `omega0` of the base, absolute, frame 0, tuples.
    """
    n = m.ring
    alpha = load_matrix(n.rotation)
    r = load(n.position)
    v = add(add(velocity0, cross(omega0, r)), load(n.velocity))
    w = add(load(n.angular_velocity), apply(alpha, omega0))
    spin = apply(load_matrix(n.principal), w)
    linear = scale(n.mass, v)
    store(linear, m.momentum)
    store(add(apply_transposed(alpha, spin), cross(r, linear)), m.angular_momentum)
    m.kinetic_energy = 0.5 * (dot(v, linear) + dot(w, spin))
    m.mass = n.mass
    store(scale(n.mass, r), m.static_moment)
    _momentum(m, omega0, velocity0)


@kernel
def affine(m, omega0):
    """Set M_A and L of dynamics section 11 (`affine_mass`, `response`), by unit accelerations of the base.

    Call it after `follow`, with forces set. It overwrites the accelerations and the wrench on the base of the last
    evaluation.
    """
    for k in range(7):
        unit = (1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0, 1.0 if k % 3 == 0 else 0.0)
        if k == 0:
            accelerate(m, omega0, ZERO, ZERO)
        elif k < 4:
            accelerate(m, omega0, ZERO, unit)
        else:
            accelerate(m, omega0, unit, ZERO)
        react(m)
        # start with the values of a base without acceleration, then take the difference to those of a unit acceleration
        for i in range(6):
            wrench = m.base_force[i] if i < 3 else m.base_torque[i - 3]
            for j in range(6):
                if k == 0:
                    m.affine_mass[i, j] = wrench
                    m.response[i, j] = -m.ring.acceleration[i]
                elif k == j + 1:
                    m.affine_mass[i, j] -= wrench
                    m.response[i, j] += m.ring.acceleration[i]
