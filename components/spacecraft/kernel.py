"""A step of the spacecraft, rigid and elastic: loads, modes, rigid motion, ports, audit."""

from __future__ import annotations

from math import isfinite

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import vector
from dockfmu.components.physics.mechanics.inertia import asymmetry
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, from_quaternion, load_quaternion
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, add, axpy, cross, dot, load, scale, store
from dockfmu.components.spacecraft import affine, control, elastic, mounts, rigid, sections, two_way, two_way_port

NOT_FINITE = 11
INERTIA = 12
STEP_TOO_LONG = 13
ROTATION_EXCEEDED = 14
TWO_AFFINE_PORTS = 15
AFFINE_SINGULAR = 16
ATTITUDE = 17
DIRECTION = 18
ASYMMETRIC = 19
TRIANGLE = 20
COUPLING = 21

MAX_TURN = 0.5

MESSAGES = {
    NOT_FINITE: Message("a wrench, a command or the state is not finite (velocity {body.velocity[1]:g} m/s)"),
    INERTIA: Message("parameters.inertia is not a positive definite tensor about the centre of mass"),
    STEP_TOO_LONG: Message("the body rotates {status.value:.3g} rad in one step, more than 0.5 rad", discard=True),
    ROTATION_EXCEEDED: Message(
        "elastic rotation {status.value:.3g} rad of port {status.index:.0f} exceeds "
        "parameters.rotation_limit = {parameters.rotation_limit:.3g} rad",
        outcome=LIMIT_EXCEEDED,
    ),
    TWO_AFFINE_PORTS: Message("only one port can have base_motion AFFINE"),
    ATTITUDE: Message(
        "parameters.initial.quaternion has norm {status.value:.6g}: give the attitude I -> C, scalar first, "
        "(1, 0, 0, 0) for no rotation"
    ),
    DIRECTION: Message(
        "parameters.thruster[{status.index:.0f}].direction has length {status.value:.6g}: give a unit vector; thrust "
        "sets the magnitude of the force"
    ),
    ASYMMETRIC: Message(
        "parameters.inertia is not symmetric: the element in row and column {status.index:.0f} and its transpose "
        "differ by {status.value:.6g} kg.m2"
    ),
    TRIANGLE: Message(
        "parameters.inertia is physically impossible: of its principal moments {rigid.principal_moments[1]:.6g}, "
        "{rigid.principal_moments[2]:.6g} and {rigid.principal_moments[3]:.6g} kg.m2 about the centre of mass one is "
        "{status.value:.6g} kg.m2 more than the sum of the others. Check the moments, the signs of the products, and "
        "parameters.inertia_about_origin"
    ),
    COUPLING: Message(
        "parameters.mass and parameters.inertia are less than those carried by the modes: with coupling two_way they "
        "must be those of the whole craft, appendages included"
    ),
    AFFINE_SINGULAR: Message("affine_mass of port {status.index:.0f} is not the mass matrix of a mechanism"),
}


@kernel
def _start(m):
    """Check the parameters and set the initial state, common to all builds. Returns 0, or the code of a failure."""
    p = m.parameters
    norm = check.norm_of_quaternion(p.initial.quaternion)
    if not check.is_attitude(norm):
        return fail(m.status, ATTITUDE, norm, 0)
    for e in range(len(p.thruster)):
        if not check.is_unit(p.thruster[e].direction):
            return fail(m.status, DIRECTION, vector.norm(load(p.thruster[e].direction)), e + 1)
    difference, i, j = asymmetry(p.inertia)
    if difference != 0.0:
        return fail(m.status, ASYMMETRIC, difference, 10 * (j + 1) + i + 1)
    if not rigid.prepare(p, m.rigid):
        return fail(m.status, INERTIA, 0.0, 0)
    if not rigid.set_principal_moments(m.rigid):
        moments = m.rigid.principal_moments
        total = moments[0] + moments[1] + moments[2]
        return fail(m.status, TRIANGLE, 2.0 * max(moments[0], max(moments[1], moments[2])) - total, 0)
    if affine.ports(p.port)[1] > 1:
        return fail(m.status, TWO_AFFINE_PORTS, 0.0, 0)
    control.reset(m.actuation, m.rigid)
    for i in range(len(m.mount)):
        mounts.prepare(p, m.rigid, p.port[i], m.mount[i])
        m.audit.work_port[i] = 0.0
    m.audit.work_control = 0.0
    store(ZERO, m.audit.impulse_control)
    store(ZERO, m.audit.angular_impulse_control)
    store(ZERO, m.audit.impulse_response)
    store(ZERO, m.audit.angular_impulse_response)
    m.audit.dissipated_modes = 0.0
    m.audit.dissipated_energy = 0.0
    m.flexible.rotation_max = 0.0
    affine.reset(m.affine)
    return 0


@kernel
def _loads(m, h):
    """Gather the loads of the step; fail if the body rotates too far in it. Returns 0, or the code."""
    turn = h * vector.norm(load(m.rigid.angular_velocity))
    if turn > MAX_TURN:
        return fail(m.status, STEP_TOO_LONG, turn, 0)
    control.gather(m.parameters, m.control, m.thruster, m.command, m.rigid, m.actuation, h)
    port, _ = affine.ports(m.parameters.port)
    for i in range(len(m.mount)):
        mounts.receive(m.port[i], m.mount[i], h)
        if i == port:
            A_CI = from_quaternion(load_quaternion(m.actuation.mid_quaternion))
            affine.hold(m.port[i], m.mount[i], m.affine, A_CI, h)
        mounts.resolve(m.rigid, m.mount[i])
    return 0


@kernel
def _sum(actuation, mount, r, without):
    """Set the resultant of all loads but the wrench on port `without`, about the centre of mass, axes C."""
    force = load(actuation.force)
    torque = load(actuation.torque)
    for i in range(len(mount)):
        if i != without:
            force = add(force, load(mount[i].force))
            torque = add(torque, mounts.torque_about_center(mount[i]))
    store(force, r.force)
    store(torque, r.torque)


@kernel
def _turn_loads(m):
    """Transform the resultant of all loads to axes I. Returns the attitude I -> C at mid-step, in which they act."""
    r = m.rigid
    A_CI = from_quaternion(load_quaternion(m.actuation.mid_quaternion))
    store(apply_transposed(A_CI, load(r.force)), r.force)
    store(apply_transposed(A_CI, load(r.torque)), r.torque)
    return A_CI


@kernel
def _count_work(m, A_CI, h):
    """Count the work of the loads on the motion of C in the step just done, and the impulses of the control."""
    r = m.rigid
    displacement = apply(A_CI, load(r.displacement))
    turn = apply(A_CI, load(r.turn))
    for i in range(len(m.mount)):
        work = dot(load(m.mount[i].force), displacement)
        m.audit.work_port[i] += work + dot(mounts.torque_about_center(m.mount[i]), turn)
    work = dot(load(m.actuation.force), displacement)
    m.audit.work_control += work + dot(load(m.actuation.torque), turn)
    impulse = scale(h, apply_transposed(A_CI, load(m.actuation.force)))
    twist = scale(h, apply_transposed(A_CI, load(m.actuation.torque)))
    middle = axpy(-0.5, load(r.displacement), load(r.position))
    accumulate(impulse, m.audit.impulse_control)
    accumulate(add(twist, cross(middle, impulse)), m.audit.angular_impulse_control)
    port, count = affine.ports(m.parameters.port)
    if count > 0:
        affine.owe_response(m.mount[port], m.affine, A_CI, m.audit, h)


@kernel
def _move(m, h):
    """Advance the rigid body over h, and count the work of the loads on it."""
    _sum(m.actuation, m.mount, m.rigid, -1)
    A_CI = _turn_loads(m)
    rigid.advance(m.parameters, m.rigid, h)
    _count_work(m, A_CI, h)


@kernel
def _publish(m, h):
    """Set the outputs at the end of a step of h. Returns 0, or the code of a failure."""
    rigid.publish(m.parameters, m.rigid, m.body, m.audit)
    m.audit.kinetic_energy = rigid.kinetic_energy(m.parameters, m.rigid)
    total = m.audit.kinetic_energy
    for i in range(len(m.mount)):
        mounts.publish(m.rigid, m.parameters.port[i], m.mount[i], m.port[i], h)
        rotated = vector.norm(load(m.mount[i].rotation))
        m.flexible.rotation_max = max(m.flexible.rotation_max, rotated)
        if rotated > m.parameters.rotation_limit:
            return fail(m.status, ROTATION_EXCEEDED, rotated, i + 1)
        total += vector.norm(load(m.port[i].position)) + vector.norm(load(m.port[i].acceleration))
        total += vector.norm(load(m.port[i].velocity)) + vector.norm(load(m.port[i].angular_velocity))
    total += vector.norm(load(m.audit.momentum)) + vector.norm(load(m.audit.angular_momentum))
    if not isfinite(total):
        return fail(m.status, NOT_FINITE, total, 0)
    return 0


@kernel
def _finish(m):
    """Note at the end of a step, after all else, what is left of the response of a mechanism with AFFINE."""
    port, count = affine.ports(m.parameters.port)
    if count > 0:
        affine.finish(m.port[port], m.mount[port], m.affine, m.audit)


@kernel
def initialize_rigid(m):
    """Set the rigid spacecraft to its initial state. Returns 0, or the code of a failure."""
    code = _start(m)
    if code != 0:
        return code
    return _publish(m, 0.0)


@kernel
def step_rigid(m, t, h):
    """Advance the rigid spacecraft by h > 0, s. Returns 0, or the code of a failure."""
    code = _loads(m, h)
    if code != 0:
        return code
    p, count = affine.ports(m.parameters.port)
    if count > 0:
        _sum(m.actuation, m.mount, m.rigid, p)
        affine.rigid_mobility(m.parameters, m.rigid, m.mount[p], m.affine, h)
        if not affine.solve(m.port[p], m.mount[p], m.affine, h):
            return fail(m.status, AFFINE_SINGULAR, 0.0, p + 1)
        mounts.resolve(m.rigid, m.mount[p])
    _move(m, h)
    code = _publish(m, h)
    _finish(m)
    return code


@kernel
def _add_energies(m):
    """Add the energies of the modes to the audit."""
    m.audit.kinetic_energy += m.elastic.kinetic_energy
    m.audit.stored_energy = m.elastic.stored_energy


@kernel
def initialize_elastic(m):
    """Set the elastic spacecraft to its initial state. Returns 0, or the code of a failure."""
    code = _start(m)
    if code != 0:
        return code
    elastic.prepare(m.elastic, m.modes, m.rigid, m.mount, int(m.parameters.modes_used))
    code = _publish(m, 0.0)
    _add_energies(m)
    return code


@kernel
def _solve_affine(m, p, n, h):
    """Find the wrench on the AFFINE port p, after the modal forces of all other loads have been gathered.

    Returns 0, or the code of a failure.
    """
    _sum(m.actuation, m.mount, m.rigid, p)
    affine.rigid_mobility(m.parameters, m.rigid, m.mount[p], m.affine, h)
    elastic.bias(m.elastic, m.modes, p, n, h)
    affine.add_elastic(m.rigid, m.mount[p], m.elastic, m.affine)
    if not affine.solve(m.port[p], m.mount[p], m.affine, h):
        return fail(m.status, AFFINE_SINGULAR, 0.0, p + 1)
    mounts.resolve(m.rigid, m.mount[p])
    return 0


@kernel
def _excite(m, p, n, h):
    """Set the modal forces of all loads but the wrench on the AFFINE port p; p is -1 if there is none."""
    elastic.tune(m.elastic, m.modes, n, h, p)
    elastic.excite_by_thrusters(m.elastic, m.modes, m.thruster, m.parameters.thruster, n)
    elastic.excite_by_control(m.parameters, m.elastic, m.modes, m.rigid, m.actuation, n)
    for i in range(len(m.mount)):
        if i != p:
            elastic.excite_by_port(m.elastic, m.modes, m.mount[i], i, n)


@kernel
def _load_elastic(m, h):
    """Gather the loads and modal forces of a step of h. Returns 0, or the code of a failure."""
    code = _loads(m, h)
    if code != 0:
        return code
    n = int(m.parameters.modes_used)
    p, count = affine.ports(m.parameters.port)
    _excite(m, p, n, h)
    if count > 0:
        code = _solve_affine(m, p, n, h)
        if code != 0:
            return code
        elastic.excite_by_port(m.elastic, m.modes, m.mount[p], p, n)
    return 0


@kernel
def _move_elastic(m, h):
    """Advance modes and rigid body over h under the gathered loads. Returns 0, or the code of a failure."""
    n = int(m.parameters.modes_used)
    energy = m.elastic.kinetic_energy + m.elastic.stored_energy
    work = elastic.advance(m.elastic, m.modes, n)
    m.audit.work_control += work
    for i in range(len(m.mount)):
        done = elastic.deform(m.elastic, m.modes, m.rigid, m.mount[i], i, n, h)
        m.audit.work_port[i] += done
        work += done
    elastic.energies(m.elastic, m.modes, n)
    m.audit.dissipated_modes += work - (m.elastic.kinetic_energy + m.elastic.stored_energy - energy)
    m.audit.dissipated_energy = m.audit.dissipated_modes
    _move(m, h)
    code = _publish(m, h)
    _add_energies(m)
    _finish(m)
    return code


@kernel
def step_elastic(m, t, h):
    """Advance the elastic spacecraft by h > 0, s. Returns 0, or the code of a failure."""
    code = _load_elastic(m, h)
    if code != 0:
        return code
    return _move_elastic(m, h)


@kernel
def initialize_elastic_sections(m):
    """Set the elastic spacecraft with loads at sections to its initial state. Returns 0, or the code of a failure."""
    code = initialize_elastic(m)
    sections.reset(m.section)
    sections.publish(m.section, m.cut, m.modes, m.elastic, int(m.parameters.modes_used))
    return code


@kernel
def step_elastic_sections(m, t, h):
    """Advance the elastic spacecraft with loads at sections by h > 0, s. Returns 0, or the code of a failure."""
    code = _load_elastic(m, h)
    if code != 0:
        return code
    n = int(m.parameters.modes_used)
    _sum(m.actuation, m.mount, m.rigid, -1)
    motion = sections.rigid_acceleration(m.parameters, m.rigid, h)
    sections.hold(m.section, m.cut, m.mount, m.thruster, m.parameters, m.rigid, m.actuation, m.elastic, motion, n)
    code = _move_elastic(m, h)
    sections.publish(m.section, m.cut, m.modes, m.elastic, n)
    return code


@kernel
def _publish_two_way(m, h):
    """Set the outputs of the craft whose modes act back. Returns 0, or the code of a failure."""
    code = _publish(m, h)
    two_way.publish(m.parameters, m.rigid, m.elastic, m.whole, m.audit)
    m.audit.stored_energy = m.elastic.stored_energy
    return code


@kernel
def initialize_two_way(m):
    """Set the spacecraft whose modes act back to its initial state. Returns 0, or the code of a failure."""
    code = _start(m)
    if code != 0:
        return code
    n = int(m.parameters.modes_used)
    elastic.prepare(m.elastic, m.modes, m.rigid, m.mount, n)
    if not two_way.prepare(m.parameters, m.rigid, m.elastic, m.coupling, m.whole, n):
        return fail(m.status, COUPLING, 0.0, 0)
    return _publish_two_way(m, 0.0)


@kernel
def _load_two_way(m, h):
    """Gather the loads of a step of h, and find the motion and the modal forces. Returns 0, or a code."""
    code = _loads(m, h)
    if code != 0:
        return code
    n = int(m.parameters.modes_used)
    p, count = affine.ports(m.parameters.port)
    two_way.tune(m.parameters, m.rigid, m.elastic, m.coupling, m.modes, m.whole, n, h, p)
    _excite(m, -1, n, h)
    _sum(m.actuation, m.mount, m.rigid, -1)
    if not two_way.respond(m.parameters, m.rigid, m.elastic, m.coupling, m.modes, m.whole, n, h):
        return fail(m.status, COUPLING, 0.0, 0)
    if count > 0:
        two_way_port.prepare(m.parameters, m.rigid, m.mount[p], m.elastic, m.modes, m.whole, m.affine, p, n, h)
        if not affine.solve(m.port[p], m.mount[p], m.affine, h):
            return fail(m.status, AFFINE_SINGULAR, 0.0, p + 1)
        mounts.resolve(m.rigid, m.mount[p])
        two_way_port.correct(m.mount[p], m.elastic, m.modes, m.whole, p, n)
        _sum(m.actuation, m.mount, m.rigid, -1)
    return 0


@kernel
def _move_two_way(m, h):
    """Advance modes and carrying motion over h. Returns 0, or the code of a failure."""
    p = m.parameters
    n = int(p.modes_used)
    work, lost = two_way.advance_modes(m.elastic, m.modes, n)
    m.audit.work_control += work
    m.audit.dissipated_modes += lost
    m.audit.dissipated_energy = m.audit.dissipated_modes
    for i in range(len(m.mount)):
        m.audit.work_port[i] += elastic.deform(m.elastic, m.modes, m.rigid, m.mount[i], i, n, h)
    A_CI = _turn_loads(m)
    if p.fixed != 0.0:
        rigid.advance(p, m.rigid, h)
    else:
        two_way.advance(p, m.rigid, m.elastic, m.coupling, m.whole, A_CI, n, h)
    _count_work(m, A_CI, h)
    code = _publish_two_way(m, h)
    _finish(m)
    return code


@kernel
def step_two_way(m, t, h):
    """Advance the spacecraft whose modes act back by h > 0, s. Returns 0, or the code of a failure."""
    code = _load_two_way(m, h)
    if code != 0:
        return code
    return _move_two_way(m, h)


@kernel
def initialize_two_way_sections(m):
    """Set the spacecraft of `initialize_two_way` with loads at sections. Returns 0, or the code of a failure."""
    code = initialize_two_way(m)
    sections.reset(m.section)
    sections.publish(m.section, m.cut, m.modes, m.elastic, int(m.parameters.modes_used))
    return code


@kernel
def step_two_way_sections(m, t, h):
    """Advance the spacecraft of `step_two_way` with loads at sections. Returns 0, or the code of a failure."""
    code = _load_two_way(m, h)
    if code != 0:
        return code
    n = int(m.parameters.modes_used)
    motion = two_way.motion(m.parameters, m.rigid, m.whole, h)
    sections.hold(m.section, m.cut, m.mount, m.thruster, m.parameters, m.rigid, m.actuation, m.elastic, motion, n)
    code = _move_two_way(m, h)
    sections.publish(m.section, m.cut, m.modes, m.elastic, n)
    return code
