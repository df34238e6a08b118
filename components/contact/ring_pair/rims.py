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

from math import cos, pi, sin, sqrt

from components.contact.ring_pair.contact_list import add_contact
from components.contact.ring_pair.geometry import turned
from components.contact.ring_pair.pairs import RIM_ON_ACTIVE_PETAL, RIM_ON_PASSIVE_PETAL
from components.core.kernel import kernel
from components.core.rotation import apply, apply_transposed, load_matrix
from components.core.vector import add, axpy, dot, load, negate, norm, scale

# faces of a petal
CONE = 0
TIP = 3

# points of the rim at which a petal is looked at first: every 10 deg to either side of its middle, cosine and sine
SPACING = pi / 18.0
SAMPLES = tuple((cos((i - 5) * SPACING), sin((i - 5) * SPACING)) for i in range(11))
# bisections of an interval of 20 deg: to 2e-13 rad
STEPS = 40


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
def depth(g, petal, height, q):
    """Return (depth, face) of a point below the face of a petal under which it is least deep; negative outside."""
    least = g.cosine[0] * (g.radius[0] - sqrt(q[1] * q[1] + q[2] * q[2])) - g.sine[0] * q[0]
    face = CONE
    for s in range(2):
        d = g.side_offset - dot(load(petal.side[s].normal), q)
        if d < least:
            least = d
            face = s + 1
    if height - q[0] < least:
        least = height - q[0]
        face = TIP
    return least, face


@kernel
def _rise(g, petal, face, rim, q, d):
    """Return how fast the depth below a face grows along the rim at its point q, per rad over the radius."""
    _, e_1, e_2 = rim
    tangent = axpy(-d[1], e_1, scale(d[0], e_2))
    return -dot(face_normal(g, petal, face, q), tangent)


@kernel
def _between(a, b):
    """Return the direction midway between two directions of the rim's plane."""
    x = a[0] + b[0]
    y = a[1] + b[1]
    size = sqrt(x * x + y * y)
    return (x / size, y / size)


@kernel
def _deepest(g, petal, height, rim, radius, low, high):
    """Return (depth, normal, gain, q, tip) at the deepest point between two directions of the rim, by bisection.

    A depth that cannot become positive there is returned as soon as this is known.
    """
    face_low = -1
    face_high = -1
    rise_low = 0.0
    rise_high = 0.0
    q = rim_point(rim, radius, low)
    least = -1.0
    width = 2.0 * radius * SPACING
    for _ in range(STEPS):
        d = _between(low, high)
        q = rim_point(rim, radius, d)
        least, face = depth(g, petal, height, q)
        # no point of the rim is deeper than this one by more than its distance
        width *= 0.5
        if least + width < 0.0:
            return least, q, 1.0, q, False
        rise = _rise(g, petal, face, rim, q, d)
        if rise > 0.0:
            low = d
            face_low = face
            rise_low = rise
        else:
            high = d
            face_high = face
            rise_high = rise
    face = max(face_low, face_high)
    normal = face_normal(g, petal, face, q)
    if face_low < 0 or face_high < 0 or face_low == face_high:
        return least, normal, 1.0, q, face == TIP
    share = rise_low / (rise_low - rise_high)
    first = face_normal(g, petal, face_low, q)
    second = face_normal(g, petal, face_high, q)
    gradient = axpy(share, second, scale(1.0 - share, first))
    gain = norm(gradient)
    return least, scale(1.0 / gain, gradient), gain, q, face == TIP


@kernel
def petal_on_rim(g, petal, height, rim, radius):
    """Find the contact of a petal with a rim: (depth, normal out of the petal, gain, point of the rim, by the tip).

    No contact: depth <= 0.
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
    before = -1e9
    here = -1e9
    low = middle
    this = middle
    for i in range(len(SAMPLES)):
        t = SAMPLES[i]
        high = (t[0] * middle[0] - t[1] * middle[1], t[0] * middle[1] + t[1] * middle[0])
        after, _ = depth(g, petal, height, rim_point(rim, radius, high))
        # the second last sample is a local maximum, and near enough to a point in the petal
        if i > 1 and here >= before and here >= after and here + radius * SPACING > 0.0:
            found = _deepest(g, petal, height, rim, radius, low, high)
            if found[0] > best[0]:
                best = found
        before = here
        here = after
        low = this
        this = high
    return best


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
        for k in range(len(g.petal)):
            d, normal, gain, q, tip = petal_on_rim(g, g.petal[k], height, rim, radius)
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
        for k in range(len(g.petal)):
            d, normal, gain, q, tip = petal_on_rim(g, g.petal[k], height, rim, radius)
            if d > 0.0:
                if tip:
                    unit.tally.tips += 1.0
                normal = negate(turned(normal))
                code = add_contact(unit, RIM_ON_PASSIVE_PETAL, k + 1.0, turned(q), normal, gain, d)
                if code:
                    return code
    return 0
