"""Accounting of momentum and energy of the probe mechanism, and the mean wrenches that follow from it."""

from components.core.component import fail
from components.core.kernel import kernel
from components.core.ports import AFFINE, SOURCE
from components.core.rotation import (
    apply_transposed,
    load_matrix,
)
from components.core.vector import ZERO, add, cross, dot, load, store, subtract
from components.devices import drive, exchange, motion
from components.probe_mechanism import axial, cover, tree
from components.probe_mechanism.ports import AS_IN_SOURCE


@kernel
def _momentum(m, velocity, angular_velocity):
    """Return (linear momentum, angular momentum about the origin of I) of the mechanism at `m.motion`, axes I.

    The base has that `velocity` (m/s) and `angular_velocity` (rad/s), frame 0.
    """
    base = m.motion.base
    tree.momentum(m.parameters.probe, m.tree, m.damper, velocity, angular_velocity)
    A = load_matrix(base.rotation)
    linear = apply_transposed(A, load(m.tree.momentum))
    spin = apply_transposed(A, load(m.tree.angular_momentum))
    return linear, add(spin, cross(load(base.position), linear))


@kernel
def momentum(m):
    """Return the momenta of `_momentum` with the base's motion in `m.motion`."""
    return _momentum(m, load(m.motion.base.velocity), load(m.motion.base.angular_velocity))


@kernel
def begin(m):
    """Find the momentum with the true motion of the base at the start of a step, before anything has moved.

    In mode AFFINE the joints first respond to the difference of the base's twist from the extrapolated one, as they
    would have responded to the missing acceleration: with the response that `tree.affine` found at this position.
    """
    balance = m.balance
    base = m.motion.base
    motion.place_ports(m.base, m.target, m.motion, 0.0)
    if m.parameters.cover.present != 0.0:
        motion.shift_base(base, m.cover.travel, m.cover.rate)
    if m.parameters.base_motion == AFFINE:
        tree.jolt(
            m.tree,
            subtract(load(base.velocity), (balance.base_twist[0], balance.base_twist[1], balance.base_twist[2])),
            subtract(
                load(base.angular_velocity), (balance.base_twist[3], balance.base_twist[4], balance.base_twist[5])
            ),
        )
        tree.place(m.parameters.probe, m.tree, m.damper, m.tree.length, -m.axial.rate, m.status)
    linear, angular = momentum(m)
    exchange.begin(m, linear, angular)


@kernel
def audit(m):
    """Set momentum and energies, except those of the contact, at the end of a step; after `report` of the tree."""
    linear, angular = momentum(m)
    store(linear, m.balance.end_momentum)
    store(angular, m.balance.end_angular_momentum)
    out = m.audit
    kinetic = m.tree.kinetic_energy
    if m.parameters.base_motion == SOURCE:
        # the carrier's masses include the mechanism at rest on it
        base = m.motion.base
        linear, angular = _momentum(m, ZERO, ZERO)
        store(linear, out.own_momentum)
        store(angular, out.own_angular_momentum)
        kinetic = m.tree.kinetic_energy
        kinetic += dot(load(m.tree.momentum), load(base.velocity))
        kinetic += dot(load(m.tree.angular_momentum), load(base.angular_velocity))
    p = m.parameters.axial
    a = m.axial
    twist = a.travel - axial.drive_travel(m.parameters.axial, m.parameters.drive, m.drive.angle)
    force, slip, deflection = axial.train(p, a.slip, a.deflection, twist)
    out.kinetic_energy = kinetic + 0.5 * p.inertance * a.rate * a.rate + drive.kinetic_energy(m.drive)
    stored = m.tree.stored_energy + m.damper.stored_energy + axial.stored_energy(p, force, deflection)
    out.stored_energy = stored + m.balance.pusher_energy + cover.stored_energy(m.cover)
    dissipated = axial.audit(p, a, force, slip, deflection, out)
    out.dissipated_screw = a.dissipated_screw
    out.dissipated_drive = m.drive.dissipated
    out.dissipated_probe = m.tree.dissipated_probe
    out.dissipated_lateral_springs = m.damper.dissipated_springs
    out.dissipated_lateral_brakes = m.damper.dissipated_brakes
    out.dissipated_lateral_stops = m.damper.dissipated_stops
    out.dissipated_cover = cover.dissipated_energy(m.cover)
    out.dissipated_energy = (
        dissipated
        + out.dissipated_screw
        + out.dissipated_drive
        + out.dissipated_probe
        + out.dissipated_lateral_springs
        + out.dissipated_lateral_brakes
        + out.dissipated_lateral_stops
        + out.dissipated_cover
    )
    out.work_drive = m.drive.work
    out.work_stiffness = m.tree.gain_work if m.parameters.simplifications == AS_IN_SOURCE else 0.0
    out.work_levers = m.balance.work_levers
    a.torque = force / axial.nut_per_travel(p)
    a.brake_slip = slip * axial.nut_per_travel(p)
    a.stroke = deflection


@kernel
def respond(m):
    """Set `base.affine_mass`, and the response of the joints for `begin` of the next step, in mode AFFINE.

    It comes last in a step. Returns 0, or the code of a failure.
    """
    base = m.motion.base
    for i in range(3):
        m.balance.base_twist[i] = base.velocity[i]
        m.balance.base_twist[3 + i] = base.angular_velocity[i]
    tree.release_dampers(m.tree, m.damper)
    code = tree.affine(m.parameters.probe, m.tree, m.damper, load(base.angular_velocity))
    if code:
        return fail(m.status, tree.NO_INERTIA, 0.0, code)
    place = 0
    for i in range(6):
        for k in range(i, 6):
            m.base.affine_mass[place] = 0.5 * (m.tree.affine_mass[i, k] + m.tree.affine_mass[k, i])
            place += 1
    return 0
