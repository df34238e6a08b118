"""Relative motion of docking units and buffer links (spacecraft section 4, conventions 3.2).

Erratum of spacecraft: the source prints A_CD,2^T twice in A_PA.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    advance,
    angles,
    apply,
    apply_transposed,
    compose,
    from_quaternion,
    load_attitude,
    load_matrix,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, load, scale, store, subtract


def placement(name: str, description: str, count: int | None = None) -> Group:
    """Return the group of the pose and twist of a frame relative to a reference frame, in axes of the reference."""
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
    """Return the group of the pose and twist of a port at an instant inside the step."""
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
    """Set `out` to the port `tau` seconds after its values were received (conventions 3.3).

    It moves with its twist, the `acceleration` of its origin (m/s2) and the angular acceleration `epsilon` (rad/s2),
    tuples in the port axes of the instant of receipt.
    """
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
def relate(relative, base, target):
    """Fill the placement `relative` of frame 0 relative to PU from both ports, which are groups `moving`.

    `base` is the port of the mechanism's base, `target` that of the passive unit. Velocities are those seen in PU: the
    transport term of its rotation is subtracted (spacecraft section 4).
    """
    A1 = load_matrix(base.rotation)
    A2 = load_matrix(target.rotation)
    w2 = load(target.angular_velocity)
    A = compose(A1, transpose(A2))
    r = apply(A2, subtract(load(base.position), load(target.position)))
    v = subtract(subtract(apply_transposed(A, load(base.velocity)), load(target.velocity)), cross(w2, r))
    store(r, relative.position)
    store_matrix(A, relative.rotation)
    store(v, relative.velocity)
    store(subtract(apply_transposed(A, load(base.angular_velocity)), w2), relative.angular_velocity)


@kernel
def copy_placement(placement, out):
    """Copy the pose and twist of a frame."""
    store(load(placement.position), out.position)
    store_matrix(load_matrix(placement.rotation), out.rotation)
    store(load(placement.velocity), out.velocity)
    store(load(placement.angular_velocity), out.angular_velocity)


@kernel
def set_docking(relative, plane_x, out):
    """Set the outputs `ports.docking` from the placement of frame 0, with its docking plane at `plane_x` (m), in PU."""
    A = load_matrix(relative.rotation)
    position = load(relative.position)
    store(position, out.position)
    store(angles(A), out.angles)
    store(load(relative.velocity), out.velocity)
    store(load(relative.angular_velocity), out.angular_velocity)
    out.plane_gap = -(position[0] + A[0][0] * plane_x)


@kernel
def place_link(base, link, motion):
    """Fill `motion` of a buffer link in PU from frame 0 in PU and the link in frame 0, eq. (4.4.1), (4.4.2)."""
    A = load_matrix(base.rotation)
    w = load(base.angular_velocity)
    offset = apply_transposed(A, load(link.position))
    store(add(load(base.position), offset), motion.position)
    store_matrix(compose(load_matrix(link.rotation), A), motion.rotation)
    carried = add(load(base.velocity), cross(w, offset))
    store(add(carried, apply_transposed(A, load(link.velocity))), motion.velocity)
    store(add(w, apply_transposed(A, load(link.angular_velocity))), motion.angular_velocity)


@kernel
def sum_of(a):
    """Return the sum of an array of three, which is not finite if one of them is not."""
    return a[0] + a[1] + a[2]


@kernel
def sum_of_motion(motion):
    """Return the sum of the numbers of a placement, which is not finite if one of them is not."""
    total = sum_of(motion.position) + sum_of(motion.velocity) + sum_of(motion.angular_velocity)
    for i in range(3):
        total += sum_of(motion.rotation[i])
    return total
