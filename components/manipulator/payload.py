"""The payload: a free rigid body on the spring K_M, C_M between gripper and fixture (manipulator 3.9, E17 to E22)."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import links
from dockfmu.components.physics.mechanics import rotation
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    compose,
    from_angles,
    from_quaternion,
    load_matrix,
    load_quaternion,
    quaternion,
    rotation_vector,
    store_matrix,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    scale,
    store,
    subtract,
)


@kernel
def prepare(m):
    """Set the payload at rest on the gripper in its initial attitude, grappled without deflection."""
    p = m.parameters
    b = m.free_body
    angles = p.initial.payload_angles
    root_turn = from_angles(p.base.angles[0], p.base.angles[1], p.base.angles[2])
    # B -> PL, I -> R, and so I -> PL
    own = from_angles(angles[0], angles[1], angles[2])
    to_root = load_matrix(m.root.rotation)
    turn = compose(own, compose(transpose(root_turn), to_root))
    to_gripper, place, velocity, spin = links.gripper(m)
    to_gripper_from_inertial = compose(to_gripper, to_root)
    fixture = compose(to_gripper_from_inertial, transpose(turn))
    store_matrix(fixture, b.fixture)
    facing = p.interface.angles
    store_matrix(from_angles(facing[0], facing[1], facing[2]), b.to_interface)
    arm = scale(-1.0, load(p.grapple.position))
    grip = add(load(m.root.position), apply_transposed(to_root, place))
    store(add(grip, apply_transposed(turn, arm)), b.position)
    w = apply_transposed(fixture, spin)
    store(w, b.angular_velocity)
    v = apply_transposed(to_gripper_from_inertial, velocity)
    store(add(v, apply_transposed(turn, cross(w, arm))), b.velocity)
    b.last_step = 0.0
    store_quaternion(quaternion(turn), b.quaternion)
    store_matrix(from_quaternion(load_quaternion(b.quaternion)), b.rotation)


@kernel
def deflect(m):
    """Set the deflection of the fixture from the gripper and its rate, axes E, and the wrench of the spring."""
    b = m.free_body
    to_root = load_matrix(m.root.rotation)
    turn = load_matrix(b.rotation)
    to_gripper, place, velocity, spin = links.gripper(m)
    to_E = compose(to_gripper, to_root)
    from_payload = compose(to_E, transpose(turn))
    offset = load(m.parameters.grapple.position)
    w = load(b.angular_velocity)
    at_root = subtract(load(b.position), load(m.root.position))
    r = apply(to_E, add(at_root, apply_transposed(turn, offset)))
    r = subtract(r, apply(to_gripper, place))
    v = add(apply(to_E, load(b.velocity)), apply(from_payload, cross(w, offset)))
    v = subtract(subtract(v, velocity), cross(spin, r))
    relative = subtract(apply(from_payload, w), spin)
    fixture = compose(load_matrix(b.fixture), transpose(from_payload))
    phi = rotation_vector(quaternion(fixture))
    for i in range(3):
        b.deflection[i] = r[i]
        b.deflection[3 + i] = phi[i]
        b.deflection_rate[i] = v[i]
        b.deflection_rate[3 + i] = relative[i]
    power = 0.0
    for i in range(6):
        elastic = 0.0
        damped = 0.0
        for j in range(6):
            elastic += m.compliance.stiffness[i, j] * b.deflection[j]
            damped += m.compliance.damping[i, j] * b.deflection_rate[j]
        b.wrench[i] = elastic + damped
        power += damped * b.deflection_rate[i]
    b.spring_power = power
    store_matrix(from_payload, b.to_gripper)


@kernel
def load_arm(m):
    """Add the wrench of the spring to the last link, about its joint.

    The force acts at the fixture on both bodies. Applied to the link at E, it would exert a net torque on the pair and
    create energy.
    """
    last = m.arm[len(m.arm) - 1]
    w = m.free_body.wrench
    r = m.free_body.deflection
    force = (w[0], w[1], w[2])
    for i in range(3):
        last.force[i] += force[i]
    torque = add((w[3], w[4], w[5]), cross(add(load(last.reach), (r[0], r[1], r[2])), force))
    for i in range(3):
        last.torque[i] += torque[i]


@kernel
def outer_wrench(m):
    """Return (force, torque about its centre of mass) of the contact and the thrust on the payload, axes PL."""
    facing = load_matrix(m.free_body.to_interface)
    contact = apply_transposed(facing, load(m.interface.force))
    torque = apply_transposed(facing, load(m.interface.torque))
    torque = add(torque, cross(load(m.parameters.interface.position), contact))
    return add(contact, load(m.payload.force)), add(torque, load(m.payload.torque))


@kernel
def account(m, h, velocity, spin):
    """Count work and impulses of contact and thrust over h, after which the payload has a new twist, axes I and PL."""
    b = m.free_body
    turn = load_matrix(b.rotation)
    thrust = load(m.payload.force)
    thrust_torque = load(m.payload.torque)
    force, torque = outer_wrench(m)
    moved = scale(0.5 * h, apply(turn, add(load(b.velocity), velocity)))
    turned = scale(0.5 * h, add(load(b.angular_velocity), spin))
    a = m.accounting
    a.interface += dot(subtract(force, thrust), moved) + dot(subtract(torque, thrust_torque), turned)
    a.thrust += dot(thrust, moved) + dot(thrust_torque, turned)
    outer = apply_transposed(turn, force)
    outer_torque = apply_transposed(turn, torque)
    store(axpy(h, outer, load(a.outer_impulse)), a.outer_impulse)
    about_root = add(outer_torque, cross(subtract(load(b.position), load(m.root.position)), outer))
    store(axpy(h, about_root, load(a.outer_angular_impulse)), a.outer_angular_impulse)
    about_origin = add(outer_torque, cross(load(b.position), outer))
    store(axpy(h, about_origin, load(a.received)), a.received)


@kernel
def advance(m, h):
    """Advance the payload over h under the spring, the wrench at its interface and the external thrust."""
    b = m.free_body
    p = m.parameters
    from_payload = load_matrix(b.to_gripper)
    turn = load_matrix(b.rotation)
    w = b.wrench
    pull = negate(apply_transposed(from_payload, (w[0], w[1], w[2])))
    twist = negate(apply_transposed(from_payload, (w[3], w[4], w[5])))
    outer, outer_torque = outer_wrench(m)
    force = add(pull, outer)
    torque = add(add(twist, cross(load(p.grapple.position), pull)), outer_torque)

    v = load(b.velocity)
    spin = load(b.angular_velocity)
    inertia = load_matrix(p.payload.inertia)
    torque = subtract(torque, cross(spin, apply(inertia, spin)))
    new_v = axpy(h / p.payload.mass, apply_transposed(turn, force), v)
    new_spin = axpy(h, apply(load_matrix(b.inverse), torque), spin)
    account(m, h, new_v, new_spin)
    m.accounting.spring += h * b.spring_power

    b.last_step = h
    store(new_v, b.velocity)
    store(new_spin, b.angular_velocity)
    store(axpy(h, new_v, load(b.position)), b.position)
    q = rotation.advance(load_quaternion(b.quaternion), scale(h, new_spin))
    store_quaternion(q, b.quaternion)
    store_matrix(from_quaternion(q), b.rotation)


@kernel
def spring_energy(m):
    """Return the energy stored in the spring, J, after `deflect`."""
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += m.free_body.deflection[i] * m.compliance.stiffness[i, j] * m.free_body.deflection[j]
    return 0.5 * total


@kernel
def present(m):
    """Return (position in I, quaternion I -> PL) of the payload at the instant of its velocities.

    `advance` updates velocities first and positions with the new velocities. It is a leapfrog scheme whose positions
    lead by half a micro-step: the spring acts in the middle of each. Here positions are moved back by this lead,
    relative to R, to the instant of the velocities. Without this, a contact of stiffness k would be damped by k h / 2.
    """
    b = m.free_body
    to_root = load_matrix(m.root.rotation)
    turn = load_matrix(b.rotation)
    spin = apply_transposed(to_root, load(m.root.angular_velocity))
    arm = subtract(load(b.position), load(m.root.position))
    carried = add(apply_transposed(to_root, load(m.root.velocity)), cross(spin, arm))
    back = -0.5 * b.last_step
    place = axpy(back, subtract(load(b.velocity), carried), load(b.position))
    turning = subtract(load(b.angular_velocity), apply(turn, spin))
    return place, rotation.advance(load_quaternion(b.quaternion), scale(back, turning))


@kernel
def interface(m, at, turn):
    """Return (position in I, I -> PI, velocity in I, angular velocity in I) of PI.

    The payload is at `at` with the rotation `turn`, I -> PL.
    """
    b = m.free_body
    offset = load(m.parameters.interface.position)
    w = load(b.angular_velocity)
    place = add(at, apply_transposed(turn, offset))
    velocity = add(load(b.velocity), apply_transposed(turn, cross(w, offset)))
    to_port = compose(load_matrix(b.to_interface), turn)
    return place, to_port, velocity, apply_transposed(turn, w)


@kernel
def relative_momenta(m):
    """Return (momentum, angular momentum about R, static moment about R) of the payload, axes I.

    The momenta are seen from axes that move with R without rotating.
    """
    b = m.free_body
    mass = m.parameters.payload.mass
    to_root = load_matrix(m.root.rotation)
    v = subtract(load(b.velocity), apply_transposed(to_root, load(m.root.velocity)))
    r = subtract(load(b.position), load(m.root.position))
    spin = apply(load_matrix(m.parameters.payload.inertia), load(b.angular_velocity))
    momentum = scale(mass, v)
    angular = add(apply_transposed(load_matrix(b.rotation), spin), cross(r, momentum))
    return momentum, angular, scale(mass, r)


@kernel
def momenta(m):
    """Return (kinetic energy, momentum, angular momentum about the origin of I) of the payload, axes I."""
    b = m.free_body
    mass = m.parameters.payload.mass
    v = load(b.velocity)
    w = load(b.angular_velocity)
    spin = apply(load_matrix(m.parameters.payload.inertia), w)
    momentum = scale(mass, v)
    angular = apply_transposed(load_matrix(b.rotation), spin)
    angular = add(angular, cross(load(b.position), momentum))
    return 0.5 * (mass * dot(v, v) + dot(w, spin)), momentum, angular


@kernel
def clear_impulses(m):
    """Set the external impulses of this step to zero."""
    store(ZERO, m.accounting.outer_impulse)
    store(ZERO, m.accounting.outer_angular_impulse)
    store(ZERO, m.accounting.received)
