"""The controlled platform: a second-order lag in position and attitude, with limited rates.

Position: x'' = w^2 (x_r - x) + 2 z w (k x_r' - x'), with the natural frequency w, the damping ratio z and the share k
of the commanded rate; the reference x_r moves with its commanded twist. The attitude follows the same equation for the
rotation vector from the present attitude, so it depends on no choice of axes and has no singularity. For rotation about
one axis it is the scalar equation of the angle. Each step is exact for a reference of constant rate.
"""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import rotation
from dockfmu.components.physics.mechanics.rotation import (
    apply_transposed,
    conjugate,
    from_quaternion,
    load_quaternion,
    product,
    rate_matrix,
    rotation_vector,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    load,
    negate,
    norm,
    scale,
    store,
    subtract,
)


@kernel
def ramp_lag(p):
    """Return the time, s, by which the platform lags behind a reference of constant rate, 2 z (1 - k) / w."""
    return 2.0 * p.damping * (1.0 - p.feedforward) / (2.0 * pi * p.frequency)


@kernel
def _coefficients(p, h):
    """Return (c1, c2, c4, c5) of a free motion over h: e(h) = c1 e + c2 e', e'(h) = c4 e + c5 e'."""
    w = 2.0 * pi * p.frequency
    a = -p.damping * w
    square = w * w - a * a
    decay = exp(a * h)
    if square > 0.0:
        b = sqrt(square)
        c = decay * cos(b * h)
        s = decay * sin(b * h) / b
    elif square < 0.0:
        b = sqrt(-square)
        # decay times cosh and sinh as single exponentials: neither overflows
        c = 0.5 * (exp((a + b) * h) + exp((a - b) * h))
        s = 0.5 * (exp((a + b) * h) - exp((a - b) * h)) / b
    else:
        c = decay
        s = decay * h
    return c - a * s, s, -w * w * s, c + a * s


@kernel
def _limited(rate, limit):
    """Return (rate, False), or the rate clipped to the magnitude `limit` and True."""
    size = norm(rate)
    if size > limit:
        return scale(limit / size, rate), True
    return rate, False


@kernel
def _respond(c, lag, gap, reference_rate, rate, h):
    """Return (displacement, rate) after h; `gap` points from the state to the reference, which moves at its rate."""
    # free motion about the lagged reference
    e = axpy(lag, reference_rate, negate(gap))
    d = subtract(rate, reference_rate)
    after = add(scale(c[0], e), scale(c[1], d))
    after_rate = add(scale(c[2], e), scale(c[3], d))
    moved = axpy(h, reference_rate, subtract(after, e))
    return moved, add(after_rate, reference_rate)


@kernel
def advance(p, servo, reference, h):
    """Move the platform and its reference over h. Returns whether a rate was at its limit."""
    c = _coefficients(p, h)
    lag = ramp_lag(p)
    v = load(servo.velocity)
    x = load(servo.position)
    v_reference = load(reference.velocity)
    gap = subtract(load(reference.position), x)
    moved, after = _respond(c, lag, gap, v_reference, v, h)
    after, clipped = _limited(after, p.velocity_limit)
    if clipped:
        moved = scale(0.5 * h, add(v, after))
    store(add(x, moved), servo.position)
    store(after, servo.velocity)

    q = load_quaternion(servo.quaternion)
    w = load(servo.angular_velocity)
    between = product(conjugate(q), load_quaternion(reference.quaternion))
    w_reference = apply_transposed(from_quaternion(between), load(reference.angular_velocity))
    turn, after = _respond(c, lag, rotation_vector(between), w_reference, w, h)
    # from the rate of the rotation vector to the angular velocity, axes of the platform after the turn
    after = apply_transposed(rate_matrix(turn), after)
    after, turn_clipped = _limited(after, p.angular_velocity_limit)
    if turn_clipped:
        turn = scale(0.5 * h, add(w, after))
    store_quaternion(rotation.advance(q, turn), servo.quaternion)
    store(after, servo.angular_velocity)
    move(reference, h)
    return clipped or turn_clipped


@kernel
def move(reference, h):
    """Move a reference by its twist over h, backward for h < 0."""
    accumulate(scale(h, load(reference.velocity)), reference.position)
    turn = scale(h, load(reference.angular_velocity))
    q = rotation.advance(load_quaternion(reference.quaternion), turn)
    store_quaternion(q, reference.quaternion)


@kernel
def _brake(rate, deceleration, h):
    """Return (mean rate over h, rate after h) under a constant deceleration to zero."""
    size = norm(rate)
    if size <= 0.0:
        return ZERO, ZERO
    time = size / deceleration
    if time <= h:
        return scale(0.5 * time / h, rate), ZERO
    left = 1.0 - h / time
    return scale(0.5 * (1.0 + left), rate), scale(left, rate)


@kernel
def brake(p, servo, h):
    """Bring the platform to rest along its present motion, and hold it there."""
    mean, after = _brake(load(servo.velocity), p.deceleration, h)
    accumulate(scale(h, mean), servo.position)
    store(after, servo.velocity)
    mean, after = _brake(load(servo.angular_velocity), p.angular_deceleration, h)
    q = rotation.advance(load_quaternion(servo.quaternion), scale(h, mean))
    store_quaternion(q, servo.quaternion)
    store(after, servo.angular_velocity)
