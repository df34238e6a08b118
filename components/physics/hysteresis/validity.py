"""Conditions for a well-posed law (hysteresis section 3), and the messages of the kernels."""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.component import Message
from dockfmu.components.core.kernel import kernel

IRREGULAR = 1
NOT_FINITE = 2
POINTS = 3
NOT_INCREASING = 4
NOT_THROUGH_ZERO = 5
COMMON_POINTS = 6
TRANSITION_SLOPE = 7
TOO_STEEP = 8
CROSSED = 9

_TEXTS = {
    IRREGULAR: "left a branch in an unforeseen way: use a shorter step or a longer first segment",
    NOT_FINITE: "deformation or reaction is not finite",
    POINTS: "the number of points must lie between 2 and the length of the table",
    NOT_INCREASING: "deformations must rise strictly from zero or more, reactions must not fall",
    NOT_THROUGH_ZERO: "the reaction at the first point must be zero",
    COMMON_POINTS: "forward and backward branch must share their points 1, 2 and last",
    TRANSITION_SLOPE: "the last backward segment must have the slope transition_stiffness",
    TOO_STEEP: "a segment is steeper than transition_stiffness",
    CROSSED: "the backward branch lies above the forward branch",
}


def messages(element: str, base: int) -> dict[int, Message]:
    """Return the messages of the codes base + 1 .. base + 9, for an owner that fails with `base + code`.

    `element` is the structured name of the law, or a description of several laws, distinguished by status.index.
    """
    return {base + code: Message(f"hysteresis of {element}: {text}") for code, text in _TEXTS.items()}


@kernel
def _check_branch(q, Q, n, k3, shut):
    """Return 0, or the code of the first condition that one branch violates by itself.

    With `shut` = 1 the last segment may have no length, where unloading follows loading up to the end of the range.
    """
    if not (q[0] >= 0.0 and k3 > 0.0):
        return NOT_INCREASING
    if Q[0] != 0.0:
        return NOT_THROUGH_ZERO
    for i in range(n - 1):
        closed = shut == 1 and i == n - 2 and q[i + 1] == q[i] and Q[i + 1] == Q[i]
        if not (closed or (q[i + 1] > q[i] and Q[i + 1] >= Q[i])):
            return NOT_INCREASING
        if not (Q[i + 1] - Q[i] <= k3 * (q[i + 1] - q[i]) * (1.0 + 1e-9) + _rounding(q, Q, n, k3)):
            return TOO_STEEP
    return 0


@kernel
def _rounding(q, Q, n, k3):
    """Return a bound of the rounding error of a reaction along a segment: some 1e-16 of the largest values."""
    return 1e-15 * (Q[n - 1] + k3 * q[n - 1])


@kernel
def _differ(qF, QF, qB, QB, i, n):
    """Return whether point i of the two branches differs by more than 1e-12 of the range."""
    return fabs(qF[i] - qB[i]) > 1e-12 * qF[n - 1] or fabs(QF[i] - QB[i]) > 1e-12 * QF[n - 1]


@kernel
def _between(q, Q, n, x):
    """Return the value at x of the branch (q, Q) inside its points."""
    for i in range(n - 1):
        if x < q[i + 1]:
            return Q[i] + (Q[i + 1] - Q[i]) / (q[i + 1] - q[i]) * (x - q[i])
    return Q[n - 1]


@kernel
def validate(p):
    """Return 0, or the code of the first condition of hysteresis section 3 that the law `p` violates."""
    for side in range(2):
        n = int(p.points[side])
        qF = p.forward_deformation[side]
        QF = p.forward_reaction[side]
        qB = p.backward_deformation[side]
        QB = p.backward_reaction[side]
        k3 = p.transition_stiffness[side]
        if n < 2 or n > len(qF):
            return POINTS
        code = _check_branch(qF, QF, n, k3, 0)
        if code == 0:
            code = _check_branch(qB, QB, n, k3, int(n > 2))
        if code != 0:
            return code
        if _differ(qF, QF, qB, QB, 0, n) or _differ(qF, QF, qB, QB, 1, n) or _differ(qF, QF, qB, QB, n - 1, n):
            return COMMON_POINTS
        rise = k3 * (qB[n - 1] - qB[n - 2])
        if fabs(QB[n - 1] - QB[n - 2] - rise) > 1e-9 * rise + _rounding(qB, QB, n, k3):
            return TRANSITION_SLOPE
        tolerance = 1e-12 * QF[n - 1]
        for i in range(n):
            below = QF[i] - _between(qB, QB, n, qF[i])
            above = _between(qF, QF, n, qB[i]) - QB[i]
            if below < -tolerance or above < -tolerance:
                return CROSSED
    return 0
