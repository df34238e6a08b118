"""Motion of the carrying rigid body: momentum in I, attitude as a quaternion (Yaskevich 2020, eq. (4.2.1)).

The resultant force and torque are held in I over a step. The state is the momentum in I, so linear and angular
momentum change by exactly the received impulses, for any step. Only the attitude is integrated approximately, by a
fourth-order Lie-group Runge-Kutta method.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import eigen, rotation, vector
from dockfmu.components.physics.mechanics.inertia import invert

# relative rounding allowed in data on the limit of the triangle inequality
ROUNDING = 1e-9


@kernel
def set_principal_moments(r):
    """Set the principal moments of inertia `r.principal_moments` from `r.inertia`, kg m2, in no particular order.

    Returns whether the largest is at most the sum of the others, as for any distribution of mass. It is equal for a
    plane plate, and one moment is near zero for a thin rod. `ROUNDING` allows for rounding of the data.
    """
    for i in range(3):
        for j in range(3):
            r.moments_work[i, j] = r.inertia[i, j]
    eigen.diagonalize(r.moments_work)
    total = 0.0
    largest = 0.0
    for i in range(3):
        r.principal_moments[i] = r.moments_work[i, i]
        total += r.moments_work[i, i]
        largest = max(largest, r.moments_work[i, i])
    return largest - (total - largest) <= ROUNDING * largest


@kernel
def prepare(p, r):
    """Set mass data in frame C and the initial state. Returns False if the inertia tensor is not positive definite."""
    frame = rotation.from_angles(p.axes[0], p.axes[1], p.axes[2])
    offset = vector.load(p.center_of_mass)
    shift = 0.0
    if p.inertia_about_origin != 0.0:
        shift = p.mass
    square = vector.dot(offset, offset)
    for i in range(3):
        for j in range(3):
            r.inertia[i, j] = 0.5 * (p.inertia[i, j] + p.inertia[j, i]) + shift * offset[i] * offset[j]
        r.inertia[i, i] -= shift * square
    inertia = rotation.compose(rotation.compose(frame, rotation.load_matrix(r.inertia)), rotation.transpose(frame))
    inverse, good = invert(inertia)
    rotation.store_matrix(frame, r.frame)
    rotation.store_matrix(inertia, r.inertia)
    rotation.store_matrix(inverse, r.inverse)
    q = rotation.load_attitude(p.initial.quaternion)
    w = vector.load(p.initial.angular_velocity)
    v = vector.load(p.initial.velocity)
    if p.fixed != 0.0:
        w = vector.ZERO
        v = vector.ZERO
    momentum = rotation.apply(inertia, w)
    vector.store(vector.load(p.initial.position), r.position)
    vector.store(v, r.velocity)
    rotation.store_quaternion(rotation.continued(q, (1.0, 0.0, 0.0, 0.0)), r.quaternion)
    vector.store(rotation.apply_transposed(rotation.from_quaternion(q), momentum), r.angular_momentum)
    vector.store(w, r.angular_velocity)
    vector.store(rotation.apply(inverse, vector.cross(momentum, w)), r.angular_acceleration)
    vector.store(vector.ZERO, r.displacement)
    vector.store(vector.ZERO, r.turn)
    vector.store(vector.ZERO, r.impulse)
    vector.store(vector.ZERO, r.angular_impulse)
    return good


@kernel
def mid_attitude(r, h):
    """Return the attitude I -> C predicted for the middle of the coming step of h."""
    w = vector.load(r.angular_velocity)
    turn = vector.axpy(0.125 * h * h, vector.load(r.angular_acceleration), vector.scale(0.5 * h, w))
    return rotation.advance(rotation.load_quaternion(r.quaternion), turn)


@kernel
def _rate(inverse, q, momentum):
    """Return the angular velocity in C from the attitude and the angular momentum in I."""
    return rotation.apply(inverse, rotation.apply(rotation.from_quaternion(q), momentum))


@kernel
def turn_rate(turn, w):
    """Return the rate of the rotation vector `turn` from the angular velocity w: the inverse of dexp to third order."""
    a = vector.cross(turn, w)
    b = vector.cross(turn, a)
    return (
        w[0] + 0.5 * a[0] + b[0] / 12.0,
        w[1] + 0.5 * a[1] + b[1] / 12.0,
        w[2] + 0.5 * a[2] + b[2] / 12.0,
    )


@kernel
def turn_to(r, end, w, momentum, h):
    """Set attitude, angular velocity and momentum at the end of a step h, and what follows from their change."""
    start = rotation.load_quaternion(r.quaternion)
    before = vector.load(r.angular_velocity)
    # the turn in I, for the work of the torque: trapezoidal rule
    a = rotation.apply_transposed(rotation.from_quaternion(start), before)
    b = rotation.apply_transposed(rotation.from_quaternion(end), w)
    vector.store(vector.scale(0.5 * h, vector.add(a, b)), r.turn)
    vector.store(vector.scale(1.0 / h, vector.subtract(w, before)), r.angular_acceleration)
    rotation.store_quaternion(rotation.continued(end, start), r.quaternion)
    vector.store(momentum, r.angular_momentum)
    vector.store(w, r.angular_velocity)


@kernel
def _advance_attitude(r, h):
    """Advance attitude, angular momentum and velocity over h under the held torque. Returns the turn, rad, axes C."""
    inverse = rotation.load_matrix(r.inverse)
    start = rotation.load_quaternion(r.quaternion)
    torque = vector.load(r.torque)
    before = vector.load(r.angular_momentum)
    middle = vector.axpy(0.5 * h, torque, before)
    after = vector.axpy(h, torque, before)
    k1 = vector.load(r.angular_velocity)
    turn = vector.scale(0.5 * h, k1)
    k2 = turn_rate(turn, _rate(inverse, rotation.advance(start, turn), middle))
    turn = vector.scale(0.5 * h, k2)
    k3 = turn_rate(turn, _rate(inverse, rotation.advance(start, turn), middle))
    turn = vector.scale(h, k3)
    k4 = turn_rate(turn, _rate(inverse, rotation.advance(start, turn), after))
    turn = (
        h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
        h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1]),
        h / 6.0 * (k1[2] + 2.0 * k2[2] + 2.0 * k3[2] + k4[2]),
    )
    end = rotation.advance(start, turn)
    w = _rate(inverse, end, after)
    turn_to(r, end, w, after, h)
    return turn


@kernel
def advance(p, r, h):
    """Advance the body over h under `r.force` and `r.torque`. Returns the angle of its rotation, rad."""
    force = vector.load(r.force)
    x = vector.load(r.position)
    if p.fixed != 0.0:
        vector.accumulate(vector.scale(h, force), r.impulse)
        torque = vector.add(vector.load(r.torque), vector.cross(x, force))
        vector.accumulate(vector.scale(h, torque), r.angular_impulse)
        return 0.0
    v = vector.load(r.velocity)
    displacement = vector.axpy(0.5 * h * h / p.mass, force, vector.scale(h, v))
    vector.store(vector.add(x, displacement), r.position)
    vector.store(displacement, r.displacement)
    vector.store(vector.axpy(h / p.mass, force, v), r.velocity)
    return vector.norm(_advance_attitude(r, h))


@kernel
def kinetic_energy(p, r):
    """Return the kinetic energy of the rigid body, J."""
    A = rotation.from_quaternion(rotation.load_quaternion(r.quaternion))
    spin = vector.dot(rotation.apply(A, vector.load(r.angular_momentum)), vector.load(r.angular_velocity))
    v = vector.load(r.velocity)
    return 0.5 * (p.mass * vector.dot(v, v) + spin)


@kernel
def publish(p, r, body, audit):
    """Set the outputs of frame C and the momentum of the body (the received impulses, if it is fixed)."""
    x = vector.load(r.position)
    v = vector.load(r.velocity)
    q = rotation.load_quaternion(r.quaternion)
    A = rotation.from_quaternion(q)
    vector.store(x, body.position)
    rotation.store_quaternion(q, body.quaternion)
    vector.store(rotation.apply(A, v), body.velocity)
    vector.store(vector.load(r.angular_velocity), body.angular_velocity)
    vector.store(rotation.angles(A), body.angles)
    momentum = vector.scale(p.mass, v)
    spin = vector.load(r.angular_momentum)
    vector.store(vector.add(momentum, vector.load(r.impulse)), audit.momentum)
    total = vector.add(vector.cross(x, momentum), spin)
    vector.store(vector.add(total, vector.load(r.angular_impulse)), audit.angular_momentum)
