"""Constants of the rings: petals with faces and edges, points of the ring plane, latches, stops (contact-geometry 7.1).

A petal is the piece of the cone r = R - x tan(alpha) below its tip plane x = h and between two side faces. The side
faces lie in planes that are symmetric about the directions of the gaps, 60 deg from its middle, so that each plane
holds one face of each of two neighbours. Generatrices end where these planes cut the cone, in a hyperbola; the edges
that meet the other ring's petals are its chords, up to 4.65 mm below it.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt, tan

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.ring_pair.pairs import GEOMETRY
from dockfmu.components.physics.mechanics.vector import scale, store, subtract

SQRT_HALF = sqrt(0.5)
# azimuths of the active petals (conventions section 7), rad
AZIMUTHS = (pi / 2.0, 11.0 * pi / 6.0, 7.0 * pi / 6.0)


@kernel
def turned(v):
    """Return a vector turned by 180 deg about y: from the passive ring's own frame to PU, and back."""
    return (-v[0], v[1], -v[2])


@kernel
def at(x, r, azimuth):
    """Return the point at the abscissa x and the radius r."""
    return (x, r * cos(azimuth), r * sin(azimuth))


@kernel
def upper_edge(ring, petal, azimuth, hand):
    """Return (root, along) of the upper edge of the side `hand` (-1, 1): root to tip.

    It is the chord of the hyperbola, extended below the ring plane to the ring's outer radius, so that its start never
    slips inside the other rim.
    """
    r_tip = ring.radius - petal.height * tan(petal.cone_angle)
    tip = at(petal.height, r_tip, azimuth + hand * petal.tip_half_width)
    foot = at(0.0, ring.radius, azimuth + hand * petal.root_half_width)
    along = subtract(tip, foot)
    a = along[1] * along[1] + along[2] * along[2]
    b = foot[1] * along[1] + foot[2] * along[2]
    c = ring.radius * ring.radius - ring.outer_radius * ring.outer_radius
    t = (-b - sqrt(b * b - a * c)) / a
    root = (foot[0] + t * along[0], foot[1] + t * along[1], foot[2] + t * along[2])
    return root, subtract(tip, root)


@kernel
def lower_edge(ring, petal, azimuth, hand):
    """Return (root, along) of the lower edge of the side `hand` (-1, 1): from the ring plane to the tip."""
    r_tip = ring.radius - petal.height * tan(petal.cone_angle)
    tip = at(petal.height, r_tip, azimuth + hand * petal.tip_half_width)
    root = at(0.0, petal.lower_radius, azimuth + hand * petal.lower_half_width)
    return root, subtract(tip, root)


@kernel
def side_slope(ring, petal):
    """Return (slope, distance): a side face is x = slope * (distance - s), s along the direction of its gap."""
    r_tip = ring.radius - petal.height * tan(petal.cone_angle)
    s_root = ring.radius * cos(pi / 3.0 - petal.root_half_width)
    s_tip = r_tip * cos(pi / 3.0 - petal.tip_half_width)
    return petal.height / (s_root - s_tip), s_root


@kernel
def generatrix_end(ring, petal, u):
    """Return the abscissa at which the generatrix u (rad, >= 0) off the petal's middle ends: at the tip or side."""
    if u <= petal.tip_half_width:
        return petal.height
    slope, distance = side_slope(ring, petal)
    c = cos(pi / 3.0 - u)
    return slope * (distance - ring.radius * c) / (1.0 - slope * tan(petal.cone_angle) * c)


@kernel
def _set_petal(ring, petal, azimuth, own, passive):
    slope, _ = side_slope(ring, petal)
    size = sqrt(1.0 + slope * slope)
    own.azimuth[0] = cos(azimuth)
    own.azimuth[1] = sin(azimuth)
    passive.azimuth[0] = own.azimuth[0]
    passive.azimuth[1] = -own.azimuth[1]
    for s in range(len(own.side)):
        hand = 2.0 * s - 1.0
        normal = scale(1.0 / size, at(1.0, slope, azimuth + hand * pi / 3.0))
        store(normal, own.side[s].normal)
        store(turned(normal), passive.side[s].normal)
        for layer in range(len(own.side[s].edge)):
            if layer == 0:
                root, along = upper_edge(ring, petal, azimuth, hand)
            else:
                root, along = lower_edge(ring, petal, azimuth, hand)
            store(root, own.side[s].edge[layer].root)
            store(along, own.side[s].edge[layer].along)
            store(turned(root), passive.side[s].edge[layer].root)
            store(turned(along), passive.side[s].edge[layer].along)


@kernel
def _set_latches(p, g):
    face = g.face
    face[0].n_x = SQRT_HALF
    face[1].n_x = -SQRT_HALF
    for k in range(2):
        face[k].x = p.stop.outer_radius - p.stop.inner_radius
        face[k].r = p.stop.inner_radius
        face[k].n_r = SQRT_HALF
    radius = p.ring.radius - p.latch.height * tan(p.petal.cone_angle)
    for k in range(len(g.latch_root)):
        azimuth = AZIMUTHS[k // 2] + (2.0 * (k % 2) - 1.0) * p.latch.azimuth
        store(at(p.latch.height, radius, azimuth), g.latch_root[k])
        store(scale(SQRT_HALF, at(1.0, 1.0, azimuth)), g.latch_along[k])
    g.reach = p.latch.height + SQRT_HALF * p.latch.length


@kernel
def _is_ring(p):
    r_tip = p.ring.radius - p.petal.height * tan(p.petal.cone_angle)
    return (
        0.0 < r_tip < p.petal.lower_radius < p.ring.radius < p.ring.outer_radius
        and 0.0 < p.petal.tip_half_width < p.petal.root_half_width < pi / 6.0
        and 0.0 < p.petal.lower_half_width < pi / 6.0
        and 0.0 < p.petal.cone_angle < 0.5 * pi
        and p.ring.radius < p.plane.radius < p.ring.outer_radius
        and 0.0 < p.stop.inner_radius < p.stop.outer_radius
    )


@kernel
def set_geometry(unit):
    """Compute the constants of both rings. Returns 0, or GEOMETRY."""
    p = unit.parameters
    g = unit.geometry
    if not _is_ring(p):
        return fail(unit.status, GEOMETRY, p.petal.height, 0)
    r_tip = p.ring.radius - p.petal.height * tan(p.petal.cone_angle)
    inner = sqrt(p.petal.height**2 + (p.petal.lower_radius - r_tip) ** 2)
    g.cosine[0] = cos(p.petal.cone_angle)
    g.sine[0] = sin(p.petal.cone_angle)
    g.radius[0] = p.ring.radius
    g.cosine[1] = p.petal.height / inner
    g.sine[1] = (p.petal.lower_radius - r_tip) / inner
    g.radius[1] = p.petal.lower_radius
    # the points to either side are those of the Gauss-Legendre rule over the width of the tip
    g.spread[0] = cos(sqrt(0.6) * p.petal.tip_half_width)
    g.spread[1] = sin(sqrt(0.6) * p.petal.tip_half_width)
    slope, distance = side_slope(p.ring, p.petal)
    g.side_offset = slope * distance / sqrt(1.0 + slope * slope)
    for k in range(len(g.petal)):
        _set_petal(p.ring, p.petal, AZIMUTHS[k], g.petal[k], g.passive[k])
        store(at(p.sensor.protrusion, p.sensor.radius, AZIMUTHS[k] + p.sensor.azimuth), g.plunger[k])
        for s in range(2):
            azimuth = AZIMUTHS[k] + (2.0 * s - 1.0) * p.petal.root_half_width
            store(at(0.0, p.plane.radius, azimuth), g.point[2 * k + s])
    _set_latches(p, g)
    return 0
