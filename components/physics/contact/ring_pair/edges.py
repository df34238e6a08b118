"""Side edges of petals on each other: segments against segments (contact-geometry P1, A7).

Each side of an active petal faces one side of one passive petal; each side has an upper edge, on the outer cone, and a
lower one, on the inner face: 24 pairs. The depth of a pair is the distance of its lines, along their common normal,
from where they crossed. The source ends such a contact where the crossing leaves a segment, whatever its depth. Here
the least of that distance and the depths of the ends in the other petal counts: a tip must be below the surface on
which the other edge lies, the root of a lower edge above it. A contact thus never begins or ends deep (ruling R36).

The sign of the depth is that of the side, known from the layout, and not that of the distance along x (contact-geometry
A7).
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.ring_pair.known import is_known
from dockfmu.components.physics.contact.ring_pair.pairs import EDGE_ON_EDGE
from dockfmu.components.physics.contact.ring_pair.ports import RING
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, negate, norm, scale, subtract

UPPER = 0
# relative size of the determinant below which two lines count as parallel
PARALLEL_LINES = 1e-12


@kernel
def closest_parameters(start_a, along_a, start_p, along_p):
    """Return (t_a, t_p, crossing): parameters of the closest points of two lines.

    `crossing` is False for parallel lines.
    """
    w = subtract(start_a, start_p)
    a = dot(along_a, along_a)
    b = dot(along_a, along_p)
    c = dot(along_p, along_p)
    d = dot(along_a, w)
    e = dot(along_p, w)
    den = a * c - b * b
    if den <= PARALLEL_LINES * a * c:
        return 0.0, 0.0, False
    return (b * e - c * d) / den, (a * e - b * d) / den, True


@kernel
def opposite(j, s):
    """Return the passive petal whose side s faces the side s of the active petal j."""
    return (4 + s - j) % 3


@kernel
def surface(g, layer, q):
    """Return (depth, normal) of a point below the outer (layer 0) or inner (1) face of the petals of a ring.

    Both in the frame of that ring; the face is taken as a whole cone, the normal points out of it.
    """
    r = sqrt(q[1] * q[1] + q[2] * q[2])
    c = g.cosine[layer]
    s = g.sine[layer]
    return c * (g.radius[layer] - r) - s * q[0], (s, c * q[1] / r, c * q[2] / r)


@kernel
def surface_passive(g, layer, q):
    """Return what `surface` does for the passive ring, in PU."""
    d, normal = surface(g, layer, (-q[0], q[1], q[2]))
    return d, (-normal[0], normal[1], normal[2])


@kernel
def _limit(g, A, r, layers, active, passive, contact):
    """Return the contact (depth, normal, point, tip), limited by the depths of the edges' ends in the other petal.

    `active` and `passive` are edges (root, along) in PU, `layers` their layers.
    """
    depth, normal, point, tip = contact
    end = add(active[0], active[1])
    d, outward = surface_passive(g, layers[1], end)
    if d < depth:
        depth = d
        normal = negate(outward)
        point = end
        tip = True
    end = add(passive[0], passive[1])
    d, outward = surface(g, layers[0], apply(A, subtract(end, r)))
    if d < depth:
        depth = d
        normal = apply_transposed(A, outward)
        point = end
        tip = True
    if layers[0] != UPPER:
        d, outward = surface_passive(g, layers[1], active[0])
        if -d < depth:
            depth = -d
            normal = outward
            point = active[0]
            tip = False
    if layers[1] != UPPER:
        d, outward = surface(g, layers[0], apply(A, subtract(passive[0], r)))
        if -d < depth:
            depth = -d
            normal = negate(apply_transposed(A, outward))
            point = passive[0]
            tip = False
    return depth, normal, point, tip


@kernel
def edge_on_edge(g, A, r, hand, layers, active, passive):
    """Find the contact of an active and a passive edge, both (root, along) in PU: (depth, normal, point, by a tip).

    `hand` is -1 or 1 for the side s = 0 or 1; A and r place the active ring. The point lies midway between the edges,
    as both rings are alike, or is the end that limits the depth. No contact: depth <= 0.
    """
    across = cross(active[1], passive[1])
    # of the two directions across the edges, the one into the passive ring
    sign = -hand
    depth = sign * dot(across, subtract(active[0], passive[0]))
    if depth <= 0.0:
        return depth, across, r, False
    size = norm(across)
    depth /= size
    normal = scale(sign / size, across)
    _, t, _ = closest_parameters(active[0], active[1], passive[0], passive[1])
    point = axpy(0.5 * depth, normal, axpy(t, passive[1], passive[0]))
    contact = (depth, normal, point, False)
    return _limit(g, A, r, layers, active, passive, contact)


@kernel
def detect_edges(unit):
    """List the contacts of the side edges of active petals with those of passive ones.

    Contacts are numbered by active petal, side, active layer and passive layer.
    """
    g = unit.geometry
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    r = load(link.position)
    for j in range(3):
        for s in range(2):
            own = g.petal[j].side[s]
            other = g.passive[opposite(j, s)].side[s]
            hand = 2.0 * s - 1.0
            for a in range(2):
                root = add(r, apply_transposed(A, load(own.edge[a].root)))
                active = (root, apply_transposed(A, load(own.edge[a].along)))
                for b in range(2):
                    index = 1.0 + 8.0 * j + 4.0 * s + 2.0 * a + b
                    if is_known(unit, EDGE_ON_EDGE, index):
                        continue
                    passive = (load(other.edge[b].root), load(other.edge[b].along))
                    d, normal, point, tip = edge_on_edge(g, A, r, hand, (a, b), active, passive)
                    if d > 0.0:
                        if tip:
                            unit.tally.tips += 1.0
                        list_contact(unit.tally, EDGE_ON_EDGE, index, RING, d, normal, 1.0, point)
