"""The micro-step of a ring on legs, and its start: what all mechanisms with a ring have in common.

A micro-step of length h is drift - kick - drift. The ring drifts to the middle, where contact, legs and other devices
are evaluated once, with velocities predicted by the last acceleration. Then velocities are kicked over h, and the ring
drifts to the end. The scheme is of second order for smooth forces.
"""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import exchange, macro_step, motion
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.vector import load
from dockfmu.components.physics.ring_on_legs import contact, micro_step_control, momentum_balance, platform


@kernel
def place(m, tau, ahead):
    """Place ports and ring at `tau` (s) into the step, with the velocities of the ring extrapolated by `ahead` (s).

    Returns 0, or the code of a failure.
    """
    motion.place_ports(m.base, m.target, m.motion, tau)
    kinematics.relate(m.relative, m.motion.base, m.motion.target)
    return platform.place(m.parameters, m.hexapod, m.ring_state, ahead, m.status)


@kernel
def _accelerate(m):
    """Find the acceleration of the ring with all forces set."""
    hexapod.accelerate(
        m.hexapod, load(m.motion.base.angular_velocity), load(m.base.angular_acceleration), load(m.base.acceleration)
    )


def make_micro_step(drive, react, lose, retract):
    """Return the kernel `micro_step(m, start, h, long) -> code` of a mechanism, for `macro_step.make_advance`.

    `drive(m, h)` sets the loads of the placed devices on the ring and the wrench on the target, `react(m)` the wrench
    on the base with the acceleration of the ring, `lose(m, h)` counts the losses that need it, `retract(m, h)` advances
    the drive that draws the ring in; all over the micro-step h.
    """

    @kernel
    def micro_step(m, start, h, long):
        x = m.hexapod
        s = m.ring_state
        platform.keep_pose(x, s, m.stepping)
        if long and contact.closes_by(m, start + h, h):
            return macro_step.CLOSED
        platform.drift(x, s, 0.5 * h)
        code = place(m, start + 0.5 * h, 0.5 * h)
        if code == 0:
            code = contact.detect(m, h)
        if code == 0 and long and contact.newly_closed(m):
            code = macro_step.CLOSED
        if code:
            platform.restore_pose(x, s, m.stepping)
            return code
        code = contact.accept(m, h)
        if code:
            return code
        drive(m, h)
        _accelerate(m)
        react(m)
        contact.account(m, h)
        lose(m, h)
        micro_step_control.set_next(m.parameters, m.stepping, s.acceleration, x.ring.acceleration, h)
        code = platform.kick(x, s, h, m.status)
        if code:
            return code
        platform.drift(x, s, 0.5 * h)
        retract(m, h)
        exchange.add_impulse(m, start + 0.5 * h, h)
        contact.remember_closed(m, h)
        return 0

    return micro_step


def make_start(initialize, drive, react, finish):
    """Return the kernel `start(m) -> code` that evaluates a mechanism at its initial position.

    `initialize(m)` sets the devices that need the placed legs, `drive` and `react` are those of `make_micro_step`, and
    `finish(m, h)` sets the outputs and returns 0 or a code.
    """

    @kernel
    def start(m):
        p = m.parameters
        micro_step_control.initialize(p, m.stepping)
        code = contact.initialize(m)
        if code == 0:
            code = place(m, 0.0, 0.0)
        if code == 0:
            code = contact.detect(m, p.micro_step)
        if code:
            return code
        initialize(m)
        code = contact.accept(m, 0.0)
        if code == 0:
            contact.start(m)
            drive(m, 0.0)
            _accelerate(m)
            react(m)
            code = finish(m, 0.0)
        if code:
            return code
        for i in range(6):
            m.ring_state.acceleration[i] = m.hexapod.ring.acceleration[i]
        exchange.initialize(m)
        return 0

    return start


@kernel
def begin(m):
    """Begin a step: reset contact, and set the momenta with the true motion of the base. Returns 0 or a code."""
    contact.begin_step(m)
    return momentum_balance.begin(m)
