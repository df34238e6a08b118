"""Contact in a separate FMU: its wrenches come through ports and are held over a step.

`internal_contact` has the same functions for the build with the pair of rings in its record; `contact` chooses.
"""

from math import isfinite

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, cross, dot, load
from dockfmu.components.physics.ring_on_legs import micro_step_control, platform

MESSAGES: dict[int, Message] = {}


@kernel
def work(m, force, torque, on_target, torque_on_target, h):
    """Return the work of the wrenches of a contact on ring and passive unit over a micro-step h, J.

    The wrench on the ring is about its centre of mass, force in frame 0 and torque in ring axes; the other is in PU.
    Call it between `accelerate` and `kick`.
    """
    x = m.hexapod
    base = m.motion.base
    target = m.motion.target
    velocity, turn = platform.mean_twist(x, m.ring_state, h)
    velocity = add(velocity, add(load(base.velocity), cross(load(base.angular_velocity), load(x.ring.position))))
    turn = add(turn, apply(load_matrix(x.ring.rotation), load(base.angular_velocity)))
    power = dot(force, velocity) + dot(torque, turn)
    return h * (power + dot(on_target, load(target.velocity)) + dot(torque_on_target, load(target.angular_velocity)))


@kernel
def check_inputs(m):
    """Return 0, or the code of the first input that is not finite."""
    total = 0.0
    for i in range(3):
        total += m.link[0].force[i] + m.link[0].torque[i]
        total += m.target.contact_force[i] + m.target.contact_torque[i]
    if not isfinite(total):
        return fail(m.status, check.NOT_FINITE, total, 4)
    return 0


@kernel
def initialize(m):
    """Set the work to zero. Returns 0."""
    m.balance.work_contact = 0.0
    return 0


@kernel
def start(m):
    """Do nothing: there is no stored energy."""


@kernel
def begin_step(m):
    """Do nothing: sensors and flags of contact belong to the FMU of the contact."""


@kernel
def detect(m, h):
    """Return 0: there is nothing to detect."""
    return 0


@kernel
def _acts(m):
    force = load(m.link[0].force)
    torque = load(m.link[0].torque)
    return 1.0 if dot(force, force) + dot(torque, torque) > 0.0 else 0.0


@kernel
def newly_closed(m):
    """Return whether a contact acts on the ring that did not in the last micro-step."""
    return _acts(m) > m.stepping.closed


@kernel
def closes_by(m, end, h):
    """Return False: the wrenches are held over the step."""
    return False


@kernel
def remember_closed(m, h):
    """Remember whether a contact acts, for `newly_closed`."""
    micro_step_control.remember_contacts(m.stepping, _acts(m), 0.0, h)


@kernel
def accept(m, h):
    """Return 0: the wrenches are held over the step."""
    return 0


@kernel
def on_ring(m):
    """Return the wrench on the ring about its centre of mass: (force in N, frame 0; torque in N m, ring axes)."""
    link = m.link[0]
    force = load(link.force)
    torque = add(load(link.torque), cross((m.parameters.ring.plane_offset, 0.0, 0.0), force))
    return apply_transposed(load_matrix(m.hexapod.ring.rotation), force), torque


@kernel
def on_target(m):
    """Return the wrench on the passive unit: (force in N, torque in N m about the origin of PU), PU axes."""
    return load(m.target.contact_force), load(m.target.contact_torque)


@kernel
def account(m, h):
    """Add the work of the contact on ring and passive unit over a micro-step h, before `kick`."""
    force, torque = on_ring(m)
    on_passive, torque_on_passive = on_target(m)
    m.balance.work_contact += work(m, force, torque, on_passive, torque_on_passive, h)


@kernel
def finish_step(m):
    """Do nothing: the contact has no outputs here. Returns 0."""
    return 0


@kernel
def audit(m):
    """Set the work of the contact."""
    m.audit.work_contact = m.balance.work_contact
