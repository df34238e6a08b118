"""Outputs of the manipulator: ports, relative motion, joints, flags, energy and momentum."""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.ports import AFFINE, SOURCE
from dockfmu.components.manipulator import drive, links, payload
from dockfmu.components.manipulator.arm_data import VARIANT
from dockfmu.components.manipulator.flexible import motion
from dockfmu.components.physics.mechanics.rotation import (
    angles,
    apply,
    apply_transposed,
    compose,
    continued,
    from_angles,
    from_quaternion,
    load_attitude,
    load_matrix,
    load_quaternion,
    quaternion,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
)

KINEMATIC = VARIANT.codes["KINEMATIC"]

strain_energy = variant("chain", motion.strain_energy, payload.spring_energy)
_momenta = variant("chain", motion.momenta, links.momenta)
_static_moment = variant("chain", motion.static_moment, links.static_moment)
_jolt = variant("chain", motion.jolt, links.jolt)
_set_affine_mass = variant("chain", motion.set_affine_mass, links.set_affine_mass)
_place_links = variant("chain", motion.place, links.place)


@kernel
def _publish_port(place, turn, velocity, spin, port):
    """Set pose and twist of a port from its position, its rotation from I, and its absolute twist in axes I."""
    store(place, port.position)
    q = continued(quaternion(turn), load_quaternion(port.quaternion))
    store_quaternion(q, port.quaternion)
    store(apply(turn, velocity), port.velocity)
    store(apply(turn, spin), port.angular_velocity)


@kernel
def _publish_interface(m, h, at, own):
    """Set the motion of PI for a payload at `at` with the rotation `own`, I -> PL.

    Its accelerations are means over the step of h, or the velocity terms alone (SOURCE).
    """
    b = m.free_body
    place, turn, velocity, spin = payload.interface(m, at, own)
    _publish_port(place, turn, velocity, spin, m.interface)
    acceleration = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    if m.parameters.interface.base_motion == SOURCE:
        w = load(b.angular_velocity)
        facing = load_matrix(b.to_interface)
        acceleration = apply(facing, cross(w, cross(w, load(m.parameters.interface.position))))
    elif h > 0.0:
        acceleration = scale(1.0 / h, subtract(velocity, load(b.interface_velocity)))
        angular = scale(1.0 / h, subtract(spin, load(b.interface_spin)))
        acceleration = apply(turn, acceleration)
        angular = apply(turn, angular)
    store(acceleration, m.interface.acceleration)
    store(angular, m.interface.angular_acceleration)
    store(velocity, b.interface_velocity)
    store(spin, b.interface_spin)
    return place, turn, velocity, spin


@kernel
def _publish_target(m, at, turn):
    """Set the motion of BI, at `at` in I with the rotation `turn` from I, which the root carries."""
    out = m.target
    to_root = load_matrix(m.root.rotation)
    arm = apply(to_root, subtract(at, load(m.root.position)))
    w = load(m.root.angular_velocity)
    e = load(m.root.angular_acceleration)
    spin = cross(w, arm)
    velocity = apply_transposed(to_root, add(load(m.root.velocity), spin))
    _publish_port(at, turn, velocity, apply_transposed(to_root, w), out)
    moving = add(load(m.root.acceleration), add(cross(e, arm), cross(w, spin)))
    store(apply(turn, apply_transposed(to_root, moving)), out.acceleration)
    store(apply(turn, apply_transposed(to_root, e)), out.angular_acceleration)


@kernel
def _publish_relative(m, place, turn, velocity, spin):
    """Set the motion of PI seen from BI (manipulator 4), which moves with the root."""
    p = m.parameters
    to_root = load_matrix(m.root.rotation)
    root = from_angles(p.base.angles[0], p.base.angles[1], p.base.angles[2])
    target = from_angles(p.target.angles[0], p.target.angles[1], p.target.angles[2])
    to_target = compose(target, compose(transpose(root), to_root))
    from_root = apply(root, subtract(load(p.target.position), load(p.base.position)))
    at = add(load(m.root.position), apply_transposed(to_root, from_root))
    apart = subtract(place, at)
    carrying = apply_transposed(to_root, load(m.root.velocity))
    turning = apply_transposed(to_root, load(m.root.angular_velocity))
    arm = subtract(place, load(m.root.position))
    moving = subtract(velocity, add(carrying, cross(turning, arm)))
    _publish_target(m, at, to_target)
    out = m.relative
    store(apply(to_target, apart), out.position)
    A = compose(turn, transpose(to_target))
    q = continued(quaternion(A), load_quaternion(out.quaternion))
    store_quaternion(q, out.quaternion)
    store(angles(A), out.angles)
    store(apply(to_target, moving), out.velocity)
    store(apply(to_target, subtract(spin, turning)), out.angular_velocity)


@kernel
def _publish_joints(m):
    """Set the outputs of the joints, and the flags that come from their angles."""
    p = m.parameters
    m.flag.stiffness_outdated = 0.0
    for k in range(len(m.drive)):
        d = m.drive[k]
        out = m.joint[k]
        ratio = p.gear.ratio[k]
        out.angle = d.input_angle / ratio
        out.rate = d.input_rate / ratio
        out.motor_rate = d.motor_rate
        out.motor_torque = d.motor_torque
        out.gear_torque = d.gear_torque
        out.windup = d.motor_angle - d.input_angle
        out.commanded_rate = d.command
        out.saturated = d.saturated
        m.flag.limit[k] = 1.0 if fabs(out.angle) > p.joint.angle_limit[k] else 0.0
        if fabs(out.angle - m.flexure.angle[k]) > p.compliance.angle_change:
            m.flag.stiffness_outdated = 1.0
    stopped = 0.0
    for k in range(len(m.drive)):
        stopped = max(stopped, m.flag.limit[k])
    m.notice.joint_limit += stopped
    if p.compliance.automatic == 0.0:
        m.validity.stiffness_outdated += m.flag.stiffness_outdated


@kernel
def _totals(m):
    """Return (momentum, angular momentum about the origin of I) of links and payload, and set the kinetic energy."""
    energy, momentum, angular = _momenta(m, ZERO)
    to_root = load_matrix(m.root.rotation)
    momentum = apply_transposed(to_root, momentum)
    angular = add(apply_transposed(to_root, angular), cross(load(m.root.position), momentum))
    own_energy, own, own_angular = payload.momenta(m)
    m.audit.kinetic_energy = energy + own_energy
    return add(momentum, own), add(angular, own_angular)


@kernel
def _relative(m):
    """Return (momentum, angular momentum about R, mass, static moment about R) of links and payload, axes I.

    The momenta are seen from axes that move with R without rotating.
    """
    _, momentum, angular = _momenta(m, load(m.root.velocity))
    mass, moment = _static_moment(m)
    to_root = load_matrix(m.root.rotation)
    own, own_angular, own_moment = payload.relative_momenta(m)
    return (
        add(apply_transposed(to_root, momentum), own),
        add(apply_transposed(to_root, angular), own_angular),
        mass + m.parameters.payload.mass,
        add(apply_transposed(to_root, moment), own_moment),
    )


@kernel
def _publish_audit(m):
    """Set the energies, and the losses and work so far."""
    kinetic, stored = drive.energies(m)
    a = m.accounting
    out = m.audit
    out.kinetic_energy += kinetic
    out.stored_energy = stored + strain_energy(m)
    if m.parameters.variant == KINEMATIC:
        # there are no motors: their work is what closes the energy balance
        a.motors = out.kinetic_energy + out.stored_energy + a.spring
        a.motors -= a.interface + a.thrust + a.base + a.restiffened + a.initial
    out.dissipated_friction = a.friction
    out.dissipated_gears = a.gears
    out.dissipated_stops = a.stops
    out.dissipated_compliance = a.spring
    out.dissipated_energy = a.friction + a.gears + a.stops + a.spring
    out.work_interface = a.interface
    out.work_thrust = a.thrust
    out.work_base = a.base
    out.work_motors = a.motors
    out.work_stiffness_update = a.restiffened


@kernel
def is_affine(m):
    """Return whether the station corrects the wrench on it for its actual acceleration."""
    return m.parameters.base_fixed == 0.0 and m.parameters.base_motion == AFFINE


@kernel
def answer_base(m, velocity, angular_velocity):
    """Let the joints respond to a jump of the twist of R, axes R, and count momentum and work from there (AFFINE).

    Root and links must be placed at the start of the step.
    """
    a = m.accounting
    kinetic = m.audit.kinetic_energy
    _jolt(m, velocity, angular_velocity)
    _place_links(m)
    momentum, angular, _, moment = _relative(m)
    store(momentum, a.momentum)
    store(angular, a.angular_momentum)
    store(moment, a.moment)
    store(_totals(m)[1], a.start_angular_momentum)
    a.base += m.audit.kinetic_energy + drive.energies(m)[0] - kinetic


@kernel
def _motion_of_base(m, h):
    """Return (acceleration of R, jump of its velocity at the start of the step of h, velocity at its end), axes I.

    The jump is the true velocity less that which the last step extrapolated; with AFFINE the joints have answered it.
    """
    if m.parameters.base_fixed != 0.0:
        return ZERO, ZERO, ZERO
    A = from_quaternion(load_attitude(m.base.quaternion))
    start = apply_transposed(A, load(m.base.velocity))
    acceleration = apply_transposed(A, load(m.base.acceleration))
    jump = ZERO
    if not is_affine(m):
        jump = subtract(start, load(m.accounting.end_velocity))
    return acceleration, jump, axpy(h, acceleration, start)


@kernel
def set_base_wrench(m, h):
    """Set the mean wrench on the station over the step of h from the momentum of arm and payload.

    The station gets the impulse of contact and thrust minus the change of momentum. So the impulse by which its true
    motion differs from the extrapolated one is corrected one step later (ruling R4), except with AFFINE, where the
    station has it already. The torque is about the origin of R wherever it is (ruling R48), by the equations of
    `devices.exchange`. m.middle is the root at mid-step. At the start, with h = 0, the wrench is that at this instant,
    zero.
    """
    momentum, angular = _totals(m)
    own, own_angular, mass, moment = _relative(m)
    a = m.accounting
    out = m.audit
    store(momentum, out.momentum)
    if h > 0.0:
        acceleration, jump, end_velocity = _motion_of_base(m, h)
        change = axpy(mass, axpy(h, acceleration, jump), subtract(own, load(a.momentum)))
        impulse = subtract(load(a.outer_impulse), change)
        change = add(subtract(own_angular, load(a.angular_momentum)), cross(load(a.moment), jump))
        change = add(change, cross(scale(0.5 * h, add(load(a.moment), moment)), acceleration))
        turn = subtract(load(a.outer_angular_impulse), change)
        A = load_matrix(m.middle.rotation)
        force = apply(A, scale(1.0 / h, impulse))
        torque = apply(A, scale(1.0 / h, turn))
        store(force, m.base.force)
        store(torque, m.base.torque)
        if m.parameters.variant == KINEMATIC:
            store(force, m.base.force_now)
            store(torque, m.base.torque_now)
        a.base -= h * (dot(force, load(m.middle.velocity)) + dot(torque, load(m.middle.angular_velocity)))
        store(end_velocity, a.end_velocity)
        # the station applies the mean wrench in the middle of the step
        received = subtract(load(a.received), add(turn, cross(load(m.middle.position), impulse)))
        accumulate(subtract(subtract(angular, load(a.start_angular_momentum)), received), a.apart)
    else:
        store(load(m.base.force_now), m.base.force)
        store(load(m.base.torque_now), m.base.torque)
        store(apply_transposed(load_matrix(m.root.rotation), load(m.root.velocity)), a.end_velocity)
        store(ZERO, a.apart)
    store(subtract(angular, load(a.apart)), out.angular_momentum)
    store(angular, a.start_angular_momentum)
    store(own, a.momentum)
    store(own_angular, a.angular_momentum)
    store(moment, a.moment)


@kernel
def publish(m, h):
    """Set all outputs at the end of a step of h, 0 at the start; links and spring must be placed there."""
    b = m.free_body
    at, q = payload.present(m)
    own = from_quaternion(q)
    place, turn, velocity, spin = _publish_interface(m, h, at, own)
    _publish_relative(m, place, turn, velocity, spin)
    rotating = apply_transposed(own, load(b.angular_velocity))
    _publish_port(at, own, load(b.velocity), rotating, m.payload)
    _publish_joints(m)
    for i in range(3):
        m.tip.force[i] = b.wrench[i]
        m.tip.torque[i] = b.wrench[3 + i]
        m.tip.deflection[i] = b.deflection[i]
        m.tip.rotation[i] = b.deflection[3 + i]
    set_base_wrench(m, h)
    if h == 0.0:
        m.accounting.initial = m.audit.kinetic_energy
    _publish_audit(m)
    if is_affine(m):
        _set_affine_mass(m)
