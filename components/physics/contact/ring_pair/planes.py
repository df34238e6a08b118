"""Points of the active ring on the passive ring plane: the ring plane itself and the mating sensors.

Theory: contact-geometry P4, P6.

The plane is a band between the rim and the ring's outer radius. The depth of a point is the least of its distances from
the plane and from both borders, so that no contact ends deep when its point slides off. Six points carry the ring
plane; they lie in the middle of the band, because points on the rim, as in the source, would be off it with every
lateral offset. A mating sensor is a plunger before the plane, on a spring without inertia: it is pressed in by the
depth that its extended tip would have.
"""

from __future__ import annotations

from math import inf, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.ring_pair.known import is_known
from dockfmu.components.physics.contact.ring_pair.pairs import PLANE_ON_PLANE, SENSOR_ON_PLANE
from dockfmu.components.physics.contact.ring_pair.ports import RING
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, load


@kernel
def point_on_plane(ring, p):
    """Return (depth, normal, border) of a point of the active ring against the passive ring plane.

    `border` is True if the point bears on a border of the plane. No contact: depth <= 0.
    """
    if p[0] <= 0.0:
        return p[0], (1.0, 0.0, 0.0), False
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    depth = p[0]
    n_x = 1.0
    n_r = 0.0
    if r - ring.radius < depth:
        depth = r - ring.radius
        n_x = 0.0
        n_r = 1.0
    if ring.outer_radius - r < depth:
        depth = ring.outer_radius - r
        n_x = 0.0
        n_r = -1.0
    if n_r == 0.0:
        return depth, (1.0, 0.0, 0.0), False
    return depth, (n_x, n_r * p[1] / r, n_r * p[2] / r), True


@kernel
def detect_planes(unit):
    """List the contacts of the six points of the ring plane."""
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    r = load(link.position)
    for k in range(len(unit.geometry.point)):
        if is_known(unit, PLANE_ON_PLANE, k + 1.0):
            continue
        p = add(r, apply_transposed(A, load(unit.geometry.point[k])))
        d, normal, border = point_on_plane(unit.parameters.ring, p)
        if d > 0.0:
            if border:
                unit.tally.borders += 1.0
            list_contact(unit.tally, PLANE_ON_PLANE, k + 1.0, RING, d, normal, 1.0, p)


@kernel
def detect_sensors(unit):
    """List the contacts of the mating sensors, and set which are pressed in."""
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    r = load(link.position)
    for k in range(len(unit.geometry.plunger)):
        p = add(r, apply_transposed(A, load(unit.geometry.plunger[k])))
        d, normal, _ = point_on_plane(unit.parameters.ring, p)
        unit.output.mated[k] = 1.0 if d >= unit.parameters.sensor.threshold else 0.0
        if d > 0.0 and not is_known(unit, SENSOR_ON_PLANE, k + 1.0):
            list_contact(unit.tally, SENSOR_ON_PLANE, k + 1.0, RING, d, normal, 1.0, p)


@kernel
def capture_margin(unit):
    """Return the longest remaining travel of a mating sensor until its switch is pressed in, m.

    Travel is along the axis, or across it onto the band of the passive ring plane. It is positive until all sensors
    are pressed in.
    """
    ring = unit.parameters.ring
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    r = load(link.position)
    margin = -inf
    for k in range(len(unit.geometry.plunger)):
        p = add(r, apply_transposed(A, load(unit.geometry.plunger[k])))
        aside = sqrt(p[1] * p[1] + p[2] * p[2])
        depth = min(p[0], aside - ring.radius, ring.outer_radius - aside)
        margin = max(margin, unit.parameters.sensor.threshold - depth)
    return margin
