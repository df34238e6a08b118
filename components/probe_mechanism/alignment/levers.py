"""Alignment levers: three rollers that a cam on the nut moves along a given path. central-docking section 5.5.

The path of the leading lever's roller is a table (axial, radial) over the probe's travel, piecewise linear; the other
two levers follow it 120 degrees apart. Their inertia is part of the nut's.

`initialize`, `place`, `shift` and `check_table` take the parameters of the mechanism. A mechanism with a movable
limiter has no levers: its parameters lack that group, and its rollers stay in place and touch nothing.
"""

from math import cos, pi, sin

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.table import segment

COUNT = 3

TABLE = 243

MESSAGES = {
    TABLE: Message(
        "parameters.levers.travel[{status.index:.0f}] = {status.value:g} m: the travels of the table must rise strictly"
    ),
}


@kernel
def _initialize(parameters, levers):
    """Set the azimuths of the three levers."""
    p = parameters.levers
    for k in range(COUNT):
        azimuth = p.azimuth + k * 2.0 * pi / COUNT
        levers.radial[k, 0] = cos(azimuth)
        levers.radial[k, 1] = sin(azimuth)


@kernel
def _path(p, travel):
    """Return (axial, radial) of the leading lever's roller in m, and their slopes over the travel; 0 outside the table.

    They are those of `interpolate` and `slope` of `core.table`, for both at once.
    """
    knots = p.travel
    last = len(knots) - 1
    if travel >= knots[last]:
        return p.axial[last], p.radial[last], 0.0, 0.0
    if travel < knots[0]:
        return p.axial[0], p.radial[0], 0.0, 0.0
    i = segment(travel, knots)
    span = knots[i + 1] - knots[i]
    rise = p.axial[i + 1] - p.axial[i]
    rise_radial = p.radial[i + 1] - p.radial[i]
    x = travel - knots[i]
    return p.axial[i] + rise * x / span, p.radial[i] + rise_radial * x / span, rise / span, rise_radial / span


@kernel
def _place(parameters, levers, roller, travel, rate):
    """Set the centres of the rollers in the housing frame M (m), and their velocities relative to it (m/s, M axes).

    `travel` x > 0 is the compression of the probe, `rate` its rate. Keeps the path's derivatives for `cam_force`.
    """
    axial, radial, axial_slope, radial_slope = _path(parameters.levers, travel)
    for k in range(COUNT):
        y = levers.radial[k, 0]
        z = levers.radial[k, 1]
        levers.slope[k, 0] = axial_slope
        levers.slope[k, 1] = radial_slope * y
        levers.slope[k, 2] = radial_slope * z
        roller[k].position[0] = axial
        roller[k].position[1] = radial * y
        roller[k].position[2] = radial * z
        for i in range(3):
            roller[k].velocity[i] = levers.slope[k, i] * rate


@kernel
def cam_force(levers, k, force):
    """Return the force on the probe's travel due to the reaction `force` (3, N, M axes) on roller k, N.

    It acts through lever and cam by virtual work; positive shortens the probe.
    """
    return force[0] * levers.slope[k, 0] + force[1] * levers.slope[k, 1] + force[2] * levers.slope[k, 2]


@kernel
def _shift(parameters, before, after):
    """Return the (axial, radial) displacement of the rollers while the probe travels from `before` to `after`, m.

    It is exact over the corners of the cam's table, where the path has no unique derivative.
    """
    axial_before, radial_before, _, _ = _path(parameters.levers, before)
    axial, radial, _, _ = _path(parameters.levers, after)
    return axial - axial_before, radial - radial_before


@kernel
def work(levers, k, force, displacement):
    """Return the work in J of `force` (3, N, M axes) on roller k over the (axial, radial) `displacement` of `shift`."""
    axial, radial = displacement
    return force[0] * axial + radial * (levers.radial[k, 0] * force[1] + levers.radial[k, 1] * force[2])


@kernel
def _check_table(parameters, status):
    """Return 0 if the travels of the table rise, else a code."""
    travel = parameters.levers.travel
    place = check.first_not_rising(travel)
    if place > 0:
        return fail(status, TABLE, travel[place - 1], place)
    return 0


@kernel
def _without_levers(parameters, levers):
    """Do nothing."""


@kernel
def _leave_rollers(parameters, levers, roller, travel, rate):
    """Do nothing."""


@kernel
def _no_shift(parameters, before, after):
    return 0.0, 0.0


@kernel
def _no_table(parameters, status):
    return 0


initialize = variant("levers", _initialize, _without_levers)
place = variant("levers", _place, _leave_rollers)
shift = variant("levers", _shift, _no_shift)
check_table = variant("levers", _check_table, _no_table)
