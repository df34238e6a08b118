"""Docking ports on the elastic craft: their deformed frames, the wrenches on them, their motion (section 4.4).

A wrench is held in the axes of its port over the step. It is transformed to C and I with the predicted frames of the
port and the body at mid-step. So its impulse differs from that of a wrench that turns with the port by only
(omega h)^2/24, and the mechanism has extrapolated the port by the same rule (ruling R4).

The port is rotated by the rotation vector theta of the modes, A = exp(-theta~). So its angular velocity is J theta',
not theta' as in the source, and a torque m excites the modes by J^T m. The difference is half theta x theta'; without
it the contact would create energy in proportion to |theta|^2.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import SOURCE
from dockfmu.components.physics.mechanics import rotation, vector


@kernel
def prepare(p, r, place, mount):
    """Set the undeformed port in frame C from its `place` in S, with zero deformation."""
    frame = rotation.load_matrix(r.frame)
    offset = vector.subtract(vector.load(place.position), vector.load(p.center_of_mass))
    port = rotation.from_angles(place.angles[0], place.angles[1], place.angles[2])
    vector.store(rotation.apply(frame, offset), mount.offset)
    rotation.store_quaternion(rotation.quaternion(rotation.compose(port, rotation.transpose(frame))), mount.quaternion)
    vector.store(vector.ZERO, mount.displacement)
    vector.store(vector.ZERO, mount.rotation)
    vector.store(vector.ZERO, mount.displacement_rate)
    vector.store(vector.ZERO, mount.rotation_rate)
    vector.store(vector.ZERO, mount.displacement_acceleration)
    vector.store(vector.ZERO, mount.rotation_acceleration)
    for i in range(6):
        mount.deformation[i] = 0.0


@kernel
def _set_rate(now, rate, acceleration, h):
    if h > 0.0:
        vector.store(vector.scale(1.0 / h, vector.subtract(now, vector.load(rate))), acceleration)
    vector.store(now, rate)


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
    frame = rotation.load_matrix(r.frame)
    vector.store(rotation.apply(frame, (deformation[0], deformation[1], deformation[2])), mount.displacement)
    _set_rate(
        rotation.apply(frame, (rate[0], rate[1], rate[2])), mount.displacement_rate, mount.displacement_acceleration, h
    )
    _set_rate(rotation.apply(frame, (rate[3], rate[4], rate[5])), mount.rotation_rate, mount.rotation_acceleration, h)
    turn = rotation.apply(frame, (deformation[3], deformation[4], deformation[5]))
    undeformed = rotation.from_quaternion(rotation.load_quaternion(mount.quaternion))
    vector.store(rotation.apply(undeformed, turn), mount.rotation)
    return work


@kernel
def _frame(mount, ahead):
    """Return (C -> port, centre of mass -> port in C, J in C) with the deformation extrapolated by the time `ahead`.

    The extrapolation uses the accelerations of the last step, as the mechanism does for the port.
    """
    undeformed = rotation.load_quaternion(mount.quaternion)
    to_port = rotation.from_quaternion(undeformed)
    rate = rotation.apply(to_port, vector.load(mount.rotation_rate))
    bend = rotation.apply(to_port, vector.load(mount.rotation_acceleration))
    turn = vector.axpy(0.5 * ahead * ahead, bend, vector.axpy(ahead, rate, vector.load(mount.rotation)))
    deformed = rotation.product(undeformed, rotation.from_rotation_vector(turn))
    arm = vector.add(vector.load(mount.offset), vector.load(mount.displacement))
    arm = vector.axpy(ahead, vector.load(mount.displacement_rate), arm)
    arm = vector.axpy(0.5 * ahead * ahead, vector.load(mount.displacement_acceleration), arm)
    return deformed, arm, rotation.rate_matrix(rotation.apply_transposed(to_port, turn))


@kernel
def receive(port, mount, h):
    """Store the wrench on the port for a step of h, and the frame in which it acts."""
    deformed, arm, rates = _frame(mount, 0.5 * h)
    rotation.store_matrix(rotation.from_quaternion(deformed), mount.mid_frame)
    rotation.store_matrix(rates, mount.mid_rates)
    vector.store(arm, mount.mid_arm)
    for i in range(3):
        mount.wrench[i] = port.force[i]
        mount.wrench[3 + i] = port.torque[i]


@kernel
def resolve(r, mount):
    """Set the received wrench in axes C, and the load on the modes in axes S."""
    frame = rotation.load_matrix(mount.mid_frame)
    force = rotation.apply_transposed(frame, (mount.wrench[0], mount.wrench[1], mount.wrench[2]))
    torque = rotation.apply_transposed(frame, (mount.wrench[3], mount.wrench[4], mount.wrench[5]))
    vector.store(force, mount.force)
    vector.store(torque, mount.torque)
    structural = rotation.load_matrix(r.frame)
    vector.store(rotation.apply_transposed(structural, force), mount.load)
    torque = rotation.apply_transposed(rotation.load_matrix(mount.mid_rates), torque)
    torque = rotation.apply_transposed(structural, torque)
    for i in range(3):
        mount.load[3 + i] = torque[i]


@kernel
def torque_about_center(mount):
    """Return the torque of the received wrench about the centre of mass, axes C."""
    return vector.add(vector.load(mount.torque), vector.cross(vector.load(mount.mid_arm), vector.load(mount.force)))


@kernel
def _source_acceleration(w, arm, v_elastic, w_elastic):
    """Return the source's base motion: velocity terms of acceleration and angular acceleration, axes C."""
    acceleration = vector.axpy(2.0, vector.cross(w, v_elastic), vector.cross(w, vector.cross(w, arm)))
    return acceleration, vector.cross(w, w_elastic)


@kernel
def publish(r, place, mount, port, h):
    """Set the pose, twist and base motion of the port; h is the step just done, 0 at the start.

    For LAGGED and AFFINE the base motion is the change of the port's inertial twist over the step, divided by h. Its
    sum over steps is the twist itself, so a mechanism that holds it over its next step lags, but loses no momentum.
    """
    x = vector.load(r.position)
    q = rotation.load_quaternion(r.quaternion)
    A = rotation.from_quaternion(q)
    w = vector.load(r.angular_velocity)
    deformed, arm, rates = _frame(mount, 0.0)
    to_port = rotation.from_quaternion(deformed)
    v_elastic = vector.load(mount.displacement_rate)
    w_elastic = rotation.apply(rates, vector.load(mount.rotation_rate))
    v = vector.add(rotation.apply(A, vector.load(r.velocity)), vector.add(vector.cross(w, arm), v_elastic))
    spin = vector.add(w, w_elastic)
    vector.store(vector.add(x, rotation.apply_transposed(A, arm)), port.position)
    pose = rotation.normalized(rotation.product(q, deformed))
    if h > 0.0:
        pose = rotation.continued(pose, rotation.load_quaternion(port.quaternion))
    else:
        pose = rotation.continued(pose, (1.0, 0.0, 0.0, 0.0))
    rotation.store_quaternion(pose, port.quaternion)
    vector.store(rotation.apply(to_port, v), port.velocity)
    vector.store(rotation.apply(to_port, spin), port.angular_velocity)
    inertial_v = rotation.apply_transposed(A, v)
    inertial_w = rotation.apply_transposed(A, spin)
    acceleration, angular_acceleration = _source_acceleration(w, arm, v_elastic, w_elastic)
    if place.base_motion != SOURCE:
        if h > 0.0:
            change = vector.subtract(inertial_v, vector.load(mount.velocity))
            acceleration = rotation.apply(A, vector.scale(1.0 / h, change))
            change = vector.subtract(inertial_w, vector.load(mount.angular_velocity))
            angular_acceleration = rotation.apply(A, vector.scale(1.0 / h, change))
        else:
            free = vector.load(r.angular_acceleration)
            acceleration = vector.add(acceleration, vector.cross(free, arm))
            angular_acceleration = vector.add(angular_acceleration, free)
    vector.store(rotation.apply(to_port, acceleration), port.acceleration)
    vector.store(rotation.apply(to_port, angular_acceleration), port.angular_acceleration)
    vector.store(inertial_v, mount.velocity)
    vector.store(inertial_w, mount.angular_velocity)
