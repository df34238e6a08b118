"""Accounts of the declared contacts: losses, works, impulses, peaks, and what the contacts show.

Losses are those at the mean of the velocities before and after the kick, so that kinetic energy, springs, and losses
balance to rounding in each kick.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import failures
from dockfmu.components.multibody.contacts.friction import change_of, spread
from dockfmu.components.physics.contact.contact_list import first_too_deep
from dockfmu.components.physics.contact.losses import lost_power
from dockfmu.components.physics.contact.pairs import slot_of
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.mechanics.rotation import advance, apply, from_quaternion, load_attitude, load_matrix
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    norm,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree import momentum


@kernel
def clear(pair, contact, run):
    """Set contacts to their state at the start: all open, without friction."""
    run.contacts_lost = 0.0
    run.work_target = 0.0
    store(ZERO, run.target_force)
    store(ZERO, run.target_torque)
    store(ZERO, run.target_impulse)
    store(ZERO, run.target_angular_impulse)
    for k in range(int(run.pairs)):
        o = pair[k]
        o.closed = 0.0
        store(ZERO, o.friction)
    for k in range(int(run.contacts)):
        contact[k].peak_force = 0.0


@kernel
def _note_changes(pair, run):
    """Ask for a short micro-step if a pair has closed or opened."""
    for k in range(int(run.pairs)):
        o = pair[k]
        touches = 1.0 if o.depth > 0.0 else 0.0
        if touches != o.closed:
            o.closed = touches
            run.restart = 1.0


@kernel
def _account_contacts(link, touch, flex, run, h):
    """Add the losses of the listed contacts and the sizes of their forces, and note a depth beyond its limit."""
    surface, contact, tally = touch.surface, touch.contact, touch.tally
    spread(link, h, 0.5, flex)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        store(add(load(item.velocity), change_of(item, link, surface, run, 0.0)), item.velocity)
        contact[int(item.pair) - 1].step_force += norm(load(item.force))
    run.contacts_lost += h * lost_power(tally)
    k = first_too_deep(tally, touch.kind)
    if k >= 0:
        failures.note(run, failures.TOO_DEEP, tally.contact[k].pair, tally.contact[k].penetration)


@kernel
def account(link, touch, flex, run, h):
    """Add losses, works, impulses and peaks of a micro-step h, after all accelerations are known."""
    if run.pairs == 0.0:
        return
    contact = touch.contact
    _note_changes(touch.pair, run)
    for k in range(int(run.contacts)):
        contact[k].step_force = 0.0
    if touch.tally.count > 0.0:
        _account_contacts(link, touch, flex, run, h)
    for k in range(int(run.contacts)):
        contact[k].peak_force = max(contact[k].peak_force, contact[k].step_force)
    if run.has_target == 0.0:
        return
    force = load(run.target_force)
    torque = load(run.target_torque)
    accumulate(scale(h, force), run.target_impulse)
    accumulate(scale(h, torque), run.target_angular_impulse)
    run.work_target -= h * (dot(force, load(run.target_motion)) + dot(torque, load(run.target_spin)))
    A = load_matrix(run.target_rotation)
    interface_load.take(touch.load, apply(A, force), apply(A, torque))
    on_system = negate(force)
    position = load(run.target_position)
    if run.carried != 0.0:
        accumulate(scale(h, on_system), run.port_impulse)
        moment = subtract(cross(position, on_system), torque)
        accumulate(scale(h, moment), run.port_angular_impulse)
    if run.free_root != 0.0:
        momentum.add_outer(run, on_system, negate(torque), position)


@kernel
def begin_step(contact, loads, run):
    """Begin a step: no impulses on the target, no peaks yet."""
    store(ZERO, run.target_impulse)
    store(ZERO, run.target_angular_impulse)
    for k in range(int(run.contacts)):
        contact[k].peak_force = 0.0
    interface_load.clear(loads)


@kernel
def publish(pair, contact, kind, tally, run):
    """Set the outputs of all contacts from the list; the place is that of the deepest."""
    for k in range(int(run.contacts)):
        c = contact[k]
        c.closed = 0.0
        c.pairs = 0.0
        c.depth = 0.0
        c.normal_force = 0.0
        c.friction_force = 0.0
    for k in range(int(tally.count)):
        item = tally.contact[k]
        c = contact[int(item.pair) - 1]
        c.closed = 1.0
        c.pairs += 1.0
        c.normal_force += item.normal_force
        c.friction_force += norm(load(pair[int(slot_of(kind, item.pair, item.index))].friction))
        if item.penetration > c.depth:
            c.depth = item.penetration
            store(add(load(run.base_position), load(item.position)), c.position)


@kernel
def publish_target(target, run, h):
    """Set the wrenches on the target: means over a step h, from the impulses, and those at its end."""
    if run.has_target == 0.0:
        return
    A = load_matrix(run.target_rotation)
    store(apply(A, load(run.target_force)), target.force_now)
    store(apply(A, load(run.target_torque)), target.torque_now)
    if h == 0.0:
        store(load(target.force_now), target.force)
        store(load(target.torque_now), target.torque)
        return
    # the craft applies the mean in its axes in the middle of the step
    q = load_attitude(target.quaternion)
    turn = scale(0.5 * h, axpy(0.25 * h, load(target.angular_acceleration), load(target.angular_velocity)))
    middle = from_quaternion(advance(q, turn))
    store(apply(middle, scale(1.0 / h, load(run.target_impulse))), target.force)
    store(apply(middle, scale(1.0 / h, load(run.target_angular_impulse))), target.torque)
