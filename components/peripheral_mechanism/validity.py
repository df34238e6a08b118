"""Checks of the parameters of the peripheral mechanism, and of the domain of its model."""

from __future__ import annotations

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.table import segment
from dockfmu.components.physics.mechanics.inertia import possible
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.physics.ring_on_legs import platform, retraction

DIRECT_TABLE = 321
RETURN_TABLE = 322
BRANCHES = 323
STEEP = 324
HEIGHT = 325
HAND = 326
INITIAL_STROKE = 327
GEAR_ANGLE = 328
FORWARD = 329
RING_INERTIA = 330

MESSAGES = {
    DIRECT_TABLE: Message(
        "parameters.accumulators.direct_deformation[{status.index:.0f}] = {status.value:g} m: deformations must be "
        "strictly ascending"
    ),
    RETURN_TABLE: Message(
        "parameters.accumulators.return_deformation[{status.index:.0f}] = {status.value:g} m: deformations must be "
        "strictly ascending"
    ),
    BRANCHES: Message(
        "parameters.accumulators.return_force[{status.index:.0f}] = {status.value:g} N is above the direct branch: "
        "the spring would give back more energy than it received"
    ),
    STEEP: Message(
        "a branch of parameters.accumulators is steeper at its point {status.index:.0f} than train_stiffness = "
        "{parameters.accumulators.train_stiffness:g} N/m"
    ),
    HEIGHT: Message(
        "parameters.legs.retracted_length = {parameters.legs.retracted_length:g} m is shorter than the distance "
        "{status.value:.4g} m between the joints of a leg across the axis"
    ),
    RING_INERTIA: Message(
        "parameters.ring.inertia is physically impossible: a principal moment is above the sum of the others"
    ),
    HAND: Message("parameters.legs.hand[{status.index:.0f}] = {status.value:g} must be 1 (right) or -1 (left)"),
    INITIAL_STROKE: Message(
        "stroke {status.index:.0f} (1 parameters.initial_stroke, 2 parameters.legs.initial_stroke) = "
        "{status.value:g} m is beyond the forward position, parameters.legs.stroke = {parameters.legs.stroke:g} m"
    ),
    GEAR_ANGLE: Message(
        "parameters.initial_gear_angle = {parameters.initial_gear_angle:g} rad is above {status.value:.6g} rad, at "
        "which all the cable is paid out"
    ),
    FORWARD: Message(
        "parameters.accumulators.direct_deformation must extend from 0 to parameters.legs.stroke = "
        "{parameters.legs.stroke:g} m, and return_deformation from 0 to at most this value; point {status.index:.0f} "
        "is at {status.value:g} m"
    ),
}


@kernel
def _check_branches(p, stroke, status):
    """Check the tables of the accumulators. Returns 0, or a code."""
    wrong = check.first_not_rising(p.direct_deformation)
    if wrong:
        return fail(status, DIRECT_TABLE, p.direct_deformation[wrong - 1], wrong)
    wrong = check.first_not_rising(p.return_deformation)
    if wrong:
        return fail(status, RETURN_TABLE, p.return_deformation[wrong - 1], wrong)
    if p.direct_deformation[0] != 0.0 or p.return_deformation[0] != 0.0:
        return fail(status, FORWARD, p.direct_deformation[0] + p.return_deformation[0], 1)
    if abs(p.direct_deformation[4] - stroke) > 1e-9:
        return fail(status, FORWARD, p.direct_deformation[4], 5)
    if p.return_deformation[4] > stroke:
        return fail(status, FORWARD, p.return_deformation[4], 5)
    for i in range(5):
        x = p.return_deformation[i]
        k = segment(x, p.direct_deformation)
        slope = (p.direct_force[k + 1] - p.direct_force[k]) / (p.direct_deformation[k + 1] - p.direct_deformation[k])
        if p.return_force[i] > p.direct_force[k] + slope * (x - p.direct_deformation[k]):
            return fail(status, BRANCHES, p.return_force[i], i + 1)
    for i in range(4):
        rise = p.direct_force[i + 1] - p.direct_force[i]
        if rise >= p.train_stiffness * (p.direct_deformation[i + 1] - p.direct_deformation[i]):
            return fail(status, STEEP, rise, i + 2)
        rise = p.return_force[i + 1] - p.return_force[i]
        if rise >= p.train_stiffness * (p.return_deformation[i + 1] - p.return_deformation[i]):
            return fail(status, STEEP, rise, i + 2)
    return 0


@kernel
def check_parameters(p, status):
    """Check that the parameters are consistent. Returns 0, or the code of the first failure."""
    if not possible(p.ring.mass, ZERO, load_matrix(p.ring.inertia)):
        return fail(status, RING_INERTIA, 0.0, 0)
    across = platform.across(p.legs)
    if not p.legs.retracted_length > across:
        return fail(status, HEIGHT, across, 0)
    for k in range(platform.LEGS):
        if abs(p.legs.hand[k]) != 1.0:
            return fail(status, HAND, p.legs.hand[k], k + 1)
    if p.initial_stroke > p.legs.stroke:
        return fail(status, INITIAL_STROKE, p.initial_stroke, 1)
    if p.legs.initial_stroke > p.legs.stroke:
        return fail(status, INITIAL_STROKE, p.legs.initial_stroke, 2)
    code = _check_branches(p.accumulators, p.legs.stroke, status)
    if code:
        return code
    largest = retraction.largest_angle(p.cables)
    if p.initial_gear_angle > largest + 1e-9:
        return fail(status, GEAR_ANGLE, largest, 0)
    return 0


@kernel
def count(m):
    """Count a step in which cables hold the ring although its recoil is unlocked and the drive is at rest."""
    unlocked = False
    for k in range(platform.LEGS):
        if m.accumulator[k].locked == 0.0:
            unlocked = True
    taut = False
    for i in range(retraction.CABLES):
        if m.cable[i].joined != 0.0:
            taut = True
    if unlocked and taut and m.motor.rate == 0.0:
        m.validity.cable_stop += 1.0
