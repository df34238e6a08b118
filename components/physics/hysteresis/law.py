"""The constant-parameter law: loading and unloading branches with finite transitions (Yaskevich 2020, section 3.2).

Inside this file deformation x and rate v are those of one side, positive when loading, and `side` is 0 or 1.
Kernels take the law's sub-record `p` (see `ports.law`) and the element's memory `m` (see `ports.memory`).
"""

from __future__ import annotations

from math import fabs, isfinite

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.hysteresis.validity import IRREGULAR, NOT_FINITE

COMMON = 0
FORWARD = 1
BACKWARD = 2
TRANSITION = 3
BEYOND = 10


@kernel
def segment(q, Q, n, last_slope, x):
    """Return (deformation, reaction, slope) at the start of the segment of the branch (q, Q) that contains x >= 0.

    `n` points are used; the free play lies before the first one, a line of slope `last_slope` beyond the last one.
    """
    if x < q[0]:
        return 0.0, 0.0, 0.0
    for i in range(n - 1):
        if x < q[i + 1]:
            return q[i], Q[i], (Q[i + 1] - Q[i]) / (q[i + 1] - q[i])
    return q[n - 1], Q[n - 1], last_slope


@kernel
def value(q, Q, n, last_slope, x):
    """Return the reaction of the branch (q, Q) at x."""
    start, start_reaction, slope = segment(q, Q, n, last_slope, x)
    return start_reaction + slope * (x - start)


@kernel
def area(q, Q, n, last_slope, x):
    """Return the integral of the branch (q, Q) from 0 to x."""
    if x <= q[0]:
        return 0.0
    total = 0.0
    for i in range(n - 1):
        if x <= q[i + 1]:
            slope = (Q[i + 1] - Q[i]) / (q[i + 1] - q[i])
            return total + (Q[i] + 0.5 * slope * (x - q[i])) * (x - q[i])
        total += 0.5 * (Q[i] + Q[i + 1]) * (q[i + 1] - q[i])
    beyond = x - q[n - 1]
    return total + (Q[n - 1] + 0.5 * last_slope * beyond) * beyond


@kernel
def meet(q, Q, n, k3, x0, y0):
    """Return (x, y) where the line of slope k3 through (x0, y0) meets the branch (q, Q); NaN if it does not.

    hysteresis section 4.3, with its errata: slope form instead of the source's coefficients A, B, C, which vanish at
    y = 0; closed intervals in x only. Branch minus line falls monotonically in x because no slope exceeds k3.
    """
    tolerance = 1e-12 * Q[n - 1]
    for i in range(n - 1):
        low = Q[i] - (y0 + k3 * (q[i] - x0))
        high = Q[i + 1] - (y0 + k3 * (q[i + 1] - x0))
        if low >= -tolerance and high <= tolerance:
            k = k3
            if q[i + 1] > q[i]:
                k = (Q[i + 1] - Q[i]) / (q[i + 1] - q[i])
            if fabs(k - k3) < 1e-12 * k3:
                x = q[i + 1]
            else:
                x = min(max(q[i] + low / (k3 - k), q[i]), q[i + 1])
            return x, y0 + k3 * (x - x0)
    nowhere = float("nan")
    return nowhere, nowhere


@kernel
def _from_forward(p, m, side, x):
    """Set the transition segment that starts at the point x of the forward branch."""
    n = int(p.points[side])
    k3 = p.transition_stiffness[side]
    y = value(p.forward_deformation[side], p.forward_reaction[side], n, k3, x)
    lower, lower_reaction = meet(p.backward_deformation[side], p.backward_reaction[side], n, k3, x, y)
    m.transition[0] = lower
    m.transition[1] = lower_reaction
    m.transition[2] = x
    m.transition[3] = y


@kernel
def _from_backward(p, m, side, x):
    """Set the transition segment that starts at the point x of the backward branch."""
    n = int(p.points[side])
    k3 = p.transition_stiffness[side]
    y = value(p.backward_deformation[side], p.backward_reaction[side], n, k3, x)
    upper, upper_reaction = meet(p.forward_deformation[side], p.forward_reaction[side], n, k3, x, y)
    m.transition[0] = x
    m.transition[1] = y
    m.transition[2] = upper
    m.transition[3] = upper_reaction


@kernel
def _on_branch(p, m, side, state, x, v):
    """Return (new state, irregular) at x beyond the common segment, from `state`.

    `irregular` is True if the source does not foresee the change of state.

    A reversal starts its transition at the extreme deformation reached since the branch was entered, not at the first
    deformation seen after the reversal as in the source: the error of a loop's area is then of second order in the
    step.
    """
    irregular = False
    if state == COMMON:
        irregular = v < 0.0
        state = FORWARD
        m.extreme = x
    if state == TRANSITION:
        if x > m.transition[2]:
            irregular = v < 0.0
            state = FORWARD
            m.extreme = m.transition[2]
        elif x < m.transition[0]:
            irregular = v > 0.0
            state = BACKWARD
            m.extreme = m.transition[0]
        else:
            return state, irregular
    last = p.forward_deformation[side, int(p.points[side]) - 1]
    if state == FORWARD:
        if x >= last:
            return BEYOND, irregular or v < 0.0
        m.extreme = max(m.extreme, x)
        if v < 0.0:
            _from_forward(p, m, side, m.extreme)
            state = TRANSITION
            if x < m.transition[0]:
                state = BACKWARD
                m.extreme = x
        return state, irregular
    if state == BEYOND:
        if v < 0.0:
            state = BACKWARD
            m.extreme = x
        elif x < last:
            irregular = irregular or v > 0.0
            state = FORWARD
            m.extreme = x
        return state, irregular
    if v > 0.0 and x >= last:
        return BEYOND, irregular
    m.extreme = min(m.extreme, x)
    if v > 0.0:
        _from_backward(p, m, side, m.extreme)
        state = TRANSITION
        if x > m.transition[2]:
            state = FORWARD
            m.extreme = x
    return state, irregular


@kernel
def side_of(m, deformation):
    """Return the side on which the element works, that of its state or of the deformation on the common segment."""
    if m.state < 0.0 or (m.state == 0.0 and deformation < 0.0):
        return 1
    return 0


@kernel
def advance(p, m, deformation, rate):
    """Apply the branch logic of table 3.2.1, made total (hysteresis section 4.4).

    Returns True if the source does not foresee the step.
    """
    side = side_of(m, deformation)
    sign = 1.0 - 2.0 * side
    state = int(fabs(m.state))
    x = sign * deformation
    v = sign * rate
    jumped = False
    if x < p.forward_deformation[side, 1]:
        if -x < p.forward_deformation[1 - side, 1]:
            m.state = 0.0
            return False
        jumped = state != COMMON
        state = COMMON
        side = 1 - side
        sign = -sign
        x = -x
        v = -v
    state, irregular = _on_branch(p, m, side, state, x, v)
    m.state = sign * state
    return jumped or irregular


@kernel
def active_segment(p, m, deformation):
    """Return (deformation, reaction, slope) at the start of the active segment, signed."""
    side = side_of(m, deformation)
    sign = 1.0 - 2.0 * side
    n = int(p.points[side])
    k3 = p.transition_stiffness[side]
    state = int(fabs(m.state))
    if state == TRANSITION:
        return sign * m.transition[2], sign * m.transition[3], k3
    x = sign * deformation
    if state == BACKWARD:
        start, y, slope = segment(p.backward_deformation[side], p.backward_reaction[side], n, k3, x)
    else:
        start, y, slope = segment(p.forward_deformation[side], p.forward_reaction[side], n, k3, x)
    return sign * start, sign * y, slope


@kernel
def recoverable_energy(p, m, deformation):
    """Return the work that the element gives back when it is unloaded to zero from here.

    The path follows the transition, then the backward branch.
    """
    side = side_of(m, deformation)
    x = fabs(deformation)
    n = int(p.points[side])
    k3 = p.transition_stiffness[side]
    q = p.backward_deformation[side]
    Q = p.backward_reaction[side]
    state = int(fabs(m.state))
    if state == FORWARD:
        y = value(p.forward_deformation[side], p.forward_reaction[side], n, k3, x)
        lower, lower_reaction = meet(q, Q, n, k3, x, y)
    elif state == TRANSITION:
        y = m.transition[3] + k3 * (x - m.transition[2])
        lower = m.transition[0]
        lower_reaction = m.transition[1]
    else:
        return area(q, Q, n, k3, x)
    return area(q, Q, n, k3, lower) + 0.5 * (y + lower_reaction) * (x - lower)


@kernel
def update(p, m, deformation, rate, gain):
    """Select the active segment of the law at the start of a step. Returns 0, IRREGULAR or NOT_FINITE.

    Afterwards `m.reaction` resists positive deformation, and `reaction(m, q)` is the law inside the step:
    m.origin_reaction + m.stiffness (q - m.origin_deformation). `gain` multiplies reaction and stiffness (hysteresis
    section 4.5), 1.0 normally. A rate of zero is not a reversal.

    The work of the step just done is that of the segment that was active in it, so that the energies here equal those
    that the owner's equations of motion have exchanged.
    """
    frozen = reaction(m, deformation)
    work = 0.5 * (m.reaction + frozen) * (deformation - m.deformation)
    irregular = advance(p, m, deformation, rate)
    start, y, slope = active_segment(p, m, deformation)
    energy = recoverable_energy(p, m, deformation)
    m.dissipated_energy += work - m.gain * (energy - m.recoverable)
    m.gain_work += (gain - m.gain) * energy
    m.recoverable = energy
    m.stored_energy = gain * energy
    m.gain = gain
    m.origin_deformation = start
    m.origin_reaction = gain * y
    m.stiffness = gain * slope
    m.deformation = deformation
    m.reaction = gain * (y + slope * (deformation - start))
    if not isfinite(m.reaction + energy):
        return NOT_FINITE
    if irregular:
        m.irregular += 1.0
        if p.strict != 0.0:
            return IRREGULAR
    return 0


@kernel
def reaction(m, deformation):
    """Return the reaction at `deformation` with the segment that the last update selected."""
    return m.origin_reaction + m.stiffness * (deformation - m.origin_deformation)


@kernel
def reset(p, m):
    """Reset the element: undeformed, no energy."""
    m.state = 0.0
    m.extreme = 0.0
    for i in range(4):
        m.transition[i] = 0.0
    m.deformation = 0.0
    m.reaction = 0.0
    m.gain = 1.0
    m.recoverable = 0.0
    m.stored_energy = 0.0
    m.dissipated_energy = 0.0
    m.gain_work = 0.0
    m.irregular = 0.0
    start, y, slope = active_segment(p, m, 0.0)
    m.origin_deformation = start
    m.origin_reaction = y
    m.stiffness = slope
