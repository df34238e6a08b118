"""Ports whose mechanism responds to their acceleration (AFFINE): to the system it is an inertia at the port.

The mechanism has computed its mean wrench f' for the acceleration a' that the port reported. For the true one, a, it
is f' - M_A (a - a') (dynamics 11). M_A is added to the articulated inertia of the port's link, and f' + M_A a' to its
load: the recursion then finds the wrench that acts, however heavy the mechanism is. The velocities that the mechanism
extrapolates with a' are known here. It responds to their error when its next step begins, by M_A in the axes that the
port then has; what the sum over the micro-steps differs from that, of second order, is added to the next step.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.multibody import point_forces
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply_transposed,
    compose,
    from_quaternion,
    load_attitude,
    load_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree import momentum
from dockfmu.components.physics.tree.articulated import nine, pass_on, resisted, six


@kernel
def start(port, mount, run):
    """Note which ports are AFFINE, by their parameters `mount`; none has responded yet."""
    run.affine_ports = 0.0
    for k in range(int(run.ports)):
        p = port[k]
        p.affine = 1.0 if mount[k].base_motion == AFFINE else 0.0
        run.affine_ports += p.affine
        store(ZERO, p.last_middle)
        store(ZERO, p.response)
        store(ZERO, p.angular_response)
        store(ZERO, p.left_impulse)
        store(ZERO, p.left_angular_impulse)


@kernel
def _turned(u, i, k, A):
    """Return A^T B A of a block B of a symmetric matrix (6, 6) given by its upper triangle by rows."""
    rows = (
        (u[3], u[4], u[5]),
        (u[8], u[9], u[10]),
        (u[12], u[13], u[14]),
    )
    if i == k:
        rows = ((u[0], u[1], u[2]), (u[1], u[6], u[7]), (u[2], u[7], u[11]))
        if i == 1:
            rows = ((u[15], u[16], u[17]), (u[16], u[18], u[19]), (u[17], u[19], u[20]))
    return compose(transpose(A), compose(rows, A))


@kernel
def _set_inertia(p, A):
    """Set the inertia of the mechanism about the port in I, for an attitude A, I -> port."""
    T = _turned(p.affine_mass, 0, 0, A)
    S = _turned(p.affine_mass, 0, 1, A)
    J = _turned(p.affine_mass, 1, 1, A)
    place = 0
    for i in range(3):
        for k in range(3):
            p.tr[3 * i + k] = S[i][k]
        for k in range(i, 3):
            p.tt[place] = T[i][k]
            p.rr[place] = J[i][k]
            place += 1


@kernel
def hold(port, run, h):
    """Set what responds in a step h: inertia and given accelerations; after `point_forces.hold_ports`.

    The response to a jolt of the base precedes it, with the inertia of which the craft has been told. Adds to the held
    wrench what the last step has left.
    """
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine == 0.0:
            continue
        q = load_attitude(p.quaternion)
        w = load(p.angular_velocity)
        e = load(p.angular_acceleration)
        _set_inertia(p, from_quaternion(advance(q, axpy(0.125 * h * h, e, scale(0.5 * h, w)))))
        A = from_quaternion(q)
        # as the mechanism extrapolates them (`stepping.place_base`)
        turned = apply_transposed(from_quaternion(advance(q, axpy(0.5 * h * h, e, scale(h, w)))), axpy(h, e, w))
        given = apply_transposed(A, load(p.acceleration))
        store(given, p.given)
        store(axpy(h, given, load(p.last_velocity)), p.expected)
        store(scale(1.0 / h, subtract(turned, load(p.last_spin))), p.given_turn)
        store(turned, p.expected_spin)
        left = load(p.left_impulse)
        # the mechanism has lost it where the port was in the last step
        accumulate(cross(subtract(load(p.middle), load(p.last_middle)), left), run.apart)
        accumulate(scale(1.0 / h, left), p.held_force)
        accumulate(scale(1.0 / h, load(p.left_angular_impulse)), p.held_torque)


@kernel
def _acceleration(b, r, gravity):
    """Return (acceleration, angular acceleration) of a port at r from the reference point of its link b, I."""
    e = load(b.angular_acceleration)
    w = load(b.angular_velocity)
    a = add(load(b.acceleration), add(cross(e, r), cross(w, cross(w, r))))
    return add(a, load(gravity)), e


@kernel
def load_links(link, port, gravity, run):
    """Add inertia and load of the mechanisms to the links, before the recursion; the links are placed."""
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine == 0.0:
            continue
        b = link[int(p.link)]
        r = apply_transposed(load_matrix(b.rotation), load(p.arm))
        w = load(b.angular_velocity)
        # accelerations of links are less the field of gravity
        a = subtract(subtract(load(p.given), load(gravity)), cross(w, cross(w, r)))
        force, torque = resisted(six(p.tt), nine(p.tr), six(p.rr), a, load(p.given_turn))
        pass_on(six(p.tt), nine(p.tr), six(p.rr), force, torque, r, b)


@kernel
def add_inertia(link, port, run):
    """Add the inertia of the mechanisms to the links, for impulses; the links are placed."""
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine != 0.0:
            b = link[int(p.link)]
            r = apply_transposed(load_matrix(b.rotation), load(p.arm))
            pass_on(six(p.tt), nine(p.tr), six(p.rr), ZERO, ZERO, r, b)


@kernel
def _count(p, b, r, v, w, force, torque, run):
    """Count an impulse of the mechanism on link b at r from its reference point; v, w are the mean twist, absolute."""
    place = add(load(b.position), r)
    now = add(load(run.base_position), place)
    accumulate(force, p.response)
    accumulate(torque, p.angular_response)
    run.ports_work += dot(force, v) + dot(torque, w)
    if run.carried != 0.0:
        accumulate(force, run.port_impulse)
        accumulate(add(torque, cross(place, force)), run.port_angular_impulse)
    accumulate(add(torque, cross(now, force)), run.port_turn)
    accumulate(cross(subtract(now, load(p.middle)), force), run.apart)


@kernel
def respond(link, port, gravity, run, h):
    """Count the response of the mechanisms to the accelerations that a micro-step h has."""
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine == 0.0:
            continue
        b = link[int(p.link)]
        r, v = point_forces.point_twist(b, p.arm)
        a, e = _acceleration(b, r, gravity)
        force, torque = resisted(
            six(p.tt), nine(p.tr), six(p.rr), subtract(load(p.given), a), subtract(load(p.given_turn), e)
        )
        w = load(b.angular_velocity)
        _count(p, b, r, add(v, load(run.base_velocity)), w, scale(h, force), scale(h, torque), run)
        if run.free_root != 0.0:
            momentum.add_outer(run, force, torque, add(load(b.position), r))


@kernel
def respond_to_impulse(link, port, run):
    """Count the response to an impulse, whose changes of rates the accelerations of the links are.

    The links are placed with their velocities after it. Returns the work of the mechanisms as seen from I, J, and their
    impulse: the work from a frame that moves is less by that of the impulse along with it.
    """
    work = run.ports_work
    total = ZERO
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine == 0.0:
            continue
        b = link[int(p.link)]
        r, v = point_forces.point_twist(b, p.arm)
        e = load(b.angular_acceleration)
        a = add(load(b.acceleration), cross(e, r))
        force, torque = resisted(six(p.tt), nine(p.tr), six(p.rr), scale(-1.0, a), scale(-1.0, e))
        v = axpy(-0.5, a, add(v, load(run.base_velocity)))
        _count(p, b, r, v, axpy(-0.5, e, load(b.angular_velocity)), force, torque, run)
        total = add(total, force)
    return run.ports_work - work, total


@kernel
def finish(port, run, audit, h):
    """Set what the mechanisms have yet to lose, and what is left for the next step, at the end of a step h.

    The ports are published.
    """
    store(ZERO, audit.impulse_response)
    store(ZERO, audit.angular_impulse_response)
    for k in range(int(run.ports)):
        p = port[k]
        if p.affine == 0.0:
            continue
        _set_inertia(p, from_quaternion(load_attitude(p.quaternion)))
        if h == 0.0:
            continue
        v = subtract(load(p.expected), load(p.last_velocity))
        w = subtract(load(p.expected_spin), load(p.last_spin))
        force, torque = resisted(six(p.tt), nine(p.tr), six(p.rr), v, w)
        done = load(p.response)
        turned = load(p.angular_response)
        store(subtract(force, done), p.left_impulse)
        store(subtract(torque, turned), p.left_angular_impulse)
        accumulate(done, audit.impulse_response)
        store(load(p.middle), p.last_middle)
        accumulate(add(turned, cross(load(p.middle), done)), audit.angular_impulse_response)
        store(ZERO, p.response)
        store(ZERO, p.angular_response)
