"""Accounting of momentum and energy of the probe mechanism, and the mean wrenches that follow from it."""

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.physics.devices import drive, exchange, motion
from dockfmu.components.physics.mechanics.vector import load
from dockfmu.components.probe_mechanism import cover, tree
from dockfmu.components.probe_mechanism.alignment.ports import AS_IN_SOURCE
from dockfmu.components.probe_mechanism.axial import axial_train, end_stops


@kernel
def _evaluate(m, velocity, angular_velocity):
    """Return the tree with momentum and energy for a base with this `velocity` and `angular_velocity`, frame 0."""
    tree.momentum(m.parameters.probe, m.tree, m.damper, velocity, angular_velocity)
    return m.tree


_begin = exchange.make_begin(_evaluate)
_set_momenta = exchange.make_audit(_evaluate)


@kernel
def begin(m):
    """Find the momentum with the true motion of the base at the start of a step, before anything has moved.

    In mode AFFINE the joints first respond to the difference of the base's twist from the extrapolated one, as they
    would have responded to the missing acceleration: with the response that `tree.affine` found at this position.
    """
    motion.place_ports(m.base, m.target, m.motion, 0.0)
    if m.parameters.cover.present != 0.0:
        motion.shift_base(m.motion.base, m.cover.travel, m.cover.rate)
    if m.parameters.base_motion == AFFINE:
        velocity, angular_velocity = exchange.base_twist_error(m)
        tree.jolt(m.tree, velocity, angular_velocity)
        tree.place(m.parameters.probe, m.tree, m.damper, m.tree.length, -m.axial.rate, m.status)
    _begin(m)


@kernel
def audit(m, h):
    """Set momentum and energies except those of the contact, at the end of a step of length h.

    Call it after `report` of the tree.
    """
    kinetic = _set_momenta(m, h)
    out = m.audit
    p = m.parameters.axial
    a = m.axial
    twist = a.travel - axial_train.drive_travel(m.parameters.axial, m.parameters.drive, m.drive.angle)
    force, slip, deflection = axial_train.evaluate(p, a, twist)
    out.kinetic_energy = kinetic + 0.5 * p.inertance * a.rate * a.rate + drive.kinetic_energy(m.drive)
    stored = (
        m.tree.stored_energy + m.damper.stored_energy + axial_train.stored_energy(p, a, twist, force, slip, deflection)
    )
    stored += end_stops.stored_energy(m.parameters.end_stops, m.end_stop)
    out.stored_energy = stored + m.balance.pusher_energy + cover.stored_energy(m.cover)
    dissipated = axial_train.audit(p, a, force, slip, deflection, out)
    out.dissipated_screw = a.dissipated_screw
    out.dissipated_drive = m.drive.dissipated
    out.dissipated_probe = m.tree.dissipated_probe
    out.dissipated_lateral_springs = m.damper.dissipated_springs
    out.dissipated_lateral_brakes = m.damper.dissipated_brakes
    out.dissipated_lateral_stops = m.damper.dissipated_stops
    out.dissipated_cover = cover.dissipated_energy(m.cover)
    out.dissipated_planes = m.plane_contact.dissipated
    out.dissipated_end_stops = m.end_stop.dissipated
    out.dissipated_energy = (
        dissipated
        + out.dissipated_screw
        + out.dissipated_drive
        + out.dissipated_probe
        + out.dissipated_lateral_springs
        + out.dissipated_lateral_brakes
        + out.dissipated_lateral_stops
        + out.dissipated_cover
        + out.dissipated_planes
        + out.dissipated_end_stops
    )
    out.work_drive = m.drive.work
    out.work_stiffness = m.tree.gain_work if m.parameters.simplifications == AS_IN_SOURCE else 0.0
    out.work_levers = m.balance.work_levers
    drive_rate = axial_train.drive_travel(m.parameters.axial, m.parameters.drive, m.drive.rate)
    a.torque = axial_train.torque(p, a, force, drive_rate)
    a.brake_slip = slip * axial_train.nut_per_travel(p)
    a.stroke = deflection


@kernel
def respond(m):
    """Set `base.affine_mass`, and the response of the joints for `begin` of the next step, in mode AFFINE.

    It comes last in a step. Returns 0, or the code of a failure.
    """
    exchange.keep_base_twist(m)
    tree.release_dampers(m.tree, m.damper)
    code = tree.affine(m.parameters.probe, m.tree, m.damper, load(m.motion.base.angular_velocity))
    if code:
        return fail(m.status, tree.NO_INERTIA, 0.0, code)
    exchange.set_affine_mass(m.base, m.tree.affine_mass)
    return 0
