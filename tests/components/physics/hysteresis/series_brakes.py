"""The law in series with friction brakes (Yaskevich 2020, section 3.3): slip shifts the abscissae of all branches.

An independent formulation of the axial devices of the probe mechanism, whose kernels use a return mapping. The elastic
part of the deformation is the part that the brakes have not taken up; it never leaves the working range of the law.
"""

from __future__ import annotations

from math import fabs, isfinite

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.hysteresis import IRREGULAR, NOT_FINITE, SHORTEST, reaction
from dockfmu.components.physics.hysteresis.builders import _point
from dockfmu.components.physics.hysteresis.law import (
    BACKWARD,
    TRANSITION,
    active_segment,
    advance,
    meet,
    recoverable_energy,
    value,
)


def memory(name, deformation_unit, reaction_unit):
    """Return the memory of the law with the state of up to two brakes."""
    return Group(
        name,
        *hysteresis.memory(name, deformation_unit, reaction_unit).members,
        private("slip", deformation_unit, "irreversible slip of the (second) friction brake"),
        private("stroke", deformation_unit, "stroke of the first of two friction brakes"),
    )


def two_brakes(name, deformation_unit, reaction_unit):
    """Return the group of the slip levels of two friction brakes in series (hysteresis section 6).

    The first one has a limited stroke.
    """
    return Group(
        name,
        private("first_positive", reaction_unit, "slip level of the first brake, positive"),
        private("first_negative", reaction_unit, "slip level of the first brake, negative (magnitude)"),
        private("first_stroke", deformation_unit, "range of the first brake, one-sided"),
        private("second_positive", reaction_unit, "slip level of the second brake, positive"),
        private("second_negative", reaction_unit, "slip level of the second brake, negative (magnitude)"),
    )


@kernel
def _commit(p, m, deformation, elastic, rate, gain, slipping):
    """Move the element to `deformation`, of which `elastic` acts on the law; the rest is slip of its brakes.

    While a brake is `slipping`, the reaction is held constant.

    The work of the step just done is that of the segment that was active in it, so that the energies here equal those
    that the owner's equations of motion have exchanged.
    """
    frozen = reaction(m, deformation)
    work = 0.5 * (m.reaction + frozen) * (deformation - m.deformation)
    irregular = advance(p, m, elastic, rate)
    start, y, slope = active_segment(p, m, elastic)
    if slipping:
        y += slope * (elastic - start)
        start = elastic
        slope = 0.0
    energy = recoverable_energy(p, m, elastic)
    m.dissipated_energy += work - m.gain * (energy - m.recoverable)
    m.gain_work += (gain - m.gain) * energy
    m.recoverable = energy
    m.stored_energy = gain * energy
    m.gain = gain
    m.origin_deformation = start + (deformation - elastic)
    m.origin_reaction = gain * y
    m.stiffness = gain * slope
    m.deformation = deformation
    m.reaction = gain * (y + slope * (elastic - start))
    if not isfinite(m.reaction + energy):
        return NOT_FINITE
    if irregular:
        m.irregular += 1.0
        if p.strict != 0.0:
            return IRREGULAR
    return 0


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
    reaction is constant while the brake slips (hysteresis section 5).
    """
    elastic = deformation - m.slip
    high = p.forward_deformation[0, int(p.points[0]) - 1]
    low = -p.forward_deformation[1, int(p.points[1]) - 1]
    elastic, slipping = _slip(m, elastic, high, low, rate, False)
    return _commit(p, m, deformation, elastic, rate, gain, slipping)


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
    `brakes` is the sub-record of `two_brakes`. The first brake slips at its lower levels within
    0 <= m.stroke <= first_stroke; the second one slips at its own levels (`m.slip`), which the law's last points must
    reach. The source gives no table of states; this is the return mapping of hysteresis section 6.
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
    return _commit(p, m, deformation, elastic, rate, gain, slipping)


@kernel
def spring_and_brake(p, preload, end, stroke, unloading, train, positive, negative):
    """Fill `p` for `update_with_brake` with the axial damper of the existing central mechanism.

    Theory: central-docking 5.2, rulings R27.

    A spring of forces `preload` .. `end` over `stroke` works on the positive side; it gives back the fraction
    `unloading` (<= 1) of its force. `train` is the stiffness of the gear train; the brake slips at `positive` and
    `negative` (magnitudes). Any consistent units; 0 < preload < end < positive.
    """
    _point(p, 0, 0, 0.0, 0.0, 0.0, 0.0)
    if unloading < 1.0 - SHORTEST:
        force = unloading * preload
        _point(p, 0, 1, force / train, force, force / train, force)
        _point(p, 0, 2, preload / train, preload, stroke + unloading * end / train, unloading * end)
        n = 3
    else:
        # without friction the branches coincide, with one corner less
        _point(p, 0, 1, preload / train, preload, preload / train, preload)
        n = 2
    _point(p, 0, n, stroke + end / train, end, stroke + end / train, end)
    _point(p, 0, n + 1, stroke + positive / train, positive, stroke + positive / train, positive)
    _point(p, 1, 0, 0.0, 0.0, 0.0, 0.0)
    _point(p, 1, 1, negative / train, negative, negative / train, negative)
    p.points[0] = n + 2.0
    p.points[1] = 2.0
    p.transition_stiffness[0] = train
    p.transition_stiffness[1] = train
