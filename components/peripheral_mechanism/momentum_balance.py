"""Momentum of a mechanism with a ring on legs, and its balance over a step.

Newton's law of the whole mechanism gives the mean wrench on the base (spec/00 R4, R38, R45; `devices.exchange`). The
record has the groups `hexapod`, `ring_state`, `motion`, `balance` and `audit`.
"""

from components.core.kernel import kernel
from components.core.ports import AFFINE, SOURCE
from components.core.rotation import apply_transposed, load_matrix
from components.core.vector import ZERO, add, cross, dot, load, store, subtract
from components.devices import exchange, motion
from components.linkage import hexapod
from components.peripheral_mechanism import platform


@kernel
def _momentum(m, velocity, angular_velocity):
    """Return (linear momentum, angular momentum about the origin of I) of the placed mechanism, axes I.

    The pose of the base is that in `m.motion`, with this `velocity` (m/s) and `angular_velocity` (rad/s), frame 0.
    """
    base = m.motion.base
    hexapod.momentum(m.hexapod, velocity, angular_velocity)
    A = load_matrix(base.rotation)
    linear = apply_transposed(A, load(m.hexapod.momentum))
    spin = apply_transposed(A, load(m.hexapod.angular_momentum))
    return linear, add(spin, cross(load(base.position), linear))


@kernel
def momentum(m):
    """Return the momenta as `_momentum` does, with the motion of the base in `m.motion`."""
    return _momentum(m, load(m.motion.base.velocity), load(m.motion.base.angular_velocity))


@kernel
def _jolt(m):
    """Change the velocities of the ring by its response to the base's twist minus the extrapolated one (AFFINE)."""
    base = m.motion.base
    twist = m.balance.base_twist
    dv = subtract(load(base.velocity), (twist[0], twist[1], twist[2]))
    dw = subtract(load(base.angular_velocity), (twist[3], twist[4], twist[5]))
    response = m.hexapod.response
    for i in range(6):
        change = 0.0
        for k in range(3):
            change += response[i, k] * dv[k] + response[i, 3 + k] * dw[k]
        if i < 3:
            m.ring_state.velocity[i] += change
        else:
            m.ring_state.angular_velocity[i - 3] += change


@kernel
def begin(m):
    """Find the momentum at the start of a step with the true motion of the base, as placed by the last step.

    In mode AFFINE the ring first responds to the base's twist minus the extrapolated one. Returns 0, or the code of a
    failure.
    """
    motion.place_ports(m.base, m.target, m.motion, 0.0)
    if m.parameters.base_motion == AFFINE:
        _jolt(m)
        code = platform.place(m.parameters, m.hexapod, m.ring_state, 0.0, m.status)
        if code:
            return code
    linear, angular = momentum(m)
    exchange.begin(m, linear, angular)
    return 0


@kernel
def audit(m):
    """Set momentum and kinetic energy, with everything placed at the end of a step."""
    linear, angular = momentum(m)
    store(linear, m.balance.end_momentum)
    store(angular, m.balance.end_angular_momentum)
    out = m.audit
    kinetic = m.hexapod.kinetic_energy
    if m.parameters.base_motion == SOURCE:
        # the carrier's masses include the mechanism at rest on it
        base = m.motion.base
        linear, angular = _momentum(m, ZERO, ZERO)
        store(linear, out.own_momentum)
        store(angular, out.own_angular_momentum)
        kinetic = m.hexapod.kinetic_energy
        kinetic += dot(load(m.hexapod.momentum), load(base.velocity))
        kinetic += dot(load(m.hexapod.angular_momentum), load(base.angular_velocity))
    out.kinetic_energy = kinetic


@kernel
def respond(m):
    """Set `base.affine_mass`, and the response of the ring for `begin` of the next step, in mode AFFINE.

    Call it last in a step.
    """
    base = m.motion.base
    for i in range(3):
        m.balance.base_twist[i] = base.velocity[i]
        m.balance.base_twist[3 + i] = base.angular_velocity[i]
    hexapod.affine(m.hexapod, load(base.angular_velocity))
    place = 0
    for i in range(6):
        for k in range(i, 6):
            m.base.affine_mass[place] = 0.5 * (m.hexapod.affine_mass[i, k] + m.hexapod.affine_mass[k, i])
            place += 1
