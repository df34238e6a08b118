"""Spheres and cones of the head on the surfaces of the passive unit (berthing 8.1: A5, and A9 with A6).

The head is two spheres and the cones tangent to them, so its outline has no edges. Where sphere and cone meet, both are
equally deep in an edge of the passive unit; of all contacts on one edge the deepest counts, and its force passes from
one to the other without a jump.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.airlock_pair.pairs import (
    CONE_ON_MOUTH,
    CONE_ON_STRIKE,
    SPHERE_ON_BOTTOM,
    SPHERE_ON_CONE,
    SPHERE_ON_WALL,
)
from dockfmu.components.physics.contact.airlock_pair.ports import EDGES, FACES, HEAD, SPHERES
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.profile import SMALL_RADIUS, sphere_profile
from dockfmu.components.physics.contact.search import farthest_around, line_circle_distance
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, dot, load, norm, scale

NOT_AN_EDGE = -1

search_around = farthest_around(line_circle_distance)


@kernel
def place_sphere(unit, k):
    """Return the centre of a sphere of the head, P."""
    head = unit.work.link[0]
    A = load_matrix(head.rotation)
    return add(load(head.position), apply_transposed(A, (unit.parameters.head.sphere_x[k], 0.0, 0.0)))


@kernel
def edge_of(feature):
    """Return the edge, 0 mouth or 1 strike, of a feature of `sphere_profile`, or NOT_AN_EDGE."""
    if feature < 0:
        return -feature - 1
    return NOT_AN_EDGE


@kernel
def generatrix_on_edge(row, r, A, cosine, x, radius):
    """Return (depth, normal, gain, point) of a generatrix against an edge circle about x, at abscissa x.

    `r`, `A` place the frame of the generatrix. The depth of A6 is the excess of the distance from the axis times the
    cosine of the angle of the generatrix to the axis; here `cosine`, that of the half-angle of the cone, is used, which
    differs from that angle by the tilt at most. The depth is thus a multiple of the distance, its gradient is exact
    (ruling R36), and the farthest generatrix is also the deepest.
    """
    start = add(r, apply_transposed(A, (row[0], row[1], row[2])))
    along = apply_transposed(A, (row[3], row[4], row[5]))
    t = (x - start[0]) / along[0]
    point = axpy(t, along, start)
    d = sqrt(point[1] * point[1] + point[2] * point[2])
    depth = (d - radius) * cosine
    if depth <= 0.0:
        return -1.0, ZERO, 1.0, point
    y = point[1] / d
    z = point[2] / d
    radial = along[1] * y + along[2] * z
    # where the normal through the edge meets the generatrix: at its ends the spheres are equally deep
    foot = t - (d - radius) * radial / dot(along, along)
    if foot < 0.0 or foot > 1.0:
        return -1.0, ZERO, 1.0, point
    gradient = scale(cosine, (-radial / along[0], y, z))
    gain = norm(gradient)
    return depth, scale(1.0 / gain, gradient), gain, point


@kernel
def _cone_on_edge(unit, rows, cosine, x, radius):
    """Return `generatrix_on_edge` of the generatrix of a cone of the head that is farthest from the axis."""
    head = unit.work.link[0]
    r = load(head.position)
    A = load_matrix(head.rotation)
    index, d = search_around(rows, r, A, ((x, 0.0, 0.0), (1.0, 0.0, 0.0)))
    # the material around the edge ends at the rim of the plane (ruling R57)
    if not radius < d <= unit.parameters.cone.plane_radius:
        return -1.0, ZERO, 1.0, ZERO
    return generatrix_on_edge(rows[index], r, A, cosine, x, radius)


@kernel
def _edge_sphere(unit, edge):
    """Return (depth, normal, point, index) of the sphere that is deepest over an edge, index -1 for none."""
    best = 0.0
    normal = ZERO
    point = ZERO
    index = -1
    for k in range(SPHERES):
        centre = place_sphere(unit, k)
        radius = unit.parameters.head.sphere_radius[k]
        depth, n, feature = sphere_profile(unit.geometry.face, FACES, centre, radius)
        if depth > best and edge_of(feature) == edge:
            best = depth
            normal = n
            point = axpy(radius, n, centre)
            index = k
    return best, normal, point, index


@kernel
def _detect_edge(unit, edge):
    """List the deepest contact over an edge of the passive unit."""
    p = unit.parameters
    g = unit.geometry
    x = 0.0 if edge == 0 else p.cone.depth
    radius = p.cone.mouth_radius if edge == 0 else p.cone.strike_radius
    depth, normal, point, k = _edge_sphere(unit, edge)
    pair = SPHERE_ON_CONE
    index = k + 1.0
    gain = 1.0
    for cone in range(2):
        if cone == 0:
            d, n, a, c = _cone_on_edge(unit, g.nose_cone, g.cosine[0], x, radius)
        else:
            d, n, a, c = _cone_on_edge(unit, g.shank, g.cosine[1], x, radius)
        if d > depth:
            depth, normal, gain, point = d, n, a, c
            pair = CONE_ON_MOUTH if edge == 0 else CONE_ON_STRIKE
            index = cone + 1.0
    if depth > 0.0:
        list_contact(unit.tally, pair, index, HEAD, depth, normal, gain, point)


@kernel
def _detect_sphere(unit, k):
    """List the contacts of a sphere with faces, wall and bottom."""
    p = unit.parameters
    centre = place_sphere(unit, k)
    radius = p.head.sphere_radius[k]
    depth, n, feature = sphere_profile(unit.geometry.face, FACES, centre, radius)
    if depth > 0.0 and edge_of(feature) == NOT_AN_EDGE:
        list_contact(unit.tally, SPHERE_ON_CONE, k + 1.0, HEAD, depth, n, 1.0, axpy(radius, n, centre))
    d = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    depth = d + radius - p.cone.wall_radius
    wall = unit.geometry.face[2].x + unit.geometry.face[2].n_r * unit.geometry.face[2].length
    if depth > 0.0 and centre[0] > wall and SMALL_RADIUS < d <= p.cone.plane_radius:
        n = (0.0, centre[1] / d, centre[2] / d)
        list_contact(unit.tally, SPHERE_ON_WALL, k + 1.0, HEAD, depth, n, 1.0, axpy(radius, n, centre))
    depth = centre[0] + radius - p.cone.bottom
    if depth > 0.0 and d < p.cone.wall_radius:
        n = (1.0, 0.0, 0.0)
        list_contact(unit.tally, SPHERE_ON_BOTTOM, k + 1.0, HEAD, depth, n, 1.0, axpy(radius, n, centre))


@kernel
def detect_surfaces(unit):
    """List the contacts of the head's spheres and cones."""
    for k in range(SPHERES):
        _detect_sphere(unit, k)
    for edge in range(EDGES):
        _detect_edge(unit, edge)
