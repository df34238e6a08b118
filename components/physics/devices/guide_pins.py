"""Guide pins of the docking planes: they align roll and offset before the planes meet (ruling R55).

Each unit has one pin on its docking plane and a socket opposite to it. The unit is androgynous: half a turn about y
maps one unit onto the other, so that the pin of each meets the socket of the other. A pin is a rod with a conical end;
a socket is a round hole, whose mouth bears on the pin. With s the distance of the mouth from the root of the pin and e
the distance of the pin's axis from the centre of the mouth, the pin of radius r(s) is in the mouth by r(s) + e - R. The
depth of the contact is the least of those below rod, cone and end of the pin. A pin that meets the plane beside its
socket bears on it with its end: it has missed, which is counted.
"""

from __future__ import annotations

from math import cos, fabs, pi, sin, sqrt

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, output, parameter, private, temporaries
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact import contact_list, force, sums
from dockfmu.components.physics.contact.contact_list import check_depths, clear_list, list_contact
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.losses import lost_power
from dockfmu.components.physics.contact.sums import add_forces, clear_sums
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, load, negate, subtract

PINS = 2
DEPTH = 361
PROFILE = 362

MESSAGES = {
    DEPTH: Message(
        "guide pin {status.index:.0f} penetrates its socket by {status.value:.4g} m, more than "
        "parameters.guide_pins.law.penetration_limit = {parameters.guide_pins.law.penetration_limit:.4g} m",
        outcome=LIMIT_EXCEEDED,
    ),
    PROFILE: Message(
        "parameters.guide_pins: end_radius {parameters.guide_pins.end_radius:g} m must be less than pin_radius "
        "{parameters.guide_pins.pin_radius:g} m, and cone_length {parameters.guide_pins.cone_length:g} m between 0 and "
        "length {parameters.guide_pins.length:g} m; pin_radius = 0 means no pins"
    ),
}

# kind of pair, and the body that touches PU
PIN, FRAME_0 = 1.0, 0.0
ROD, CONE, END = 0.0, 1.0, 2.0
# cosine of the tilt of the docking planes up to which pins are taken to face their sockets
LEAST_AXIAL = 0.8


def parameters() -> Group:
    """Return the group `guide_pins`."""
    return Group(
        "guide_pins",
        parameter("radius", "m", "of pins and sockets from the axis", 0.6, minimum=0.0),
        parameter(
            "azimuth",
            "rad",
            "of the pin of the active unit, from y to z; the passive one has its pin at the "
            "opposite azimuth, the sockets face the pins",
            0.5 * pi,
        ),
        parameter("length", "m", "of a pin before its docking plane, with the cone", 0.05, minimum=0.0),
        parameter("cone_length", "m", "of the conical end of a pin", 0.04, minimum=0.0),
        parameter("pin_radius", "m", "of the rod of a pin; 0: no pins", 0.0, minimum=0.0),
        parameter("end_radius", "m", "of a pin at its end", 0.003, minimum=0.0),
        parameter("clearance", "m", "radius of a socket less that of a pin", 3e-4, minimum=0.0),
        force.law("law", "a pin in its socket"),
        description="guide pins and sockets on the docking planes; both units are alike",
    )


def outputs() -> Group:
    """Return the group `guide_pin`."""
    return Group(
        "guide_pin",
        output("insertion", "m", "distance of the end of the pin past the mouth of its socket; negative before it"),
        output("offset", "m", "distance of the axis of the pin from the centre of the mouth, in its plane"),
        output("force", "N", "normal force between pin and socket"),
        private("depth", "m", "of the pin in the mouth of its socket; not positive without contact"),
        count=PINS,
        description="1 pin of the active unit in the socket of the passive one, 2 the other way round",
    )


def state() -> Group:
    """Return the group `guiding`: the contacts of the pins at the last evaluation, and their losses."""
    return Group(
        "guiding",
        temporaries(contact_list.tally(PINS)),
        temporaries(sums.sums("sums", 1, "forces of the pins")),
        private("power", "W", "lost by damping and friction"),
        private("missed", "1", "a pin bears with its end beside the socket"),
        private("dissipated", "J", "energy dissipated by the pins so far"),
    )


@kernel
def check_parameters(p, status):
    """Check the profile of the pins. Returns 0, or a code."""
    if p.pin_radius == 0.0:
        return 0
    if not (p.end_radius < p.pin_radius and 0.0 < p.cone_length <= p.length):
        return fail(status, PROFILE, p.pin_radius, 0)
    return 0


@kernel
def _in_mouth(p, s, y, z):
    """Return (depth, part, axial, aside) of a pin with its root at the distance s before the mouth of a socket.

    y, z: offset of the axis of the pin in the plane of the mouth. The force of the pin on the socket is along `axial`
    (into the socket) and `aside` (along the offset). No contact: depth <= 0.
    """
    e = sqrt(y * y + z * z)
    taper = (p.pin_radius - p.end_radius) / p.cone_length
    size = sqrt(1.0 + taper * taper)
    rod = e - p.clearance
    cone = (rod - taper * (s - p.length + p.cone_length)) / size
    depth = rod
    part = ROD
    axial = 0.0
    aside = 1.0
    if cone < depth:
        depth = cone
        part = CONE
        axial = taper / size
        aside = 1.0 / size
    if p.length - s < depth:
        depth = p.length - s
        part = END
        axial = 1.0
        aside = 0.0
    return depth, part, axial, aside


@kernel
def _list(pins, number, state, contact, point, normal):
    """List the `contact` of pin `number`, from 1, as `_in_mouth` found it; `normal` is the reaction on PU, its axes."""
    depth, part, _, _ = contact
    pins[int(number) - 1].depth = depth
    if depth <= 0.0:
        return
    item = list_contact(state.tally, PIN, number, FRAME_0, depth, normal, 1.0, point)
    item.feature = part


@kernel
def detect(p, plane_x, relative, pins, state):
    """List the pins that touch, for frame 0 placed `relative` to PU, with its docking plane at `plane_x`, m."""
    clear_list(state.tally)
    if p.pin_radius == 0.0:
        return
    A = load_matrix(relative.rotation)
    r = load(relative.position)
    # how far the docking planes overlap at the axis; no pin reaches farther than its length and the slant of its plane
    overlap = r[0] + A[0][0] * plane_x
    reach = p.length + p.radius * (fabs(A[1][0]) + fabs(A[2][0]))
    if A[0][0] < LEAST_AXIAL or overlap + reach <= 0.0:
        for k in range(PINS):
            pins[k].insertion = overlap + p.length
            pins[k].offset = sqrt(r[1] * r[1] + r[2] * r[2])
            pins[k].depth = 0.0
        return
    y = p.radius * cos(p.azimuth)
    z = p.radius * sin(p.azimuth)
    # the pin of the active unit, in PU
    axis = A[0]
    root = add(r, apply_transposed(A, (plane_x, y, z)))
    s = -root[0] / axis[0]
    at = axpy(s, axis, root)
    pins[0].insertion = p.length - s
    pins[0].offset = sqrt((at[1] - y) ** 2 + (at[2] - z) ** 2)
    contact = _in_mouth(p, s, at[1] - y, at[2] - z)
    size = max(pins[0].offset, 1e-12)
    u = (0.0, (at[1] - y) / size, (at[2] - z) / size)
    hole = p.pin_radius + p.clearance
    point = (0.0, y + hole * u[1], z + hole * u[2])
    _list(pins, 1.0, state, contact, point, (contact[2], contact[3] * u[1], contact[3] * u[2]))
    # the pin of the passive unit, in frame 0, where it points to -x
    z = -z
    axis = apply(A, (-1.0, 0.0, 0.0))
    root = apply(A, subtract((0.0, y, z), r))
    s = (plane_x - root[0]) / axis[0]
    at = axpy(s, axis, root)
    pins[1].insertion = p.length - s
    pins[1].offset = sqrt((at[1] - y) ** 2 + (at[2] - z) ** 2)
    contact = _in_mouth(p, s, at[1] - y, at[2] - z)
    size = max(pins[1].offset, 1e-12)
    u = (0.0, (at[1] - y) / size, (at[2] - z) / size)
    mouth = (plane_x, y + hole * u[1], z + hole * u[2])
    point = add(r, apply_transposed(A, mouth))
    on_socket = (-contact[2], contact[3] * u[1], contact[3] * u[2])
    _list(pins, 2.0, state, contact, point, negate(apply_transposed(A, on_socket)))


@kernel
def evaluate(p, plane_x, relative, pins, state):
    """Set the wrench of both pins for frame 0 placed `relative` to PU, with its docking plane at `plane_x`, m."""
    detect(p, plane_x, relative, pins, state)
    state.power = 0.0
    state.missed = 0.0
    clear_sums(state.sums)
    for k in range(PINS):
        pins[k].force = 0.0
    tally = state.tally
    if tally.count == 0.0:
        return
    set_velocities(tally, 0.0, (relative,))
    make_forces(tally, 0.0, (p.law,), True)
    add_forces(tally, 0.0, (relative,), state.sums)
    state.power = lost_power(tally)
    for k in range(int(tally.count)):
        item = tally.contact[k]
        pins[int(item.index) - 1].force = item.normal_force
        if item.feature == END:
            state.missed = 1.0


@kernel
def dissipate(state, h):
    """Add the losses of the pins over h, with the power of the last evaluation."""
    state.dissipated += h * state.power


@kernel
def check_depth(p, state, status):
    """Return 0, or the code of a pin that is in the mouth of its socket beyond the limit of its law."""
    return check_depths(state.tally, (p.law,), status, DEPTH - int(PIN))
