"""Control wrench, thrusters, push thrust and attitude hold: the craft's own loads (section 4.2)."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    conjugate,
    load_matrix,
    load_quaternion,
    product,
    rotation_vector,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import (
    accumulate,
    add,
    axpy,
    cross,
    load,
    negate,
    scale,
    store,
    subtract,
)
from dockfmu.components.spacecraft.rigid import mid_attitude


@kernel
def reset(a, r):
    """Switch attitude hold off, with the attitude of the body as its reference."""
    a.holding = 0.0
    store_quaternion(load_quaternion(r.quaternion), a.reference)


@kernel
def _hold(p, r, a):
    """Return the PD torque toward the reference attitude at the start of the step, axes C (ruling R17)."""
    q = load_quaternion(r.quaternion)
    error = rotation_vector(product(conjugate(load_quaternion(a.reference)), q))
    n = p.hold_frequency
    demand = axpy(2.0 * p.hold_damping * n, load(r.angular_velocity), scale(n * n, error))
    return negate(apply(load_matrix(r.inertia), demand))


@kernel
def gather(p, control, thruster, command, r, a, h):
    """Set the sum of the loads in axes C about the centre of mass, and the attitude at mid-step."""
    store_quaternion(mid_attitude(r, h), a.mid_quaternion)
    frame = load_matrix(r.frame)
    force = load(control.force)
    torque = load(control.torque)
    force = (force[0] + command.push * p.push_thrust, force[1], force[2])
    store(force, a.direct_force)
    store(torque, a.direct_torque)
    for e in range(len(thruster)):
        nozzle = p.thruster[e]
        f = apply(frame, scale(thruster[e].thrust, load(nozzle.direction)))
        arm = subtract(load(nozzle.position), load(p.center_of_mass))
        force = add(force, f)
        torque = add(torque, cross(apply(frame, arm), f))
    if command.attitude_hold != 0.0:
        if a.holding == 0.0:
            store_quaternion(load_quaternion(r.quaternion), a.reference)
        hold = _hold(p, r, a)
        torque = add(torque, hold)
        accumulate(hold, a.direct_torque)
    a.holding = command.attitude_hold
    store(force, a.force)
    store(torque, a.torque)
