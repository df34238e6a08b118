"""Elastic craft whose modes and carrying motion act on each other (flexible 3.3 and 3.4, variant B).

The modes are relative to frame C, whose origin is the centre of mass while nothing is deformed. The static moment is
S = J_rw w, the inertia J = J_0 + sum w_a (N2_a + sum w_b N3_ab), and J_phiw = J_phiw,0 + sum w_a N4_a. The mean
accelerations a, epsilon of C over a step and those of the modes are found together. A mode that is advanced exactly
under the held force

    f_i - k_w,i - J_rw,i . a - J_phiw,i . epsilon

changes its rate by h z_i + c2_i times that force, so the modes are eliminated and six equations remain. Momentum is
not integrated from them: linear and angular momentum of the whole craft change exactly by the received impulses, and
the motion of C follows from them and the modes.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import matrix, rotation, vector
from dockfmu.components.physics.mechanics.inertia import invert
from dockfmu.components.spacecraft import elastic
from dockfmu.components.spacecraft.rigid import turn_rate, turn_to


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
    return (vector.axpy(s, A[0], B[0]), vector.axpy(s, A[1], B[1]), vector.axpy(s, A[2], B[2]))


@kernel
def _to_body(frame, A):
    """Return a tensor, given in axes S, in axes C."""
    return rotation.compose(frame, rotation.compose(A, rotation.transpose(frame)))


@kernel
def _angular_momentum(c, w, rate, n):
    """Return J_phiw times `rate` at coordinates w: angular momentum of the modes about the origin of C, axes S."""
    total = _sum_of_vectors(c.rotation, rate, n)
    for a in range(n):
        total = vector.axpy(w[a], _sum_of_vectors(c.gyration[a], rate, n), total)
    return total


@kernel
def _describe(p, r, e, c, shape, n):
    """Set `shape`: centre of mass, inertia about it, and momenta of the modes relative to C, all in axes C."""
    frame = rotation.load_matrix(r.frame)
    offset = vector.scale(1.0 / p.mass, rotation.apply(frame, _sum_of_vectors(c.translation, e.coordinate, n)))
    momentum = rotation.apply(frame, _sum_of_vectors(c.translation, e.rate, n))
    deformed = _sum_of_matrices(c.inertia, e.coordinate, n)
    for j in range(n):
        deformed = _add_scaled(e.coordinate[j], _sum_of_matrices(c.curvature[j], e.coordinate, n), deformed)
    inertia = _add_scaled(1.0, _to_body(frame, deformed), rotation.load_matrix(r.inertia))
    spin = rotation.apply(frame, _angular_momentum(c, e.coordinate, e.rate, n))
    vector.store(offset, shape.center)
    vector.store(vector.scale(1.0 / p.mass, momentum), shape.center_rate)
    vector.store(vector.subtract(spin, vector.cross(offset, momentum)), shape.spin)
    square = vector.dot(offset, offset)
    for i in range(3):
        for j in range(3):
            shape.inertia[i, j] = inertia[i][j] + p.mass * offset[i] * offset[j]
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
def _set_response(p, inertia, moment, whole, c, weight, n):
    """Set the 6x6 matrix of the carrying motion, axes S, with the modes eliminated; `weight`: their inverse masses."""
    A = whole.response
    for i in range(3):
        for k in range(3):
            A[i, k] = 0.0
            A[3 + i, 3 + k] = inertia[i][k]
        A[i, i] = p.mass
    x, y, z = moment
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
    frame = rotation.load_matrix(r.frame)
    inertia = rotation.compose(rotation.transpose(frame), rotation.compose(rotation.load_matrix(r.inertia), frame))
    _set_response(p, inertia, vector.ZERO, whole, c, whole.weight, n)
    if not _definite(whole.response, 6):
        return False
    _describe(p, r, e, c, whole.after, n)
    if p.fixed != 0.0:
        return True
    A = rotation.from_quaternion(rotation.load_quaternion(r.quaternion))
    w = vector.load(r.angular_velocity)
    offset = vector.load(whole.after.center)
    carried = vector.add(vector.cross(w, offset), vector.load(whole.after.center_rate))
    vector.store(vector.add(vector.load(r.position), rotation.apply_transposed(A, offset)), whole.position)
    velocity = vector.add(vector.load(r.velocity), rotation.apply_transposed(A, carried))
    vector.store(vector.scale(p.mass, velocity), whole.momentum)
    spin = vector.add(rotation.apply(rotation.load_matrix(whole.after.inertia), w), vector.load(whole.after.spin))
    vector.store(rotation.apply_transposed(A, spin), r.angular_momentum)
    return True


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
    frame = rotation.load_matrix(r.frame)
    w = vector.axpy(0.5 * h, vector.load(r.angular_acceleration), vector.load(r.angular_velocity))
    w = rotation.apply_transposed(frame, w)
    if p.fixed != 0.0:
        return True
    inertia = rotation.compose(rotation.transpose(frame), rotation.compose(rotation.load_matrix(r.inertia), frame))
    swelling = vector.ZERO
    for j in range(n):
        whole.carried[j] = e.force[j]
        linear = rotation.load_matrix(c.inertia[j])
        quadratic = _sum_of_matrices(c.curvature[j], whole.coordinate, n)
        inertia = _add_scaled(whole.coordinate[j], _add_scaled(1.0, quadratic, linear), inertia)
        # derivative of J with respect to coordinate j, times w
        slope = rotation.apply(_add_scaled(2.0, quadratic, linear), w)
        swelling = vector.axpy(whole.rate[j], slope, swelling)
        coriolis = _sum_of_vectors(c.gyration[j], whole.rate, n)
        e.force[j] += vector.dot(w, vector.axpy(0.5, slope, vector.scale(2.0, coriolis)))
        for i in range(3):
            whole.lever[j, 3 + i] = c.rotation[j, i]
    for a in range(n):
        q = whole.coordinate[a]
        for j in range(n):
            for i in range(3):
                whole.lever[j, 3 + i] += q * c.gyration[a, j, i]
    moment = _sum_of_vectors(c.translation, whole.coordinate, n)
    _set_response(p, inertia, moment, whole, c, whole.weight, n)
    momentum = _sum_of_vectors(c.translation, whole.rate, n)
    spin = vector.add(rotation.apply(inertia, w), _angular_momentum(c, whole.coordinate, whole.rate, n))
    force = rotation.apply_transposed(frame, vector.load(r.force))
    force = vector.subtract(force, vector.cross(w, vector.axpy(2.0, momentum, vector.cross(w, moment))))
    torque = rotation.apply_transposed(frame, vector.load(r.torque))
    torque = vector.subtract(torque, vector.add(vector.cross(w, spin), swelling))
    for i in range(3):
        whole.acceleration[i] = force[i]
        whole.acceleration[3 + i] = torque[i]
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
def _rate(before, after, share, q, momentum):
    """Return the angular velocity of C at a fraction of the step, from its attitude and the angular momentum in I."""
    rest = 1.0 - share
    A = rotation.load_matrix(before.inertia)
    B = rotation.load_matrix(after.inertia)
    inertia = (
        vector.axpy(share, B[0], vector.scale(rest, A[0])),
        vector.axpy(share, B[1], vector.scale(rest, A[1])),
        vector.axpy(share, B[2], vector.scale(rest, A[2])),
    )
    inverse, _ = invert(inertia)
    spin = vector.axpy(share, vector.load(after.spin), vector.scale(rest, vector.load(before.spin)))
    left = vector.subtract(rotation.apply(rotation.from_quaternion(q), momentum), spin)
    return rotation.apply(inverse, left)


@kernel
def _advance_attitude(r, whole, torque, h):
    """Advance attitude and angular momentum over h as `rigid` does; the inertia varies linearly over the step."""
    start = rotation.load_quaternion(r.quaternion)
    first = vector.load(r.angular_momentum)
    middle = vector.axpy(0.5 * h, torque, first)
    last = vector.axpy(h, torque, first)
    k1 = vector.load(r.angular_velocity)
    turn = vector.scale(0.5 * h, k1)
    k2 = turn_rate(turn, _rate(whole.before, whole.after, 0.5, rotation.advance(start, turn), middle))
    turn = vector.scale(0.5 * h, k2)
    k3 = turn_rate(turn, _rate(whole.before, whole.after, 0.5, rotation.advance(start, turn), middle))
    turn = vector.scale(h, k3)
    k4 = turn_rate(turn, _rate(whole.before, whole.after, 1.0, rotation.advance(start, turn), last))
    turn = vector.scale(h / 6.0, vector.add(vector.add(k1, k4), vector.scale(2.0, vector.add(k2, k3))))
    end = rotation.advance(start, turn)
    w = _rate(whole.before, whole.after, 1.0, end, last)
    turn_to(r, end, w, last, h)


@kernel
def _keep(shape, before):
    vector.store(vector.load(shape.center), before.center)
    vector.store(vector.load(shape.center_rate), before.center_rate)
    vector.store(vector.load(shape.spin), before.spin)
    rotation.store_matrix(rotation.load_matrix(shape.inertia), before.inertia)


@kernel
def advance(p, r, e, c, whole, to_inertial, n, h):
    """Advance the craft over h, after its modes, under `r.force` and `r.torque`, in I, about the origin of C."""
    _keep(whole.after, whole.before)
    _describe(p, r, e, c, whole.after, n)
    force = vector.load(r.force)
    middle = vector.scale(0.5, vector.add(vector.load(whole.before.center), vector.load(whole.after.center)))
    arm = rotation.apply_transposed(to_inertial, middle)
    torque = vector.subtract(vector.load(r.torque), vector.cross(arm, force))
    momentum = vector.load(whole.momentum)
    shift = vector.axpy(0.5 * h * h / p.mass, force, vector.scale(h / p.mass, momentum))
    vector.accumulate(shift, whole.position)
    vector.store(vector.axpy(h, force, momentum), whole.momentum)
    _advance_attitude(r, whole, torque, h)
    A = rotation.from_quaternion(rotation.load_quaternion(r.quaternion))
    offset = vector.load(whole.after.center)
    place = vector.subtract(vector.load(whole.position), rotation.apply_transposed(A, offset))
    vector.store(vector.subtract(place, vector.load(r.position)), r.displacement)
    vector.store(place, r.position)
    carried = vector.add(vector.cross(vector.load(r.angular_velocity), offset), vector.load(whole.after.center_rate))
    velocity = vector.scale(1.0 / p.mass, vector.load(whole.momentum))
    vector.store(vector.subtract(velocity, rotation.apply_transposed(A, carried)), r.velocity)


@kernel
def publish(p, r, e, whole, audit):
    """Set momentum and kinetic energy of the whole craft, after `rigid.publish` has set those of a rigid one."""
    if p.fixed != 0.0:
        audit.kinetic_energy = e.kinetic_energy
        return
    momentum = vector.load(whole.momentum)
    vector.store(momentum, audit.momentum)
    spin = vector.load(r.angular_momentum)
    vector.store(vector.add(vector.cross(vector.load(whole.position), momentum), spin), audit.angular_momentum)
    A = rotation.from_quaternion(rotation.load_quaternion(r.quaternion))
    w = vector.load(r.angular_velocity)
    turning = 0.5 * vector.dot(w, vector.add(rotation.apply(A, spin), vector.load(whole.after.spin)))
    drift = vector.load(whole.after.center_rate)
    inner = e.kinetic_energy - 0.5 * p.mass * vector.dot(drift, drift)
    audit.kinetic_energy = 0.5 * vector.dot(momentum, momentum) / p.mass + turning + inner
