"""Mean wrenches of a mechanism on both craft, from its momentum and the impulse on the target (spec/00 R4, R38, R45).

The record m of the mechanism has the groups `base`, `target` and `motion` of its ports, and `balance` and `audit` with
the fields of this module among theirs.
"""

from __future__ import annotations

from components.core import ports
from components.core.field import INPUT, Field, Group, output, private
from components.core.kernel import kernel
from components.core.ports import LAGGED, SOURCE
from components.devices.motion import turn_to_inertial
from components.mechanics.rotation import apply, apply_transposed, load_matrix
from components.mechanics.vector import ZERO, accumulate, add, cross, dot, load, negate, scale, store, subtract


def carrier_port() -> Group:
    """Return the port `base` of a mechanism: the pose and motion of the craft that carries it, and its wrench on it."""
    return Group(
        "base",
        output("affine_mass", "1", "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; 0 except with "
               "AFFINE", shape=21),
        *ports.pose(INPUT), *ports.twist(INPUT), *ports.acceleration(INPUT), *ports.wrench_output(),
        description="port of the craft that carries the mechanism, frame 0",
    )  # fmt: skip


def balance() -> tuple[Field, ...]:
    """Return the fields of the group `balance`, which carry impulses and momenta from one step to the next."""
    return (
        private("impulse", "N.s", "on the passive unit in this step, I", shape=3),
        private("angular_impulse", "N.m.s", "on the passive unit in this step, about the origin of I", shape=3),
        private("momentum", "N.s", "of the mechanism, the reference of the next step, I", shape=3),
        private("angular_momentum", "N.m.s", "likewise, about the origin of I", shape=3),
        private("end_momentum", "N.s", "of the mechanism at the end of the step, base extrapolated, I", shape=3),
        private("end_angular_momentum", "N.m.s", "likewise, about the origin of I", shape=3),
        private("lag", "N.s", "momentum with the base's true motion less that with its extrapolated motion, at the "
                "start of the step, I", shape=3),
        private("angular_lag", "N.m.s", "likewise, about the origin of I", shape=3),
        private("base_twist", "1", "of frame 0, extrapolated to the end of the last step: velocity, angular velocity, "
                "frame 0 axes", shape=6),
        private("force_now", "N", "on the base at the end of the last step, I", shape=3),
    )  # fmt: skip


def audit() -> tuple[Field, ...]:
    """Return the fields that mechanisms add to the common group `audit`."""
    return (
        output("own_momentum", "N.s", "linear momentum, with the base's true motion at the start of the step; of "
               "motion relative to the base if base_motion is SOURCE; I", shape=3),
        output("own_angular_momentum", "N.m.s", "angular momentum about the origin of I, likewise", shape=3),
        output("base_impulse_error", "N.s", "impulse of base.force_now so far, by the trapezoidal rule, less "
               "that of base.force; I", shape=3),
    )  # fmt: skip


@kernel
def _mean(port, moving, impulse, angular_impulse, h):
    """Set the mean wrench of a port from impulses on its craft (I, about its origin), and return its work on it, J.

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
def initialize(m):
    """Set momenta, works and wrenches at the start, after the mechanism's own audit: no lag, no exchange yet."""
    balance = m.balance
    own = load(balance.end_momentum)
    own_angular = load(balance.end_angular_momentum)
    store(own, balance.momentum)
    store(own_angular, balance.angular_momentum)
    if m.parameters.base_motion != SOURCE:
        store(own, m.audit.own_momentum)
        store(own_angular, m.audit.own_angular_momentum)
    store(load(m.audit.own_momentum), m.audit.momentum)
    store(load(m.audit.own_angular_momentum), m.audit.angular_momentum)
    store(ZERO, balance.lag)
    store(ZERO, balance.angular_lag)
    store(ZERO, m.audit.base_impulse_error)
    m.audit.work_base = 0.0
    m.audit.work_target = 0.0
    keep_force_now(m)
    store(load(m.base.force_now), m.base.force)
    store(load(m.base.torque_now), m.base.torque)
    store(load(m.target.force_now), m.target.force)
    store(load(m.target.torque_now), m.target.torque)


@kernel
def begin(m, linear, angular):
    """Begin a step with the momenta that the mechanism has with the true motion of its base, axes I.

    `linear` in N s, `angular` about the origin of I in N m s. In the modes SOURCE and AFFINE the change of momentum in
    the step is taken from them, so that the mean wrench is that of D11. In LAGGED it is taken from the extrapolated
    momenta: the contribution of the base's true motion enters the wrench one step late (spec/00 R38).
    """
    balance = m.balance
    store(subtract(linear, load(balance.momentum)), balance.lag)
    store(subtract(angular, load(balance.angular_momentum)), balance.angular_lag)
    if m.parameters.base_motion != LAGGED:
        store(linear, balance.momentum)
        store(angular, balance.angular_momentum)


@kernel
def add_impulse(m, h):
    """Add the impulse of the present wrench on the target over a micro-step h, axes I, about the origin of I."""
    force, torque = turn_to_inertial(m.motion.target, load(m.target.force_now), load(m.target.torque_now))
    for i in range(3):
        m.balance.impulse[i] += h * force[i]
        m.balance.angular_impulse[i] += h * torque[i]


@kernel
def keep_base_twist(m):
    """Keep the twist of the base, extrapolated to the end of the step, for `base_twist_error` of the next one."""
    for i in range(3):
        m.balance.base_twist[i] = m.motion.base.velocity[i]
        m.balance.base_twist[3 + i] = m.motion.base.angular_velocity[i]


@kernel
def base_twist_error(m):
    """Return (velocity, angular velocity): the twist of the base less that which `keep_base_twist` kept, frame 0."""
    base = m.motion.base
    kept = m.balance.base_twist
    return (
        subtract(load(base.velocity), (kept[0], kept[1], kept[2])),
        subtract(load(base.angular_velocity), (kept[3], kept[4], kept[5])),
    )


@kernel
def set_affine_mass(port, mass):
    """Set the output `affine_mass` of the base to the symmetric part of M_A (6, 6), its upper triangle by rows."""
    place = 0
    for i in range(6):
        for k in range(i, 6):
            port.affine_mass[place] = 0.5 * (mass[i, k] + mass[k, i])
            place += 1


def make_momentum(evaluate):
    """Return the kernel `momentum(m)`: (momentum, angular momentum about the origin of I) of a mechanism, axes I.

    `evaluate(m, velocity, angular_velocity)` returns a group with `momentum` and `angular_momentum` (about the origin
    of frame 0, its axes) and `kinetic_energy` of the placed mechanism, for a base with this twist.
    """

    @kernel
    def momentum(m):
        base = m.motion.base
        own = evaluate(m, load(base.velocity), load(base.angular_velocity))
        return turn_to_inertial(base, load(own.momentum), load(own.angular_momentum))

    return momentum


def make_audit(evaluate):
    """Return the kernel `audit(m)` that sets the momenta of a mechanism placed at the end of a step.

    It returns the kinetic energy, J; for `evaluate` see `make_momentum`.
    """

    @kernel
    def audit(m):
        base = m.motion.base
        own = evaluate(m, load(base.velocity), load(base.angular_velocity))
        linear, angular = turn_to_inertial(base, load(own.momentum), load(own.angular_momentum))
        store(linear, m.balance.end_momentum)
        store(angular, m.balance.end_angular_momentum)
        if m.parameters.base_motion == SOURCE:
            # the carrier's masses include the mechanism at rest on it
            own = evaluate(m, ZERO, ZERO)
            linear, angular = turn_to_inertial(base, load(own.momentum), load(own.angular_momentum))
            store(linear, m.audit.own_momentum)
            store(angular, m.audit.own_angular_momentum)
            kinetic = own.kinetic_energy + dot(load(own.momentum), load(base.velocity))
            return kinetic + dot(load(own.angular_momentum), load(base.angular_velocity))
        return own.kinetic_energy

    return audit


@kernel
def set_mean_wrenches(m, h):
    """Set the mean wrenches on both craft; the ports in `m.motion` are placed in the middle of the step.

    The impulse on the base is minus the sum of the change of the mechanism's momentum and the impulse on the target:
    Newton's law for the whole mechanism. In LAGGED the change of momentum is taken from the state that the last step
    predicted, so that the impulse due to the difference between the base's true and extrapolated motion (spec/00 R3) is
    applied one step later, not lost. In SOURCE and AFFINE it is taken from the state with which the step began.
    """
    balance = m.balance
    before = load(balance.momentum)
    before_angular = load(balance.angular_momentum)
    impulse = load(balance.impulse)
    angular = load(balance.angular_impulse)
    m.audit.work_target -= _mean(m.target, m.motion.target, impulse, angular, h)
    own = load(balance.end_momentum)
    own_angular = load(balance.end_angular_momentum)
    change = subtract(own, before)
    change_angular = subtract(own_angular, before_angular)
    impulse = negate(add(change, impulse))
    angular = negate(add(change_angular, angular))
    m.audit.work_base -= _mean(m.base, m.motion.base, impulse, angular, h)
    store(own, balance.momentum)
    store(own_angular, balance.angular_momentum)
    out = m.audit
    if m.parameters.base_motion == SOURCE:
        accumulate(change, out.momentum)
        accumulate(change_angular, out.angular_momentum)
    else:
        store(own, out.momentum)
        store(own_angular, out.angular_momentum)
        store(add(own, load(balance.lag)), out.own_momentum)
        store(add(own_angular, load(balance.angular_lag)), out.own_angular_momentum)
    before_now = load(balance.force_now)
    keep_force_now(m)
    mean = scale(0.5 * h, add(before_now, load(balance.force_now)))
    accumulate(subtract(mean, impulse), out.base_impulse_error)


@kernel
def keep_force_now(m):
    """Store `base.force_now` in axes I, for the trapezoidal rule of the next step."""
    A = load_matrix(m.motion.base.rotation)
    store(apply_transposed(A, load(m.base.force_now)), m.balance.force_now)
