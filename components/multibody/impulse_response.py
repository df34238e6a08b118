"""Impulses: the recursion with changes of rates in the place of accelerations, for locks and for jolts of the base.

A carried base in mode AFFINE gets the wrench f' - M_A (a - a') for its true acceleration a, f' being that for a' with
which the system has moved (dynamics 11). The system follows one step later: its rates change as by the missing
acceleration, which the difference between the true twist of the base and the extrapolated one is. M_A is what the base
feels then: the articulated inertia with the constraints of cut joints.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, exchange, port_response, stepping, yielding
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, dot, load, store, subtract
from dockfmu.components.physics.tree import links
from dockfmu.components.physics.tree.articulated import passed_wrench
from dockfmu.components.physics.tree.links import FREE, REVOLUTE, SCREW, SPHERICAL


@kernel
def prepare(g, velocity, angular_velocity):
    """Set the equations of an impulse without forces and velocity terms, for a jump of the base's twist, axes I.

    The links are placed.
    """
    link = g.link
    root = link[0]
    store(velocity, root.acceleration)
    store(angular_velocity, root.angular_acceleration)
    for k in range(len(link)):
        o = link[k]
        store(ZERO, o.force)
        store(ZERO, o.torque)
        if k > 0:
            store(ZERO, o.linear)
            store(ZERO, o.angular)
            o.drive = 0.0
            o.armature = o.rotor
    if g.run.affine_ports > 0.0:
        port_response.add_inertia(link, g.port, g.run)


@kernel
def change_rates(link):
    """Add the accelerations, which stand for changes, to the rates of all free coordinates; they are zero then."""
    for k in range(1, len(link)):
        o = link[k]
        kind = o.kind
        if REVOLUTE <= kind <= SCREW:
            if o.held == 0.0:
                o.rate += o.qdd
        elif kind >= SPHERICAL:
            accumulate(load(o.spin_rate), o.spin)
            store(ZERO, o.spin_rate)
            if kind == FREE:
                accumulate(load(o.speed_rate), o.speed)
                store(ZERO, o.speed_rate)
        o.qdd = 0.0


@kernel
def work_of_motions(link):
    """Return the work of what prescribes motions in an impulse, J: rates that it leaves as they are, after `constrain`.

    Those of locked coordinates are zero.
    """
    work = 0.0
    for k in range(1, len(link)):
        b = link[k]
        if REVOLUTE <= b.kind <= SCREW and b.held != 0.0:
            work -= b.load * b.rate
    return work


@kernel
def jolt(g):
    """Let the system respond to the true twist of the base less that extrapolated to the end of the last step.

    Counts the impulse that the base has felt, and all works. With LAGGED what locks have lost is all that follows.
    """
    link, run = g.link, g.run
    stepping.place(g, 0.0)
    root = link[0]
    velocity = subtract(load(run.base_velocity), load(run.end_velocity))
    turned = subtract(load(root.angular_velocity), load(run.end_spin))
    prepare(g, velocity, turned)
    closure.accelerate(link, True, g.solver, run)
    closure.constrain(link, g.cut, g.row, g.solver, run, closure.RESPONSE)
    force, torque = passed_wrench(root)
    if run.struck != 0.0:
        yielding.yield_base(link, g.lock, run, velocity, turned, -dot(force, velocity) - dot(torque, turned))
    if run.affine == 0.0:
        stepping.place(g, 0.0)
        return
    work = work_of_motions(link)
    run.motions += work
    change_rates(link)
    stepping.place(g, 0.0)
    if run.affine_ports > 0.0:
        given, _ = port_response.respond_to_impulse(link, g.port, run)
        work += given
    exchange.count_jolt(link, run, force, torque, work)


@kernel
def set_affine_mass(g, tau):
    """Set `base.affine_mass` by six unit jumps of the base's twist; all is placed `tau` into a step, at its end.

    Accelerations of the links are overwritten, those of their joints are kept.
    """
    link, flex, root = g.link, g.solver.flex, g.link[0]
    stepping.predict(link, 0.0)
    links.place(link, flex)
    links.move(link)
    prepare(g, ZERO, ZERO)
    closure.accelerate(link, True, g.solver, g.run)
    A = load_matrix(root.rotation)
    place = 0
    for k in range(6):
        store(A[k % 3] if k < 3 else ZERO, root.acceleration)
        store(A[k % 3] if k >= 3 else ZERO, root.angular_acceleration)
        store(ZERO, root.force)
        store(ZERO, root.torque)
        _rest(link)
        links.carry(link, flex)
        closure.constrain(link, g.cut, g.row, g.solver, g.run, closure.RESPONSE)
        force, torque = passed_wrench(root)
        f = apply(A, force)
        t = apply(A, torque)
        # the upper triangle of a symmetric matrix
        for i in range(k, 6):
            g.base.affine_mass[place] = -(f[i] if i < 3 else t[i - 3])
            place += 1
    _restore_accelerations(link)
    stepping.place_base(g, tau)


@kernel
def _rest(link):
    """Take the response to the jump before from links that fly freely: what carries them gives them no acceleration."""
    for k in range(1, len(link)):
        b = link[k]
        if b.kind == FREE and b.held == 0.0:
            store(ZERO, b.acceleration)
            store(ZERO, b.angular_acceleration)


@kernel
def _restore_accelerations(link):
    """Set the accelerations of the joints to those that `predict` has kept."""
    for k in range(1, len(link)):
        b = link[k]
        b.qdd = b.predicted
        if b.kind >= SPHERICAL:
            store(load(b.predicted_spin), b.spin_rate)
            if b.kind == FREE:
                store(load(b.predicted_speed), b.speed_rate)
