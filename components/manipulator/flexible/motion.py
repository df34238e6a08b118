"""The motion of an arm with flexible links: placing, one micro-step, and what the arm is for those outside.

The recursion is that of declared systems (multibody `links`, `elastic_recursion`), in axes of I and relative to R. The
payload is the last body of it, fixed on the gripper: there is no spring between them. Joints have the drives of the
arm with a condensed spring. Elastic coordinates w with the stiffness k are kicked with the forces of the middle of the
kick, w leading its rate by half a micro-step h as all positions do:

    w'' = -k w - sum of c_j w_j',  with h^2 k / 4 + h d / 2 added to the inertia that resists it.

The diagonal matrix d is not below that of the damping (`damping`): with the rates w' of the start the method is stable
for any h, stiffness and damping. It does not damp by itself, and slows modes by a share of h d / 2 over their inertia.
"""

from __future__ import annotations

from dockfmu.components.core.inlining import pasted
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import drive, links, payload
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    compose,
    load_matrix,
    quaternion,
    rotation_vector,
    store_matrix,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, add, axpy, cross, load, store, subtract
from dockfmu.components.physics.tree import links as tree
from dockfmu.components.physics.tree import momentum
from dockfmu.components.physics.tree.articulated import passed_wrench
from dockfmu.components.physics.tree.elastic_bodies import Flex


@pasted
def flex_of(m):
    """Return the elastic bodies of a record."""
    return Flex(m.flex.body[:], m.flex.mode[:], m.flex.pair[:], m.flex.shape[:], m.flex.factor[:])


@kernel
def place_links(m):
    """Place all links for the present angles and rates, with their velocities relative to R; the root is placed."""
    link = m.link
    base = link[0]
    to_root = load_matrix(m.root.rotation)
    store_matrix(to_root, base.rotation)
    store(ZERO, base.position)
    store(ZERO, base.velocity)
    store(apply_transposed(to_root, load(m.root.angular_velocity)), base.angular_velocity)
    store(apply_transposed(to_root, load(m.root.acceleration)), base.acceleration)
    store(apply_transposed(to_root, load(m.root.angular_acceleration)), base.angular_acceleration)
    for k in range(len(m.drive)):
        b = link[int(m.chain.joint[k])]
        ratio = m.parameters.gear.ratio[k]
        b.q = m.drive[k].input_angle / ratio
        b.rate = m.drive[k].input_rate / ratio
        b.held = m.parameters.joint.locked[k]
    tree.place(link[:], flex_of(m))
    tree.move(link[:])


@kernel
def place(m):
    """Place links and payload, and set the deflection of the gripper from where rigid links would hold it, axes E."""
    links.place(m)
    place_links(m)
    b = m.free_body
    held = m.link[int(m.chain.payload)]
    grip = m.link[int(m.chain.gripper)]
    to_root = load_matrix(m.root.rotation)
    turn = load_matrix(held.rotation)
    store(add(load(m.root.position), load(held.position)), b.position)
    store(add(apply_transposed(to_root, load(m.root.velocity)), load(held.velocity)), b.velocity)
    store_matrix(turn, b.rotation)
    store_quaternion(quaternion(turn), b.quaternion)
    store(apply(turn, load(held.angular_velocity)), b.angular_velocity)
    rigid, tip, _, _ = links.gripper(m)
    to_rigid = compose(rigid, to_root)
    offset = subtract(apply(to_rigid, load(grip.position)), apply(rigid, tip))
    phi = rotation_vector(quaternion(compose(load_matrix(grip.rotation), transpose(to_rigid))))
    for i in range(3):
        b.deflection[i] = offset[i]
        b.deflection[3 + i] = phi[i]


@kernel
def _load_payload(m):
    """Add the contact and the thrust to the payload's link."""
    held = m.link[int(m.chain.payload)]
    turn = load_matrix(held.rotation)
    force, torque = payload.outer_wrench(m)
    accumulate(apply_transposed(turn, force), held.force)
    accumulate(apply_transposed(turn, torque), held.torque)


@kernel
def _resistance(c, i, h):
    """Return what a micro-step h adds to the inertia of elastic coordinate i."""
    return 0.25 * h * h * c.stiffness[i] + 0.5 * h * c.bound[i]


@kernel
def bend(m, h):
    """Set the forces on the elastic coordinates for a micro-step h, and what resists their accelerations."""
    c = m.chain
    count = int(c.coordinates)
    for i in range(count):
        c.rate[i] = m.link[int(c.coordinate[i])].rate
    for i in range(count):
        x = m.link[int(c.coordinate[i])]
        damped = 0.0
        for j in range(count):
            damped += c.damping[i, j] * c.rate[j]
        x.drive = -c.stiffness[i] * x.q - damped
        x.armature = _resistance(c, i, h)
        c.damped[i] = damped


@kernel
def _advance(m, h):
    """Advance the elastic coordinates by h with their accelerations, and count what their damping dissipates."""
    c = m.chain
    for i in range(int(c.coordinates)):
        x = m.link[int(c.coordinate[i])]
        damped = c.damped[i] + 0.5 * h * c.bound[i] * x.qdd
        m.accounting.spring += h * damped * (x.rate + 0.5 * h * x.qdd)
        x.rate += h * x.qdd
        x.q += h * x.rate


@kernel
def _drive_joints(m):
    """Hand torques and armatures of the drives to the joints."""
    for k in range(len(m.drive)):
        b = m.link[int(m.chain.joint[k])]
        b.drive = m.arm[k + 1].drive_torque
        b.armature = m.drive[k].armature


@kernel
def _show_loads(m):
    """Set the wrench on the gripper, axes E, and that on the root, after the accelerations."""
    to_root = load_matrix(m.root.rotation)
    force, torque = passed_wrench(m.link[0])
    store(apply(to_root, force), m.base.force_now)
    store(apply(to_root, torque), m.base.torque_now)
    held = m.link[int(m.chain.payload)]
    force, torque = passed_wrench(held)
    torque = add(torque, cross(load(held.reach), force))
    to_E = load_matrix(m.link[int(m.chain.gripper)].rotation)
    force = apply(to_E, force)
    torque = apply(to_E, torque)
    for i in range(3):
        m.free_body.wrench[i] = force[i]
        m.free_body.wrench[3 + i] = torque[i]


@kernel
def micro_step(m, h):
    """Advance links, drives and payload over h from the state set by `place`."""
    drive.predict(m, h)
    _load_payload(m)
    _drive_joints(m)
    bend(m, h)
    tree.accelerate(m.link[:], True, flex_of(m))
    for k in range(len(m.drive)):
        m.arm[k + 1].qdd = m.link[int(m.chain.joint[k])].qdd
    _show_loads(m)
    held = m.link[int(m.chain.payload)]
    turn = load_matrix(held.rotation)
    velocity = axpy(h, load(held.acceleration), load(m.free_body.velocity))
    spin = axpy(h, apply(turn, load(held.angular_acceleration)), load(m.free_body.angular_velocity))
    payload.account(m, h, velocity, spin)
    m.free_body.last_step = h
    drive.advance(m, h)
    _advance(m, h)


@kernel
def strain_energy(m):
    """Return the energy stored in the links, J, at the instant of their rates: they lead by half a step."""
    c = m.chain
    energy = 0.0
    for i in range(int(c.coordinates)):
        x = m.link[int(c.coordinate[i])]
        strain = x.q - 0.5 * m.free_body.last_step * x.rate
        energy += 0.5 * c.stiffness[i] * strain * strain
    return energy


@kernel
def momenta(m, frame_velocity):
    """Return (kinetic energy, momentum, angular momentum about R) of the links without the payload, axes R.

    They are seen from axes that move with `frame_velocity` (m/s, axes R) without rotating; absolute for zero.
    """
    to_root = load_matrix(m.root.rotation)
    velocity = apply_transposed(to_root, subtract(load(m.root.velocity), frame_velocity))
    energy, linear, angular, _ = momentum.momenta(m.link[: int(m.chain.payload)], velocity, ZERO)
    return energy, apply(to_root, linear), apply(to_root, angular)


@kernel
def static_moment(m):
    """Return (mass, static moment about R) of the links without the payload, axes R."""
    mass, moment = momentum.static_moment(m.link[: int(m.chain.payload)], ZERO)
    return mass, apply(load_matrix(m.root.rotation), moment)


@kernel
def set_impulse(m, velocity, angular_velocity):
    """Set the equations of an impulse without forces, for a jump of the twist of R, axes I; the links are placed."""
    link = m.link
    for k in range(int(m.chain.links)):
        b = link[k]
        store(ZERO, b.force)
        store(ZERO, b.torque)
        store(ZERO, b.linear)
        store(ZERO, b.angular)
        b.drive = 0.0
        b.armature = 0.0
    store(velocity, link[0].acceleration)
    store(angular_velocity, link[0].angular_acceleration)


@kernel
def _stiffen(m, h):
    """Let the joints resist with the armatures of the last micro-step, and elastic coordinates as in one of h."""
    c = m.chain
    for k in range(len(m.drive)):
        m.link[int(c.joint[k])].armature = m.drive[k].armature
    for i in range(int(c.coordinates)):
        m.link[int(c.coordinate[i])].armature = _resistance(c, i, h)


@kernel
def jolt(m, velocity, angular_velocity):
    """Add to all rates the response to a jump of R's twist (m/s, rad/s, axes R); see `links.jolt`."""
    to_root = load_matrix(m.root.rotation)
    place_links(m)
    set_impulse(m, apply_transposed(to_root, velocity), apply_transposed(to_root, angular_velocity))
    _stiffen(m, m.free_body.last_step)
    tree.accelerate(m.link[:], False, flex_of(m))
    for k in range(len(m.drive)):
        m.drive[k].input_rate += m.parameters.gear.ratio[k] * m.link[int(m.chain.joint[k])].qdd
    for i in range(int(m.chain.coordinates)):
        x = m.link[int(m.chain.coordinate[i])]
        x.rate += x.qdd


@kernel
def set_affine_mass(m):
    """Set `base.affine_mass`, M_A of dynamics 11: the articulated inertia that R feels, axes R."""
    place_links(m)
    set_impulse(m, ZERO, ZERO)
    _stiffen(m, m.free_body.last_step)
    tree.accelerate(m.link[:], True, flex_of(m))
    to_root = load_matrix(m.root.rotation)
    base = m.link[0]
    T, J, S = base.tt, base.rr, base.tr
    linear = compose(compose(to_root, _symmetric(T)), transpose(to_root))
    turning = compose(compose(to_root, _symmetric(J)), transpose(to_root))
    mixed = ((S[0], S[1], S[2]), (S[3], S[4], S[5]), (S[6], S[7], S[8]))
    mixed = compose(compose(to_root, mixed), transpose(to_root))
    links.store_affine_mass(m, linear, mixed, turning)


@kernel
def _symmetric(t):
    """Return the rows of a symmetric matrix from its upper triangle by rows."""
    return ((t[0], t[1], t[2]), (t[1], t[3], t[4]), (t[2], t[4], t[5]))
