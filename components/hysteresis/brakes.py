"""The law in series with friction brakes (Yaskevich 2020, section 3.3): slip shifts the abscissae of all branches.

The elastic part of the deformation is the part that the brakes have not taken up; it never leaves the working range of
the law.
"""

from __future__ import annotations

from math import fabs

from components.core.kernel import kernel
from components.hysteresis.law import BACKWARD, TRANSITION, commit, meet, value


@kernel
def _slip(m, elastic, high, low, rate, slipping):
    """Return (elastic deformation, slipping) with a brake that holds from `low` to `high` and takes up the rest."""
    if elastic >= high:
        m.slip += elastic - high
        elastic = high
        slipping = rate >= 0.0
    elif elastic <= low:
        m.slip += elastic - low
        elastic = low
        slipping = rate <= 0.0
    return elastic, slipping


@kernel
def update_with_brake(p, m, deformation, rate, gain):
    """Update a spring or gear train and one friction brake in series (HV).

    Returns 0, IRREGULAR or NOT_FINITE.
    The brake slips at the reactions of the law's last points, which may differ between the sides. `m.slip` is the
    shift of the branches. The source corrects them at the reversal; doing it continuously is the same, because the
    reaction is constant while the brake slips (spec/03 section 5).
    """
    elastic = deformation - m.slip
    high = p.forward_deformation[0, int(p.points[0]) - 1]
    low = -p.forward_deformation[1, int(p.points[1]) - 1]
    elastic, slipping = _slip(m, elastic, high, low, rate, False)
    return commit(p, m, deformation, elastic, rate, gain, slipping)


@kernel
def _deformation_at(p, m, side, level):
    """Return the deformation (magnitude) at which monotone loading of `side` from the present state reaches `level`."""
    n = int(p.points[side])
    k3 = p.transition_stiffness[side]
    q = p.forward_deformation[side]
    Q = p.forward_reaction[side]
    state = int(fabs(m.state))
    here = m.state > 0.0
    if side == 1:
        here = m.state < 0.0
    if here and state == TRANSITION and level <= m.transition[3]:
        return m.transition[2] + (level - m.transition[3]) / k3
    if here and state == BACKWARD:
        y = value(p.backward_deformation[side], p.backward_reaction[side], n, k3, m.extreme)
        upper, upper_reaction = meet(q, Q, n, k3, m.extreme, y)
        if level <= upper_reaction:
            return upper + (level - upper_reaction) / k3
    for i in range(n - 1):
        if level < Q[i + 1]:
            return q[i] + (level - Q[i]) * (q[i + 1] - q[i]) / (Q[i + 1] - Q[i])
    return q[n - 1] + (level - Q[n - 1]) / k3


@kernel
def update_with_two_brakes(p, brakes, m, deformation, rate, gain):
    """Update a gear train and two friction brakes in series (HV2).

    Returns 0, IRREGULAR or NOT_FINITE.
    `brakes` is the sub-record of `ports.two_brakes`. The first brake slips at its lower levels within
    0 <= m.stroke <= first_stroke; the second one slips at its own levels (`m.slip`), which the law's last points must
    reach. The source gives no table of states; this is the return mapping of spec/03 section 6.
    """
    elastic = deformation - m.stroke - m.slip
    high = _deformation_at(p, m, 0, brakes.first_positive)
    low = -_deformation_at(p, m, 1, brakes.first_negative)
    slipping = False
    if elastic >= high and m.stroke < brakes.first_stroke:
        move = min(elastic - high, brakes.first_stroke - m.stroke)
        m.stroke += move
        elastic -= move
        slipping = m.stroke < brakes.first_stroke and rate >= 0.0
    elif elastic <= low and m.stroke > 0.0:
        move = min(low - elastic, m.stroke)
        m.stroke -= move
        elastic += move
        slipping = m.stroke > 0.0 and rate <= 0.0
    high = _deformation_at(p, m, 0, brakes.second_positive)
    low = -_deformation_at(p, m, 1, brakes.second_negative)
    elastic, slipping = _slip(m, elastic, high, low, rate, slipping)
    return commit(p, m, deformation, elastic, rate, gain, slipping)
