"""Class-1 contacts of the probe-cone unit (contact-geometry 6.2): surfaces that bear with their own spring and damper.

Head (C1, C2), pads (C3, C4), rollers (C5), fired latches in their slots (C8), friction of the capture sensors in the
socket (C9). Each `detect_*` lists the contacts of one kind of body, and notes those that are open and may close.
"""

from __future__ import annotations

from math import copysign, cos, fabs, radians, sqrt, tan, tanh

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.force import exert, point_velocity
from dockfmu.components.physics.contact.pairs import slot_of, weight
from dockfmu.components.physics.contact.probe_cone.pairs import (
    HEAD_BOTTOM,
    HEAD_CONE,
    LATCH_STOP,
    LATCH_WALL,
    LATCH_WIDE,
    PAD_CONE,
    ROLLER_CONE,
)
from dockfmu.components.physics.contact.probe_cone.ports import HEAD, LIMITER, ROLLER
from dockfmu.components.physics.contact.profile import depth as profile_depth
from dockfmu.components.physics.contact.profile import inside, segment_profile, sphere_profile
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, dot, load, norm, scale, store

# a slot is modelled as plane: valid for latches within 15 deg of the normal of its plane (ruling R40)
LEAST_UPRIGHT = cos(radians(15.0))


@kernel
def note_closing(unit, pair, index, depth, v):
    """Note an open contact, `depth` below zero, that may close within `input.ahead` at the velocity v, m/s.

    Speed in any direction counts: a contact can also close by the curvature of a surface that is passed this closely.
    """
    if depth + norm(v) * unit.input.ahead > 0.0:
        unit.tally.closing += weight(slot_of(unit.kind, pair, index))


@kernel
def detect_head(unit):
    """List the contacts of the head sphere with the profile and the socket bottom."""
    g = unit.geometry
    link = unit.work.link[0]
    radius = unit.parameters.head.radius
    centre = load(link.position)
    d, normal, feature = sphere_profile(g.face, int(g.faces), centre, radius)
    if d > 0.0:
        item = list_contact(unit.tally, HEAD_CONE, 0.0, HEAD, d, normal, 1.0, axpy(radius, normal, centre))
        item.feature = feature
    else:
        note_closing(unit, HEAD_CONE, 0.0, d, load(link.velocity))
    d = centre[0] + radius - g.bottom_x
    if centre[1] ** 2 + centre[2] ** 2 > g.bottom_r**2:
        return
    if d > 0.0:
        normal = (1.0, 0.0, 0.0)
        list_contact(unit.tally, HEAD_BOTTOM, 0.0, HEAD, d, normal, 1.0, axpy(radius, normal, centre))
    else:
        note_closing(unit, HEAD_BOTTOM, 0.0, d, load(link.velocity))


@kernel
def pads_are_clear(limiter, geometry, motion, margin):
    """Return whether no pad can touch: the circles of their front and rear ends lie `margin` (m) in front of one face.

    All points between the circles then do, too. A circle extends from its middle sideways by its radius, and along x by
    its radius times the sine of its tilt.
    """
    A = load_matrix(motion.rotation)
    axial = A[0][0]
    slant = sqrt(max(0.0, 1.0 - axial * axial))
    front = axpy(limiter.x[0], A[0], load(motion.position))
    rear = axpy(limiter.x[1], A[0], load(motion.position))
    x_front = front[0] + limiter.r[0] * slant
    x_rear = rear[0] + limiter.r[1] * slant
    r_front = sqrt(front[1] * front[1] + front[2] * front[2]) + limiter.r[0]
    r_rear = sqrt(rear[1] * rear[1] + rear[2] * rear[2]) + limiter.r[1]
    for i in range(int(geometry.faces)):
        face = geometry.face[i]
        if max(inside(face, x_front, r_front), inside(face, x_rear, r_rear)) <= -margin:
            return True
    return False


@kernel
def detect_pads(unit):
    """List the contacts of the pads with the profile, each at its deepest point: one contact per pad."""
    p = unit.parameters
    g = unit.geometry
    link = unit.work.link[1]
    if p.limiter.pads == 0.0:
        return
    lever = fabs(p.limiter.x[0]) + fabs(p.limiter.x[1]) + p.limiter.r[0] + p.limiter.r[1]
    margin = unit.input.ahead * (norm(load(link.velocity)) + lever * norm(load(link.angular_velocity)))
    if pads_are_clear(p.limiter, g, link, margin):
        return
    A = load_matrix(link.rotation)
    origin = load(link.position)
    faces = int(g.faces)
    reach = g.pad_reach + margin
    for k in range(int(p.limiter.pads)):
        pad = g.pad[k]
        middle = add(origin, apply_transposed(A, load(pad.middle)))
        r = sqrt(middle[1] * middle[1] + middle[2] * middle[2])
        d, _, _, _ = profile_depth(g.face, faces, middle[0], r, reach)
        if d <= -reach:
            continue
        start = add(origin, apply_transposed(A, load(pad.start)))
        along = apply_transposed(A, load(pad.along))
        d, normal, gain, point = segment_profile(g.face, faces, start, along)
        if d > 0.0:
            list_contact(unit.tally, PAD_CONE, k + 1.0, LIMITER, d, normal, gain, point)
        else:
            note_closing(unit, PAD_CONE, k + 1.0, d, point_velocity(link, point))


@kernel
def detect_rollers(unit):
    """List the contacts of the rollers with the profile; the inputs give their centres and velocities in M."""
    p = unit.parameters
    g = unit.geometry
    link = unit.work.link[1]
    A = load_matrix(link.rotation)
    origin = load(link.position)
    radius = p.roller.radius
    for k in range(len(unit.input.roller)):
        roller = unit.input.roller[k]
        if k < p.roller.count:
            centre = add(origin, apply_transposed(A, load(roller.position)))
            d, normal, _ = sphere_profile(g.face, int(g.faces), centre, radius)
            if d > 0.0:
                point = axpy(radius, normal, centre)
                item = list_contact(unit.tally, ROLLER_CONE, k + 1.0, LIMITER, d, normal, 1.0, point)
                item.part = ROLLER + k
            elif unit.input.ahead > 0.0:
                v = add(point_velocity(link, centre), apply_transposed(A, load(roller.velocity)))
                note_closing(unit, ROLLER_CONE, k + 1.0, d, v)


@kernel
def add_roller_velocities(unit):
    """Add the velocities of the rollers in M to those of their listed contacts."""
    A = load_matrix(unit.work.link[1].rotation)
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        if item.pair == ROLLER_CONE:
            own = apply_transposed(A, load(unit.input.roller[int(item.index) - 1].velocity))
            store(add(load(item.velocity), own), item.velocity)


@kernel
def slot_half_width(slot, d1):
    """Return half the width of the slot at the depth d1 from the stop, m."""
    if d1 <= slot.narrow_depth:
        return slot.half_width
    return slot.half_width + (min(d1, slot.wide_depth) - slot.narrow_depth) * tan(slot.wall_angle)


@kernel
def between_edges(normal, edge, radial):
    """Return (unit normal, gain) between the rear edge of a latch and the edge of its slot with the in-plane `normal`.

    The point of the latch is where its edge crosses the plane of the slot, and it wanders along the edge as the latch
    moves. The gradient of a depth measured in that plane is therefore perpendicular to both edges and, for a tilted
    latch, longer than 1 (contact-geometry 6.6 keeps the normals of an upright latch).
    """
    g = axpy(-dot(normal, edge) / dot(radial, edge), radial, normal)
    gain = norm(g)
    return scale(1.0 / gain, g), gain


@kernel
def slot_wall(slot, wall, d1, d2, tangential):
    """Return (depth, normal) of a latch in the wall of its slot, both in the plane of the slot.

    `wall` is the sub-record of the unit's geometry, d1 the depth into the socket from the stop, d2 the offset to the
    side. The corner between the narrow part and the inclined wall is convex: the smaller depth counts, without a jump.
    """
    s = wall.sine
    c = wall.cosine
    side = copysign(1.0, d2)
    narrow = fabs(d2) - slot.half_width
    inclined = narrow * c - (d1 - slot.narrow_depth) * s
    if inclined < narrow:
        return inclined, axpy(c * side, tangential, (-s, 0.0, 0.0))
    return narrow, scale(side, tangential)


@kernel
def wide_wall(wall, d2, tangential):
    """Return (depth, normal) of a latch in the wall of the wide part of its slot, beyond the inclined wall.

    The source's latches never touch it; here they do, because a long free roll would otherwise take them out of their
    slots. Its corner with the inclined wall is concave: both walls bear.
    """
    return fabs(d2) - wall.wide_half_width, scale(copysign(1.0, d2), tangential)


@kernel
def _detect_edge(unit, pair, index, latch, depth, normal):
    """List one contact of the rear edge of a latch with its slot, `depth` and `normal` in the plane of the slot.

    `latch` is (root, edge, t, radial) with the crossing of that plane at root + t edge. A latch that barely crosses the
    plane slips off over the edge rather than through the wall: the least of the depth and the distances of tip and root
    beyond the plane counts, so that a contact never begins or ends deep.
    """
    root, edge, t, radial = latch
    height = dot(radial, edge)
    beyond_tip = (1.0 - t) * height
    beyond_root = t * height
    if beyond_tip < depth and beyond_tip < beyond_root:
        point = add(root, edge)
        depth = beyond_tip
        direction = radial
        gain = 1.0
    elif beyond_root < depth:
        point = root
        depth = beyond_root
        direction = scale(-1.0, radial)
        gain = 1.0
    else:
        point = axpy(t, edge, root)
        direction, gain = between_edges(normal, edge, radial)
    if height < LEAST_UPRIGHT * norm(edge):
        unit.tally.tilted += 1.0
    list_contact(unit.tally, pair, index, HEAD, depth, direction, gain, point)


@kernel
def detect_slot(unit, k):
    """List the contacts of the rear edge of the fired latch k with the stop and the walls of its slot.

    Theory: contact-geometry 6.6.
    """
    slot = unit.parameters.slot
    figure = unit.parameters.latch
    frame = unit.work.latch[k]
    index = k + 1.0
    xi = load(frame.xi)
    eta = load(frame.eta)
    origin = load(unit.work.link[0].position)
    root = axpy(figure.rear_root[0], xi, axpy(figure.rear_root[1], eta, origin))
    edge = add(
        scale(figure.rear_tip[0] - figure.rear_root[0], xi), scale(figure.rear_tip[1] - figure.rear_root[1], eta)
    )
    radial = load(unit.geometry.azimuth[k].radial)
    height = dot(radial, edge)
    if height <= 0.0:
        return
    t = (slot.distance - dot(radial, root)) / height
    if t < 0.0 or t > 1.0:
        return
    latch = (root, edge, t, radial)
    point = axpy(t, edge, root)
    tangential = load(unit.geometry.azimuth[k].tangential)
    d1 = point[0] - slot.x
    d2 = dot(tangential, point)
    v = point_velocity(unit.work.link[0], point)
    if d1 < 0.0:
        _detect_edge(unit, LATCH_STOP, index, latch, -d1, (-1.0, 0.0, 0.0))
    else:
        note_closing(unit, LATCH_STOP, index, -d1, v)
    if fabs(d2) <= slot.half_width:
        note_closing(unit, LATCH_WALL, index, fabs(d2) - slot.half_width, v)
        return
    depth, normal = slot_wall(slot, unit.geometry.wall, d1, d2, tangential)
    if depth > 0.0:
        _detect_edge(unit, LATCH_WALL, index, latch, depth, normal)
    else:
        note_closing(unit, LATCH_WALL, index, depth, v)
    depth, normal = wide_wall(unit.geometry.wall, d2, tangential)
    if depth > 0.0:
        unit.tally.wide += 1.0
        _detect_edge(unit, LATCH_WIDE, index, latch, depth, normal)
    else:
        note_closing(unit, LATCH_WIDE, index, depth, v)


@kernel
def add_sensor_friction(unit):
    """Add the friction of the capture sensors along the socket after capture (C9), at the centre of the head."""
    sensor = unit.parameters.sensor
    link = unit.work.link[0]
    friction = sensor.friction * tanh(link.velocity[0] / sensor.slip_velocity)
    unit.tally.sensor_friction = friction
    centre = load(link.position)
    bearing = unit.work.bearing
    exert((friction, 0.0, 0.0), centre, centre, bearing.passive, bearing.part[0])
