"""Mean wrenches, momentum, energy and outputs of the probe mechanism at the end of a step."""

from math import pi

from components.core.kernel import kernel
from components.core.rotation import (
    angles,
    apply,
    apply_transposed,
    continued,
    load_matrix,
    load_quaternion,
    quaternion,
    store_quaternion,
)
from components.core.vector import add, cross, dot, load, negate, scale, store, subtract
from components.probe_mechanism import axial, cover, drive, tree


@kernel
def momentum(m):
    """Linear momentum, and angular momentum about the origin of I, of the mechanism at `m.motion`, axes I."""
    base = m.motion.base
    tree.momentum(m.parameters.probe, m.tree, m.damper, load(base.velocity), load(base.angular_velocity))
    A = load_matrix(base.rotation)
    linear = apply_transposed(A, load(m.tree.momentum))
    spin = apply_transposed(A, load(m.tree.angular_momentum))
    return linear, add(spin, cross(load(base.position), linear))


@kernel
def _mean(port, moving, impulse, angular_impulse, h):
    """Mean wrench of a port from impulses on its craft (I, about the origin of I), and its work on that craft.

    `moving` is the port in the middle of the step: the craft applies the mean in its own moving axes.
    """
    A = load_matrix(moving.rotation)
    force = apply(A, scale(1.0 / h, impulse))
    about_port = subtract(angular_impulse, cross(load(moving.position), impulse))
    torque = apply(A, scale(1.0 / h, about_port))
    store(force, port.force)
    store(torque, port.torque)
    return h * (dot(force, load(moving.velocity)) + dot(torque, load(moving.angular_velocity)))


@kernel
def exchange(m, h):
    """Mean wrenches on both craft. Ports in `m.motion` stand in the middle of the step.

    The base gets what the change of the mechanism's momentum and the impulse on the target leave: Newton's law of the
    whole mechanism. Momentum is counted from the state that the last step predicted, so that the impulse by which the
    base's true motion differs from the extrapolated one (LAGGED, spec/00 R3) is made good one step later, not lost.
    """
    books = m.books
    before = load(books.momentum)
    before_angular = load(books.angular_momentum)
    impulse = load(books.impulse)
    angular = load(books.angular_impulse)
    m.audit.work_target -= _mean(m.target, m.motion.target, impulse, angular, h)
    change = subtract(load(m.audit.momentum), before)
    change_angular = subtract(load(m.audit.angular_momentum), before_angular)
    impulse = negate(add(change, impulse))
    angular = negate(add(change_angular, angular))
    m.audit.work_base -= _mean(m.base, m.motion.base, impulse, angular, h)
    store(load(m.audit.momentum), books.momentum)
    store(load(m.audit.angular_momentum), books.angular_momentum)


@kernel
def audit(m):
    """Momentum, and energies but those of the contact, at the end of the step; after `report` of tree and damper."""
    linear, angular = momentum(m)
    out = m.audit
    store(linear, out.momentum)
    store(angular, out.angular_momentum)
    p = m.parameters.axial
    a = m.axial
    twist = a.travel - drive_travel(m.parameters.axial, m.parameters.drive, m.drive.angle)
    force, slip, spring = axial.train(p, a.slip, a.spring, twist)
    out.kinetic_energy = m.tree.kinetic_energy + 0.5 * p.inertance * a.rate * a.rate + drive.kinetic_energy(m.drive)
    stored = m.tree.stored_energy + m.damper.stored_energy + axial.stored_energy(p, force, spring)
    c = m.cover
    out.stored_energy = stored + m.books.pusher_energy + 0.5 * m.parameters.cover.stiffness * c.travel * c.travel
    out.dissipated_train = a.dissipated_train + axial.train_loss(p, force, a.slip, a.spring, slip, spring)
    out.dissipated_magnetic = a.dissipated_magnetic
    out.dissipated_screw = a.dissipated_screw
    out.dissipated_drive = m.drive.dissipated
    out.dissipated_probe = m.tree.dissipated_probe
    out.dissipated_lateral_springs = m.damper.dissipated_springs
    out.dissipated_lateral_brakes = m.damper.dissipated_brakes
    out.dissipated_lateral_stops = m.damper.dissipated_stops
    out.dissipated_cover = c.dissipated
    out.dissipated_energy = (
        out.dissipated_train
        + out.dissipated_magnetic
        + out.dissipated_screw
        + out.dissipated_drive
        + out.dissipated_probe
        + out.dissipated_lateral_springs
        + out.dissipated_lateral_brakes
        + out.dissipated_lateral_stops
        + out.dissipated_cover
    )
    out.work_drive = m.drive.work
    out.work_stiffness = m.tree.gain_work
    out.work_levers = m.books.work_levers
    a.torque = force / nut_per_travel(p)
    a.brake_slip = slip * nut_per_travel(p)
    a.stroke = spring


@kernel
def nut_per_travel(p):
    """Angle of the nut per travel of the probe, rad/m."""
    return 2.0 * pi / p.lead


@kernel
def drive_travel(p, drive_parameters, angle):
    """Angle (or rate) of the drive's output shaft as travel (or rate) of the probe."""
    return angle / (drive_parameters.nut_ratio * nut_per_travel(p))


@kernel
def _links(tree_links, out):
    for j in range(2):
        link = tree_links[j]
        store(load(link.position), out[j].position)
        q = quaternion(load_matrix(link.rotation))
        store_quaternion(continued(q, load_quaternion(out[j].quaternion)), out[j].quaternion)
        store(load(link.velocity), out[j].velocity)
        store(load(link.angular_velocity), out[j].angular_velocity)


@kernel
def _docking(relative, plane_x, out):
    """`docking` from the placement of frame 0 relative to PU."""
    A = load_matrix(relative.rotation)
    position = load(relative.position)
    store(position, out.position)
    store(angles(A), out.angles)
    store(load(relative.velocity), out.velocity)
    store(load(relative.angular_velocity), out.angular_velocity)
    out.plane_gap = -(position[0] + A[0][0] * plane_x)


@kernel
def outputs(m):
    """Kinematic outputs and end-position sensors at the end of the step; everything is placed there."""
    p = m.parameters
    travel = m.axial.travel
    _links(m.tree.link, m.link)
    _docking(m.relative, p.docking_plane_x, m.docking)
    m.nut.angle = nut_per_travel(p.axial) * travel
    m.nut.rate = nut_per_travel(p.axial) * m.axial.rate
    m.probe.length = p.probe.free_length - travel
    m.sensor.extended = 1.0 if travel <= p.sensor_margin else 0.0
    m.sensor.retracted = 1.0 if m.probe.length <= p.probe.shortest_length + p.sensor_margin else 0.0
    m.sensor.axial_travel = travel
    for i in range(2):
        m.sensor.probe_deflection[i] = m.link[0].position[1 + i]
        m.sensor.housing_angle[i] = m.joint.angle[i]


@kernel
def wrench_now(m):
    """Instantaneous wrenches of the last evaluation; `m.target` already holds its own."""
    force = load(m.tree.base_force)
    torque = load(m.tree.base_torque)
    if m.parameters.cover.present != 0.0:
        force = (cover.transmitted(m.parameters.cover, m.cover), force[1], force[2])
        torque = add(torque, cross((m.cover.travel, 0.0, 0.0), force))
    store(force, m.base.force_now)
    store(torque, m.base.torque_now)
