"""Contact outside the mechanism: wrenches on links, rollers and passive unit come through ports and hold over a step.

It has the same functions as `internal_contact`, for the record without the probe-cone unit. Wrenches are constant in
the axes of their links, so that a step applies the impulse that the contact intended, turned with the link.
"""

from math import fabs, isfinite

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, dot, load
from dockfmu.components.probe_mechanism.alignment import levers
from dockfmu.components.probe_mechanism.tree import PROBE, load_on, mean_twist

NOT_FINITE = 5

MESSAGES = {NOT_FINITE: Message("a wrench of the external contact is not finite")}


@kernel
def _size(a):
    return fabs(a[0]) + fabs(a[1]) + fabs(a[2])


@kernel
def check_inputs(m):
    """Return 0, or the code of a failure if a wrench is not finite; set whether any acts."""
    size = _size(m.target.contact_force) + _size(m.target.contact_torque)
    for j in range(2):
        size += _size(m.link[j].force) + _size(m.link[j].torque) + _size(m.link[j].tip_torque)
    for k in range(levers.COUNT):
        size += _size(m.roller[k].force)
    if not isfinite(size):
        return fail(m.status, NOT_FINITE, size, 0)
    m.balance.touched = 1.0 if size > 0.0 else 0.0
    return 0


@kernel
def initialize(m):
    """Reset the work of the contact. Returns 0."""
    m.balance.work_contact = 0.0
    m.balance.touched_before = 0.0
    return 0


@kernel
def begin_step(m):
    """Do nothing: no sensor or flag of contact is kept over a step."""


@kernel
def set_inputs(m, ahead):
    """Do nothing: links and rollers are outputs of the end of the step."""


@kernel
def detect(m):
    """Return 0: there is no trial, the wrenches are given."""
    return 0


@kernel
def newly_closed(m):
    """Return whether a wrench acts where none did in the last micro-step."""
    return m.balance.touched > m.balance.touched_before


@kernel
def remember_closed(m):
    """Remember whether a wrench acted, for `newly_closed`."""
    m.balance.touched_before = m.balance.touched


@kernel
def accept(m):
    """Do nothing: the wrenches hold over the step."""


@kernel
def on_link(m, j):
    """Return the wrench on link j: force in N and torque in N m about its origin, link axes."""
    return m.link[j]


@kernel
def on_roller(m, k):
    """Return the force on roller k, N, M axes."""
    return load(m.roller[k].force)


@kernel
def on_target(m):
    """Return (force in N, torque in N m about the origin of PU) on the passive unit, PU axes."""
    return load(m.target.contact_force), load(m.target.contact_torque)


@kernel
def linearise(m, h):
    """Do nothing: damping and friction of the contact are in its wrench."""


@kernel
def can_revise(m):
    """Return False: the wrenches stay as they are given."""
    return False


@kernel
def revise(m, change, h):
    """Return 0: no contact is newly held."""
    return 0


@kernel
def axial_damping(m):
    """Return 0 kg: damping of the contact is in its wrench."""
    return 0.0


@kernel
def cam_response(m):
    """Return (0 N, 0 kg): the wrenches hold whatever the accelerations."""
    return 0.0, 0.0


@kernel
def cam_correction(m):
    """Return 0 N: the wrenches hold."""
    return 0.0


@kernel
def account_cam_loss(m, force, travel):
    """Do nothing: losses are those of the external contact."""


@kernel
def tip_torque(m):
    """Return the torque of the springs of latches and head sensors about the head's centre, N m, H axes."""
    return load(m.link[0].tip_torque)


@kernel
def _power(m, h):
    """Return the mean power of the contact in the micro-step on links and passive unit, W."""
    base = m.motion.base
    target = m.motion.target
    force, torque = on_target(m)
    power = dot(force, load(target.velocity)) + dot(torque, load(target.angular_velocity))
    omega0 = axpy(-0.5 * h, load(m.base.angular_acceleration), load(base.angular_velocity))
    velocity0 = axpy(-0.5 * h, load(m.base.acceleration), load(base.velocity))
    t = m.tree
    for k in range(2):
        torque, force = load_on(t, k)
        spin, speed = mean_twist(t, k, t.link[k], ZERO, omega0, velocity0, h)
        power += dot(torque, spin) + dot(force, speed)
    for k in range(2):
        power += t.tip_force[k] * (t.qd[2 + k] - 0.5 * h * t.qdd[2 + k])
    return power


@kernel
def account_losses(m, axial_force, travel, displacement, h):
    """Add the work of the contact in a micro-step h, with `travel` of the probe and `displacement` of the rollers.

    With the mean rates of the micro-step it is exact for a wrench that holds over it. Returns (force, torque) to add to
    the wrench on the passive unit: none.
    """
    m.balance.work_contact += h * _power(m, h) - m.tree.load[PROBE].force[0] * travel
    for k in range(levers.COUNT):
        m.balance.work_contact += levers.work(m.levers, k, on_roller(m, k), displacement)
    return ZERO, ZERO


@kernel
def finish_step(m):
    """Set the output of the slope of the probe's tip, which turns the latches."""
    for i in range(2):
        m.link[0].tip_slope[i] = m.tree.tip_slope[i]


@kernel
def audit(m):
    """Set the work of the contact in the audit."""
    m.audit.work_contact = m.balance.work_contact
