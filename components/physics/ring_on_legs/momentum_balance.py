"""Momentum of a mechanism with a ring on legs, and its balance over a step.

Newton's law of the whole mechanism gives the mean wrench on the base (ruling R4, R38, R45; `devices.exchange`). The
record has the groups `hexapod`, `ring_state`, `motion`, `balance` and `audit`.
"""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.physics.devices import exchange, motion
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.vector import load
from dockfmu.components.physics.ring_on_legs import platform


@kernel
def _evaluate(m, velocity, angular_velocity):
    """Return the hexapod with momentum and energy for a base with this `velocity` and `angular_velocity`, frame 0."""
    hexapod.momentum(m.hexapod, velocity, angular_velocity)
    return m.hexapod


_begin = exchange.make_begin(_evaluate)
_set_momenta = exchange.make_audit(_evaluate)


@kernel
def _jolt(m):
    """Change the velocities of the ring by its response to the base's twist minus the extrapolated one (AFFINE)."""
    dv, dw = exchange.base_twist_error(m)
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
    _begin(m)
    return 0


@kernel
def audit(m, h):
    """Set momentum and kinetic energy, with everything placed at the end of a step of length h."""
    m.audit.kinetic_energy = _set_momenta(m, h)


@kernel
def respond(m):
    """Set `base.affine_mass`, and the response of the ring for `begin` of the next step, in mode AFFINE.

    Call it last in a step.
    """
    exchange.keep_base_twist(m)
    hexapod.affine(m.hexapod, load(m.motion.base.angular_velocity))
    exchange.set_affine_mass(m.base, m.hexapod.affine_mass)
