"""Elastic craft whose modes and carrying motion act on each other (flexible 3.3 and 3.4, variant B).

The modes are relative to frame C, whose origin is the centre of mass while nothing is deformed. The static moment is
S = J_rw w, the inertia J = J_0 + sum w_a (N2_a + sum w_b N3_ab), and J_phiw = J_phiw,0 + sum w_a N4_a. The mean
accelerations a, epsilon of C over a step and those of the modes are found together. A mode that is advanced exactly
under the held force

    f_i - k_w,i - J_rw,i . a - J_phiw,i . epsilon

changes its rate by h z_i + c2_i times that force, so the modes are eliminated and six equations remain. Momentum is
not integrated from them: linear and angular momentum of the whole craft change exactly by the received impulses, and
the motion of C follows from them and the modes.

The exact step of a mode is a midpoint rule with the step 2/w tan(w h/2) instead of h. So the equations are those of a
craft whose modes carry tan(w h/2)/(w h/2) times their mass, and unstable if they then carry more than the craft has.
Modes that are too fast for this take the implicit midpoint rule, with h, or follow their loads (`tune`).

Names end with the axes of their components: I, the body's C, the structure's S, in which the modes are given. `A_CS`
turns components in S to those in C.
"""

from __future__ import annotations

from math import tan

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import matrix, rotation
from dockfmu.components.physics.mechanics.inertia import invert
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    compose,
    from_quaternion,
    load_matrix,
    load_quaternion,
    store_matrix,
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
from dockfmu.components.spacecraft import elastic
from dockfmu.components.spacecraft.rigid import turn_rate, turn_to

STIFF = 1.0
"""Circular frequency times step above which a mode that carries mass follows its load: backward Euler."""
FREE = 1e-9
"""Share of the mass below which a mode, one of a free craft, carries none: it is exact at any step."""
HALVINGS = 30
"""Of the largest frequency of exact modes, until the mass matrix is positive definite."""


@kernel
def _sum_of_vectors(rows, factor, n):
    """Return the sum of factor[j] rows[j], rows of three."""
    x = 0.0
    y = 0.0
    z = 0.0
    for j in range(n):
        x += factor[j] * rows[j, 0]
        y += factor[j] * rows[j, 1]
        z += factor[j] * rows[j, 2]
    return (x, y, z)


@kernel
def _sum_of_matrices(blocks, factor, n):
    """Return the sum of factor[j] blocks[j], symmetric 3x3."""
    xx = 0.0
    xy = 0.0
    xz = 0.0
    yy = 0.0
    yz = 0.0
    zz = 0.0
    for j in range(n):
        f = factor[j]
        xx += f * blocks[j, 0, 0]
        xy += f * blocks[j, 0, 1]
        xz += f * blocks[j, 0, 2]
        yy += f * blocks[j, 1, 1]
        yz += f * blocks[j, 1, 2]
        zz += f * blocks[j, 2, 2]
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


@kernel
def _add_scaled(s, A, B):
    """Return s A + B."""
    return (axpy(s, A[0], B[0]), axpy(s, A[1], B[1]), axpy(s, A[2], B[2]))


@kernel
def _to_body(A_CS, J_S):
    """Return a tensor, given in axes S, in axes C."""
    return compose(A_CS, compose(J_S, transpose(A_CS)))


@kernel
def _angular_momentum(c, w, rate, n):
    """Return J_phiw times `rate` at coordinates w: angular momentum of the modes about the origin of C, axes S."""
    total_S = _sum_of_vectors(c.rotation, rate, n)
    for a in range(n):
        total_S = axpy(w[a], _sum_of_vectors(c.gyration[a], rate, n), total_S)
    return total_S


@kernel
def _describe(p, r, e, c, shape, n):
    """Set `shape`: centre of mass, inertia about it, and momenta of the modes relative to C, all in axes C."""
    A_CS = load_matrix(r.frame)
    center_C = scale(1.0 / p.mass, apply(A_CS, _sum_of_vectors(c.translation, e.coordinate, n)))
    momentum_C = apply(A_CS, _sum_of_vectors(c.translation, e.rate, n))
    change_S = _sum_of_matrices(c.inertia, e.coordinate, n)
    for j in range(n):
        change_S = _add_scaled(e.coordinate[j], _sum_of_matrices(c.curvature[j], e.coordinate, n), change_S)
    inertia_C = _add_scaled(1.0, _to_body(A_CS, change_S), load_matrix(r.inertia))
    spin_C = apply(A_CS, _angular_momentum(c, e.coordinate, e.rate, n))
    store(center_C, shape.center)
    store(scale(1.0 / p.mass, momentum_C), shape.center_rate)
    store(subtract(spin_C, cross(center_C, momentum_C)), shape.spin)
    square = dot(center_C, center_C)
    for i in range(3):
        for j in range(3):
            shape.inertia[i, j] = inertia_C[i][j] + p.mass * center_C[i] * center_C[j]
        shape.inertia[i, i] -= p.mass * square


@kernel
def _definite(A, n):
    """Return whether a symmetric matrix is positive definite; overwrites it."""
    for j in range(n):
        if not A[j, j] > 0.0:
            return False
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            for k in range(j, n):
                A[i, k] -= factor * A[j, k]
    return True


@kernel
def _set_response(p, inertia_S, moment_S, whole, c, weight, n):
    """Set the 6x6 matrix of the carrying motion, axes S, with the modes eliminated; `weight`: their inverse masses."""
    A = whole.response
    for i in range(3):
        for k in range(3):
            A[i, k] = 0.0
            A[3 + i, 3 + k] = inertia_S[i][k]
        A[i, i] = p.mass
    x, y, z = moment_S
    tilde = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    for i in range(3):
        for k in range(3):
            A[i, 3 + k] = -tilde[i][k]
            A[3 + i, k] = tilde[i][k]
    for j in range(n):
        b = whole.lever[j]
        for i in range(3):
            b[i] = c.translation[j, i]
        for i in range(6):
            for k in range(6):
                A[i, k] -= weight[j] * b[i] * b[k]


@kernel
def prepare(p, r, e, c, whole, n):
    """Set the momentum of the whole craft at the start. Returns False if the modes carry more than the craft's mass."""
    for j in range(n):
        whole.weight[j] = 1.0
        for i in range(3):
            whole.lever[j, 3 + i] = c.rotation[j, i]
        whole.carried[j] = 0.0
    A_CS = load_matrix(r.frame)
    inertia_S = compose(transpose(A_CS), compose(load_matrix(r.inertia), A_CS))
    _set_response(p, inertia_S, ZERO, whole, c, whole.weight, n)
    if not _definite(whole.response, 6):
        return False
    _describe(p, r, e, c, whole.after, n)
    if p.fixed != 0.0:
        return True
    A_CI = from_quaternion(load_quaternion(r.quaternion))
    w_C = load(r.angular_velocity)
    center_C = load(whole.after.center)
    carried_C = add(cross(w_C, center_C), load(whole.after.center_rate))
    store(add(load(r.position), apply_transposed(A_CI, center_C)), whole.position)
    velocity_I = add(load(r.velocity), apply_transposed(A_CI, carried_C))
    store(scale(p.mass, velocity_I), whole.momentum)
    spin_C = add(apply(load_matrix(whole.after.inertia), w_C), load(whole.after.spin))
    store(apply_transposed(A_CI, spin_C), r.angular_momentum)
    return True


@kernel
def _carried(p, r, c, j):
    """Return the share of the craft's mass or inertia that mode j carries."""
    shift_S = load(c.translation[j])
    turn_C = apply(load_matrix(r.frame), load(c.rotation[j]))
    return dot(shift_S, shift_S) / p.mass + dot(turn_C, apply(load_matrix(r.inverse), turn_C))


@kernel
def _follow(e, modes, j, h):
    """Set the coefficients of mode j to those of the midpoint rule, or of backward Euler above STIFF."""
    w = modes.frequency[j]
    x = w * h
    rub = elastic.damping(w, modes.decrement[j]) * h
    if x > STIFF:
        whole = 1.0 + rub + x * x
        e.from_coordinate[j] = (1.0 + rub) / whole
        e.from_force[j] = h * h / whole
        e.rate_from_rate[j] = 1.0 / whole
    else:
        whole = 1.0 + 0.5 * rub + 0.25 * x * x
        e.from_coordinate[j] = (1.0 + 0.5 * rub - 0.25 * x * x) / whole
        e.from_force[j] = 0.5 * h * h / whole
        e.rate_from_rate[j] = (1.0 - 0.5 * rub - 0.25 * x * x) / whole
    e.from_rate[j] = h / whole


@kernel
def _limit_exact_modes(p, r, e, c, modes, whole, n, h):
    """Replace the coefficients of modes for which the exact step of h would not be stable in a free craft."""
    A_CS = load_matrix(r.frame)
    inertia_S = compose(transpose(A_CS), compose(load_matrix(r.inertia), A_CS))
    for j in range(n):
        whole.change[j] = _carried(p, r, c, j)
        for i in range(3):
            whole.lever[j, 3 + i] = c.rotation[j, i]
    limit = STIFF
    for _ in range(HALVINGS):
        for j in range(n):
            half = 0.5 * h * modes.frequency[j]
            whole.weight[j] = 1.0
            if 2.0 * half <= limit:
                # twice what it is above 1: at the border the step would be stable, but not accurate
                whole.weight[j] = 2.0 * tan(half) / half - 1.0
        _set_response(p, inertia_S, ZERO, whole, c, whole.weight, n)
        if _definite(whole.response, 6):
            break
        limit *= 0.5
    for j in range(n):
        if h * modes.frequency[j] > limit and whole.change[j] > FREE:
            _follow(e, modes, j, h)


@kernel
def tune(p, r, e, c, modes, whole, n, h, affine_port):
    """Set the coefficients for steps of h, kept until h changes: exact for the modes for which that is stable.

    With `affine_port` >= 0, also set the mobility of that port due to the modes.
    """
    if e.step == h:
        return
    elastic.tune(e, modes, n, h, -1)
    if p.fixed == 0.0:
        _limit_exact_modes(p, r, e, c, modes, whole, n, h)
    if affine_port >= 0:
        elastic.set_mobility(e, modes, affine_port, n, h)


@kernel
def _predict(e, modes, whole, n, h):
    """Set the coordinates and rates at mid-step, and the weights and free changes of rate over the step.

    The modal forces of the carrying motion are taken from the last step.
    """
    for j in range(n):
        f = modes.frequency[j]
        q = e.coordinate[j]
        v = e.rate[j]
        whole.weight[j] = e.from_rate[j] / h
        whole.change[j] = ((e.rate_from_rate[j] - 1.0) * v - f * f * e.from_rate[j] * q) / h
        whole.coordinate[j] = q + 0.5 * h * v
        whole.rate[j] = v + 0.5 * h * (whole.change[j] + whole.weight[j] * (e.force[j] + whole.carried[j]))


@kernel
def respond(p, r, e, c, modes, whole, n, h):
    """Find the mean accelerations of C over the step, and add their effect on the modes to the modal forces.

    `r.force`, `r.torque` hold the loads on the craft about the origin of C, axes C, `e.force` those on the modes.
    Returns False if the equations are singular.
    """
    _predict(e, modes, whole, n, h)
    A_CS = load_matrix(r.frame)
    w_C = axpy(0.5 * h, load(r.angular_acceleration), load(r.angular_velocity))
    w_S = apply_transposed(A_CS, w_C)
    if p.fixed != 0.0:
        return True
    inertia_S = compose(transpose(A_CS), compose(load_matrix(r.inertia), A_CS))
    swelling_S = ZERO
    for j in range(n):
        whole.carried[j] = e.force[j]
        linear_S = load_matrix(c.inertia[j])
        quadratic_S = _sum_of_matrices(c.curvature[j], whole.coordinate, n)
        inertia_S = _add_scaled(whole.coordinate[j], _add_scaled(1.0, quadratic_S, linear_S), inertia_S)
        # derivative of J with respect to coordinate j, times w_S
        slope_S = apply(_add_scaled(2.0, quadratic_S, linear_S), w_S)
        swelling_S = axpy(whole.rate[j], slope_S, swelling_S)
        coriolis_S = _sum_of_vectors(c.gyration[j], whole.rate, n)
        e.force[j] += dot(w_S, axpy(0.5, slope_S, scale(2.0, coriolis_S)))
        for i in range(3):
            whole.lever[j, 3 + i] = c.rotation[j, i]
    for a in range(n):
        q = whole.coordinate[a]
        for j in range(n):
            for i in range(3):
                whole.lever[j, 3 + i] += q * c.gyration[a, j, i]
    moment_S = _sum_of_vectors(c.translation, whole.coordinate, n)
    _set_response(p, inertia_S, moment_S, whole, c, whole.weight, n)
    momentum_S = _sum_of_vectors(c.translation, whole.rate, n)
    spin_S = add(apply(inertia_S, w_S), _angular_momentum(c, whole.coordinate, whole.rate, n))
    force_S = apply_transposed(A_CS, load(r.force))
    force_S = subtract(force_S, cross(w_S, axpy(2.0, momentum_S, cross(w_S, moment_S))))
    torque_S = apply_transposed(A_CS, load(r.torque))
    torque_S = subtract(torque_S, add(cross(w_S, spin_S), swelling_S))
    for i in range(3):
        whole.acceleration[i] = force_S[i]
        whole.acceleration[3 + i] = torque_S[i]
    for j in range(n):
        own = whole.change[j] + whole.weight[j] * e.force[j]
        for i in range(6):
            whole.acceleration[i] -= whole.lever[j, i] * own
    if not matrix.factor_lu(whole.response, whole.pivot, 6):
        return False
    matrix.solve_lu(whole.response, whole.pivot, whole.acceleration, 6)
    for j in range(n):
        total = 0.0
        for i in range(6):
            total += whole.lever[j, i] * whole.acceleration[i]
        e.force[j] -= total
        whole.carried[j] = e.force[j] - whole.carried[j]
    return True


@kernel
def motion(p, r, whole, h):
    """Return (acceleration, angular acceleration, angular velocity at mid-step) of C, means over the step, axes S."""
    if p.fixed != 0.0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w_C = axpy(0.5 * h, load(r.angular_acceleration), load(r.angular_velocity))
    a = whole.acceleration
    w_S = apply_transposed(load_matrix(r.frame), w_C)
    return (a[0], a[1], a[2]), (a[3], a[4], a[5]), w_S


@kernel
def advance_modes(e, modes, n):
    """Advance all modes over the step. Returns (work of thrusters and control on them, energy that they dissipate), J.

    The dissipated energy is exact: the work of all modal forces minus the change of the energy of the modes.
    """
    before = elastic.dot(e.force, e.coordinate, n)
    energy = e.kinetic_energy + e.stored_energy
    work = elastic.advance(e, modes, n)
    done = elastic.dot(e.force, e.coordinate, n) - before
    elastic.energies(e, modes, n)
    return work, done - (e.kinetic_energy + e.stored_energy - energy)


@kernel
def _rate(before, after, share, q, momentum_I):
    """Return the angular velocity of C at a fraction of the step, from its attitude and the angular momentum in I."""
    rest = 1.0 - share
    J_0 = load_matrix(before.inertia)
    J_1 = load_matrix(after.inertia)
    inertia_C = (
        axpy(share, J_1[0], scale(rest, J_0[0])),
        axpy(share, J_1[1], scale(rest, J_0[1])),
        axpy(share, J_1[2], scale(rest, J_0[2])),
    )
    inverse, _ = invert(inertia_C)
    spin_C = axpy(share, load(after.spin), scale(rest, load(before.spin)))
    left_C = subtract(apply(from_quaternion(q), momentum_I), spin_C)
    return apply(inverse, left_C)


@kernel
def _advance_attitude(r, whole, torque_I, h):
    """Advance attitude and angular momentum over h as `rigid` does; the inertia varies linearly over the step."""
    start = load_quaternion(r.quaternion)
    first_I = load(r.angular_momentum)
    middle_I = axpy(0.5 * h, torque_I, first_I)
    last_I = axpy(h, torque_I, first_I)
    k1 = load(r.angular_velocity)
    turn = scale(0.5 * h, k1)
    k2 = turn_rate(turn, _rate(whole.before, whole.after, 0.5, rotation.advance(start, turn), middle_I))
    turn = scale(0.5 * h, k2)
    k3 = turn_rate(turn, _rate(whole.before, whole.after, 0.5, rotation.advance(start, turn), middle_I))
    turn = scale(h, k3)
    k4 = turn_rate(turn, _rate(whole.before, whole.after, 1.0, rotation.advance(start, turn), last_I))
    turn = scale(h / 6.0, add(add(k1, k4), scale(2.0, add(k2, k3))))
    end = rotation.advance(start, turn)
    w_C = _rate(whole.before, whole.after, 1.0, end, last_I)
    turn_to(r, end, w_C, last_I, h)


@kernel
def _keep(shape, before):
    store(load(shape.center), before.center)
    store(load(shape.center_rate), before.center_rate)
    store(load(shape.spin), before.spin)
    store_matrix(load_matrix(shape.inertia), before.inertia)


@kernel
def advance(p, r, e, c, whole, A_CI, n, h):
    """Advance the craft over h, after its modes, under `r.force` and `r.torque`, in I, about the origin of C."""
    _keep(whole.after, whole.before)
    _describe(p, r, e, c, whole.after, n)
    force_I = load(r.force)
    middle_C = scale(0.5, add(load(whole.before.center), load(whole.after.center)))
    arm_I = apply_transposed(A_CI, middle_C)
    torque_I = subtract(load(r.torque), cross(arm_I, force_I))
    momentum_I = load(whole.momentum)
    shift_I = axpy(0.5 * h * h / p.mass, force_I, scale(h / p.mass, momentum_I))
    accumulate(shift_I, whole.position)
    store(axpy(h, force_I, momentum_I), whole.momentum)
    _advance_attitude(r, whole, torque_I, h)
    A_CI_end = from_quaternion(load_quaternion(r.quaternion))
    center_C = load(whole.after.center)
    origin_I = subtract(load(whole.position), apply_transposed(A_CI_end, center_C))
    store(subtract(origin_I, load(r.position)), r.displacement)
    store(origin_I, r.position)
    carried_C = add(cross(load(r.angular_velocity), center_C), load(whole.after.center_rate))
    velocity_I = scale(1.0 / p.mass, load(whole.momentum))
    store(subtract(velocity_I, apply_transposed(A_CI_end, carried_C)), r.velocity)


@kernel
def publish(p, r, e, whole, audit):
    """Set momentum and kinetic energy of the whole craft, after `rigid.publish` has set those of a rigid one."""
    if p.fixed != 0.0:
        audit.kinetic_energy = e.kinetic_energy
        return
    momentum_I = load(whole.momentum)
    store(momentum_I, audit.momentum)
    spin_I = load(r.angular_momentum)
    store(add(cross(load(whole.position), momentum_I), spin_I), audit.angular_momentum)
    A_CI = from_quaternion(load_quaternion(r.quaternion))
    w_C = load(r.angular_velocity)
    turning = 0.5 * dot(w_C, add(apply(A_CI, spin_I), load(whole.after.spin)))
    drift_C = load(whole.after.center_rate)
    inner = e.kinetic_energy - 0.5 * p.mass * dot(drift_C, drift_C)
    audit.kinetic_energy = 0.5 * dot(momentum_I, momentum_I) / p.mass + turning + inner
