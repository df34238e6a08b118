"""Impulses of locks on a carried base, which yields to them one step later than they act.

A lock closes as if its base did not yield, and its impulse P on the base (six components) is part of the mean wrench of
the step. The twist of the base jumps by Dv where the next step begins. P has done the work P . Dv / 2 by this jump: it
is not lost, the lock has lost that much less. What holds its joint in the response to the jump is part of its impulse.

Part of the jump comes from the change of all other forces, q = I - P - H F of the impulse I in the step H, with the
mean force F of the step before. Both parts are responses of one symmetric mobility, so that the share of P is

    s = 1 - q . Dv / (P . Dv)

with an error of second order in the step, where loads on the craft from elsewhere are steady. With LAGGED the craft has
yielded by its own mass alone: the system's inertia M_A at the base will resist by M_A Dv, and s is divided by
1 + Dv . M_A Dv / (P . Dv). This is exact where both respond along one direction, and of second order in the ratio of
masses elsewhere.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, add, dot, load, norm, scale, store, subtract
from dockfmu.components.physics.tree.articulated import column_times, row_times, times
from dockfmu.components.physics.tree.links import FREE, SPHERICAL


@kernel
def impulse_of_joint(b, run):
    """Return the impulse that holds the joint of link b, axes I; of one rate its generalised impulse comes first."""
    if b.kind < SPHERICAL:
        return (-b.load, 0.0, 0.0)
    a = load(b.acceleration)
    e = load(b.angular_acceleration)
    if b.kind == FREE:
        p = subtract(add(times(b.tt, a), row_times(b.tr, e)), load(b.force))
        return p if run.rows == 0.0 else subtract(p, load(b.push_force))
    turned = subtract(add(column_times(b.tr, a), times(b.rr, e)), load(b.torque))
    return turned if run.rows == 0.0 else subtract(turned, load(b.push_torque))


@kernel
def set_impulse(o, b, impulse):
    """Set the impulse of lock o, that of the joint of link b: of several rates its size."""
    store(impulse, o.held)
    o.impulse = norm(impulse) if b.kind >= SPHERICAL else impulse[0]


@kernel
def strike(o, force, torque, spin, run):
    """Note an impulse of lock o on the base, I, about its origin, and its work; `spin` is its angular velocity."""
    run.base_work -= dot(force, load(run.base_velocity)) + dot(torque, spin)
    o.struck = 1.0
    run.struck = 1.0
    accumulate(force, o.push)
    accumulate(torque, o.turn)
    accumulate(force, run.lock_impulse)
    accumulate(torque, run.lock_angular_impulse)


@kernel
def forget(lock, run):
    """Let no impulse wait for the base to yield."""
    run.struck = 0.0
    store(ZERO, run.lock_impulse)
    store(ZERO, run.lock_angular_impulse)
    for k in range(int(run.locks)):
        o = lock[k]
        o.struck = 0.0
        store(ZERO, o.push)
        store(ZERO, o.turn)


@kernel
def _share(run, jump, turned, response):
    """Return the share of the locks in a jump of the base's velocity; `response` is Dv . M_A Dv, J."""
    own = dot(load(run.lock_impulse), jump) + dot(load(run.lock_angular_impulse), turned)
    if own <= 0.0:
        return 0.0
    whole = dot(load(run.change_of_impulse), jump) + dot(load(run.change_of_angular_impulse), turned)
    share = max(0.0, 2.0 - whole / own)
    return share if run.affine != 0.0 else share / (1.0 + response / own)


@kernel
def yield_base(link, lock, run, jump, turned, response):
    """Correct impulse and loss of locks for a jump of the base's velocity, I, to which the system has responded.

    `response` is Dv . M_A Dv of the jump, J.
    """
    share = _share(run, jump, turned, response)
    for k in range(int(run.locks)):
        o = lock[k]
        if o.struck == 0.0:
            continue
        less = 0.5 * share * (dot(load(o.push), jump) + dot(load(o.turn), turned))
        o.loss -= less
        run.locks_lost -= less
        run.response_loss -= less
        run.base_work -= less
        b = link[int(o.link)]
        if b.held != 0.0:
            set_impulse(o, b, add(load(o.held), scale(share, impulse_of_joint(b, run))))
    forget(lock, run)
