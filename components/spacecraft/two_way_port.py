"""Base motion AFFINE of the craft whose modes act back: its port's acceleration as a function of the wrench on it.

`two_way.respond` has found the accelerations x of C with the received wrench f' on the port. Per unit of the wrench, in
port axes, U is the wrench about the origin of C, and V that on the modes, all in axes S; b_j, w_j and phi_j are lever,
weight and shape of mode j. With A, the matrix of the six equations, they are linear in the wrench:

    dx/df = A^-1 Q,   Q = U - sum b_j w_j phi_j^T V,   Y = Q^T A^-1 Q + V^T (sum phi_j w_j phi_j^T) V.

Q is U, the motion of the port with C, less what the modes do to it. When `affine` has found the wrench, x and the modal
forces change by the same linear equations.

Names end with the axes of their components, as in `two_way`.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import matrix
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, cross, load
from dockfmu.components.spacecraft import affine, elastic, two_way


@kernel
def _set_push(r, mount, shape, whole, n):
    """Set Q (`whole.push`), column k for unit k of the wrench in port axes."""
    A_CS = load_matrix(r.frame)
    J_C = load_matrix(mount.mid_rates)
    arm_C = load(mount.mid_arm)
    for k in range(6):
        unit_C = load(mount.mid_frame[k % 3])
        force_S = ZERO
        torque_S = apply_transposed(A_CS, unit_C)
        twist_S = apply_transposed(A_CS, apply_transposed(J_C, unit_C))
        if k < 3:
            force_S = torque_S
            torque_S = apply_transposed(A_CS, cross(arm_C, unit_C))
            twist_S = ZERO
        for i in range(3):
            whole.push[i, k] = force_S[i]
            whole.push[3 + i, k] = torque_S[i]
        for j in range(n):
            excited = shape[j, 0] * force_S[0] + shape[j, 1] * force_S[1] + shape[j, 2] * force_S[2]
            excited += shape[j, 3] * twist_S[0] + shape[j, 4] * twist_S[1] + shape[j, 5] * twist_S[2]
            excited *= whole.weight[j]
            for i in range(6):
                whole.push[i, k] -= whole.lever[j, i] * excited


@kernel
def _set_answer(p, whole):
    """Set A^-1 Q (`whole.answer`), row k for unit k of the wrench: the accelerations of C; zero of a fixed craft."""
    for k in range(6):
        for i in range(6):
            whole.answer[k, i] = whole.push[i, k]
        if p.fixed != 0.0:
            for i in range(6):
                whole.answer[k, i] = 0.0
        else:
            matrix.solve_lu(whole.response, whole.pivot, whole.answer[k], 6)


@kernel
def _set_bias(p, r, mount, e, modes, whole, a, port, n, h):
    """Set the bias to the mean acceleration of the port with the wrench that it received, and the mobility to Y."""
    A_CS = load_matrix(r.frame)
    move_S, turn_S, w_S = two_way.motion(p, r, whole, h)
    _, rate_S = elastic.project(modes.port[port], whole.coordinate, whole.rate, n)
    drift_C = apply(A_CS, (rate_S[0], rate_S[1], rate_S[2]))
    twist_C = apply(load_matrix(mount.mid_rates), apply(A_CS, (rate_S[3], rate_S[4], rate_S[5])))
    affine.carry(mount, apply(A_CS, move_S), apply(A_CS, turn_S), apply(A_CS, w_S), drift_C, twist_C, a)
    for i in range(6):
        for k in range(6):
            total = 0.0
            for j in range(6):
                total += whole.push[j, i] * whole.answer[k, j]
            a.mobility[i, k] = total
    elastic.bias(e, modes, port, n, h)
    affine.add_elastic(r, mount, e, a)


@kernel
def prepare(p, r, mount, e, modes, whole, a, port, n, h):
    """Set mobility and bias of `affine.solve` for the port, after `two_way.respond`. The bias is without its wrench."""
    _set_push(r, mount, modes.port[port], whole, n)
    _set_answer(p, whole)
    _set_bias(p, r, mount, e, modes, whole, a, port, n, h)
    for i in range(6):
        for k in range(6):
            a.bias[i] -= a.mobility[i, k] * mount.wrench[k]
        # until `correct`
        whole.received[i] = mount.wrench[i]
        whole.load[i] = mount.load[i]


@kernel
def correct(mount, e, modes, whole, port, n):
    """Change the accelerations of C and the modal forces by those of the wrench found less the received one."""
    change_S = whole.load
    for i in range(6):
        change_S[i] = mount.load[i] - change_S[i]
        whole.received[i] = mount.wrench[i] - whole.received[i]
    shape = modes.port[port]
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += whole.answer[k, i] * whole.received[k]
        whole.turned[i] = total
        whole.acceleration[i] += total
    for j in range(n):
        excited = 0.0
        carried = 0.0
        for i in range(6):
            excited += shape[j, i] * change_S[i]
            carried += whole.lever[j, i] * whole.turned[i]
        e.force[j] += excited - carried
        whole.carried[j] -= carried
