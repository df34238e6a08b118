"""What the controller knows of the pose, from joint angles and rigid links, and the gain of its loops.

Theory: manipulator 3.7.

A loop on the output shafts has the gears between sensor and motor. With motors that follow their commands, the load J
on a gear of stiffness k and damping c (at the output) and the gain K obeys J s^3 + c s^2 + (k + K c) s + K k = 0,
stable if K < c k / (J k - c^2), about c / J (ruling R56). On the motor angles the gears are outside the loop; what
limits the gain there is the integral of the rate servo: with a loop around it, it acts on the integral of the position
and pumps slow swings. That limit is an order of magnitude higher. Both are computed for the heaviest swing.
"""

from __future__ import annotations

from math import inf, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import POSE_FEEDBACK
from dockfmu.components.manipulator.compliance import joint_turn
from dockfmu.components.manipulator.servo import quantized
from dockfmu.components.physics.mechanics import eigen
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    apply,
    apply_transposed,
    compose,
    load_matrix,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import add, cross, dot, load, store, subtract

MOTORS = POSE_FEEDBACK.codes["MOTORS"]
# default gain over the largest stable one
SHARE = 0.25
# 1/s, largest gain that is looked for, and largest default gain
LARGEST = 10.0
LARGEST_DEFAULT = 0.05
# halvings of the stiffness of a gear in its play, down to 1/512
SOFTENINGS = 10


@kernel
def sense(m, motors):
    """Set the sensed pose of arm and PI, for rigid links and PI as grappled.

    From the encoders on the output shafts, or, unless `motors` is 0, from the angles of the motors over the gear ratio.
    """
    p = m.parameters
    s = m.sensed
    turn = IDENTITY
    place = (0.0, 0.0, 0.0)
    for k in range(len(m.arm)):
        if k > 0:
            shaft = m.drive[k - 1].input_angle
            if motors != 0.0 and p.joint.locked[k - 1] == 0.0:
                shaft = m.drive[k - 1].motor_angle
            angle = quantized(shaft / p.gear.ratio[k - 1], p.servo.angle_quantum)
            s.angle[k - 1] = angle
            axis = int(p.link.axis[k - 1]) - 1
            store(turn[axis], s.axis[k - 1])
            turn = compose(joint_turn(p.link.axis[k - 1], angle), turn)
        place = add(place, apply_transposed(turn, load(m.arm[k].reach)))
        store(place, s.point[k])
    store_matrix(turn, s.gripper)
    fixture = load_matrix(m.free_body.fixture)
    own = compose(transpose(fixture), turn)
    offset = subtract(load(p.interface.position), load(p.grapple.position))
    store(add(place, apply_transposed(own, offset)), s.position)
    store_matrix(compose(load_matrix(m.free_body.to_interface), own), s.interface)


@kernel
def _add_body(m, last, mass, place, inertia):
    """Add a body on link `last` to the inertia at the joints: centre `place` from R and inertia about it, axes R."""
    M = m.loop.inertia
    for j in range(last):
        axis = load(m.sensed.axis[j])
        arm = cross(axis, subtract(place, load(m.sensed.point[j])))
        turning = apply(inertia, axis)
        for k in range(j + 1):
            other = load(m.sensed.axis[k])
            moving = cross(other, subtract(place, load(m.sensed.point[k])))
            M[j, k] += mass * dot(arm, moving) + dot(turning, other)


@kernel
def is_stable(gain, load, stiffness, damping, servo):
    """Return whether a loop on the motor angle is stable with the inertia `load` on a gear, all at the input shaft.

    `servo` is (b, p, q): it gives -b (p + q / s) times the error of the motor's rate, whose command is -gain times its
    angle x. With the gear g = k + c s the motor obeys g J s^2 x / (J s^2 + g) + b (s + gain) (p + q / s)
    x = 0; its own inertia and its electric circuit are fast. The quartic is judged by Hurwitz.
    """
    b, p, q = servo
    mixed = q + gain * p
    a4 = load * damping + b * p * load
    a3 = load * stiffness + b * (p * damping + mixed * load)
    a2 = b * (p * stiffness + mixed * damping + gain * q * load)
    a1 = b * (mixed * stiffness + gain * q * damping)
    a0 = b * gain * q * stiffness
    return a3 * a2 * a1 > a4 * a1 * a1 + a3 * a3 * a0


@kernel
def largest_gain(load, stiffness, damping, servo):
    """Return the largest gain of `is_stable`, at most LARGEST, for a gear as soft as in the middle of its play too."""
    limit = LARGEST
    for _ in range(SOFTENINGS):
        if not is_stable(limit, load, stiffness, damping, servo):
            low = 0.0
            for _ in range(40):
                middle = 0.5 * (low + limit)
                if is_stable(middle, load, stiffness, damping, servo):
                    low = middle
                else:
                    limit = middle
        stiffness *= 0.5
    return limit


@kernel
def _set_motor_limit(m):
    """Set the gain below which a pose loop on the motor angles is stable, for the worst of the joints."""
    p = m.parameters
    m.loop.motor_gain_limit = LARGEST
    for k in range(len(m.drive)):
        d = m.drive[k]
        if p.joint.locked[k] == 0.0 and d.damping > 0.0 and m.loop.gain_limit > 0.0:
            torque = p.motor.torque_constant[k] / p.motor.resistance[k]
            torque *= p.servo.inner_gain[k] + p.motor.voltage_constant[k]
            servo = (torque, 1.0 + p.servo.outer_gain[k], p.servo.integral_gain[k])
            load = d.damping / m.loop.gain_limit
            limit = largest_gain(load, d.stiffness, d.damping, servo)
            m.loop.motor_gain_limit = min(m.loop.motor_gain_limit, limit)


@kernel
def set_gain_limits(m):
    """Set the gains below which pose loops on the output shafts and on the motors are stable.

    The first is the least damping over inertia, the reciprocal of the largest eigenvalue of C^-1/2 M C^-1/2 with the
    inertia M of links and payload at the joints and the damping C of the gears. Arm and payload must be placed.
    """
    p = m.parameters
    M = m.loop.inertia
    count = len(m.drive)
    sense(m, 0.0)
    for j in range(count):
        for k in range(count):
            M[j, k] = 0.0
    to_root = load_matrix(m.root.rotation)
    for k in range(1, count + 1):
        body = m.arm[k]
        turn = transpose(load_matrix(body.rotation))
        own = load_matrix(p.link.inertia[k - 1])
        centre = add(load(body.position), apply(turn, load(p.link.center_of_mass[k - 1])))
        if body.mass > 0.0:
            _add_body(m, k, body.mass, centre, compose(compose(turn, own), transpose(turn)))
    b = m.free_body
    turn = transpose(compose(load_matrix(b.rotation), transpose(to_root)))
    own = load_matrix(p.payload.inertia)
    centre = apply(to_root, subtract(load(b.position), load(m.root.position)))
    turned = compose(compose(turn, own), transpose(turn))
    _add_body(m, count, p.payload.mass, centre, turned)
    for j in range(count):
        ratio = p.gear.ratio[j]
        M[j, j] += ratio * ratio * m.drive[j].inertia
        for k in range(j + 1):
            weight = m.drive[j].damping * ratio * ratio * m.drive[k].damping * p.gear.ratio[k] * p.gear.ratio[k]
            if p.joint.locked[j] != 0.0 or p.joint.locked[k] != 0.0:
                M[j, k] = 0.0
            elif weight > 0.0:
                M[j, k] /= sqrt(weight)
            else:
                M[j, k] = inf if j == k else 0.0
            M[k, j] = M[j, k]
    m.loop.gain_limit = 0.0
    m.loop.motor_gain_limit = LARGEST
    largest = 0.0
    for j in range(count):
        largest = max(largest, M[j, j])
    if 0.0 < largest < inf:
        eigen.diagonalize(M)
        largest = 0.0
        for j in range(count):
            largest = max(largest, M[j, j])
        m.loop.gain_limit = 1.0 / largest
    _set_motor_limit(m)


@kernel
def loop_gain(m, given):
    """Return the gain of a pose loop for the parameter `given`, and count one that pumps the swing."""
    limit = m.loop.gain_limit
    if m.parameters.control.pose_feedback == MOTORS:
        limit = m.loop.motor_gain_limit
    if given == 0.0:
        return min(SHARE * limit, LARGEST_DEFAULT)
    if given > limit:
        m.validity.pose_gain += 1.0
    return given
