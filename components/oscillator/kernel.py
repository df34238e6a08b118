"""m x'' + c x' + k x = f, advanced exactly for a force held over the step."""

from math import cos, cosh, exp, fabs, isfinite, sin, sinh, sqrt

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel

NOT_FINITE = 1
TRAVEL_EXCEEDED = 2

MESSAGES = {
    NOT_FINITE: Message("the force {force:g} N or the state is not finite"),
    TRAVEL_EXCEEDED: Message(
        "displacement {status.value:.4g} m exceeds parameters.travel_limit = {parameters.travel_limit:.4g} m"
    ),
}


@kernel
def _outputs(m):
    p = m.parameters
    m.audit.kinetic_energy = 0.5 * p.mass * m.velocity * m.velocity
    m.audit.stored_energy = 0.5 * p.stiffness * m.position * m.position
    m.audit.momentum[0] = p.mass * m.velocity


@kernel
def initialize(m):
    """Set the oscillator to its initial state. Returns 0, or the code of a failure."""
    m.position = m.parameters.initial_position
    m.velocity = m.parameters.initial_velocity
    m.audit.dissipated_energy = 0.0
    m.audit.dissipated_damper = 0.0
    m.audit.work_force = 0.0
    _outputs(m)
    return 0


@kernel
def _free_motion(k, c, h):
    """Return the transition over h of x'' + c x' + k x = 0: (position from position, position from velocity).

    One formula covers under-, over- and critical damping, and k = 0: both are exp(-c h / 2) times cosine- and
    sine-like functions of the square root of c^2/4 - k.
    """
    square = 0.25 * c * c - k
    decay = exp(-0.5 * c * h)
    w = sqrt(fabs(square))
    if w * h < 1e-4:
        z = square * h * h
        even = 1.0 + z / 2.0
        odd = h * (1.0 + z / 6.0)
    elif square < 0.0:
        even = cos(w * h)
        odd = sin(w * h) / w
    else:
        even = cosh(w * h)
        odd = sinh(w * h) / w
    return decay * (even + 0.5 * c * odd), decay * odd


@kernel
def step(m, t, h):
    """Advance the oscillator by h > 0, s. Returns 0, or the code of a failure."""
    p = m.parameters
    k = p.stiffness / p.mass
    c = p.damping / p.mass
    a = m.force / p.mass
    from_position, from_velocity = _free_motion(k, c, h)
    # position and velocity obey the same equation; the initial rate of the velocity is the acceleration
    start_acceleration = a - c * m.velocity - k * m.position
    energy = m.audit.kinetic_energy + m.audit.stored_energy
    m.work.last_position = m.position
    if k > 0.0:
        rest = a / k
        x = rest + from_position * (m.position - rest) + from_velocity * m.velocity
    elif c > 0.0:
        x = m.position + from_velocity * m.velocity + a * (h - from_velocity) / c
    else:
        x = m.position + h * m.velocity + 0.5 * a * h * h
    m.velocity = from_position * m.velocity + from_velocity * start_acceleration
    m.position = x
    if not (isfinite(m.position) and isfinite(m.velocity)):
        return fail(m.status, NOT_FINITE, m.position, 0)
    if fabs(m.position) > p.travel_limit:
        return fail(m.status, TRAVEL_EXCEEDED, m.position, 0)
    _outputs(m)
    work = m.force * (m.position - m.work.last_position)
    m.audit.work_force += work
    m.audit.dissipated_damper += work - (m.audit.kinetic_energy + m.audit.stored_energy - energy)
    m.audit.dissipated_energy = m.audit.dissipated_damper
    return 0
