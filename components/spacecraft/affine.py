"""Exact coupling to a mechanism whose wrench is affine in the port's acceleration (dynamics section 11).

The mechanism has computed its wrench f' with the acceleration a' reported by the port (as with LAGGED; a holds
acceleration and angular acceleration, port axes). For the actual acceleration a of the port, its wrench is
f = f' - M_A (a - a'), that is W - M_A a. The acceleration is itself affine in the wrench, a = b + Y f with the mobility
Y of the craft at its port, so (1 + M_A Y) f = f' + M_A (a' - b). All are means over the step.

The mechanism responds when its next step begins, by M_A in the axes that the port then has, to the true twist less that
which it has extrapolated. What it loses is known here. The impulse of f - f' in the axes of mid-step differs from it,
by the order of the step times the jump of the twist. The rest is added to the wrench of the next step (`left`), as on
the ports of declared craft (`multibody.port_response`).

Names end with the axes of their components, as in `mounts`.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.physics.mechanics import matrix
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    compose,
    from_quaternion,
    from_rotation_vector,
    load_matrix,
    load_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, add, axpy, cross, load, scale, store, subtract


@kernel
def ports(places):
    """Return (index of the last AFFINE port or -1, number of AFFINE ports)."""
    found = -1
    count = 0
    for p in range(len(places)):
        if places[p].base_motion == AFFINE:
            found = p
            count += 1
    return found, count


@kernel
def reset(a):
    """Let nothing be left of a step before."""
    for i in range(6):
        a.left[i] = 0.0
    store(ZERO, a.place)
    store(ZERO, a.apart)


@kernel
def hold(port, mount, a, A_CI, h):
    """Note the motion of the port that the mechanism extrapolates in a step h, and add to its wrench what is left.

    `A_CI` is the attitude in the middle of the step.
    """
    q_IP = load_quaternion(port.quaternion)
    w_P = load(port.angular_velocity)
    e_P = load(port.angular_acceleration)
    end_PI = from_quaternion(advance(q_IP, axpy(0.5 * h * h, e_P, scale(h, w_P))))
    a_I = apply_transposed(from_quaternion(q_IP), load(port.acceleration))
    velocity_I = axpy(h, a_I, load(mount.velocity))
    spin_I = apply_transposed(end_PI, axpy(h, e_P, w_P))
    left_I = (a.left[0], a.left[1], a.left[2])
    place_I = axpy(0.125 * h * h, a_I, axpy(0.5 * h, load(mount.velocity), load(port.position)))
    # the mechanism has lost it where the port was in the last step
    accumulate(cross(subtract(place_I, load(a.place)), left_I), a.apart)
    store(place_I, a.place)
    A_PI = compose(load_matrix(mount.mid_frame), A_CI)
    force_P = apply(A_PI, left_I)
    torque_P = apply(A_PI, (a.left[3], a.left[4], a.left[5]))
    for i in range(3):
        a.expected[i] = velocity_I[i]
        a.expected[3 + i] = spin_I[i]
        mount.wrench[i] += force_P[i] / h
        mount.wrench[3 + i] += torque_P[i] / h


@kernel
def rigid_mobility(p, r, mount, a, h):
    """Set Y of the rigid body at the port, and the bias b due to all loads but the wrench on this port.

    `r.force`, `r.torque` hold these loads about the centre of mass, axes C.
    """
    A_PC = load_matrix(mount.mid_frame)
    arm_C = load(mount.mid_arm)
    inverse = load_matrix(r.inverse)
    mobile = 1.0
    if p.fixed != 0.0:
        mobile = 0.0
    for k in range(6):
        push_C = load(mount.mid_frame[k % 3])
        force_C = ZERO
        torque_C = push_C
        if k < 3:
            force_C = push_C
            torque_C = cross(arm_C, push_C)
        turn_C = scale(mobile, apply(inverse, torque_C))
        move_P = apply(A_PC, axpy(mobile / p.mass, force_C, cross(turn_C, arm_C)))
        turn_P = apply(A_PC, turn_C)
        for i in range(3):
            a.mobility[i, k] = move_P[i]
            a.mobility[3 + i, k] = turn_P[i]
    w_C = axpy(0.5 * h, load(r.angular_acceleration), load(r.angular_velocity))
    gyroscopic_C = cross(apply(load_matrix(r.inertia), w_C), w_C)
    turn_C = scale(mobile, apply(inverse, add(load(r.torque), gyroscopic_C)))
    move_C = scale(mobile / p.mass, load(r.force))
    v_elastic_C = load(mount.displacement_rate)
    w_elastic_C = apply(load_matrix(mount.mid_rates), load(mount.rotation_rate))
    carry(mount, move_C, turn_C, w_C, v_elastic_C, w_elastic_C, a)


@kernel
def carry(mount, move_C, turn_C, w_C, v_elastic_C, w_elastic_C, a):
    """Set the bias to the acceleration of the port on a frame C with acceleration `move_C`, `turn_C`, and rate w_C.

    The port moves in it with the elastic velocity and angular velocity, but does not accelerate; see `add_elastic`.
    """
    A_PC = load_matrix(mount.mid_frame)
    arm_C = load(mount.mid_arm)
    centripetal_C = cross(w_C, axpy(2.0, v_elastic_C, cross(w_C, arm_C)))
    move_P = apply(A_PC, add(add(move_C, cross(turn_C, arm_C)), centripetal_C))
    turn_P = apply(A_PC, add(turn_C, cross(w_C, w_elastic_C)))
    for i in range(3):
        a.bias[i] = move_P[i]
        a.bias[3 + i] = turn_P[i]


@kernel
def _block(A, i, k):
    """Return the 3x3 block of a 6x6 array that starts at (3 i, 3 k)."""
    x = 3 * i
    y = 3 * k
    return (
        (A[x, y], A[x, y + 1], A[x, y + 2]),
        (A[x + 1, y], A[x + 1, y + 1], A[x + 1, y + 2]),
        (A[x + 2, y], A[x + 2, y + 1], A[x + 2, y + 2]),
    )


@kernel
def add_elastic(r, mount, e, a):
    """Add the contribution of the modes to mobility and bias, transformed from axes S to port axes."""
    A_PC = load_matrix(mount.mid_frame)
    A_CS = load_matrix(r.frame)
    move_PS = compose(A_PC, A_CS)
    turn_PS = compose(A_PC, compose(load_matrix(mount.mid_rates), A_CS))
    for i in range(2):
        to_port = move_PS if i == 0 else turn_PS
        added = apply(to_port, (e.bias[3 * i], e.bias[3 * i + 1], e.bias[3 * i + 2]))
        for x in range(3):
            a.bias[3 * i + x] += added[x]
        for k in range(2):
            back = transpose(move_PS if k == 0 else turn_PS)
            block = compose(to_port, compose(_block(e.mobility, i, k), back))
            for x in range(3):
                for y in range(3):
                    a.mobility[3 * i + x, 3 * k + y] += block[x][y]


@kernel
def solve(port, mount, a, h):
    """Replace the received wrench by that for the coming acceleration. Returns False if the equations are singular.

    The mechanism received the acceleration in the axes at the start of the step and held it in I; the wrench acts in
    the axes at mid-step.
    """
    for i in range(6):
        a.added[i] = -mount.wrench[i]
    turn = scale(0.5 * h, load(port.angular_velocity))
    turned = from_quaternion(from_rotation_vector(turn))
    given = apply(turned, load(port.acceleration))
    place = 0
    for i in range(6):
        for k in range(i, 6):
            a.mass[i, k] = port.affine_mass[place]
            a.mass[k, i] = port.affine_mass[place]
            place += 1
    matrix.multiply(a.mass, a.mobility, a.matrix)
    for i in range(6):
        a.matrix[i, i] += 1.0
        for k in range(3):
            mount.wrench[i] += a.mass[i, k] * (given[k] - a.bias[k])
            mount.wrench[i] += a.mass[i, 3 + k] * (port.angular_acceleration[k] - a.bias[3 + k])
    if not matrix.factor_lu(a.matrix, a.pivot, 6):
        return False
    matrix.solve_lu(a.matrix, a.pivot, mount.wrench, 6)
    for i in range(6):
        a.added[i] += mount.wrench[i]
    return True


@kernel
def owe_response(mount, a, A_CI, audit, h):
    """Set the impulses added in a step h, to which the mechanism responds when its next step begins.

    `A_CI` is the attitude in the middle of the step.
    """
    A_PI = compose(load_matrix(mount.mid_frame), A_CI)
    impulse = scale(h, apply_transposed(A_PI, (a.added[0], a.added[1], a.added[2])))
    turned = scale(h, apply_transposed(A_PI, (a.added[3], a.added[4], a.added[5])))
    for i in range(3):
        a.left[i] = -impulse[i]
        a.left[3 + i] = -turned[i]
    store(impulse, audit.impulse_response)
    store(add(turned, cross(load(a.place), impulse)), audit.angular_impulse_response)


@kernel
def finish(port, mount, a, audit):
    """Set what is left for the next step at the end of one, when the port and the audit have been published."""
    A_PI = from_quaternion(load_quaternion(port.quaternion))
    v_P = apply(A_PI, subtract((a.expected[0], a.expected[1], a.expected[2]), load(mount.velocity)))
    w_P = apply(A_PI, subtract((a.expected[3], a.expected[4], a.expected[5]), load(mount.angular_velocity)))
    impulse_P = add(apply(_block(a.mass, 0, 0), v_P), apply(_block(a.mass, 0, 1), w_P))
    turned_P = add(apply(_block(a.mass, 1, 0), v_P), apply(_block(a.mass, 1, 1), w_P))
    impulse = apply_transposed(A_PI, impulse_P)
    turned = apply_transposed(A_PI, turned_P)
    for i in range(3):
        a.left[i] += impulse[i]
        a.left[3 + i] += turned[i]
    store(subtract(load(audit.angular_momentum), load(a.apart)), audit.angular_momentum)
