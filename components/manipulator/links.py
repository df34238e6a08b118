"""The links of the arm: motion, articulated inertia and accelerations, joint by joint on generated kernels.

Theory: manipulator 3.

`arm[0]` is the root R, `arm[k]` link k with the joint at its start. Positions and rotations are relative to R,
velocities and accelerations absolute, in axes of the link.
"""

from __future__ import annotations

from math import cos, sin

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import VARIANT
from dockfmu.components.manipulator.generated import about_x, about_y, about_z
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, cross, dot, load, scale, store, subtract

MASSLESS_LINKS = VARIANT.codes["MASSLESS_LINKS"]
KINEMATIC = VARIANT.codes["KINEMATIC"]


@kernel
def prepare(m):
    """Set lengths and mass data of the links from the parameters."""
    p = m.parameters
    for k in range(len(m.arm)):
        body = m.arm[k]
        reach = (0.0, 0.0, 0.0)
        for s in range(p.segment.kind.shape[1]):
            if p.segment.kind[k, s] != 1.0:
                reach = add(reach, load(p.segment.length[k, s]))
        store(reach, body.reach)
        if k > 0:
            _set_mass(p, k - 1, body)


@kernel
def _set_mass(p, k, body):
    """Set mass, first moment and inertia about the joint of link k + 1, from data about its centre of mass.

    All are zero for massless links.
    """
    center = load(p.link.center_of_mass[k])
    share = 0.0 if p.variant == MASSLESS_LINKS else 1.0
    mass = share * p.link.mass[k]
    body.axis = p.link.axis[k]
    body.mass = mass
    store(scale(mass, center), body.moment)
    square = dot(center, center)
    for i in range(3):
        for j in range(3):
            value = 0.5 * share * (p.link.inertia[k, i, j] + p.link.inertia[k, j, i]) - mass * center[i] * center[j]
            if i == j:
                value += mass * square
            body.inertia[i, j] = value


@kernel
def _clear(body):
    """Reset the articulated inertia of a link to the inertia of the link alone."""
    for i in range(3):
        for j in range(3):
            body.tt[i, j] = 0.0
            body.rr[i, j] = body.inertia[i, j]
        body.tt[i, i] = body.mass
        body.tr[i, i] = 0.0
    x, y, z = load(body.moment)
    body.tr[0, 1] = z
    body.tr[0, 2] = -y
    body.tr[1, 0] = -z
    body.tr[1, 2] = x
    body.tr[2, 0] = y
    body.tr[2, 1] = -x


@kernel
def place(m):
    """Place all links for the present angles, rates and motion of the root: (3.1)."""
    root = m.arm[0]
    store(load(m.root.velocity), root.velocity)
    store(load(m.root.angular_velocity), root.angular_velocity)
    store(load(m.root.acceleration), root.acceleration)
    store(load(m.root.angular_acceleration), root.angular_acceleration)
    for i in range(3):
        root.force[i] = 0.0
        root.torque[i] = 0.0
    _clear(root)
    for k in range(1, len(m.arm)):
        body = m.arm[k]
        d = m.drive[k - 1]
        ratio = m.parameters.gear.ratio[k - 1]
        body.cosine = cos(d.input_angle / ratio)
        body.sine = sin(d.input_angle / ratio)
        body.rate = d.input_rate / ratio
        _clear(body)
        if body.axis == 1.0:
            about_x.follow(body, m.arm[k - 1])
        elif body.axis == 2.0:
            about_y.follow(body, m.arm[k - 1])
        else:
            about_z.follow(body, m.arm[k - 1])


@kernel
def reduce(m):
    """Set the articulated inertias and forces of all links, from the last to the root: the backward pass (3.2).

    The forces of the links, their drive torques and armatures must be set before. Afterwards the root holds the wrench
    on it and the inertia that it feels.
    """
    kinematic = m.parameters.variant == KINEMATIC
    for k in range(len(m.arm) - 1, 0, -1):
        body = m.arm[k]
        axis = int(body.axis) - 1
        body.mobility = 0.0
        if m.parameters.joint.locked[k - 1] == 0.0 and not kinematic:
            body.mobility = 1.0 / (body.rr[axis, axis] + m.drive[k - 1].armature)
        if axis == 0:
            about_x.reduce(body, m.arm[k - 1])
        elif axis == 1:
            about_y.reduce(body, m.arm[k - 1])
        else:
            about_z.reduce(body, m.arm[k - 1])


@kernel
def accelerate(m):
    """Set the accelerations of all joints and links: `reduce`, then the second forward pass (3.5)."""
    reduce(m)
    for k in range(1, len(m.arm)):
        body = m.arm[k]
        if body.axis == 1.0:
            about_x.accelerate(body, m.arm[k - 1])
        elif body.axis == 2.0:
            about_y.accelerate(body, m.arm[k - 1])
        else:
            about_z.accelerate(body, m.arm[k - 1])


@kernel
def jolt(m, velocity, angular_velocity):
    """Add to the joint rates the response to a jump of R's twist (m/s, rad/s, axes R); call `place` before.

    The response is L of dynamics 11. It contains no forces; drives resist with the armatures of the last micro-step.
    """
    for k in range(1, len(m.arm)):
        body = m.arm[k]
        body.drive_torque = 0.0
        for i in range(3):
            body.force[i] = 0.0
            body.torque[i] = 0.0
            body.linear[i] = 0.0
            body.angular[i] = 0.0
    store(velocity, m.arm[0].acceleration)
    store(angular_velocity, m.arm[0].angular_acceleration)
    accelerate(m)
    for k in range(len(m.drive)):
        m.drive[k].input_rate += m.parameters.gear.ratio[k] * m.arm[k + 1].qdd


@kernel
def set_affine_mass(m):
    """Set `base.affine_mass`, M_A of dynamics 11: the articulated inertia that R feels, after `place`."""
    reduce(m)
    root = m.arm[0]
    store_affine_mass(m, load_matrix(root.tt), load_matrix(root.tr), load_matrix(root.rr))


@kernel
def store_affine_mass(m, tt, tr, rr):
    """Store an articulated inertia, rows of its blocks in axes R, as the upper triangle `base.affine_mass` by rows."""
    index = 0
    for i in range(6):
        for k in range(i, 6):
            if k < 3:
                value = tt[i][k]
            elif i < 3:
                value = tr[i][k - 3]
            else:
                value = rr[i - 3][k - 3]
            m.base.affine_mass[index] = value
            index += 1


@kernel
def root_wrench(m):
    """Return (force, torque about R) of the arm on its root, axes R, after `accelerate`."""
    root = m.arm[0]
    a = load(root.acceleration)
    e = load(root.angular_acceleration)
    force = load(root.force)
    torque = load(root.torque)
    M, S, J = root.tt, root.tr, root.rr
    inertial = (
        M[0, 0] * a[0] + M[0, 1] * a[1] + M[0, 2] * a[2] + S[0, 0] * e[0] + S[0, 1] * e[1] + S[0, 2] * e[2],
        M[0, 1] * a[0] + M[1, 1] * a[1] + M[1, 2] * a[2] + S[1, 0] * e[0] + S[1, 1] * e[1] + S[1, 2] * e[2],
        M[0, 2] * a[0] + M[1, 2] * a[1] + M[2, 2] * a[2] + S[2, 0] * e[0] + S[2, 1] * e[1] + S[2, 2] * e[2],
    )
    turning = (
        S[0, 0] * a[0] + S[1, 0] * a[1] + S[2, 0] * a[2] + J[0, 0] * e[0] + J[0, 1] * e[1] + J[0, 2] * e[2],
        S[0, 1] * a[0] + S[1, 1] * a[1] + S[2, 1] * a[2] + J[0, 1] * e[0] + J[1, 1] * e[1] + J[1, 2] * e[2],
        S[0, 2] * a[0] + S[1, 2] * a[1] + S[2, 2] * a[2] + J[0, 2] * e[0] + J[1, 2] * e[1] + J[2, 2] * e[2],
    )
    return subtract(force, inertial), subtract(torque, turning)


@kernel
def gripper(m):
    """Return (R -> E, position of E from R in R, velocity and angular velocity of E in E axes)."""
    last = m.arm[len(m.arm) - 1]
    turn = load_matrix(last.rotation)
    reach = load(last.reach)
    spin = load(last.angular_velocity)
    tip = add(load(last.position), apply_transposed(turn, reach))
    return turn, tip, add(load(last.velocity), cross(spin, reach)), spin


@kernel
def momenta(m, frame_velocity):
    """Return (kinetic energy, momentum, angular momentum about R) of the links, axes R.

    They are seen from axes that move with `frame_velocity` (m/s, axes R) without rotating; absolute for zero.
    """
    energy = 0.0
    momentum = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    for k in range(1, len(m.arm)):
        body = m.arm[k]
        turn = load_matrix(body.rotation)
        v = subtract(load(body.velocity), apply(turn, frame_velocity))
        w = load(body.angular_velocity)
        moment = load(body.moment)
        p = add(scale(body.mass, v), cross(w, moment))
        spin = add(apply(load_matrix(body.inertia), w), cross(moment, v))
        energy += 0.5 * (dot(v, p) + dot(w, spin))
        p = apply_transposed(turn, p)
        momentum = add(momentum, p)
        angular = add(angular, add(apply_transposed(turn, spin), cross(load(body.position), p)))
    return energy, momentum, angular


@kernel
def static_moment(m):
    """Return (mass, static moment about R) of the links, axes R."""
    mass = 0.0
    total = (0.0, 0.0, 0.0)
    for k in range(1, len(m.arm)):
        body = m.arm[k]
        mass += body.mass
        moment = apply_transposed(load_matrix(body.rotation), load(body.moment))
        total = add(total, add(moment, scale(body.mass, load(body.position))))
    return mass, total
