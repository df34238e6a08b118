"""Latches of the head on the strike (berthing 8.1: A12 for a latch that slides).

A latch slides toward the axis of the head on its spring. Its outline is a ramp, L0 to L1, a top, L1 to L2, and a barb,
L2 to L3. Before it fires, ramp or top lies on the strike's edge circle, which pushes the latch in as far as needed: the
travel at which a segment just touches a circle about x solves a quadratic equation, so no search is needed (the source
searches a table of 2^N + 1 positions by bisection). The spring's force acts along the normal, and its work is stored in
the spring. Behind the strike the latch snaps out as soon as its barb is free of the rear face; the energy of its spring
is lost, and it no longer yields.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.airlock_pair.pairs import LATCH_BOTTOMED, LATCH_HOLDS, LATCH_PUSHED
from dockfmu.components.physics.contact.airlock_pair.ports import FACES, HEAD, LATCHES
from dockfmu.components.physics.contact.airlock_pair.surfaces import place_sphere
from dockfmu.components.physics.contact.contact_list import list_contact, list_push
from dockfmu.components.physics.contact.profile import sphere_profile
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, dot, load, norm, scale, subtract

# azimuths of the latches in H: cosine and sine
COSINE = (1.0, 0.0, -1.0, 0.0)
SINE = (0.0, 1.0, 0.0, -1.0)
# length of the top, extended backward, for a latch that has passed the edge but is not yet free of the rear face, m
EXTENDED_TOP = 0.05


@kernel
def latch_axis(unit, k):
    """Return the direction in which latch k slides out of the head, P."""
    return apply_transposed(load_matrix(unit.work.link[0].rotation), (0.0, COSINE[k], SINE[k]))


@kernel
def latch_point(unit, k, i):
    """Return point i, 0 to 3, of the extended latch k, P."""
    latch = unit.parameters.latch
    head = unit.work.link[0]
    A = load_matrix(head.rotation)
    r = latch.r[i]
    return add(load(head.position), apply_transposed(A, (latch.x[i], r * COSINE[k], r * SINE[k])))


@kernel
def travel_on_circle(start, along, u, x, radius):
    """Return (travel, t, point) of a segment that moves along -u until it touches a circle about x from inside.

    `start`, `along` are those of the segment when extended, t is its parameter at the circle, `point` the point of
    touch. The travel is negative where the segment does not reach the circle; t is outside [0, 1] where only its line
    does.
    """
    # y, z of the point at abscissa x: a + p b
    slope = u[0] / along[0]
    t0 = (x - start[0]) / along[0]
    a_y = start[1] + t0 * along[1]
    a_z = start[2] + t0 * along[2]
    b_y = slope * along[1] - u[1]
    b_z = slope * along[2] - u[2]
    square = b_y * b_y + b_z * b_z
    half = a_y * b_y + a_z * b_z
    rest = a_y * a_y + a_z * a_z - radius * radius
    root = half * half - square * rest
    if root < 0.0:
        return -1.0, t0, ZERO
    travel = (-half - sqrt(root)) / square
    t = t0 + travel * slope
    return travel, t, (x, a_y + travel * b_y, a_z + travel * b_z)


@kernel
def _spring_energy(latch, travel):
    return (latch.preload + 0.5 * latch.stiffness * travel) * travel


@kernel
def rear_depth(unit, p):
    """Return the depth of a point behind the strike in its rear face, negative outside."""
    face = unit.geometry.face[2]
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    return (p[0] - face.x) * face.n_x + (r - face.r) * face.n_r


@kernel
def _find_travel(unit, k):
    """Return (travel, along, point) of latch k on the strike: by its ramp or by its top, whichever is pushed farther.

    The travel is negative where it does not touch.
    """
    cone = unit.parameters.cone
    u = latch_axis(unit, k)
    front = latch_point(unit, k, 0)
    peak = latch_point(unit, k, 1)
    rear = latch_point(unit, k, 2)
    ramp = subtract(peak, front)
    travel, t, point = travel_on_circle(front, ramp, u, cone.depth, cone.strike_radius)
    along = ramp
    if t < 0.0 or t > 1.0:
        travel = -1.0
    top = subtract(rear, peak)
    length = norm(top)
    if length > 0.0:
        top = scale(EXTENDED_TOP / length, top)
    else:
        top = apply_transposed(load_matrix(unit.work.link[0].rotation), (-EXTENDED_TOP, 0.0, 0.0))
    p, t, c = travel_on_circle(peak, top, u, cone.depth, cone.strike_radius)
    if 0.0 <= t <= 1.0 and p > travel:
        return p, top, c
    return travel, along, point


@kernel
def _normal_on_circle(along, point):
    """Return the unit normal of a segment on a circle about x at `point`: out of the circle, across both."""
    d = sqrt(point[1] * point[1] + point[2] * point[2])
    y = point[1] / d
    z = point[2] / d
    n = (-(along[1] * y + along[2] * z) / along[0], y, z)
    return scale(1.0 / norm(n), n)


@kernel
def _detect_free(unit, k):
    """List the contact of a latch that has not fired."""
    p = unit.parameters
    item = unit.work.latch[k]
    item.travel = 0.0
    barb = latch_point(unit, k, 2)
    heel = latch_point(unit, k, 3)
    behind = barb[0] > p.cone.depth
    item.clear = 1.0 if behind and rear_depth(unit, barb) <= 0.0 and rear_depth(unit, heel) <= 0.0 else 0.0
    travel, along, point = _find_travel(unit, k)
    if travel <= 0.0:
        return
    n = _normal_on_circle(along, point)
    across = dot(n, latch_axis(unit, k))
    item.travel = min(travel, p.latch.travel)
    push = (p.latch.preload + p.latch.stiffness * item.travel) / across
    energy = _spring_energy(p.latch, item.travel)
    if travel <= p.latch.travel:
        list_push(unit.tally, LATCH_PUSHED, k + 1.0, HEAD, n, point, push, energy)
        return
    # at the end of its travel the latch is a part of the head: the force of its spring is internal
    depth = travel - p.latch.travel
    item = list_contact(unit.tally, LATCH_BOTTOMED, k + 1.0, HEAD, depth, n, 1.0 / across, point)
    item.spring_energy = energy


@kernel
def _detect_fired(unit, k):
    """List the contacts of the points L2 and L3 of a latch behind the strike."""
    for i in range(2, 4):
        point = latch_point(unit, k, i)
        depth, n, _ = sphere_profile(unit.geometry.face, FACES, point, 0.0)
        if depth > 0.0:
            list_contact(unit.tally, LATCH_HOLDS, k + 1.0, HEAD, depth, n, 1.0, point)


@kernel
def detect_latches(unit):
    """List the contacts of the latches."""
    nose = place_sphere(unit, 0)
    # beside the disc of the passive unit there is no strike (ruling R57)
    if sqrt(nose[1] * nose[1] + nose[2] * nose[2]) > unit.parameters.cone.plane_radius:
        return
    for k in range(LATCHES):
        if unit.state.latch[k].fired != 0.0:
            _detect_fired(unit, k)
        else:
            _detect_free(unit, k)


@kernel
def accept_latches(unit):
    """Move the latches to their travel in the last evaluation, and fire those that are free behind the strike."""
    for k in range(LATCHES):
        latch = unit.state.latch[k]
        if latch.fired == 0.0:
            latch.travel = unit.work.latch[k].travel
            if unit.work.latch[k].clear != 0.0:
                unit.state.dissipated_latches += _spring_energy(unit.parameters.latch, latch.travel)
                latch.travel = 0.0
                latch.fired = 1.0
