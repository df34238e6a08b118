"""Rims on petals: the inner edge of one ring's plane against the petals of the other (contact-geometry P2, P3).

A petal is where the depths below its outer cone, its two side faces and its tip plane are all positive; the depth of a
point of the rim is the least of them, and the contact is the deepest point of the rim (ruling R36). Where one face is
the nearest on both sides of it, the normal is that face's: a generatrix of the cone bears on the rim (P3). Where two
are equally deep, an edge of the petal crosses the rim (P2), and the force follows the gradient of that depth: a mean of
both normals that is perpendicular to the rim. P2 and P3 are thus one contact, which passes from one to the other
without a jump.

Where rim and petal conform, as when the rings are parallel and coaxial, the contact is spread over the petal: see
`spread`. Its line there are three points of the rim, those of the Gauss-Legendre rule over the width of the petal.

Everything is in the frame of the ring that has the petals. The two rings swap roles with the same formulas.
"""

from __future__ import annotations

from math import cos, fabs, radians, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.ring_pair.geometry import turned
from dockfmu.components.physics.contact.ring_pair.known import is_known
from dockfmu.components.physics.contact.ring_pair.pairs import RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL
from dockfmu.components.physics.contact.ring_pair.ports import RING
from dockfmu.components.physics.contact.ring_pair.spread import act_together, shared
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, dot, load, negate, norm, scale

# faces of a petal
CONE = 0
TIP = 3

# the rim is sampled at the middle of a petal and this far to either side; another such turn is outside the petal
SPACING = radians(27.0)
BEFORE = (cos(SPACING), -sin(SPACING))
BEHIND = (cos(SPACING), sin(SPACING))
# a petal ends within 30 deg of its middle; seen from the centre of a rim that is off the axis by less than the fraction
# WIDE of its radius, within 60 deg
WIDE = 0.34
COS_REACH = 0.5
TAN_REACH = sqrt(3.0)
# a search ends where the depth grows by less than this along the rim, or where two depths differ by less, m
FLAT = 1e-9
# weights of the points over which a contact is spread: before the middle of the petal, and to either side
MIDDLE = 4.0 / 9.0
ASIDE = 5.0 / 18.0
ALIKE = 1e-11
STEPS = 60


@kernel
def rim_point(rim, radius, d):
    """Return the point of a rim (centre, e_1, e_2) in the direction d of its plane."""
    centre, e_1, e_2 = rim
    return axpy(radius * d[0], e_1, axpy(radius * d[1], e_2, centre))


@kernel
def face_normal(g, petal, face, q):
    """Return the normal of a face at the point q, out of the petal."""
    if face == CONE:
        r = sqrt(q[1] * q[1] + q[2] * q[2])
        return (g.sine[0], g.cosine[0] * q[1] / r, g.cosine[0] * q[2] / r)
    if face == TIP:
        return (1.0, 0.0, 0.0)
    return load(petal.side[face - 1].normal)


@kernel
def depths(g, petal, height, q):
    """Return the depths of a point below the faces of a petal: cone, both sides, tip; negative outside."""
    return (
        g.cosine[0] * (g.radius[0] - sqrt(q[1] * q[1] + q[2] * q[2])) - g.sine[0] * q[0],
        g.side_offset - dot(load(petal.side[0].normal), q),
        g.side_offset - dot(load(petal.side[1].normal), q),
        height - q[0],
    )


@kernel
def _nearest(d):
    """Return the face below which a point is least deep."""
    face = CONE
    for k in range(1, 4):
        if d[k] < d[face]:
            face = k
    return face


@kernel
def _rise(facing, face, q, t):
    """Return the growth of the depth below a face per length of the rim, at its point q in the direction t.

    `facing` is a petal before a rim: (geometry of the rings, petal, its height, rim, radius of the rim).
    """
    g, petal, _, rim, _ = facing
    _, e_1, e_2 = rim
    tangent = axpy(-t[1], e_1, scale(t[0], e_2))
    return -dot(face_normal(g, petal, face, q), tangent)


@kernel
def _sample(facing, t):
    """Return (direction t, depths, nearest face, growth of its depth, point) of the rim in the direction t."""
    g, petal, height, rim, radius = facing
    q = rim_point(rim, radius, t)
    d = depths(g, petal, height, q)
    face = _nearest(d)
    return t, d, face, _rise(facing, face, q, t), q


@kernel
def _depth(sample):
    """Return the depth of a sample below its nearest face."""
    return sample[1][sample[2]]


@kernel
def _turn(a, b):
    """Return the direction a turned by the angle of b."""
    return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


@kernel
def _mix(a, b, share):
    """Return the direction between the directions a and b of the rim's plane, at a fraction `share` of their chord."""
    x = (1.0 - share) * a[0] + share * b[0]
    y = (1.0 - share) * a[1] + share * b[1]
    size = sqrt(x * x + y * y)
    return (x / size, y / size)


@kernel
def _share(low, high, weight_low, weight_high):
    """Return the estimated place of the deepest point between two samples, as a fraction of their chord.

    If they have one nearest face, the place is where its growth would vanish; if two, where both would be equally deep.
    """
    _, d_low, face_low, rise_low, _ = low
    _, d_high, face_high, rise_high, _ = high
    if face_low == face_high:
        before = weight_low * rise_low
        after = -weight_high * rise_high
    else:
        before = weight_low * (d_low[face_high] - d_low[face_low])
        after = weight_high * (d_high[face_low] - d_high[face_high])
    if before + after > 0.0:
        return before / (before + after)
    return 0.5


@kernel
def _meeting(facing, low, at, high):
    """Return (direction, inside): where the faces of `low` and `high` are equally deep, and if between these samples.

    It is a step of Newton's method from the sample `at`, by the tangents of both depths there.
    """
    t, d, face, rise, q = at
    other = high[2] if face == low[2] else low[2]
    slope = _rise(facing, other, q, t) - rise
    if slope == 0.0:
        return t, False
    radius = facing[4]
    angle = (d[face] - d[other]) / (radius * slope)
    x, y = _turn(t, (1.0, angle))
    size = sqrt(1.0 + angle * angle)
    u = (x / size, y / size)
    inside = low[0][0] * u[1] > low[0][1] * u[0] and u[0] * high[0][1] > u[1] * high[0][0]
    return u, inside


@kernel
def _deepest(facing, low, at, high):
    """Return (depth, normal, gain, q, by the tip) at the deepest point between two samples of the rim.

    `at` is a sample between `low` and `high`. The search is false position with the Illinois rule, with steps of
    Newton's method to where two faces are equally deep.
    """
    g, petal, _, _, _ = facing
    weight_low = 1.0
    weight_high = 1.0
    last = 0
    for _ in range(STEPS):
        t, d, face, rise, q = at
        if fabs(rise) < FLAT:
            return d[face], face_normal(g, petal, face, q), 1.0, q, face == TIP
        if rise > 0.0:
            low = at
            weight_low = 1.0
            weight_high = 0.5 * weight_high if last > 0 else 1.0
            last = 1
        else:
            high = at
            weight_high = 1.0
            weight_low = 0.5 * weight_low if last < 0 else 1.0
            last = -1
        inside = False
        if low[2] != high[2]:
            if fabs(d[low[2]] - d[high[2]]) < ALIKE:
                break
            if face == low[2] or face == high[2]:
                t, inside = _meeting(facing, low, at, high)
        if not inside:
            t = _mix(low[0], high[0], _share(low, high, weight_low, weight_high))
        at = _sample(facing, t)
    t, d, face, _, q = at
    if low[2] == high[2]:
        return d[face], face_normal(g, petal, face, q), 1.0, q, face == TIP
    rise = _rise(facing, low[2], q, t)
    share = rise / (rise - _rise(facing, high[2], q, t))
    first = face_normal(g, petal, low[2], q)
    second = face_normal(g, petal, high[2], q)
    gradient = axpy(share, second, scale(1.0 - share, first))
    gain = norm(gradient)
    return d[face], scale(1.0 / gain, gradient), gain, q, max(low[2], high[2]) == TIP


@kernel
def _deeper(best, candidate):
    """Return the deeper one of two contacts, the first if they are equally deep."""
    return candidate if candidate[0] > best[0] else best


@kernel
def deepest_on_rim(g, petal, height, rim, radius):
    """Find the deepest point of a rim in a petal: (depth, normal out of the petal, gain, point, by the tip).

    No contact: depth <= 0.
    """
    centre, e_1, e_2 = rim
    c = petal.azimuth[0]
    s = petal.azimuth[1]
    # the point of the rim in the meridian of the petal's middle; exact for a rim without tilt
    aside = max(-0.9, min(0.9, (s * centre[1] - c * centre[2]) / radius))
    ahead = sqrt(1.0 - aside * aside)
    x = c * e_1[1] + s * e_1[2]
    y = c * e_2[1] + s * e_2[2]
    size = sqrt(x * x + y * y)
    x /= size
    y /= size
    facing = (g, petal, height, rim, radius)
    middle = _sample(facing, (ahead * x - aside * y, ahead * y + aside * x))
    left = _sample(facing, _turn(middle[0], BEFORE))
    right = _sample(facing, _turn(middle[0], BEHIND))
    d_left = _depth(left)
    d_middle = _depth(middle)
    d_right = _depth(right)
    best = (-1.0, e_1, 1.0, centre, False)
    if d_left >= d_middle:
        outer = _sample(facing, _turn(left[0], BEFORE))
        if d_left >= _depth(outer):
            best = _deeper(best, _deepest(facing, outer, left, middle))
    if d_middle >= d_left and d_middle >= d_right:
        best = _deeper(best, _deepest(facing, left, middle, right))
    if d_right >= d_middle:
        outer = _sample(facing, _turn(right[0], BEHIND))
        if d_right >= _depth(outer):
            best = _deeper(best, _deepest(facing, middle, right, outer))
    return best


@kernel
def petal_on_rim(facing, conformity):
    """Find the contact of a petal with a rim: (depth, normal out of the petal, gain, point, by the tip, moment).

    `facing` as for `_rise`; `moment` as for `spread.act_together`, 0 for a single point. No contact: depth <= 0.
    """
    g, petal, height, rim, radius = facing
    d, normal, gain, q, tip = deepest_on_rim(g, petal, height, rim, radius)
    if d <= 0.0 or conformity == 0.0:
        return d, normal, gain, q, tip, 0.0
    middle = (petal.azimuth[0], petal.azimuth[1])
    turn = (g.spread[0], g.spread[1])
    _, d_1, face_1, _, q_1 = _sample(facing, middle)
    _, d_2, face_2, _, q_2 = _sample(facing, _turn(middle, turn))
    _, d_3, face_3, _, q_3 = _sample(facing, _turn(middle, (turn[0], -turn[1])))
    mean = MIDDLE * d_1[face_1] + ASIDE * (d_2[face_2] + d_3[face_3])
    depth, share = shared(d, mean, conformity)
    if share == 0.0:
        return d, normal, gain, q, tip, 0.0
    normal, gain, point, moment = act_together(
        (1.0 - share, share * MIDDLE, share * ASIDE, share * ASIDE),
        (q, q_1, q_2, q_3),
        (
            scale(gain, normal),
            face_normal(g, petal, face_1, q_1),
            face_normal(g, petal, face_2, q_2),
            face_normal(g, petal, face_3, q_3),
        ),
    )
    return depth, normal, gain, point, tip, moment


@kernel
def _bound(g, rim, radius):
    """Return (level, y, z) that bound the depth below the cone of a point of the rim: level - y cos - z sin of u.

    u is the azimuth of the point as seen from the centre of the rim. The distance of the point from the axis of the
    cone is not less than its projection on u. The abscissa of the point is taken as that in the direction u of the
    plane of the rim: with the sine of the tilt, tau, these differ by less than tau^2, and the abscissas by R tau^3.
    """
    centre, e_1, e_2 = rim
    tilt = sqrt(e_1[0] * e_1[0] + e_2[0] * e_2[0])
    c = g.cosine[0]
    s = g.sine[0]
    level = c * (g.radius[0] - radius * sqrt(max(0.0, 1.0 - tilt * tilt))) - s * centre[0] + s * radius * tilt**3
    y = c * centre[1] + s * radius * (e_1[0] * e_1[1] + e_2[0] * e_2[1])
    z = c * centre[2] + s * radius * (e_1[0] * e_1[2] + e_2[0] * e_2[2])
    return level, y, z


@kernel
def _passes(bound, petal, wide):
    """Return whether a rim passes a petal outside its cone, by the largest `_bound` within 60 deg of its middle.

    `wide`: the rim is far off the axis, and its points on the petal may be seen in any direction.
    """
    level, y, z = bound
    along = -(petal.azimuth[0] * y + petal.azimuth[1] * z)
    across = fabs(petal.azimuth[0] * z - petal.azimuth[1] * y)
    if wide or across <= TAN_REACH * along:
        return level + sqrt(y * y + z * z) <= 0.0
    return level + COS_REACH * (along + TAN_REACH * across) <= 0.0


@kernel
def _is_clear(bound, rim, radius, height):
    """Return whether a rim touches no petal: all of it beyond their tips, or outside their cone."""
    centre, e_1, e_2 = rim
    level, y, z = bound
    tilt = sqrt(e_1[0] * e_1[0] + e_2[0] * e_2[0])
    return centre[0] - radius * tilt > height or level + sqrt(y * y + z * z) <= 0.0


@kernel
def _is_wide(rim, radius):
    """Return whether a rim is so far off the axis that it meets petals from more than 20 deg aside."""
    centre, _, _ = rim
    return centre[1] * centre[1] + centre[2] * centre[2] > (WIDE * radius) ** 2


@kernel
def detect_rims(unit):
    """List the contacts of both rims with the other ring's petals."""
    p = unit.parameters
    g = unit.geometry
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    r = load(link.position)
    radius = p.ring.radius
    height = p.petal.height
    rim = (negate(apply(A, r)), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))
    bound = _bound(g, rim, radius)
    if not _is_clear(bound, rim, radius, height):
        for k in range(len(g.petal)):
            if is_known(unit, RIM_ON_ACTIVE_PETAL, k + 1.0) or _passes(bound, g.petal[k], _is_wide(rim, radius)):
                continue
            facing = (g, g.petal[k], height, rim, radius)
            d, normal, gain, q, tip, moment = petal_on_rim(facing, p.ring.conformity)
            if d > 0.0:
                if tip:
                    unit.tally.tips += 1.0
                point = add(r, apply_transposed(A, q))
                normal = apply_transposed(A, normal)
                item = list_contact(unit.tally, RIM_ON_ACTIVE_PETAL, k + 1.0, RING, d, normal, gain, point)
                item.moment = moment
    rim = (turned(r), turned(A[1]), negate(turned(A[2])))
    bound = _bound(g, rim, radius)
    if not _is_clear(bound, rim, radius, height):
        for k in range(len(g.petal)):
            if is_known(unit, RIM_ON_PASSIVE_PETAL, k + 1.0) or _passes(bound, g.petal[k], _is_wide(rim, radius)):
                continue
            facing = (g, g.petal[k], height, rim, radius)
            d, normal, gain, q, tip, moment = petal_on_rim(facing, p.ring.conformity)
            if d > 0.0:
                if tip:
                    unit.tally.tips += 1.0
                normal = negate(turned(normal))
                item = list_contact(unit.tally, RIM_ON_PASSIVE_PETAL, k + 1.0, RING, d, normal, gain, turned(q))
                item.moment = moment
