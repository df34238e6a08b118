"""Evaluation of the radiator's pair, for an active unit placed in the frame of the passive one: `work.link`.

Pins and plug are spheres on profiles of revolution, a docking plane with a cone and a bore in it (A5). The end of the
plug is a torus: of its 64 spheres the deepest bears (A11; the source bisects for the one farthest from the axis, which
underestimates the depth on a cone). Points of the active docking plane bear on the passive one (A4).
"""

from __future__ import annotations

from math import acos, pi, tan

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import check_depths, clear_list, list_contact, list_push
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.profile import build, sphere_profile
from dockfmu.components.physics.contact.radiator_pair.pairs import (
    BALL_HOLDS,
    BALL_RESISTS,
    GEOMETRY,
    PIN,
    PLANES,
    PLUG,
    TILTED,
    set_kinds,
)
from dockfmu.components.physics.contact.radiator_pair.ports import FACES, PINS, POINTS, SPHERES
from dockfmu.components.physics.contact.search import torus_centres
from dockfmu.components.physics.contact.sums import add_forces, clear_sums
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, load

RIGHT = 0.5 * pi
# row of the active unit
ACTIVE = 0.0


@kernel
def _set_bore(bore, face):
    """Fill the faces of a plane with a cone and a bore. Returns whether they form a profile."""
    sound = bore.plane_radius > bore.mouth_radius > bore.bore_radius > 0.0 and 0.0 < bore.cone_angle < RIGHT
    if not sound:
        return False
    deep = (bore.mouth_radius - bore.bore_radius) / tan(bore.cone_angle)
    x = (0.0, 0.0, deep, bore.end)
    r = (bore.plane_radius, bore.mouth_radius, bore.bore_radius, bore.bore_radius)
    return build(x, r, FACES + 1, face)


@kernel
def initialize(unit):
    """Compute the constants and release the ball. Returns 0, or GEOMETRY."""
    p = unit.parameters
    g = unit.geometry
    unit.state.captured = 0.0
    unit.state.dissipated_ball = 0.0
    set_kinds(unit)
    clear_list(unit.tally)
    if not _set_bore(p.guide, g.guide.face):
        return fail(unit.status, GEOMETRY, 0.0, 1)
    if not _set_bore(p.socket, g.socket.face):
        return fail(unit.status, GEOMETRY, 0.0, 2)
    if p.pin.radius > p.guide.bore_radius or p.plug.ring_radius + p.plug.radius > p.socket.bore_radius:
        return fail(unit.status, GEOMETRY, 0.0, 3)
    if not 0.0 < p.ball.rise <= p.ball.travel:
        return fail(unit.status, GEOMETRY, 0.0, 4)
    for k in range(POINTS):
        if p.plane.y[k] * p.plane.y[k] + p.plane.z[k] * p.plane.z[k] > p.plane.radius * p.plane.radius:
            return fail(unit.status, GEOMETRY, 0.0, 5)
    torus_centres(p.plug.ring_radius, g.ring)
    g.reach = p.plug.x + p.plug.radius
    for k in range(PINS):
        g.reach = max(g.reach, p.pin.x[k] + p.pin.radius)
    return 0


@kernel
def _place(unit, point):
    """Return a point of the active unit in the frame of the passive one."""
    link = unit.work.link[0]
    return add(load(link.position), apply_transposed(load_matrix(link.rotation), point))


@kernel
def _detect_pins(unit):
    """List the contacts of the guide pins."""
    p = unit.parameters
    for k in range(PINS):
        centre = _place(unit, (p.pin.x[k], p.pin.y[k], 0.0))
        local = (centre[0], centre[1] - p.guide.y[k], centre[2])
        depth, n, _ = sphere_profile(unit.geometry.guide.face, FACES, local, p.pin.radius)
        if depth > 0.0:
            list_contact(unit.tally, PIN, k + 1.0, ACTIVE, depth, n, 1.0, axpy(p.pin.radius, n, centre))


@kernel
def _detect_plug(unit):
    """List the contact of the plug's end with its socket."""
    p = unit.parameters.plug
    best = 0.0
    normal = ZERO
    point = ZERO
    for i in range(SPHERES - 1):
        ring = unit.geometry.ring[i]
        centre = _place(unit, (p.x, ring[1], ring[2]))
        depth, n, _ = sphere_profile(unit.geometry.socket.face, FACES, centre, p.radius)
        if depth > best:
            best = depth
            normal = n
            point = axpy(p.radius, n, centre)
    if best > 0.0:
        list_contact(unit.tally, PLUG, 1.0, ACTIVE, best, normal, 1.0, point)


@kernel
def _detect_planes(unit):
    """List the contacts of the docking planes; beside the passive one is none (ruling R57)."""
    plane = unit.parameters.plane
    for k in range(POINTS):
        point = _place(unit, (0.0, plane.y[k], plane.z[k]))
        within = point[1] * point[1] + point[2] * point[2] <= plane.radius * plane.radius
        if point[0] > 0.0 and within:
            list_contact(unit.tally, PLANES, k + 1.0, ACTIVE, point[0], (1.0, 0.0, 0.0), 1.0, point)


@kernel
def in_bore(unit, point):
    """Return whether a point, passive axes, lies behind the entry cone of the socket and within its bore."""
    socket = unit.parameters.socket
    within = point[1] * point[1] + point[2] * point[2] <= socket.bore_radius * socket.bore_radius
    return within and point[0] > unit.geometry.socket.face[2].x


@kernel
def ball_spring(ball, through):
    """Return (force, energy) of the ball's spring, N and J: constant after its initial rise."""
    if through <= ball.rise:
        return ball.force * through / ball.rise, 0.5 * ball.force * through * through / ball.rise
    return ball.force, ball.force * (through - 0.5 * ball.rise)


@kernel
def _detect_ball(unit):
    """List the ball on the plug: along the axis, on the centre of the plug's torus.

    The ball lies in the bore: it meets no plug beside it (ruling R57).
    """
    p = unit.parameters
    centre = _place(unit, (p.plug.x, 0.0, 0.0))
    if unit.state.captured == 0.0 and not in_bore(unit, centre):
        return
    through = centre[0] - p.ball.x
    unit.work.through = through
    if unit.state.captured != 0.0:
        depth = p.ball.travel - through
        if depth > 0.0:
            list_contact(unit.tally, BALL_HOLDS, 1.0, ACTIVE, depth, (-1.0, 0.0, 0.0), 1.0, centre)
        return
    if through > 0.0:
        force, energy = ball_spring(p.ball, min(through, p.ball.travel))
        if through >= p.ball.travel:
            # free of the plug, and about to snap
            unit.work.ball_energy = energy
        elif force > 0.0:
            list_push(unit.tally, BALL_RESISTS, 1.0, ACTIVE, (1.0, 0.0, 0.0), centre, force, energy)


@kernel
def _may_touch(unit):
    """Return whether any part of the active unit can be past the docking plane."""
    p = unit.parameters
    link = unit.work.link[0]
    across = max(abs(link.rotation[1, 0]), abs(link.rotation[2, 0]))
    widest = 0.0
    for k in range(PINS):
        widest = max(widest, abs(p.pin.y[k]) + p.pin.radius)
    for k in range(POINTS):
        widest = max(widest, abs(p.plane.y[k]) + abs(p.plane.z[k]))
    return link.position[0] + unit.geometry.reach + 2.0 * across * widest > 0.0


@kernel
def _sum_forces(unit):
    """Find and sum the forces of all listed contacts."""
    work = unit.work
    set_velocities(unit.tally, 0.0, work.link)
    make_forces(unit.tally, 0.0, unit.kind, True)
    clear_sums(work.sums)
    add_forces(unit.tally, 0.0, work.link, work.sums)
    work.sums.stored_energy += work.ball_energy


@kernel
def evaluate(unit):
    """List the contacts of the active unit at `work.link`, and sum their forces. Never changes the state.

    Returns 0, TILTED, or PENETRATION + pair with the depth in `status.value`.
    """
    clear_list(unit.tally)
    unit.work.through = -1.0
    unit.work.ball_energy = 0.0
    if _may_touch(unit):
        _detect_pins(unit)
        _detect_plug(unit)
        _detect_planes(unit)
        _detect_ball(unit)
        code = check_depths(unit.tally, unit.kind, unit.status, PENETRATION)
        if code:
            return code
        angle = acos(max(-1.0, min(1.0, unit.work.link[0].rotation[0, 0])))
        if unit.tally.count > 0.0 and angle > unit.parameters.tilt_limit:
            return fail(unit.status, TILTED, angle, 0)
    _sum_forces(unit)
    return 0


@kernel
def accept(unit):
    """Accept the last evaluation as a step: the ball snaps behind a plug that has passed it."""
    state = unit.state
    ball = unit.parameters.ball
    if state.captured == 0.0 and unit.work.through >= ball.travel:
        state.captured = 1.0
        _, energy = ball_spring(ball, ball.travel)
        state.dissipated_ball += energy
