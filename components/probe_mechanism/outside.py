"""Contact outside the mechanism: wrenches on links, rollers and passive unit come through ports and hold over a step.

The same functions as `inside`, for the record without the probe-cone unit. Wrenches are constant in the axes of their
links, so that a step applies the impulse that the contact meant, turned with the link.
"""

from math import fabs, isfinite

from components.core.component import Message, fail
from components.core.kernel import kernel
from components.core.vector import ZERO, axpy, dot, load
from components.probe_mechanism import levers
from components.probe_mechanism.tree import PROBE, load_on, mean_twist

NOT_FINITE = 5

MESSAGES = {NOT_FINITE: Message("a wrench of the external contact is not finite")}


@kernel
def _size(a):
    return fabs(a[0]) + fabs(a[1]) + fabs(a[2])


@kernel
def check(m):
    """Returns 0, or the code of a failure if a wrench is not finite. Notes whether any acts."""
    size = _size(m.target.contact_force) + _size(m.target.contact_torque)
    for j in range(2):
        size += _size(m.link[j].force) + _size(m.link[j].torque) + _size(m.link[j].tip_torque)
    for k in range(levers.COUNT):
        size += _size(m.roller[k].force)
    if not isfinite(size):
        return fail(m.status, NOT_FINITE, size, 0)
    m.books.touched = 1.0 if size > 0.0 else 0.0
    return 0


@kernel
def initialize(m):
    """Books at their start."""
    m.books.work_contact = 0.0
    m.books.touched_before = 0.0
    return 0


@kernel
def begin(m):
    """Nothing is kept over a step."""


@kernel
def hand_over(m):
    """Links and rollers go out at the end of the step only."""


@kernel
def touch(m):
    """No trial: the wrenches are given."""
    return 0


@kernel
def newly_closed(m):
    """True if a wrench acts where none did in the last micro-step."""
    return m.books.touched > m.books.touched_before


@kernel
def remember(m):
    """Remember whether a wrench acted, for `newly_closed`."""
    m.books.touched_before = m.books.touched


@kernel
def accept(m, h):
    """Nothing to accept."""


@kernel
def on_link(m, j):
    """Force and torque on link j, link axes, about its origin."""
    return m.link[j]


@kernel
def on_roller(m, k):
    """Force on roller k, M axes."""
    return load(m.roller[k].force)


@kernel
def on_target(m):
    """(force, torque about the origin of PU) on the passive unit, PU axes."""
    return load(m.target.contact_force), load(m.target.contact_torque)


@kernel
def linearise(m, h):
    """Nothing to linearise: damping and friction of the contact are in its wrench."""


@kernel
def rubs(m):
    """The wrenches stay as they are given."""
    return False


@kernel
def revise(m, change, h):
    """Nothing to revise."""
    return 0


@kernel
def axial_damping(m):
    return 0.0


@kernel
def cam_response(m):
    """No response: the wrenches hold."""
    return 0.0, 0.0


@kernel
def cam_correction(m):
    """No correction: the wrenches hold."""
    return 0.0


@kernel
def lose_through_cam(m, force, travel):
    """Nothing to book."""


@kernel
def tip_torque(m):
    """Torque of the springs of latches and head sensors about the head's centre, H axes, N.m."""
    return load(m.link[0].tip_torque)


@kernel
def _power(m, h):
    """Mean power of the contact in the micro-step on links and passive unit, W."""
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
def settle(m, axial_force, travel, way, h):
    """Book the work of the contact in a micro-step h in which the probe went by `travel` and the rollers by `way` of
    `levers.shift`; adds no wrench.

    With the mean rates of the micro-step: exact for a wrench that holds over it.
    """
    m.books.work_contact += h * _power(m, h) - m.tree.load[PROBE].force[0] * travel
    for k in range(levers.COUNT):
        m.books.work_contact += levers.work(m.levers, k, on_roller(m, k), way)
    return ZERO, ZERO


@kernel
def finish(m):
    """Slope of the probe's tip for the latches."""
    for i in range(2):
        m.link[0].tip_slope[i] = m.tree.tip_slope[i]


@kernel
def audit(m):
    m.audit.work_contact = m.books.work_contact
