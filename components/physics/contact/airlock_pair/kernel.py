"""Evaluation of the head and its cone, for a head placed in frame P by its component: `work.link`."""

from __future__ import annotations

from math import acos, sqrt

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.airlock_pair.geometry import set_geometry
from dockfmu.components.physics.contact.airlock_pair.latches import accept_latches, detect_latches
from dockfmu.components.physics.contact.airlock_pair.pairs import TILTED, set_kinds
from dockfmu.components.physics.contact.airlock_pair.ports import LATCHES, SPHERES
from dockfmu.components.physics.contact.airlock_pair.surfaces import detect_surfaces, place_sphere
from dockfmu.components.physics.contact.contact_list import check_depths, clear_list
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.losses import lost_power
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.sums import add_forces, clear_sums


@kernel
def initialize(unit):
    """Compute the constants and extend all latches. Returns 0, or a code."""
    code = set_geometry(unit)
    if code:
        return code
    for k in range(LATCHES):
        unit.state.latch[k].travel = 0.0
        unit.state.latch[k].fired = 0.0
    unit.state.dissipated_latches = 0.0
    set_kinds(unit)
    clear_list(unit.tally)
    return 0


@kernel
def is_near(unit, margin):
    """Return whether a sphere of the head is past the mouth's plane within its disc, or within `margin`, m, of that."""
    p = unit.parameters
    for k in range(SPHERES):
        centre = place_sphere(unit, k)
        reach = margin + p.head.sphere_radius[k]
        if centre[0] > -reach and sqrt(centre[1] * centre[1] + centre[2] * centre[2]) < p.cone.plane_radius + reach:
            return True
    return False


@kernel
def evaluate(unit):
    """List the contacts of the head at `work.link`. Never changes the state.

    Returns 0, TILTED, or PENETRATION + pair with the depth in `status.value`.
    """
    clear_list(unit.tally)
    for k in range(LATCHES):
        unit.work.latch[k].travel = 0.0
        unit.work.latch[k].clear = 0.0
    if not is_near(unit, 0.0):
        return 0
    angle = acos(max(-1.0, min(1.0, unit.work.link[0].rotation[0, 0])))
    if angle > unit.parameters.tilt_limit:
        return fail(unit.status, TILTED, angle, 0)
    detect_surfaces(unit)
    detect_latches(unit)
    return check_depths(unit.tally, unit.kind, unit.status, PENETRATION)


@kernel
def sum_forces(unit):
    """Find and sum the forces of all listed contacts with the velocities of `work.link`."""
    work = unit.work
    set_velocities(unit.tally, 0.0, work.link)
    make_forces(unit.tally, 0.0, unit.kind, True)
    clear_sums(work.sums)
    add_forces(unit.tally, 0.0, work.link, work.sums)


@kernel
def power_at(unit):
    """Return the power, W, that damping and friction in the forces found last take at the velocities of `work.link`."""
    set_velocities(unit.tally, 0.0, unit.work.link)
    return lost_power(unit.tally)


@kernel
def accept(unit):
    """Accept the last evaluation as a micro-step: latches move and fire."""
    accept_latches(unit)
