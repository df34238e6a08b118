"""Rims on petals: the inner edge of one ring's plane against the petals of the other (spec/05 P2, P3).

A petal is where the depths below its outer cone, its two side faces and its tip plane are all positive; a point of the
rim is as deep as the least of them says, and the contact is the deepest point of the rim (spec/00 R36). Where one face
is the nearest on both sides of it, the normal is that face's: a generatrix of the cone bears on the rim (P3). Where two
are equally deep, an edge of the petal crosses the rim (P2), and the force follows the gradient of that depth: a mean of
both normals that is perpendicular to the rim. So P2 and P3 are one contact, which goes over from one to the other
without a jump.

All is in the frame of the ring that has the petals. That ring and the other one change places without another formula.
"""

from __future__ import annotations

from math import cos, fabs, inf, radians, sin, sqrt

from components.contact.ring_pair.contact_list import add_contact
from components.contact.ring_pair.geometry import turned
from components.contact.ring_pair.pairs import RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL
from components.core.kernel import kernel
from components.core.rotation import apply, apply_transposed, load_matrix
from components.core.vector import add, axpy, dot, load, negate, norm, scale

# faces of a petal
CONE = 0
TIP = 3

# directions at which a petal is looked at first, from its middle: cosine and sine. The outer ones are beside the petal
SPACING = radians(27.0)
SAMPLES = tuple((cos(k * SPACING), sin(k * SPACING)) for k in (-2, -1, 0, 1, 2))
# a search ends where the depth grows by less than this along the rim, or where two depths differ by less, m
FLAT = 1e-9
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
def _rise(g, petal, face, rim, q, t):
    """Return how fast the depth below a face grows along the rim, at its point q in the direction t."""
    _, e_1, e_2 = rim
    tangent = axpy(-t[1], e_1, scale(t[0], e_2))
    return -dot(face_normal(g, petal, face, q), tangent)


@kernel
def _mix(a, b, share):
    """Return the direction between the directions a and b of the rim's plane, at a share of their chord."""
    x = (1.0 - share) * a[0] + share * b[0]
    y = (1.0 - share) * a[1] + share * b[1]
    size = sqrt(x * x + y * y)
    return (x / size, y / size)


@kernel
def _share(low, high, weight_low, weight_high):
    """Return where the deepest point may be between two ends, each (depths, nearest face, growth of its depth).

    One face: where its growth would vanish; two: where both would be equally deep.
    """
    d_low, face_low, rise_low = low
    d_high, face_high, rise_high = high
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
def _deepest(g, petal, height, rim, radius, t_low, t_high):
    """Return (depth, normal, gain, q, by the tip) at the deepest point between two directions of the rim.

    False position with the Illinois rule.
    """
    q = rim_point(rim, radius, t_low)
    d = depths(g, petal, height, q)
    face = _nearest(d)
    low = (d, face, _rise(g, petal, face, rim, q, t_low))
    q = rim_point(rim, radius, t_high)
    d = depths(g, petal, height, q)
    face = _nearest(d)
    high = (d, face, _rise(g, petal, face, rim, q, t_high))
    weight_low = 1.0
    weight_high = 1.0
    last = 0
    t = t_high
    for _ in range(STEPS):
        t = _mix(t_low, t_high, _share(low, high, weight_low, weight_high))
        q = rim_point(rim, radius, t)
        d = depths(g, petal, height, q)
        face = _nearest(d)
        rise = _rise(g, petal, face, rim, q, t)
        if fabs(rise) < FLAT:
            return d[face], face_normal(g, petal, face, q), 1.0, q, face == TIP
        if rise > 0.0:
            t_low = t
            low = (d, face, rise)
            weight_low = 1.0
            weight_high = 0.5 * weight_high if last > 0 else 1.0
            last = 1
        else:
            t_high = t
            high = (d, face, rise)
            weight_high = 1.0
            weight_low = 0.5 * weight_low if last < 0 else 1.0
            last = -1
        if low[1] != high[1] and fabs(d[low[1]] - d[high[1]]) < ALIKE:
            break
    if low[1] == high[1]:
        return d[face], face_normal(g, petal, face, q), 1.0, q, face == TIP
    rise = _rise(g, petal, low[1], rim, q, t)
    share = rise / (rise - _rise(g, petal, high[1], rim, q, t))
    first = face_normal(g, petal, low[1], q)
    second = face_normal(g, petal, high[1], q)
    gradient = axpy(share, second, scale(1.0 - share, first))
    gain = norm(gradient)
    return d[face], scale(1.0 / gain, gradient), gain, q, max(low[1], high[1]) == TIP


@kernel
def petal_on_rim(g, petal, height, rim, radius, slack):
    """Find the contact of a petal with a rim: (depth, normal out of the petal, gain, point of the rim, by the tip).

    `slack` is how much deeper below the cone than the deepest sample a point of the rim can be. No contact: depth <= 0.
    """
    centre, e_1, e_2 = rim
    c = petal.azimuth[0]
    s = petal.azimuth[1]
    # the point of the rim in the meridian of the petal's middle; of a rim without tilt exactly
    aside = max(-0.9, min(0.9, (s * centre[1] - c * centre[2]) / radius))
    ahead = sqrt(1.0 - aside * aside)
    x = c * e_1[1] + s * e_1[2]
    y = c * e_2[1] + s * e_2[2]
    size = sqrt(x * x + y * y)
    x /= size
    y /= size
    middle = (ahead * x - aside * y, ahead * y + aside * x)
    best = (-1.0, e_1, 1.0, centre, False)
    below_cone = -inf
    least = (-inf, -inf, -inf, -inf, -inf)
    for k in range(len(SAMPLES)):
        d = depths(g, petal, height, rim_point(rim, radius, _turn(middle, SAMPLES[k])))
        below_cone = max(below_cone, d[CONE])
        least = (least[1], least[2], least[3], least[4], d[_nearest(d)])
    if below_cone + slack <= 0.0:
        return best
    for k in range(1, len(SAMPLES) - 1):
        if least[k] >= least[k - 1] and least[k] >= least[k + 1]:
            t_low = _turn(middle, SAMPLES[k - 1])
            found = _deepest(g, petal, height, rim, radius, t_low, _turn(middle, SAMPLES[k + 1]))
            if found[0] > best[0]:
                best = found
    return best


@kernel
def _turn(a, b):
    """Return the direction a turned by the angle of b."""
    return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


@kernel
def _slack(g, rim, radius):
    """Return how much deeper below the cone a point of a rim can be than the deeper of two samples beside it, m.

    An eighth of the spacing squared times a bound on the second derivative of that depth along the rim.
    """
    centre, e_1, e_2 = rim
    tilt = sqrt(e_1[0] * e_1[0] + e_2[0] * e_2[0])
    aside = min(sqrt(centre[1] * centre[1] + centre[2] * centre[2]), 0.9 * radius)
    curvature = g.sine[0] * radius * tilt + g.cosine[0] * (aside / (radius - aside) + 2.0 * tilt * tilt) * radius
    return 0.125 * SPACING * SPACING * curvature


@kernel
def _is_clear(g, rim, radius, height):
    """Return whether a rim touches no petal: all of it beyond their tips, or outside their cone."""
    centre, e_1, e_2 = rim
    tilt = radius * sqrt(e_1[0] * e_1[0] + e_2[0] * e_2[0])
    nearest = centre[0] - tilt
    if nearest > height:
        return True
    upright = sqrt(max(0.0, radius * radius - tilt * tilt))
    r = upright - sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    return g.cosine[0] * (g.radius[0] - r) - g.sine[0] * nearest <= 0.0


@kernel
def detect_rims(unit):
    """Add the contacts of both rims with the other ring's petals. Returns 0, or PENETRATION + pair."""
    p = unit.parameters
    g = unit.geometry
    link = unit.work.link
    A = load_matrix(link.rotation)
    r = load(link.position)
    radius = p.ring.radius
    height = p.petal.height
    rim = (negate(apply(A, r)), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))
    if not _is_clear(g, rim, radius, height):
        slack = _slack(g, rim, radius)
        for k in range(len(g.petal)):
            d, normal, gain, q, tip = petal_on_rim(g, g.petal[k], height, rim, radius, slack)
            if d > 0.0:
                if tip:
                    unit.tally.tips += 1.0
                point = add(r, apply_transposed(A, q))
                normal = apply_transposed(A, normal)
                code = add_contact(unit, RIM_ON_ACTIVE_PETAL, k + 1.0, point, normal, gain, d)
                if code:
                    return code
    rim = (turned(r), turned(A[1]), negate(turned(A[2])))
    if not _is_clear(g, rim, radius, height):
        slack = _slack(g, rim, radius)
        for k in range(len(g.petal)):
            d, normal, gain, q, tip = petal_on_rim(g, g.petal[k], height, rim, radius, slack)
            if d > 0.0:
                if tip:
                    unit.tally.tips += 1.0
                normal = negate(turned(normal))
                code = add_contact(unit, RIM_ON_PASSIVE_PETAL, k + 1.0, turned(q), normal, gain, d)
                if code:
                    return code
    return 0
