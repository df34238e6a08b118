"""Instant of the step at which a separate contact component evaluates contact, and the links there (ruling R2).

The component steps first. It moves the received poses forward with the received twists, to the instant of evaluation;
links and craft then move over the step with that force. In the middle of the step this is drift - kick - drift: of
second order for forces that depend on positions, of first order for damping and friction, whose velocities are those at
the start of the step (contact-forces section 12).
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, enumeration, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.kinematics import extrapolate, relate
from dockfmu.components.physics.mechanics.rotation import advance, apply, from_quaternion, load_attitude, store_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, load, scale, store

EVALUATION = enumeration(
    "Evaluation",
    midpoint="positions in the middle of the step, for importers that step this contact first",
    start="positions at the start of the step",
    delayed_midpoint="positions one and a half steps ahead, for importers that step all FMUs at once",
)
START = EVALUATION.codes["start"]
DELAYED_MIDPOINT = EVALUATION.codes["delayed_midpoint"]


def evaluation() -> Field:
    """Return the parameter `evaluation`."""
    description = "instant of the step at which contact is evaluated"
    return parameter("evaluation", "1", description, EVALUATION.codes["midpoint"], type=EVALUATION)


@kernel
def ahead(evaluation, h):
    """Return the time from the start of a step of length h to its evaluation, s."""
    if evaluation == START:
        return 0.0
    if evaluation == DELAYED_MIDPOINT:
        return 1.5 * h
    return 0.5 * h


@kernel
def place_ports(m, tau, relative):
    """Place both ports `tau` seconds after they were received, and `relative`, frame 0 relative to PU."""
    extrapolate(m.base, ZERO, ZERO, tau, m.motion.base)
    extrapolate(m.target, ZERO, ZERO, tau, m.motion.target)
    relate(relative, m.motion.base, m.motion.target)


@kernel
def place_link(link, tau, out):
    """Set `out` to a link `tau` seconds after its values were received, moved with its twist relative to frame 0."""
    q = load_attitude(link.quaternion)
    velocity = load(link.velocity)
    turning = load(link.angular_velocity)
    store(axpy(tau, velocity, load(link.position)), out.position)
    turned = advance(q, scale(tau, apply(from_quaternion(q), turning)))
    store_matrix(from_quaternion(turned), out.rotation)
    store(velocity, out.velocity)
    store(turning, out.angular_velocity)
