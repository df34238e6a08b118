"""Checks of parameters: tables that do not rise, pairs in the wrong order.

They are made once; the messages name the parameters.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.mechanics.inertia import possible
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import load
from dockfmu.components.probe_mechanism.alignment import levers
from dockfmu.components.probe_mechanism.axial import axial_train

PROBE_LENGTH = 245
HYSTERESIS_LOSS = 246
CRANK_STOPS = 247
STOP_STIFFNESS = 248
STAGE_TRAVEL = 249
UNLOADING = 250
COVER_LOSS = 251
MASS_DATA = 254


def _loss(group: str) -> Message:
    """Return the message for a loss of hysteresis that the stiffnesses of the same `group` do not allow."""
    return Message(
        f"parameters.{group}.hysteresis_loss = {{parameters.{group}.hysteresis_loss:g}} is more than "
        f"{{status.value:.4g}}, the most that unloading can lose with "
        f"hysteresis_ratio = {{parameters.{group}.hysteresis_ratio:g}} and "
        f"hysteresis_common = {{parameters.{group}.hysteresis_common:g}}: lower it, or raise the ratio"
    )


MESSAGES = {
    PROBE_LENGTH: Message(
        "parameters.probe.free_length = {parameters.probe.free_length:g} m must be above "
        "parameters.probe.shortest_length = {parameters.probe.shortest_length:g} m"
    ),
    HYSTERESIS_LOSS: _loss("probe"),
    COVER_LOSS: _loss("cover"),
    MASS_DATA: Message(
        "no body has the mass, centre and inertia of body {status.index:.0f} (1 parameters.probe.housing_..., "
        "2 parameters.probe.probe_..., 3 parameters.limiter): a principal moment about its centre of mass exceeds the "
        "sum of the other two"
    ),
    CRANK_STOPS: Message(
        "parameters.lateral.brake.stop_low[{status.index:.0f}] = {status.value:g} rad must be below stop_high of the "
        "same brake"
    ),
    STOP_STIFFNESS: Message(
        "parameters.lateral.spring.stop_stiffness[{status.index:.0f}] = {status.value:g} N/m must be above "
        "first_stiffness and second_stiffness of the same spring"
    ),
    STAGE_TRAVEL: Message(
        "parameters.lateral.spring, mechanism {status.index:.0f}: a preload needs {status.value:g} m to build up, ramp "
        "or preload over stop_stiffness, which is not within first_travel or second_travel"
    ),
    UNLOADING: Message(
        "parameters.lateral.spring.unloading[{status.index:.0f}] must be above {status.value:.4g}: below it unloading "
        "would not come back to the first stage. Raise it, second_travel or first_stiffness"
    ),
}


@kernel
def _check_lateral(p, status):
    """Return 0, or the code of the first pair of the lateral damper that is in the wrong order."""
    s = p.spring
    for k in range(2):
        if not p.brake.stop_low[k] < p.brake.stop_high[k]:
            return fail(status, CRANK_STOPS, p.brake.stop_low[k], k + 1)
        stop = s.stop_stiffness[k]
        if not (stop > s.first_stiffness[k] and stop > s.second_stiffness[k]):
            return fail(status, STOP_STIFFNESS, stop, k + 1)
        ramp = max(s.ramp[k], s.first_preload[k] / (stop - s.first_stiffness[k]))
        if not ramp < s.first_travel[k]:
            return fail(status, STAGE_TRAVEL, ramp, k + 1)
        end = s.first_preload[k] + s.first_stiffness[k] * s.first_travel[k]
        least = (s.first_preload[k] + s.first_stiffness[k] * ramp) / end
        start = max(s.second_preload[k], end)
        ramp = max(s.ramp[k], (start - end) / (stop - s.second_stiffness[k]))
        left = s.second_travel[k] - ramp
        if not left > 0.0:
            return fail(status, STAGE_TRAVEL, ramp, k + 1)
        # the segment of the stop's slope from the last point down meets the reduced force within the stiff stage
        last = start + s.second_stiffness[k] * s.second_travel[k]
        least = max(least, (last - left * stop) / (last - left * s.second_stiffness[k]))
        if not s.unloading[k] >= least:
            return fail(status, UNLOADING, least, k + 1)
    return 0


@kernel
def _limiter_is_possible(p):
    limiter = p.limiter
    across = limiter.lateral_inertia
    inertia = ((limiter.axial_inertia, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, across))
    return possible(limiter.mass, (limiter.centre, 0.0, 0.0), inertia)


@kernel
def _no_limiter(p):
    return True


_possible_limiter = variant("limiter", _limiter_is_possible, _no_limiter)


@kernel
def _impossible_body(p):
    """Return the number of the first body that cannot have its mass data, see MASS_DATA, or 0."""
    probe = p.probe
    if not possible(probe.housing_mass, load(probe.housing_centre), load_matrix(probe.housing_inertia)):
        return 1
    if not possible(probe.probe_mass, load(probe.probe_centre), load_matrix(probe.probe_inertia)):
        return 2
    return 0 if _possible_limiter(p) else 3


@kernel
def check_parameters(p, status):
    """Return 0, or the code of the first table or pair of `p` that is not well posed."""
    code = axial_train.check_parameters(p.axial, status)
    if code:
        return code
    code = levers.check_table(p, status)
    if code:
        return code
    body = _impossible_body(p)
    if body:
        return fail(status, MASS_DATA, 0.0, body)
    probe = p.probe
    if not probe.free_length > probe.shortest_length:
        return fail(status, PROBE_LENGTH, probe.free_length, 0)
    largest = hysteresis.largest_loss(probe.hysteresis_common, probe.hysteresis_ratio)
    if not probe.hysteresis_loss <= largest:
        return fail(status, HYSTERESIS_LOSS, largest, 0)
    cover = p.cover
    largest = hysteresis.largest_loss(cover.hysteresis_common, cover.hysteresis_ratio)
    if not cover.hysteresis_loss <= largest:
        return fail(status, COVER_LOSS, largest, 0)
    return _check_lateral(p.lateral, status)
