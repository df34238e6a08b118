"""Mean wrenches of a mechanism on both craft, from its momentum and the impulse on the target (ruling R4, R38, R45).

The mean torque on a port is about the origin of the port wherever it is during the step (ruling R48), so that nothing
depends on a velocity that both craft have in common. Let b be the origin of the base's port, which moves with the
constant acceleration a over a step of length H, c that of the target's port, and p, l and S momentum, angular momentum
and static moment of the mechanism about b, seen from axes that move with b without rotating. Newton's law gives

    J_b = -(p_H - p_0) - m a H - J_c
    T_b = -(l_H - l_0) - int S dt x a - int (M_c + (c - b) x F_c) dt

for the impulses J and the angular impulses T about the moving origins. The equations of motion give the same impulses
as the sum over the micro-steps of the wrench D11 times their length; the audit compares both (ruling R45). They differ
by the error of the integrator, whatever the macro step. For this comparison the momenta at the start of the step are
those with the true motion of the base, as D11 knows nothing of the extrapolated one.

All momenta and the kinetic energy follow from the relative momenta, the mass and S. The record m of the mechanism has
the groups `base`, `target`, `motion` and `load` of its ports, and `balance` and `audit` with the fields of this module
among theirs.
"""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import INPUT, Field, Group, output, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import LAGGED, SOURCE
from dockfmu.components.physics.devices import interface_load
from dockfmu.components.physics.devices.motion import place_ports, turn_to_inertial
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    from_quaternion,
    load_attitude,
    load_matrix,
)
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


def carrier_port() -> Group:
    """Return the port `base` of a mechanism: the pose and motion of the craft that carries it, and its wrench on it."""
    return Group(
        "base",
        output(
            "affine_mass",
            "1",
            "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; 0 except with AFFINE",
            shape=21,
        ),
        *ports.pose(INPUT),
        *ports.twist(INPUT),
        *ports.acceleration(INPUT),
        *ports.wrench_output(),
        description="port of the craft that carries the mechanism, frame 0",
    )


def balance() -> tuple[Field, ...]:
    """Return the fields of the group `balance`, which carry impulses and momenta from one step to the next.

    Those called relative are seen from axes that move with the origin of the base's port without rotating.
    """
    return (
        private("impulse", "N.s", "on the passive unit in this step, I", shape=3),
        private("angular_impulse", "N.m.s", "on the passive unit in this step, about the moving origin of PU, I",
                shape=3),
        private("about_base", "N.m.s", "likewise, about the moving origin of the base's port, I", shape=3),
        private("base_impulse", "N.s", "on the base in this step, by the equations of motion, I", shape=3),
        private("base_angular_impulse", "N.m.s", "likewise, about the moving origin of the base's port", shape=3),
        private("momentum", "N.s", "relative, of the mechanism, from which the step counts its change, I", shape=3),
        private("angular_momentum", "N.m.s", "likewise, about the origin of the base's port", shape=3),
        private("true_momentum", "N.s", "relative, of the mechanism at the start of the step, with the base's true "
                "motion, I", shape=3),
        private("true_angular_momentum", "N.m.s", "likewise, about the origin of the base's port", shape=3),
        private("relative_momentum", "N.s", "relative, of the mechanism at the end of the step, I", shape=3),
        private("relative_angular_momentum", "N.m.s", "likewise, about the origin of the base's port", shape=3),
        private("mass", "kg", "of the mechanism"),
        private("jump", "m/s", "of the base's velocity: true at the start of the step less extrapolated; 0 except with "
                "LAGGED; I", shape=3),
        private("start_moment", "kg.m", "static moment about the origin of the base's port at the start of the step, I",
                shape=3),
        private("end_moment", "kg.m", "likewise, at the end", shape=3),
        private("end_velocity", "m/s", "of the base, extrapolated to the end of the last step, I", shape=3),
        private("end_momentum", "N.s", "of the mechanism at the end of the step, base extrapolated, I", shape=3),
        private("end_angular_momentum", "N.m.s", "likewise, about the origin of I", shape=3),
        private("start_angular_momentum", "N.m.s", "absolute, from which the step counts its change, about the origin "
                "of I", shape=3),
        private("apart", "N.m.s", "change of the absolute angular momentum so far, less that by the wrenches that the "
                "craft apply in the middle of their steps, about the origin of I", shape=3),
        private("lag", "N.s", "momentum with the base's true motion less that with its extrapolated motion, at the "
                "start of the step, I", shape=3),
        private("angular_lag", "N.m.s", "likewise, about the origin of I", shape=3),
        private("base_twist", "1", "of frame 0, extrapolated to the end of the last step: velocity, angular velocity, "
                "I", shape=6),
    )  # fmt: skip


def audit() -> tuple[Field, ...]:
    """Return the fields that mechanisms add to the common group `audit`."""
    return (
        output("own_momentum", "N.s", "linear momentum, with the base's true motion at the start of the step; of "
               "motion relative to the base if base_motion is SOURCE; I", shape=3),
        output("own_angular_momentum", "N.m.s", "angular momentum about the origin of I, likewise", shape=3),
        output("base_impulse_error", "N.s", "impulse on the base so far, summed over the micro-steps by the equations "
               "of motion, less that by the momenta; I", shape=3),
        output("base_angular_impulse_error", "N.m.s", "likewise, about the moving origin of the base's port", shape=3),
    )  # fmt: skip


@kernel
def _received_attitude(base):
    """Return the attitude A_BI with which the base's port was received, at the start of the step."""
    return from_quaternion(load_attitude(base.quaternion))


@kernel
def _base_velocity(base, A, tau):
    """Return the velocity of the origin of the base's port, `tau` seconds into the step, axes I.

    `A` is the attitude of the port at the start of the step, by `_received_attitude`.
    """
    return apply_transposed(A, axpy(tau, load(base.acceleration), load(base.velocity)))


@kernel
def _base_position(base, A, tau):
    """Return the position of the origin of the base's port, likewise."""
    shift = axpy(0.5 * tau * tau, load(base.acceleration), scale(tau, load(base.velocity)))
    return add(load(base.position), apply_transposed(A, shift))


@kernel
def _mean(port, moving, impulse, angular_impulse, h):
    """Set the mean wrench of a port from impulses on its craft (I, about the moving origin of the port).

    `moving` is the port in the middle of the step: the craft applies the mean in its own moving axes. Returns the work
    on the craft, J.
    """
    A = load_matrix(moving.rotation)
    force = apply(A, scale(1.0 / h, impulse))
    torque = apply(A, scale(1.0 / h, angular_impulse))
    store(force, port.force)
    store(torque, port.torque)
    return h * (dot(force, load(moving.velocity)) + dot(torque, load(moving.angular_velocity)))


@kernel
def initialize(m):
    """Set momenta, works and wrenches at the start, after the mechanism's own audit: no lag, no exchange yet."""
    balance = m.balance
    store(load(balance.relative_momentum), balance.momentum)
    store(load(balance.relative_angular_momentum), balance.angular_momentum)
    store(_base_velocity(m.base, _received_attitude(m.base), 0.0), balance.end_velocity)
    if m.parameters.base_motion != SOURCE:
        store(load(balance.end_momentum), m.audit.own_momentum)
        store(load(balance.end_angular_momentum), m.audit.own_angular_momentum)
    store(load(m.audit.own_momentum), m.audit.momentum)
    store(load(m.audit.own_angular_momentum), m.audit.angular_momentum)
    store(ZERO, balance.lag)
    store(ZERO, balance.angular_lag)
    store(ZERO, balance.apart)
    store(ZERO, m.audit.base_impulse_error)
    store(ZERO, m.audit.base_angular_impulse_error)
    m.audit.work_base = 0.0
    m.audit.work_target = 0.0
    store(load(m.base.force_now), m.base.force)
    store(load(m.base.torque_now), m.base.torque)
    store(load(m.target.force_now), m.target.force)
    store(load(m.target.torque_now), m.target.torque)
    interface_load.clear(m.load)
    interface_load.take(m.load, load(m.target.force_now), load(m.target.torque_now))


@kernel
def add_impulse(m, tau, h):
    """Add the impulses of the present wrenches over a micro-step h, whose middle is `tau` into the step.

    The extremes of that on the target are taken into `load`. That on the base, about the origin of its port, is as the
    equations of motion give it, and serves the audit only (ruling R45).
    """
    target = m.motion.target
    A = load_matrix(target.rotation)
    force = load(m.target.force_now)
    torque = load(m.target.torque_now)
    interface_load.take(m.load, force, torque)
    force = apply_transposed(A, force)
    torque = apply_transposed(A, torque)
    arm = subtract(load(target.position), _base_position(m.base, _received_attitude(m.base), tau))
    about_base = add(torque, cross(arm, force))
    A = load_matrix(m.motion.base.rotation)
    on_base = apply_transposed(A, load(m.base.force_now))
    torque_on_base = apply_transposed(A, load(m.base.torque_now))
    for i in range(3):
        m.balance.base_impulse[i] += h * on_base[i]
        m.balance.base_angular_impulse[i] += h * torque_on_base[i]
        m.balance.impulse[i] += h * force[i]
        m.balance.angular_impulse[i] += h * torque[i]
        m.balance.about_base[i] += h * about_base[i]


@kernel
def clear_impulses(m):
    """Begin a step without impulses and loads."""
    store(ZERO, m.balance.impulse)
    store(ZERO, m.balance.angular_impulse)
    store(ZERO, m.balance.about_base)
    store(ZERO, m.balance.base_impulse)
    store(ZERO, m.balance.base_angular_impulse)
    interface_load.clear(m.load)


@kernel
def keep_base_twist(m):
    """Keep the twist of the base, extrapolated to the end of the step, for `base_twist_error` of the next one."""
    A = load_matrix(m.motion.base.rotation)
    velocity = apply_transposed(A, load(m.motion.base.velocity))
    angular_velocity = apply_transposed(A, load(m.motion.base.angular_velocity))
    for i in range(3):
        m.balance.base_twist[i] = velocity[i]
        m.balance.base_twist[3 + i] = angular_velocity[i]


@kernel
def base_twist_error(m):
    """Return (velocity, angular velocity): the twist of the base less that which `keep_base_twist` kept, frame 0.

    They are compared in I: in the axes of frame 0, whose attitude was extrapolated too, the error of the attitude would
    count times the velocity that the craft have in common (ruling R48).
    """
    base = m.motion.base
    A = load_matrix(base.rotation)
    kept = m.balance.base_twist
    return (
        subtract(load(base.velocity), apply(A, (kept[0], kept[1], kept[2]))),
        subtract(load(base.angular_velocity), apply(A, (kept[3], kept[4], kept[5]))),
    )


@kernel
def set_affine_mass(port, mass):
    """Set the output `affine_mass` of the base to the symmetric part of M_A (6, 6), its upper triangle by rows."""
    place = 0
    for i in range(6):
        for k in range(i, 6):
            port.affine_mass[place] = 0.5 * (mass[i, k] + mass[k, i])
            place += 1


def _make_relative(evaluate):
    """Return the kernel `relative(m, velocity, position)`.

    It returns (mass, kinetic energy, momentum, angular momentum, static moment) of the placed mechanism: energy and
    momenta relative to the origin of the base's port, which has this velocity and position, vectors in axes I, moments
    about that origin.
    """

    @kernel
    def relative(m, velocity, position):
        base = m.motion.base
        A = load_matrix(base.rotation)
        # a hatch cover moves frame 0 away from the port
        moving = subtract(load(base.velocity), apply(A, velocity))
        offset = subtract(load(base.position), position)
        own = evaluate(m, moving, load(base.angular_velocity))
        momentum = apply_transposed(A, load(own.momentum))
        angular_momentum = add(apply_transposed(A, load(own.angular_momentum)), cross(offset, momentum))
        static_moment = axpy(own.mass, offset, apply_transposed(A, load(own.static_moment)))
        return own.mass, own.kinetic_energy, momentum, angular_momentum, static_moment

    return relative


@kernel
def _absolute(velocity, position, mass, momentum, angular_momentum, static_moment):
    """Return (momentum, angular momentum about the origin of I), axes I, from what `relative` took and returned."""
    linear = axpy(mass, velocity, momentum)
    angular = add(angular_momentum, cross(static_moment, velocity))
    return linear, add(angular, cross(position, linear))


def make_begin(evaluate):
    """Return the kernel `begin(m)` that begins a step with the true motion of the base, everything placed at its start.

    `evaluate(m, velocity, angular_velocity)` returns a group with `momentum` and `angular_momentum` (about the origin
    of frame 0, its axes) and `kinetic_energy` of the placed mechanism, for a base with this twist, and its `mass` and
    `static_moment`.

    In the modes SOURCE and AFFINE the change of momentum in the step is taken from the momenta with the true motion, so
    that the mean wrench is that of D11. In LAGGED it is taken from those that the last step predicted: the contribution
    of the base's true motion enters the wrench one step late (ruling R38).
    """
    relative = _make_relative(evaluate)

    @kernel
    def begin(m):
        balance = m.balance
        A = _received_attitude(m.base)
        velocity = _base_velocity(m.base, A, 0.0)
        position = _base_position(m.base, A, 0.0)
        mass, _, momentum, angular_momentum, static_moment = relative(m, velocity, position)
        store(momentum, balance.true_momentum)
        store(angular_momentum, balance.true_angular_momentum)
        store(static_moment, balance.start_moment)
        linear, angular = _absolute(velocity, position, mass, momentum, angular_momentum, static_moment)
        store(subtract(linear, load(balance.end_momentum)), balance.lag)
        store(subtract(angular, load(balance.end_angular_momentum)), balance.angular_lag)
        if m.parameters.base_motion == LAGGED:
            store(subtract(velocity, load(balance.end_velocity)), balance.jump)
            store(load(balance.end_angular_momentum), balance.start_angular_momentum)
        else:
            store(momentum, balance.momentum)
            store(angular_momentum, balance.angular_momentum)
            store(ZERO, balance.jump)
            store(angular, balance.start_angular_momentum)

    return begin


def make_audit(evaluate):
    """Return the kernel `audit(m, h)` that sets the momenta of a mechanism placed at the end of a step of h.

    It returns the kinetic energy, J; for `evaluate` see `make_begin`.
    """
    relative = _make_relative(evaluate)

    @kernel
    def audit(m, h):
        balance = m.balance
        A = _received_attitude(m.base)
        velocity = _base_velocity(m.base, A, h)
        position = _base_position(m.base, A, h)
        mass, kinetic, momentum, angular_momentum, static_moment = relative(m, velocity, position)
        balance.mass = mass
        store(momentum, balance.relative_momentum)
        store(angular_momentum, balance.relative_angular_momentum)
        store(static_moment, balance.end_moment)
        linear, angular = _absolute(velocity, position, mass, momentum, angular_momentum, static_moment)
        store(linear, balance.end_momentum)
        store(angular, balance.end_angular_momentum)
        if m.parameters.base_motion == SOURCE:
            # the carrier's masses include the mechanism at rest on it
            base = m.motion.base
            own = evaluate(m, ZERO, ZERO)
            linear, angular = turn_to_inertial(base, load(own.momentum), load(own.angular_momentum))
            store(linear, m.audit.own_momentum)
            store(angular, m.audit.own_angular_momentum)
            kinetic = own.kinetic_energy + dot(load(own.momentum), load(base.velocity))
            return kinetic + dot(load(own.angular_momentum), load(base.angular_velocity))
        return kinetic + dot(velocity, axpy(0.5 * mass, velocity, momentum))

    return audit


@kernel
def _angular_change(m, A, change, h):
    """Return the angular impulse on the mechanism in a step of h, about the moving origin of the base's port, I.

    `A` is by `_received_attitude`, `change` that of the relative angular momentum.
    """
    balance = m.balance
    moments = add(load(balance.start_moment), load(balance.end_moment))
    return add(change, cross(scale(0.5 * h, moments), apply_transposed(A, load(m.base.acceleration))))


@kernel
def _account_base_impulse(m, A, faster, h):
    """Add the error of the impulses on the base in a step of h, in which the base gets `faster`, m/s, to the audit."""
    balance = m.balance
    change = subtract(load(balance.relative_momentum), load(balance.true_momentum))
    change = add(axpy(balance.mass, faster, change), load(balance.impulse))
    accumulate(add(load(balance.base_impulse), change), m.audit.base_impulse_error)
    change = subtract(load(balance.relative_angular_momentum), load(balance.true_angular_momentum))
    change = add(_angular_change(m, A, change, h), load(balance.about_base))
    accumulate(add(load(balance.base_angular_impulse), change), m.audit.base_angular_impulse_error)


@kernel
def set_mean_wrenches(m, h):
    """Set the mean wrenches on both craft; call it with everything placed at the end of the step.

    In LAGGED the change of momentum is taken from the state that the last step predicted, so that the impulse due to
    the difference between the base's true and extrapolated motion (ruling R3) is applied one step later, not lost. In
    SOURCE and AFFINE it is taken from the state with which the step began. Leaves the ports placed in the middle of the
    step.
    """
    balance = m.balance
    A = _received_attitude(m.base)
    impulse = load(balance.impulse)
    angular = load(balance.angular_impulse)
    change_angular = subtract(load(balance.relative_angular_momentum), load(balance.angular_momentum))
    change_angular = add(change_angular, cross(load(balance.start_moment), load(balance.jump)))
    change_angular = _angular_change(m, A, change_angular, h)
    end_velocity = _base_velocity(m.base, A, h)
    faster = subtract(end_velocity, _base_velocity(m.base, A, 0.0))
    _account_base_impulse(m, A, faster, h)
    change = subtract(load(balance.relative_momentum), load(balance.momentum))
    change = axpy(balance.mass, add(faster, load(balance.jump)), change)
    place_ports(m.base, m.target, m.motion, 0.5 * h)
    base = m.motion.base
    target = m.motion.target
    m.audit.work_target -= _mean(m.target, target, impulse, angular, h)
    on_base = negate(add(change, impulse))
    angular_on_base = negate(add(change_angular, load(balance.about_base)))
    m.audit.work_base -= _mean(m.base, base, on_base, angular_on_base, h)
    store(load(balance.relative_momentum), balance.momentum)
    store(load(balance.relative_angular_momentum), balance.angular_momentum)
    store(end_velocity, balance.end_velocity)
    out = m.audit
    # what the craft receive in the middle of the step, for the balance of what is exchanged
    received = add(cross(load(base.position), on_base), angular_on_base)
    received = add(received, add(cross(load(target.position), impulse), angular))
    if m.parameters.base_motion == SOURCE:
        accumulate(change, out.momentum)
        accumulate(negate(received), out.angular_momentum)
    else:
        own = load(balance.end_momentum)
        own_angular = load(balance.end_angular_momentum)
        store(own, out.momentum)
        # a force that changes within the step moves a craft, which itself moves, by more or less than its mean does: by
        # this much the sum of the angular momenta about a fixed point changes
        accumulate(add(subtract(own_angular, load(balance.start_angular_momentum)), received), balance.apart)
        store(subtract(own_angular, load(balance.apart)), out.angular_momentum)
        store(add(own, load(balance.lag)), out.own_momentum)
        store(add(own_angular, load(balance.angular_lag)), out.own_angular_momentum)
