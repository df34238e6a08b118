"""Mean wrenches, momentum, energy and outputs of the probe mechanism at the end of a step."""

from math import pi

from components.core.component import fail
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
from components.core.vector import ZERO, accumulate, add, cross, dot, load, negate, scale, store, subtract
from components.probe_mechanism import axial, cover, drive, motion, tree
from components.probe_mechanism.ports import AFFINE, AS_IN_SOURCE, LAGGED, SOURCE


@kernel
def _momentum(m, velocity, angular_velocity):
    """Linear momentum, and angular momentum about the origin of I, of the mechanism at `m.motion`, axes I.

    On a base with that `velocity` and `angular_velocity`, frame 0.
    """
    base = m.motion.base
    tree.momentum(m.parameters.probe, m.tree, m.damper, velocity, angular_velocity)
    A = load_matrix(base.rotation)
    linear = apply_transposed(A, load(m.tree.momentum))
    spin = apply_transposed(A, load(m.tree.angular_momentum))
    return linear, add(spin, cross(load(base.position), linear))


@kernel
def momentum(m):
    """Momenta of `_momentum` with the base's motion in `m.motion`."""
    return _momentum(m, load(m.motion.base.velocity), load(m.motion.base.angular_velocity))


@kernel
def initialize(m):
    """Momenta at the start, after `audit`; no lag, nothing exchanged."""
    books = m.books
    own = load(books.end_momentum)
    own_angular = load(books.end_angular_momentum)
    store(own, books.momentum)
    store(own_angular, books.angular_momentum)
    if m.parameters.base_motion != SOURCE:
        store(own, m.audit.own_momentum)
        store(own_angular, m.audit.own_angular_momentum)
    store(load(m.audit.own_momentum), m.audit.momentum)
    store(load(m.audit.own_angular_momentum), m.audit.angular_momentum)
    store(ZERO, books.lag)
    store(ZERO, books.angular_lag)
    store(ZERO, m.audit.base_impulse_error)
    _keep_force_now(m)


@kernel
def begin(m):
    """Momentum with the true motion of the base at the start of a step, before anything has moved.

    In mode AFFINE the joints first answer to what the base's twist differs from the extrapolated one, as they would
    have to the acceleration that was missing: by the response that `tree.affine` found at this position. In the modes
    SOURCE and AFFINE the step counts from that momentum, so that the mean wrench is that of D11. In LAGGED it counts
    from the extrapolated one: what the base's true motion adds goes into the wrench, one step late (spec/00 R38).
    """
    books = m.books
    base = m.motion.base
    mode = m.parameters.base_motion
    motion.place_ports(m.base, m.target, m.motion, 0.0)
    if m.parameters.cover.present != 0.0:
        motion.shift_base(base, m.cover.travel, m.cover.rate)
    if mode == AFFINE:
        tree.jolt(
            m.tree,
            subtract(load(base.velocity), (books.base_twist[0], books.base_twist[1], books.base_twist[2])),
            subtract(load(base.angular_velocity), (books.base_twist[3], books.base_twist[4], books.base_twist[5])),
        )
        tree.place(m.parameters.probe, m.tree, m.damper, m.tree.length, -m.axial.rate, m.status)
    linear, angular = momentum(m)
    store(subtract(linear, load(books.momentum)), books.lag)
    store(subtract(angular, load(books.angular_momentum)), books.angular_lag)
    if mode != LAGGED:
        store(linear, books.momentum)
        store(angular, books.angular_momentum)


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
    whole mechanism. With LAGGED momentum is counted from the state that the last step predicted, so that the impulse
    by which the base's true motion differs from the extrapolated one (spec/00 R3) is made good one step later, not
    lost; with SOURCE and AFFINE from that of `begin`.
    """
    books = m.books
    before = load(books.momentum)
    before_angular = load(books.angular_momentum)
    impulse = load(books.impulse)
    angular = load(books.angular_impulse)
    m.audit.work_target -= _mean(m.target, m.motion.target, impulse, angular, h)
    own = load(books.end_momentum)
    own_angular = load(books.end_angular_momentum)
    change = subtract(own, before)
    change_angular = subtract(own_angular, before_angular)
    impulse = negate(add(change, impulse))
    angular = negate(add(change_angular, angular))
    m.audit.work_base -= _mean(m.base, m.motion.base, impulse, angular, h)
    store(own, books.momentum)
    store(own_angular, books.angular_momentum)
    out = m.audit
    if m.parameters.base_motion == SOURCE:
        accumulate(change, out.momentum)
        accumulate(change_angular, out.angular_momentum)
    else:
        store(own, out.momentum)
        store(own_angular, out.angular_momentum)
        store(add(own, load(books.lag)), out.own_momentum)
        store(add(own_angular, load(books.angular_lag)), out.own_angular_momentum)
    before_now = load(books.force_now)
    _keep_force_now(m)
    mean = scale(0.5 * h, add(before_now, load(books.force_now)))
    accumulate(subtract(mean, impulse), out.base_impulse_error)


@kernel
def _keep_force_now(m):
    """`base.force_now` in axes I, for the trapezoidal rule of the next step."""
    A = load_matrix(m.motion.base.rotation)
    store(apply_transposed(A, load(m.base.force_now)), m.books.force_now)


@kernel
def audit(m):
    """Momentum, and energies but those of the contact, at the end of the step; after `report` of tree and damper."""
    linear, angular = momentum(m)
    store(linear, m.books.end_momentum)
    store(angular, m.books.end_angular_momentum)
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
    twist = a.travel - drive_travel(m.parameters.axial, m.parameters.drive, m.drive.angle)
    force, slip, spring = axial.train(p, a.slip, a.spring, twist)
    out.kinetic_energy = kinetic + 0.5 * p.inertance * a.rate * a.rate + drive.kinetic_energy(m.drive)
    stored = m.tree.stored_energy + m.damper.stored_energy + axial.stored_energy(p, force, spring)
    out.stored_energy = stored + m.books.pusher_energy + cover.stored_energy(m.cover)
    out.dissipated_train = a.dissipated_train + axial.train_loss(p, force, a.slip, a.spring, slip, spring)
    out.dissipated_magnetic = a.dissipated_magnetic
    out.dissipated_screw = a.dissipated_screw
    out.dissipated_drive = m.drive.dissipated
    out.dissipated_probe = m.tree.dissipated_probe
    out.dissipated_lateral_springs = m.damper.dissipated_springs
    out.dissipated_lateral_brakes = m.damper.dissipated_brakes
    out.dissipated_lateral_stops = m.damper.dissipated_stops
    out.dissipated_cover = cover.dissipated_energy(m.cover)
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
    out.work_stiffness = m.tree.gain_work if m.parameters.simplifications == AS_IN_SOURCE else 0.0
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
        axial = cover.transmitted(m.parameters.cover, m.cover) + m.books.pusher_force
        force = (axial, force[1], force[2])
        torque = add(torque, cross((m.cover.travel, 0.0, 0.0), force))
    store(force, m.base.force_now)
    store(torque, m.base.torque_now)


@kernel
def respond(m):
    """`base.affine_mass`, and the answer of the joints for `begin` of the next step: mode AFFINE, at the end of all.

    Returns 0, or the code of a failure.
    """
    base = m.motion.base
    for i in range(3):
        m.books.base_twist[i] = base.velocity[i]
        m.books.base_twist[3 + i] = base.angular_velocity[i]
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
