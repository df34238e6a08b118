"""Docking ports on the elastic craft: their deformed frames, the wrenches on them, their motion (section 4.4).

A wrench is held in the axes of its port over the step. It is transformed to C and I with the predicted frames of the
port and the body at mid-step. So its impulse differs from that of a wrench that turns with the port by only
(omega h)^2/24, and the mechanism has extrapolated the port by the same rule (ruling R4).

The port is rotated by the rotation vector theta of the modes, A = exp(-theta~). So its angular velocity is J theta',
not theta' as in the source, and a torque m excites the modes by J^T m. The difference is half theta x theta'; without
it the contact would create energy in proportion to |theta|^2.

Names end with the axes of their components: I, the body's C, the structure's S, the port's P. `A_PC` turns components
in C to those in P; `q_IC` is the attitude I -> C.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import SOURCE
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    compose,
    continued,
    from_angles,
    from_quaternion,
    from_rotation_vector,
    load_matrix,
    load_quaternion,
    normalized,
    product,
    quaternion,
    rate_matrix,
    store_matrix,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, load, scale, store, subtract


@kernel
def prepare(p, r, place, mount):
    """Set the undeformed A_PS in A_CS C from its `place` in S, with zero deformation."""
    A_CS = load_matrix(r.frame)
    offset_S = subtract(load(place.position), load(p.center_of_mass))
    A_PS = from_angles(place.angles[0], place.angles[1], place.angles[2])
    store(apply(A_CS, offset_S), mount.offset)
    store_quaternion(quaternion(compose(A_PS, transpose(A_CS))), mount.quaternion)
    store(ZERO, mount.displacement)
    store(ZERO, mount.rotation)
    store(ZERO, mount.displacement_rate)
    store(ZERO, mount.rotation_rate)
    store(ZERO, mount.displacement_acceleration)
    store(ZERO, mount.rotation_acceleration)
    for i in range(6):
        mount.deformation[i] = 0.0


@kernel
def _set_rate(now, rate, acceleration, h):
    if h > 0.0:
        store(scale(1.0 / h, subtract(now, load(rate))), acceleration)
    store(now, rate)


@kernel
def deform(r, mount, deformation, rate, h):
    """Set the elastic displacement and rotation of the port and their rates from tuples of six in axes S.

    Their accelerations are the means over the step of length h just done. At the start h is 0, and they stay zero.
    Returns the work of the wrench on the port over the deformation.
    """
    work = 0.0
    for i in range(6):
        work += mount.load[i] * (deformation[i] - mount.deformation[i])
        mount.deformation[i] = deformation[i]
    A_CS = load_matrix(r.frame)
    store(apply(A_CS, (deformation[0], deformation[1], deformation[2])), mount.displacement)
    _set_rate(apply(A_CS, (rate[0], rate[1], rate[2])), mount.displacement_rate, mount.displacement_acceleration, h)
    _set_rate(apply(A_CS, (rate[3], rate[4], rate[5])), mount.rotation_rate, mount.rotation_acceleration, h)
    turn_C = apply(A_CS, (deformation[3], deformation[4], deformation[5]))
    A_PC = from_quaternion(load_quaternion(mount.quaternion))
    store(apply(A_PC, turn_C), mount.rotation)
    return work


@kernel
def _frame(mount, ahead):
    """Return (C -> port, centre of mass -> port in C, J in C) with the deformation extrapolated by the time `ahead`.

    The extrapolation uses the accelerations of the last step, as the mechanism does for the port.
    """
    q_CP = load_quaternion(mount.quaternion)
    A_PC = from_quaternion(q_CP)
    rate_P = apply(A_PC, load(mount.rotation_rate))
    bend_P = apply(A_PC, load(mount.rotation_acceleration))
    turn_P = axpy(0.5 * ahead * ahead, bend_P, axpy(ahead, rate_P, load(mount.rotation)))
    deformed_CP = product(q_CP, from_rotation_vector(turn_P))
    arm_C = add(load(mount.offset), load(mount.displacement))
    arm_C = axpy(ahead, load(mount.displacement_rate), arm_C)
    arm_C = axpy(0.5 * ahead * ahead, load(mount.displacement_acceleration), arm_C)
    return deformed_CP, arm_C, rate_matrix(apply_transposed(A_PC, turn_P))


@kernel
def receive(port, mount, h):
    """Store the wrench on the port for a step of h, and the frame in which it acts."""
    q_CP, arm_C, rates_C = _frame(mount, 0.5 * h)
    store_matrix(from_quaternion(q_CP), mount.mid_frame)
    store_matrix(rates_C, mount.mid_rates)
    store(arm_C, mount.mid_arm)
    for i in range(3):
        mount.wrench[i] = port.force[i]
        mount.wrench[3 + i] = port.torque[i]


@kernel
def resolve(r, mount):
    """Set the received wrench in axes C, and the load on the modes in axes S."""
    A_PC = load_matrix(mount.mid_frame)
    force_C = apply_transposed(A_PC, (mount.wrench[0], mount.wrench[1], mount.wrench[2]))
    torque_C = apply_transposed(A_PC, (mount.wrench[3], mount.wrench[4], mount.wrench[5]))
    store(force_C, mount.force)
    store(torque_C, mount.torque)
    A_CS = load_matrix(r.frame)
    store(apply_transposed(A_CS, force_C), mount.load)
    torque_S = apply_transposed(A_CS, apply_transposed(load_matrix(mount.mid_rates), torque_C))
    for i in range(3):
        mount.load[3 + i] = torque_S[i]


@kernel
def torque_about_center(mount):
    """Return the torque of the received wrench about the centre of mass, axes C."""
    return add(load(mount.torque), cross(load(mount.mid_arm), load(mount.force)))


@kernel
def _source_acceleration(w_C, arm_C, v_elastic_C, w_elastic_C):
    """Return the source's base motion: velocity terms of acceleration and angular acceleration, axes C."""
    acceleration_C = axpy(2.0, cross(w_C, v_elastic_C), cross(w_C, cross(w_C, arm_C)))
    return acceleration_C, cross(w_C, w_elastic_C)


@kernel
def publish(r, place, mount, port, h):
    """Set the pose, twist and base motion of the port; h is the step just done, 0 at the start.

    For LAGGED and AFFINE the base motion is the change of the port's inertial twist over the step, divided by h. Its
    sum over steps is the twist itself, so a mechanism that holds it over its next step lags, but loses no momentum.
    """
    x_I = load(r.position)
    q_IC = load_quaternion(r.quaternion)
    A_CI = from_quaternion(q_IC)
    w_C = load(r.angular_velocity)
    q_CP, arm_C, rates_C = _frame(mount, 0.0)
    A_PC = from_quaternion(q_CP)
    v_elastic_C = load(mount.displacement_rate)
    w_elastic_C = apply(rates_C, load(mount.rotation_rate))
    v_C = add(apply(A_CI, load(r.velocity)), add(cross(w_C, arm_C), v_elastic_C))
    spin_C = add(w_C, w_elastic_C)
    store(add(x_I, apply_transposed(A_CI, arm_C)), port.position)
    q_IP = normalized(product(q_IC, q_CP))
    if h > 0.0:
        q_IP = continued(q_IP, load_quaternion(port.quaternion))
    else:
        q_IP = continued(q_IP, (1.0, 0.0, 0.0, 0.0))
    store_quaternion(q_IP, port.quaternion)
    store(apply(A_PC, v_C), port.velocity)
    store(apply(A_PC, spin_C), port.angular_velocity)
    v_I = apply_transposed(A_CI, v_C)
    w_I = apply_transposed(A_CI, spin_C)
    acceleration_C, turning_C = _source_acceleration(w_C, arm_C, v_elastic_C, w_elastic_C)
    if place.base_motion != SOURCE:
        if h > 0.0:
            change_I = subtract(v_I, load(mount.velocity))
            acceleration_C = apply(A_CI, scale(1.0 / h, change_I))
            change_I = subtract(w_I, load(mount.angular_velocity))
            turning_C = apply(A_CI, scale(1.0 / h, change_I))
        else:
            free_C = load(r.angular_acceleration)
            acceleration_C = add(acceleration_C, cross(free_C, arm_C))
            turning_C = add(turning_C, free_C)
    store(apply(A_PC, acceleration_C), port.acceleration)
    store(apply(A_PC, turning_C), port.angular_acceleration)
    store(v_I, mount.velocity)
    store(w_I, mount.angular_velocity)
