"""Control wrench, thrusters, push thrust and attitude hold: the craft's own loads (section 4.2)."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import rotation, vector
from dockfmu.components.spacecraft.rigid import mid_attitude


@kernel
def reset(a, r):
    """Switch attitude hold off, with the attitude of the body as its reference."""
    a.holding = 0.0
    rotation.store_quaternion(rotation.load_quaternion(r.quaternion), a.reference)


@kernel
def _hold(p, r, a):
    """Return the PD torque toward the reference attitude at the start of the step, axes C (ruling R17)."""
    q = rotation.load_quaternion(r.quaternion)
    error = rotation.rotation_vector(rotation.product(rotation.conjugate(rotation.load_quaternion(a.reference)), q))
    n = p.hold_frequency
    demand = vector.axpy(2.0 * p.hold_damping * n, vector.load(r.angular_velocity), vector.scale(n * n, error))
    return vector.negate(rotation.apply(rotation.load_matrix(r.inertia), demand))


@kernel
def gather(p, control, thruster, command, r, a, h):
    """Set the sum of the loads in axes C about the centre of mass, and the attitude at mid-step."""
    rotation.store_quaternion(mid_attitude(r, h), a.mid_quaternion)
    frame = rotation.load_matrix(r.frame)
    force = vector.load(control.force)
    torque = vector.load(control.torque)
    force = (force[0] + command.push * p.push_thrust, force[1], force[2])
    vector.store(force, a.direct_force)
    vector.store(torque, a.direct_torque)
    for e in range(len(thruster)):
        nozzle = p.thruster[e]
        f = rotation.apply(frame, vector.scale(thruster[e].thrust, vector.load(nozzle.direction)))
        arm = vector.subtract(vector.load(nozzle.position), vector.load(p.center_of_mass))
        force = vector.add(force, f)
        torque = vector.add(torque, vector.cross(rotation.apply(frame, arm), f))
    if command.attitude_hold != 0.0:
        if a.holding == 0.0:
            rotation.store_quaternion(rotation.load_quaternion(r.quaternion), a.reference)
        hold = _hold(p, r, a)
        torque = vector.add(torque, hold)
        vector.accumulate(hold, a.direct_torque)
    a.holding = command.attitude_hold
    vector.store(force, a.force)
    vector.store(torque, a.torque)
