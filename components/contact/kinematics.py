"""Relative motion of docking units and buffer links (spec/04 section 4, spec/00 3.2).

Erratum of spec/04: the source prints A_CD,2^T twice in A_PA.
"""

from __future__ import annotations

from components.core.field import Group, private
from components.core.kernel import kernel
from components.core.rotation import (
    IDENTITY,
    advance,
    apply,
    apply_transposed,
    compose,
    from_quaternion,
    load_attitude,
    load_matrix,
    store_matrix,
    transpose,
)
from components.core.vector import add, axpy, cross, load, scale, store, subtract


def placement(name: str, description: str, count: int | None = None) -> Group:
    """Pose and twist of a frame relative to another one, in axes of that other one."""
    return Group(
        name,
        private("position", "m", "of the origin", shape=3),
        private("rotation", "1", "reference -> this frame", IDENTITY, shape=(3, 3)),
        private("velocity", "m/s", "of the origin as seen in the reference frame", shape=3),
        private("angular_velocity", "rad/s", "relative to the reference frame", shape=3),
        count=count,
        description=description,
    )


def moving(name: str, description: str) -> Group:
    """A port at an instant inside the step."""
    return Group(
        name,
        private("position", "m", "of the origin, I", shape=3),
        private("rotation", "1", "I -> port", shape=(3, 3)),
        private("velocity", "m/s", "absolute, of the origin, port axes", shape=3),
        private("angular_velocity", "rad/s", "absolute, port axes", shape=3),
        description=description,
    )


@kernel
def extrapolate(port, acceleration, epsilon, tau, out):
    """`out` <- the port `tau` seconds after its values were received, moving with their twist and the accelerations of
    origin and attitude (tuples, port axes of then), spec/00 3.3."""
    q = load_attitude(port.quaternion)
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
def relate_ports(relative, base, target):
    """Fill the placement `relative` of frame 0 relative to PU from both ports, as `moving`."""
    relate(
        relative,
        load(base.position),
        load_matrix(base.rotation),
        load(base.velocity),
        load(base.angular_velocity),
        load(target.position),
        load_matrix(target.rotation),
        load(target.velocity),
        load(target.angular_velocity),
    )


@kernel
def relate(base, r1, A1, v1, w1, r2, A2, v2, w2):
    """Fill the placement `base` of frame 0 relative to PU from the two ports.

    1 is the port of the mechanism's base, 2 the one of the passive unit: position in I, rotation I -> port, twist in
    port axes, as tuples. Velocities are those seen in PU, the transport term of its rotation taken off.
    """
    A = compose(A1, transpose(A2))
    r = apply(A2, subtract(r1, r2))
    v = subtract(subtract(apply_transposed(A, v1), v2), cross(w2, r))
    store(r, base.position)
    store_matrix(A, base.rotation)
    store(v, base.velocity)
    store(subtract(apply_transposed(A, w1), w2), base.angular_velocity)


@kernel
def place_link(base, link, motion):
    """Fill `motion` of a buffer link in PU, eq. (4.4.1), (4.4.2), from frame 0 in PU and the link in frame 0."""
    A = load_matrix(base.rotation)
    w = load(base.angular_velocity)
    offset = apply_transposed(A, load(link.position))
    store(add(load(base.position), offset), motion.position)
    store_matrix(compose(load_matrix(link.rotation), A), motion.rotation)
    carried = add(load(base.velocity), cross(w, offset))
    store(add(carried, apply_transposed(A, load(link.velocity))), motion.velocity)
    store(add(w, apply_transposed(A, load(link.angular_velocity))), motion.angular_velocity)
