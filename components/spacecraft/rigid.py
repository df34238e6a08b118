"""Motion of the carrying rigid body: momentum in I, attitude as a quaternion (Yaskevich 2020, eq. (4.2.1)).

The resultant force and torque are held in I over a step. The state is the momentum in I, so linear and angular
momentum change by exactly the received impulses, for any step. Only the attitude is integrated approximately, by a
fourth-order Lie-group Runge-Kutta method.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import eigen, rotation
from dockfmu.components.physics.mechanics.inertia import invert
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
    store_matrix,
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
    norm,
    scale,
    store,
    subtract,
)

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
    frame = from_angles(p.axes[0], p.axes[1], p.axes[2])
    offset = load(p.center_of_mass)
    shift = 0.0
    if p.inertia_about_origin != 0.0:
        shift = p.mass
    square = dot(offset, offset)
    for i in range(3):
        for j in range(3):
            r.inertia[i, j] = 0.5 * (p.inertia[i, j] + p.inertia[j, i]) + shift * offset[i] * offset[j]
        r.inertia[i, i] -= shift * square
    inertia = compose(compose(frame, load_matrix(r.inertia)), transpose(frame))
    inverse, good = invert(inertia)
    store_matrix(frame, r.frame)
    store_matrix(inertia, r.inertia)
    store_matrix(inverse, r.inverse)
    q = load_attitude(p.initial.quaternion)
    w = load(p.initial.angular_velocity)
    v = load(p.initial.velocity)
    if p.fixed != 0.0:
        w = ZERO
        v = ZERO
    momentum = apply(inertia, w)
    store(load(p.initial.position), r.position)
    store(v, r.velocity)
    store_quaternion(continued(q, (1.0, 0.0, 0.0, 0.0)), r.quaternion)
    store(apply_transposed(from_quaternion(q), momentum), r.angular_momentum)
    store(w, r.angular_velocity)
    store(apply(inverse, cross(momentum, w)), r.angular_acceleration)
    store(ZERO, r.displacement)
    store(ZERO, r.turn)
    store(ZERO, r.impulse)
    store(ZERO, r.angular_impulse)
    return good


@kernel
def mid_attitude(r, h):
    """Return the attitude I -> C predicted for the middle of the coming step of h."""
    w = load(r.angular_velocity)
    turn = axpy(0.125 * h * h, load(r.angular_acceleration), scale(0.5 * h, w))
    return rotation.advance(load_quaternion(r.quaternion), turn)


@kernel
def _rate(inverse, q, momentum):
    """Return the angular velocity in C from the attitude and the angular momentum in I."""
    return apply(inverse, apply(from_quaternion(q), momentum))


@kernel
def turn_rate(turn, w):
    """Return the rate of the rotation vector `turn` from the angular velocity w: the inverse of dexp to third order."""
    a = cross(turn, w)
    b = cross(turn, a)
    return (
        w[0] + 0.5 * a[0] + b[0] / 12.0,
        w[1] + 0.5 * a[1] + b[1] / 12.0,
        w[2] + 0.5 * a[2] + b[2] / 12.0,
    )


@kernel
def turn_to(r, end, w, momentum, h):
    """Set attitude, angular velocity and momentum at the end of a step h, and what follows from their change."""
    start = load_quaternion(r.quaternion)
    before = load(r.angular_velocity)
    # the turn in I, for the work of the torque: trapezoidal rule
    a = apply_transposed(from_quaternion(start), before)
    b = apply_transposed(from_quaternion(end), w)
    store(scale(0.5 * h, add(a, b)), r.turn)
    store(scale(1.0 / h, subtract(w, before)), r.angular_acceleration)
    store_quaternion(continued(end, start), r.quaternion)
    store(momentum, r.angular_momentum)
    store(w, r.angular_velocity)


@kernel
def _advance_attitude(r, h):
    """Advance attitude, angular momentum and velocity over h under the held torque. Returns the turn, rad, axes C."""
    inverse = load_matrix(r.inverse)
    start = load_quaternion(r.quaternion)
    torque = load(r.torque)
    before = load(r.angular_momentum)
    middle = axpy(0.5 * h, torque, before)
    after = axpy(h, torque, before)
    k1 = load(r.angular_velocity)
    turn = scale(0.5 * h, k1)
    k2 = turn_rate(turn, _rate(inverse, rotation.advance(start, turn), middle))
    turn = scale(0.5 * h, k2)
    k3 = turn_rate(turn, _rate(inverse, rotation.advance(start, turn), middle))
    turn = scale(h, k3)
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
    force = load(r.force)
    x = load(r.position)
    if p.fixed != 0.0:
        accumulate(scale(h, force), r.impulse)
        torque = add(load(r.torque), cross(x, force))
        accumulate(scale(h, torque), r.angular_impulse)
        return 0.0
    v = load(r.velocity)
    displacement = axpy(0.5 * h * h / p.mass, force, scale(h, v))
    store(add(x, displacement), r.position)
    store(displacement, r.displacement)
    store(axpy(h / p.mass, force, v), r.velocity)
    return norm(_advance_attitude(r, h))


@kernel
def kinetic_energy(p, r):
    """Return the kinetic energy of the rigid body, J."""
    A = from_quaternion(load_quaternion(r.quaternion))
    spin = dot(apply(A, load(r.angular_momentum)), load(r.angular_velocity))
    v = load(r.velocity)
    return 0.5 * (p.mass * dot(v, v) + spin)


@kernel
def publish(p, r, body, audit):
    """Set the outputs of frame C and the momentum of the body (the received impulses, if it is fixed)."""
    x = load(r.position)
    v = load(r.velocity)
    q = load_quaternion(r.quaternion)
    A = from_quaternion(q)
    store(x, body.position)
    store_quaternion(q, body.quaternion)
    store(apply(A, v), body.velocity)
    store(load(r.angular_velocity), body.angular_velocity)
    store(angles(A), body.angles)
    momentum = scale(p.mass, v)
    spin = load(r.angular_momentum)
    store(add(momentum, load(r.impulse)), audit.momentum)
    total = add(cross(x, momentum), spin)
    store(add(total, load(r.angular_impulse)), audit.angular_momentum)
