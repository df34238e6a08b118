"""Class-1 contacts of the probe-cone unit, spec/05 6.2: head (C1, C2), pads (C3, C4), rollers (C5), fired latches in
their slots (C8), friction of the capture sensors in the socket (C9)."""

from __future__ import annotations

from math import copysign, cos, fabs, radians, sqrt, tan, tanh

from components.contact.force import clear, contact_force, exert, point_velocity, stored_energy
from components.contact.probe_cone.pairs import (
    HEAD_BOTTOM,
    HEAD_CONE,
    LATCH_STOP,
    LATCH_WALL,
    LATCH_WIDE,
    PAD_CONE,
    PENETRATION,
    ROLLER_CONE,
    weight,
)
from components.contact.profile import depth as profile_depth
from components.contact.profile import segment_profile, sphere_profile
from components.core.kernel import kernel
from components.core.rotation import apply_transposed, load_matrix
from components.core.vector import add, axpy, dot, load, norm, scale, store

# a slot is taken for plane: good for latches that stand within 15 deg of the normal of its plane (spec/00 R40)
LEAST_UPRIGHT = cos(radians(15.0))


@kernel
def begin(tally):
    clear(tally.target)
    tally.power.damping = 0.0
    tally.power.friction = 0.0
    tally.power.sensors = 0.0
    tally.stored_energy = 0.0
    tally.sensor_friction = 0.0
    tally.count = 0.0
    tally.closed = 0.0
    tally.tilted = 0.0
    tally.wide = 0.0


@kernel
def enlist(tally, pair, index, point, normal, gain, depth, normal_force, friction_force):
    """List a contact. Each has its place in `pairs.bit`, and the list has room for as many."""
    item = tally.contact[int(tally.count)]
    item.pair = pair
    item.index = index
    store(point, item.position)
    store(normal, item.normal)
    item.gain = gain
    item.penetration = depth
    item.normal_force = normal_force
    item.friction_force = friction_force
    tally.count += 1.0


@kernel
def touch(tally, law, link, origin, v, pair, index, point, normal, gain, depth):
    """One class-1 contact: force on the passive unit and on `link` (whose origin is at `origin`), energy, list.

    `v` is the velocity of the link over the passive surface at the point; `gain` see `contact_force`. Returns 0, or
    PENETRATION + pair.
    """
    force, normal_force, friction_force, damping, friction = contact_force(law, v, normal, gain, depth)
    exert(force, point, origin, tally.target, link)
    tally.stored_energy += stored_energy(law, depth)
    tally.power.damping += damping
    tally.power.friction += friction
    enlist(tally, pair, index, point, normal, gain, depth, normal_force, friction_force)
    tally.closed += weight(pair, index)
    if depth > law.penetration_limit:
        tally.excess = depth
        tally.index = index
        return PENETRATION + int(pair)
    return 0


@kernel
def touch_head(parameters, geometry, motion, tally, head, output):
    """Head sphere against the profile and the socket bottom; sets the sensors DK1, DK2."""
    radius = parameters.head.radius
    centre = load(motion.position)
    faces = int(geometry.faces)
    output.first_contact = 0.0
    output.socket_bottom = 0.0
    d, normal, feature = sphere_profile(geometry.face, faces, centre, radius)
    code = 0
    if d > 0.0:
        if feature != faces - 1:
            output.first_contact = 1.0
        point = axpy(radius, normal, centre)
        v = point_velocity(motion, point)
        code = touch(tally, parameters.law_head, head, centre, v, HEAD_CONE, 0.0, point, normal, 1.0, d)
    d = centre[0] + radius - geometry.bottom_x
    if code == 0 and d > 0.0 and centre[1] ** 2 + centre[2] ** 2 <= geometry.bottom_r**2:
        output.socket_bottom = 1.0
        normal = (1.0, 0.0, 0.0)
        point = axpy(radius, normal, centre)
        v = point_velocity(motion, point)
        code = touch(tally, parameters.law_bottom, head, centre, v, HEAD_BOTTOM, 0.0, point, normal, 1.0, d)
    return code


@kernel
def pads_are_clear(limiter, geometry, motion):
    """True if no pad can touch: the farthest and widest point that they might reach lies in free space."""
    p = motion.position
    axial = motion.rotation[0, 0]
    radial = sqrt(max(0.0, 1.0 - axial * axial))
    x_front = max(limiter.x[0] * axial, limiter.x[1] * axial)
    x_side = max(fabs(limiter.x[0]), fabs(limiter.x[1]))
    r_max = max(limiter.r[0], limiter.r[1])
    x = p[0] + x_front + r_max * radial
    r = sqrt(p[1] * p[1] + p[2] * p[2]) + r_max + x_side * radial
    d, _, _, _ = profile_depth(geometry.face, int(geometry.faces), x, r, 0.0)
    return d <= 0.0


@kernel
def touch_pads(parameters, geometry, motion, tally, limiter, output):
    """Pads on the profile, each at its deepest point: one contact per pad."""
    output.limiter_contact = 0.0
    if parameters.limiter.pads == 0.0 or pads_are_clear(parameters.limiter, geometry, motion):
        return 0
    A = load_matrix(motion.rotation)
    origin = load(motion.position)
    faces = int(geometry.faces)
    for k in range(int(parameters.limiter.pads)):
        pad = geometry.pad[k]
        start = add(origin, apply_transposed(A, load(pad.start)))
        along = apply_transposed(A, load(pad.along))
        middle = axpy(0.5, along, start)
        r = sqrt(middle[1] * middle[1] + middle[2] * middle[2])
        d, _, _, _ = profile_depth(geometry.face, faces, middle[0], r, geometry.pad_half)
        if d <= -geometry.pad_half:
            continue
        d, normal, gain, point = segment_profile(geometry.face, faces, start, along)
        if d > 0.0:
            output.limiter_contact = 1.0
            v = point_velocity(motion, point)
            law = parameters.law_limiter
            code = touch(tally, law, limiter, origin, v, PAD_CONE, k + 1.0, point, normal, gain, d)
            if code:
                return code
    return 0


@kernel
def touch_rollers(parameters, geometry, motion, position, tally, roller, output):
    """Rollers on the profile; `position` are the inputs of their centres in M."""
    A = load_matrix(motion.rotation)
    origin = load(motion.position)
    radius = parameters.roller.radius
    for k in range(len(position)):
        output.roller_contact[k] = 0.0
        if k < parameters.roller.count:
            centre = add(origin, apply_transposed(A, load(position[k].position)))
            d, normal, _ = sphere_profile(geometry.face, int(geometry.faces), centre, radius)
            if d > 0.0:
                output.roller_contact[k] = 1.0
                point = axpy(radius, normal, centre)
                v = add(point_velocity(motion, point), apply_transposed(A, load(position[k].velocity)))
                law = parameters.law_limiter
                code = touch(tally, law, roller[k], origin, v, ROLLER_CONE, k + 1.0, point, normal, 1.0, d)
                if code:
                    return code
    return 0


@kernel
def slot_half_width(slot, d1):
    """Half the width of the slot at the depth d1 from the stop."""
    if d1 <= slot.narrow_depth:
        return slot.half_width
    return slot.half_width + (min(d1, slot.wide_depth) - slot.narrow_depth) * tan(slot.wall_angle)


@kernel
def between_edges(normal, edge, radial):
    """Return (unit normal, gain) between the rear edge of a latch and the edge of its slot with the in-plane `normal`.

    The point of the latch is where its edge crosses the plane of the slot, and wanders along it as the latch moves: the
    gradient of a depth measured in that plane is perpendicular to both edges and, of a tilted latch, longer than 1
    (spec/05 6.6 keeps the normals of an upright latch).
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

    The source's latches never touch it; here they do, or a long free roll would take them out of their slots. Its
    corner with the inclined wall is concave: both bear.
    """
    return fabs(d2) - wall.wide_half_width, scale(copysign(1.0, d2), tangential)


@kernel
def touch_edge(parameters, tally, head, motion, pair, index, latch, depth, normal):
    """One contact of the rear edge of a latch with an edge of its slot, `depth` and `normal` in the plane of the slot.

    `latch` is (root, edge, t, radial) with the crossing of that plane at root + t edge. A latch that hardly crosses the
    plane slips off over the edge rather than through the wall: the least of the depth and of what tip and root have of
    the plane counts, so that a contact never begins or ends deep. Returns 0, or PENETRATION + pair.
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
        tally.tilted += 1.0
    law = parameters.law_latch
    v = point_velocity(motion, point)
    return touch(tally, law, head, load(motion.position), v, pair, index, point, direction, gain, depth)


@kernel
def touch_slot(parameters, wall, azimuth, frame, motion, tally, head, index):
    """The rear edge of a fired latch against the stop and the walls of its slot (spec/05 6.6)."""
    slot = parameters.slot
    figure = parameters.latch
    xi = load(frame.xi)
    eta = load(frame.eta)
    root = axpy(figure.rear_root[0], xi, axpy(figure.rear_root[1], eta, load(motion.position)))
    edge = add(
        scale(figure.rear_tip[0] - figure.rear_root[0], xi), scale(figure.rear_tip[1] - figure.rear_root[1], eta)
    )
    radial = load(azimuth.radial)
    height = dot(radial, edge)
    if height <= 0.0:
        return 0
    t = (slot.distance - dot(radial, root)) / height
    if t < 0.0 or t > 1.0:
        return 0
    latch = (root, edge, t, radial)
    point = axpy(t, edge, root)
    tangential = load(azimuth.tangential)
    d1 = point[0] - slot.x
    d2 = dot(tangential, point)
    code = 0
    if d1 < 0.0:
        code = touch_edge(parameters, tally, head, motion, LATCH_STOP, index, latch, -d1, (-1.0, 0.0, 0.0))
    if code or fabs(d2) <= slot.half_width:
        return code
    depth, normal = slot_wall(slot, wall, d1, d2, tangential)
    if depth > 0.0:
        code = touch_edge(parameters, tally, head, motion, LATCH_WALL, index, latch, depth, normal)
    depth, normal = wide_wall(wall, d2, tangential)
    if code == 0 and depth > 0.0:
        tally.wide += 1.0
        code = touch_edge(parameters, tally, head, motion, LATCH_WIDE, index, latch, depth, normal)
    return code


@kernel
def rub_sensors(sensor, motion, tally, head):
    """Friction of the capture sensors along the socket after capture (C9), at the centre of the head."""
    v = motion.velocity[0]
    friction = sensor.friction * tanh(v / sensor.slip_velocity)
    tally.sensor_friction = friction
    centre = load(motion.position)
    exert((friction, 0.0, 0.0), centre, centre, tally.target, head)
    tally.power.sensors += friction * v
