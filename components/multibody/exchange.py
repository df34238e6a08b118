"""The mean wrench on a base that moves, from the change of the system's momentum in a step (ruling R4, R38, R48).

With p and l the momentum and angular momentum relative to the origin of the base and about it, S the moment of mass
about it, V its velocity, a its acceleration in the step, g gravity, and J_e, T_e the impulses of wrenches on ports,

    J = -(p_H - p_0) - M (V_H - V'_0) + M g H + J_e
    T = -(l_H - l_0) - S_0 x (V_0 - V'_0) - 1/2 H (S_0 + S_H) x (a - g) + T_e

are the impulses on the base in the step H, about its moving origin. p_0, l_0 and V'_0 are those that the last step
predicted for its end: what the base's true motion adds is applied one step later, not lost (LAGGED). With AFFINE the
craft has corrected the wrench of the last step for its true acceleration; the system responds when the next step begins
(`impulse_response.jolt`), and p_0, l_0 are changed by that impulse. What is left comes from the place of the base, of
second order in the step, and is applied one step later.

The craft apply the means in the middle of their steps, where their ports are then. A force that changes within the
step moves a system, which itself moves, by more or less than its mean does: by this much the sum of the angular momenta
about a fixed point changes. `account_angular_momentum` leaves it out of the audit. So does `point_forces.push_ports`
with the wrenches on the system's own ports, of which it is the craft.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import point_forces
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree import momentum


@kernel
def remember(link, run):
    """Store the momenta at the end of a step, for links that are placed with their velocities."""
    _, linear, angular, moment = momentum.momenta(link, ZERO, ZERO)
    store(linear, run.end_momentum)
    store(angular, run.end_angular_momentum)
    store(moment, run.end_moment)
    store(load(run.base_velocity), run.end_velocity)
    store(load(link[0].angular_velocity), run.end_spin)
    run.end_energy = momentum.momenta(link, load(run.base_velocity), ZERO)[0]


@kernel
def count_jolt(link, run, force, torque, works):
    """Count the response to the jolt of the base with which a step begins (AFFINE).

    `force` and `torque` are the impulse on the base, I, which the craft has had in its last step. The kinetic energy
    that changes is work of the base, but for the other `works`, J.
    """
    impulse = negate(force)
    turned = negate(torque)
    accumulate(impulse, run.response_momentum)
    accumulate(impulse, run.end_momentum)
    accumulate(turned, run.end_angular_momentum)
    accumulate(add(cross(load(run.last_middle), impulse), turned), run.end_absolute)
    if run.last_step > 0.0:
        # what the craft has felt in its last step
        accumulate(scale(-1.0 / run.last_step, impulse), run.last_force)
        accumulate(scale(-1.0 / run.last_step, turned), run.last_torque)
    work = momentum.momenta(link, load(run.base_velocity), ZERO)[0] - run.end_energy - works
    run.base_work += work
    run.response_work += work


@kernel
def begin(run):
    """Begin a step with the base placed at its start: the jump of its velocity; no impulses of ports yet."""
    store(subtract(load(run.base_velocity), load(run.end_velocity)), run.jump)
    store(ZERO, run.port_impulse)
    store(ZERO, run.port_angular_impulse)
    store(ZERO, run.port_turn)


@kernel
def account_angular_momentum(base, target, link, run, h):
    """Add what a step h has changed beyond the impulses that the craft receive in its middle to `run.apart`, I.

    All is placed at the end of the step; the impulses on base and target are known, and those on other ports.
    """
    _, linear, angular, _ = momentum.momenta(link, load(run.base_velocity), ZERO)
    now = add(angular, cross(load(run.base_position), linear))
    if h > 0.0:
        change = subtract(subtract(now, load(run.end_absolute)), load(run.port_turn))
        if run.carried != 0.0:
            middle = point_forces.middle_of_step(base, h)
            store(middle, run.last_middle)
            change = add(change, add(cross(middle, load(run.impulse)), load(run.angular_impulse)))
        if run.has_target != 0.0:
            middle = point_forces.middle_of_step(target, h)
            impulse = load(run.target_impulse)
            change = add(change, add(cross(middle, impulse), load(run.target_angular_impulse)))
        accumulate(change, run.apart)
    store(now, run.end_absolute)


@kernel
def finish(link, run, h):
    """Set the impulses on the base in a step h, and its work, with all placed at the end of the step."""
    base = link[0]
    _, linear, angular, moment = momentum.momenta(link, ZERO, ZERO)
    mass = momentum.total_mass(link)
    # less gravity
    a = load(base.acceleration)
    change = subtract(linear, load(run.end_momentum))
    change = axpy(mass, axpy(h, a, load(run.jump)), change)
    impulse = subtract(load(run.port_impulse), change)
    turned = subtract(angular, load(run.end_angular_momentum))
    turned = add(turned, cross(load(run.end_moment), load(run.jump)))
    turned = add(turned, cross(scale(0.5 * h, add(load(run.end_moment), moment)), a))
    angular_impulse = subtract(load(run.port_angular_impulse), turned)
    store(impulse, run.impulse)
    store(angular_impulse, run.angular_impulse)
    # its twist in the middle of the step, where the craft applies the means
    middle = axpy(-0.5 * h, load(run.base_acceleration), load(run.base_velocity))
    spin = axpy(-0.5 * h, load(base.angular_acceleration), load(base.angular_velocity))
    # that of locks has done its work when they closed
    force = subtract(impulse, load(run.lock_impulse))
    torque = subtract(angular_impulse, load(run.lock_angular_impulse))
    run.base_work -= dot(force, middle) + dot(torque, spin)
    store(axpy(-h, load(run.last_force), impulse), run.change_of_impulse)
    store(axpy(-h, load(run.last_torque), angular_impulse), run.change_of_angular_impulse)
    store(scale(1.0 / h, impulse), run.last_force)
    store(scale(1.0 / h, angular_impulse), run.last_torque)
    run.last_step = h
