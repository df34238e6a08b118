"""Locks of joints: closed by a plastic impulse, at a value of a coordinate, by sensors or by command, and opened again.

A lock that closes stops its coordinate, or all rates of a spherical or free joint: two bodies then move as one, until
the lock opens and they separate. The rates of all others change by the impulse: they obey the equations of
motion with a prescribed change of one rate, without forces and velocity terms (multibody-formulations 4.1). The
recursion solves them, with changes of rates in the place of accelerations. The kinetic energy that is lost is a loss of
the lock.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, impulse_response, port_response, stepping, yielding
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    add,
    axpy,
    dot,
    load,
    negate,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree import articulated, links, momentum
from dockfmu.components.physics.tree.links import FREE, PRISMATIC, REVOLUTE, SPHERICAL


@kernel
def start(link, lock, run):
    """Set all locks to their state at the start; a closed one holds its coordinate at rest."""
    run.locks_lost = 0.0
    yielding.forget(lock, run)
    for k in range(int(run.locks)):
        o = lock[k]
        o.closed = o.closed_at_start
        o.closings = 0.0
        o.impulse = 0.0
        o.loss = 0.0
        o.close_before = o.close
        o.open_before = o.open
        o.close_ready = 0.0
        o.open_ready = 0.0
        o.to_close = 0.0
        o.to_open = 0.0
        if o.closed != 0.0:
            b = link[int(o.link)]
            b.held = 1.0
            b.forced = 0.0
            b.rate = 0.0
            store(ZERO, b.spin)
            store(ZERO, b.speed)


@kernel
def _kinetic_energy(link, frame):
    """Return the kinetic energy seen with a velocity added to that of all bodies."""
    return momentum.momenta(link, frame, ZERO)[0]


@kernel
def _ask_to_stop(b, p):
    """Prescribe the changes of the rates of link b, on link p, that stop its joint, in the place of velocity terms."""
    if b.kind >= SPHERICAL:
        store(scale(-1.0, apply_transposed(load_matrix(b.rotation), load(b.spin))), b.angular)
        if b.kind == FREE:
            store(scale(-1.0, apply_transposed(links.mounted(b, p), load(b.speed))), b.linear)
        return
    u = load(b.along)
    change = -b.rate
    if b.kind != PRISMATIC:
        store(axpy(change, u, ZERO), b.angular)
    if b.kind != REVOLUTE:
        store(axpy(change * (1.0 if b.kind == PRISMATIC else b.lead), u, ZERO), b.linear)


@kernel
def _strike(g, o, tau):
    """Stop the coordinate of lock o by an impulse on the whole system. Returns the kinetic energy lost, J."""
    link, run = g.link, g.run
    b = link[int(o.link)]
    stepping.place(g, tau)
    # a loss does not depend on the frame, its rounding does: at 7.5 km/s it is 4e-6 J of 500 kg
    frame = ZERO
    if run.free_root != 0.0:
        frame = negate(load(link[1].velocity))
    before = _kinetic_energy(link, frame)
    root = link[0]
    impulse_response.prepare(g, ZERO, ZERO)
    _ask_to_stop(b, link[int(b.parent)])
    b.held = 1.0
    b.forced = 0.0
    closure.accelerate(link, True, g.solver, run)
    closure.constrain(link, g.cut, g.row, g.solver, run, closure.IMPACT)
    # what holds the joint is that without the rotor, which stops with the joint
    stopped = -b.rotor * b.rate if b.kind < SPHERICAL else 0.0
    yielding.set_impulse(o, b, add(yielding.impulse_of_joint(b, run), (stopped, 0.0, 0.0)))
    impulse_response.change_rates(link)
    b.rate = 0.0
    store(ZERO, b.spin)
    store(ZERO, b.speed)
    motions = impulse_response.work_of_motions(link)
    run.motions += motions
    force, torque = articulated.passed_wrench(root)
    stepping.place(g, tau)
    if run.carried != 0.0:
        yielding.strike(o, force, torque, load(root.angular_velocity), run)
    # the base turns while its impulsive torque acts, and in the frame it moves while a force does: a lock of the flight
    work = -dot(force, frame) - dot(torque, load(root.angular_velocity))
    if run.affine_ports > 0.0:
        given, pushed = port_response.respond_to_impulse(link, g.port, run)
        work += given + dot(pushed, subtract(frame, load(run.base_velocity)))
    if run.free_root != 0.0:
        # loops closed by the base, and mechanisms on ports, take a part of the impulse
        momentum.keep(link, run)
    return before + work + motions - _kinetic_energy(link, frame)


@kernel
def _close(g, o, tau):
    """Close a lock."""
    run = g.run
    # what a lock holds changes which constraints depend on others
    run.rank_again = 1.0
    loss = _strike(g, o, tau)
    o.closed = 1.0
    o.closings += 1.0
    o.loss += loss
    run.locks_lost += loss
    run.restart = 1.0


@kernel
def _open(lock, o, b, run):
    """Open a lock that is closed; its coordinate is free unless another lock holds it."""
    if o.closed == 0.0:
        return
    o.closed = 0.0
    for k in range(int(run.locks)):
        if lock[k].closed != 0.0 and lock[k].link == o.link:
            return
    b.held = 0.0
    b.qdd = 0.0
    run.restart = 1.0
    run.rank_again = 1.0


@kernel
def command(g):
    """Carry out the commands at the start of a step: rising edges close and open locks."""
    for k in range(int(g.run.locks)):
        o = g.lock[k]
        b = g.link[int(o.link)]
        if o.open != 0.0 and o.open_before == 0.0:
            _open(g.lock, o, b, g.run)
        if o.close != 0.0 and o.close_before == 0.0 and o.closed == 0.0 and o.open == 0.0:
            _close(g, o, 0.0)
        o.close_before = o.close
        o.open_before = o.open


@kernel
def keep_coordinates(link, lock, run):
    """Store the coordinates before a micro-step."""
    for k in range(int(run.locks)):
        lock[k].before = link[int(lock[k].link)].q


@kernel
def catch(g, tau):
    """Close and open locks at the end of the micro-step that ends `tau` into the step.

    They close where their coordinate has passed their value in it; sensors close and open them (`sensors.command`).
    """
    for k in range(int(g.run.locks)):
        o = g.lock[k]
        b = g.link[int(o.link)]
        if o.to_open != 0.0:
            o.to_open = 0.0
            _open(g.lock, o, b, g.run)
            continue
        if o.closed != 0.0 or o.open != 0.0:
            continue
        passed = False
        if o.automatic != 0.0:
            upward = o.before < o.at <= b.q
            downward = b.q <= o.at < o.before
            passed = (upward and o.direction >= 0.0) or (downward and o.direction <= 0.0)
        if passed or o.to_close != 0.0:
            o.to_close = 0.0
            _close(g, o, tau)


@kernel
def time_to_catch(link, lock, run):
    """Return the time until the first coordinate reaches the value of its lock at its present rate, s; 1e9 if none."""
    least = 1e9
    for k in range(int(run.locks)):
        o = lock[k]
        if o.automatic == 0.0 or o.closed != 0.0 or o.open != 0.0:
            continue
        b = link[int(o.link)]
        away = o.at - b.q
        if b.rate * away > 0.0:
            least = min(least, away / b.rate)
    return least
