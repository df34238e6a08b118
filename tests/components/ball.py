"""A ball that carries a docking unit: drift - kick - drift under the wrench that is held over a step."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply_transposed,
    from_quaternion,
    load_attitude,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import axpy, load, scale, store


@kernel
def carry(body, mass, inertia, push, h):
    """Move `body` by h, s, under its wrench; `push`, N, acts along x of I."""
    q = load_attitude(body.quaternion)
    A = from_quaternion(q)
    before = apply_transposed(A, load(body.velocity))
    w = load(body.angular_velocity)
    half = advance(q, scale(0.5 * h, w))
    kick = apply_transposed(from_quaternion(half), load(body.force))
    after = axpy(h / mass, (kick[0] + push, kick[1], kick[2]), before)
    w_after = axpy(h / inertia, load(body.torque), w)
    store(axpy(0.5 * h, before, axpy(0.5 * h, after, load(body.position))), body.position)
    q = advance(half, scale(0.5 * h, w_after))
    store_quaternion(q, body.quaternion)
    A = from_quaternion(q)
    for i in range(3):
        body.velocity[i] = A[i][0] * after[0] + A[i][1] * after[1] + A[i][2] * after[2]
    store(w_after, body.angular_velocity)


def kinetic_energy(body, mass: float, inertia: float) -> float:
    """Return the energy of the motion of `body`, J."""
    turning = 0.5 * inertia * float(body.angular_velocity @ body.angular_velocity)
    return 0.5 * mass * float(body.velocity @ body.velocity) + turning
