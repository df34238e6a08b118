"""Motion of the two ports inside a step, spec/00 section 3.3."""

from components.core.kernel import kernel
from components.core.rotation import (
    advance,
    apply,
    apply_transposed,
    from_quaternion,
    load_matrix,
    load_quaternion,
    store_matrix,
)
from components.core.vector import ZERO, add, axpy, cross, load, scale, store


@kernel
def _extrapolate(port, acceleration, epsilon, tau, out):
    """`out` <- the port `tau` seconds after its values were received, moving with their twist and accelerations."""
    q = load_quaternion(port.quaternion)
    A = from_quaternion(q)
    v = load(port.velocity)
    w = load(port.angular_velocity)
    shift = axpy(0.5 * tau * tau, acceleration, scale(tau, v))
    store(add(load(port.position), apply_transposed(A, shift)), out.position)
    now = from_quaternion(advance(q, axpy(0.5 * tau * tau, epsilon, scale(tau, w))))
    store_matrix(now, out.rotation)
    store(apply(now, apply_transposed(A, axpy(tau, acceleration, v))), out.velocity)
    store(axpy(tau, epsilon, w), out.angular_velocity)


@kernel
def place_ports(base, target, motion, tau):
    """Both ports `tau` seconds into the step; the target's accelerations are not known and taken as 0."""
    _extrapolate(base, load(base.acceleration), load(base.angular_acceleration), tau, motion.base)
    _extrapolate(target, ZERO, ZERO, tau, motion.target)


@kernel
def shift_base(base, travel, rate):
    """Frame 0 moved along its x by the hatch cover's `travel` (m), with its `rate` (m/s)."""
    A = load_matrix(base.rotation)
    offset = (travel, 0.0, 0.0)
    store(add(load(base.position), apply_transposed(A, offset)), base.position)
    carried = add(load(base.velocity), cross(load(base.angular_velocity), offset))
    store(add(carried, (rate, 0.0, 0.0)), base.velocity)


@kernel
def turn_to_inertial(port, force, torque):
    """Force and torque about the origin of a moving port (port axes) as (force, torque about the origin of I), I."""
    A = load_matrix(port.rotation)
    f = apply_transposed(A, force)
    return f, add(apply_transposed(A, torque), cross(load(port.position), f))
