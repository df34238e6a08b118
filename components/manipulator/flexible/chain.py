"""The links of the recursion of flexible links, from the segments of the arm.

From the root outward, each link of the arm is its joint, then its segments: a rigid one is a body on what carries it; a
lumped one a joint of three springs about the axes of the link; a beam an elastic body, on whose end the next stands.
The last two links are the gripper E and, fixed on it, the payload.

The mass of a link is spread evenly along the line of its segments. What is left of its centre of mass shifts this line
as a whole; what is left of its inertia is that of the sections, spread in the same way. So mass, centre of mass and
inertia of the undeformed link are exactly its parameters.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import MOST_BEAMS, VARIANT
from dockfmu.components.manipulator.compliance import BEAM, LUMPED, NONE
from dockfmu.components.manipulator.flexible import beams
from dockfmu.components.manipulator.flexible.ports import SHAPES, SPRINGS
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    apply,
    apply_transposed,
    compose,
    load_matrix,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import add, axpy, dot, load, norm, scale, store, subtract
from dockfmu.components.physics.tree import links as tree

FULL = VARIANT.codes["FULL"]
NO_DRIVES = 351
TOO_MANY = 353
ROOT_BEAM = 354
MESSAGES = {
    NO_DRIVES: Message("parameters.variant must be FULL: flexible links need links with mass, and drives"),
    beams.BEAM_MASS: Message(
        "beam {status.index:.0f} of the arm, from the root, has no mass or no inertia about its axis: give its link "
        "mass, and in parameters.link.inertia that of its cross-sections too"
    ),
    TOO_MANY: Message(
        f"the arm has more than {MOST_BEAMS} beams or {SPRINGS} lumped segments: make the short ones RIGID in "
        "parameters.segment.kind"
    ),
    ROOT_BEAM: Message("link 0 has a beam, but no mass: make it LUMPED or RIGID in parameters.segment.kind"),
}
# joint axes of a link -> its z is the axis of the joint
TO_X = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
TO_Y = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@kernel
def _axes_of(axis):
    """Return the rotation of link axes to those of a joint about axis 1, 2 or 3, which is its z."""
    if axis == 1.0:
        return TO_X
    if axis == 2.0:
        return TO_Y
    return IDENTITY


@kernel
def _clear(b):
    """Reset a link to one without motion, mass and effect: a mode of no body."""
    b.parent = 0.0
    b.kind = tree.MODE
    b.lead = 0.0
    b.mass = 0.0
    b.flex = -1.0
    b.first_shape = -1.0
    b.rotor = 0.0
    b.q = 0.0
    b.rate = 0.0
    b.qdd = 0.0
    b.last_rate = 0.0
    b.held = 0.0
    b.forced = 0.0
    for i in range(3):
        b.moment[i] = 0.0
    for i in range(6):
        b.inertia[i] = 0.0


@kernel
def _add(m, kind, axes):
    """Add a link at the end of what is laid out, `axes` from those of the arm's link to its own. Returns its index."""
    c = m.chain
    k = int(c.links)
    b = m.link[k]
    turn = load_matrix(c.turn)
    b.kind = kind
    b.parent = c.carrier
    store_matrix(compose(axes, turn), b.mount)
    store(apply_transposed(turn, load(c.offset)), b.arm)
    c.links += 1.0
    return k


@kernel
def _go_on(m, carrier, axes):
    """Let what follows stand on a link, `axes` from those of the arm's link to its own."""
    m.chain.carrier = float(carrier)
    store_matrix(transpose(axes), m.chain.turn)
    store((0.0, 0.0, 0.0), m.chain.offset)


@kernel
def _add_coordinate(m, k, stiffness):
    """Make the coordinate of a link an elastic one."""
    c = m.chain
    c.coordinate[int(c.coordinates)] = float(k)
    c.stiffness[int(c.coordinates)] = stiffness
    c.coordinates += 1.0


@kernel
def _add_rigid(m, mass, center, inertia):
    """Add a rigid body, its centre of mass (m, link axes) and central inertia (kg m2, rows)."""
    b = m.link[_add(m, tree.FIXED, IDENTITY)]
    b.mass = mass
    store(scale(mass, center), b.moment)
    square = dot(center, center)
    for i in range(6):
        j, k = beams.UPPER_ROW[i], beams.UPPER_COLUMN[i]
        value = inertia[j][k] - mass * center[j] * center[k]
        if j == k:
            value += mass * square
        b.inertia[i] = value


@kernel
def _add_springs(m, j, s):
    """Add three joints with the springs of lumped segment s of link j."""
    p = m.parameters.segment
    for axis in range(3):
        axes = _axes_of(axis + 1.0)
        k = _add(m, tree.REVOLUTE, axes)
        _add_coordinate(m, k, p.twist_stiffness[j, s] if axis == 0 else p.tilt_stiffness[j, s])
        _go_on(m, k, axes)


@kernel
def _add_beam(m, j, s, mass, inertia, shift):
    """Add the elastic body of beam s of link j. Returns 0, or the code of one without mass."""
    p = m.parameters.segment
    number = int(m.chain.beams)
    length = load(p.length[j, s])
    frame = _add(m, tree.FRAME, IDENTITY)
    b = m.link[frame]
    b.mass = mass
    b.flex = float(number)
    b.first_shape = 0.0
    o = m.flex.body[number]
    o.frame = float(frame)
    o.modes = frame + 1.0
    o.count = float(SHAPES)
    o.first_mode = float(number * SHAPES)
    o.first_pair = float(number * SHAPES * SHAPES)
    o.factor = o.first_pair
    o.settled = 0.0
    store((0.0, 0.0, 0.0), o.place)
    data = (p.bending[j, s], p.torsion[j, s], p.extension[j, s])
    code = beams.set_beam_body(m, number, length, data, mass, inertia, shift)
    if code:
        return code
    _go_on(m, frame, IDENTITY)
    for a in range(SHAPES):
        k = _add(m, tree.MODE, IDENTITY)
        m.link[k].flex = float(number)
        frequency = m.flex.mode[number * SHAPES + a].frequency
        _add_coordinate(m, k, frequency * frequency)
    store(length, m.chain.offset)
    end = _add(m, tree.NODE, IDENTITY)
    m.link[end].flex = float(number)
    m.link[end].first_shape = float((number + 1) * SHAPES)
    _go_on(m, end, IDENTITY)
    m.chain.beams += 1.0
    return 0


@kernel
def _line_of(p, j):
    """Return (length, centre, second moments by rows) of the line of link j for a unit mass, link axes about its start.

    The second moments are the mean of x x^T.
    """
    total = 0.0
    center = (0.0, 0.0, 0.0)
    xx = (0.0, 0.0, 0.0)
    yy = (0.0, 0.0, 0.0)
    zz = (0.0, 0.0, 0.0)
    start = (0.0, 0.0, 0.0)
    for s in range(p.kind.shape[1]):
        if p.kind[j, s] == NONE:
            continue
        along = load(p.length[j, s])
        size = norm(along)
        middle = axpy(0.5, along, start)
        total += size
        center = axpy(size, middle, center)
        xx = axpy(size * middle[0], middle, axpy(size * along[0] / 12.0, along, xx))
        yy = axpy(size * middle[1], middle, axpy(size * along[1] / 12.0, along, yy))
        zz = axpy(size * middle[2], middle, axpy(size * along[2] / 12.0, along, zz))
        start = add(start, along)
    if total == 0.0:
        return 0.0, center, (xx, yy, zz)
    share = 1.0 / total
    return total, scale(share, center), beams.scaled(share, (xx, yy, zz))


@kernel
def _sections_of(p, j, line):
    """Return the central inertia (rows) of link j beyond that of its line, kg m2."""
    _, center, second = line
    mass = p.link.mass[j - 1]
    trace = 0.0
    for i in range(3):
        trace += second[i][i] - center[i] * center[i]
    own = load_matrix(p.link.inertia[j - 1])
    return (
        _section_row(own, second, center, mass, trace, 0),
        _section_row(own, second, center, mass, trace, 1),
        _section_row(own, second, center, mass, trace, 2),
    )


@kernel
def _section_row(own, second, center, mass, trace, i):
    """Return row i of what an inertia has beyond that of a line."""
    line = axpy(-center[i], center, second[i])
    row = axpy(mass, line, scale(0.5, add(own[i], (own[0][i], own[1][i], own[2][i]))))
    diagonal = -mass * trace
    return (
        row[0] + (diagonal if i == 0 else 0.0),
        row[1] + (diagonal if i == 1 else 0.0),
        row[2] + (diagonal if i == 2 else 0.0),
    )


@kernel
def _add_link(m, j):
    """Add the joint of link j and its segments. Returns 0 or a code."""
    p = m.parameters
    c = m.chain
    mass = 0.0
    shift = (0.0, 0.0, 0.0)
    sections = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    total = 0.0
    if j > 0:
        axes = _axes_of(p.link.axis[j - 1])
        joint = _add(m, tree.REVOLUTE, axes)
        c.joint[j - 1] = float(joint)
        _go_on(m, joint, axes)
        mass = p.link.mass[j - 1]
        line = _line_of(p.segment, j)
        total = line[0]
        shift = subtract(load(p.link.center_of_mass[j - 1]), line[1])
        sections = _sections_of(p, j, line)
        if total == 0.0 and mass > 0.0:
            _add_rigid(m, mass, shift, sections)
    for s in range(p.segment.kind.shape[1]):
        kind = p.segment.kind[j, s]
        if kind == NONE:
            continue
        length = load(p.segment.length[j, s])
        share = norm(length) / total if total > 0.0 else 0.0
        inertia = beams.scaled(share, sections)
        if kind == BEAM:
            if not mass > 0.0:
                return fail(m.status, ROOT_BEAM if j == 0 else beams.BEAM_MASS, 0.0, c.beams + 1.0)
            code = _add_beam(m, j, s, share * mass, inertia, shift)
            if code:
                return code
            continue
        if kind == LUMPED:
            _add_springs(m, j, s)
        if share * mass > 0.0:
            _add_rigid(m, share * mass, axpy(0.5, length, shift), _with_line(inertia, share * mass, length))
        store(add(load(c.offset), length), c.offset)
    return 0


@kernel
def _with_line(sections, mass, length):
    """Return the central inertia (rows) of a straight line of mass with that of its sections."""
    square = mass * dot(length, length) / 12.0
    return (
        add(axpy(-mass * length[0] / 12.0, length, sections[0]), (square, 0.0, 0.0)),
        add(axpy(-mass * length[1] / 12.0, length, sections[1]), (0.0, square, 0.0)),
        add(axpy(-mass * length[2] / 12.0, length, sections[2]), (0.0, 0.0, square)),
    )


@kernel
def _check_segments(p):
    """Return whether the arm has no more beams and lumped segments than there is room for."""
    bent = 0
    sprung = 0
    for j in range(p.kind.shape[0]):
        for s in range(p.kind.shape[1]):
            if p.kind[j, s] == BEAM:
                bent += 1
            elif p.kind[j, s] == LUMPED:
                sprung += 1
    return bent <= MOST_BEAMS and sprung <= SPRINGS


@kernel
def lay_out(m):
    """Lay out the links for the segments and the payload, undeformed and at rest. Returns 0 or a code.

    `payload.prepare` has set how the payload is grappled.
    """
    p = m.parameters
    c = m.chain
    if p.variant != FULL:
        return fail(m.status, NO_DRIVES, p.variant, 0)
    if not _check_segments(p.segment):
        return fail(m.status, TOO_MANY, 0.0, 0)
    for k in range(len(m.link)):
        _clear(m.link[k])
    for i in range(c.damping.shape[0]):
        for j in range(c.damping.shape[0]):
            c.damping[i, j] = 0.0
    for a in range(SHAPES):
        # those at the starts of all beams
        for i in range(6):
            m.flex.shape[a].value[i] = 0.0
    m.link[0].kind = tree.FIXED
    c.links = 1.0
    c.beams = 0.0
    c.coordinates = 0.0
    _go_on(m, 0, IDENTITY)
    for j in range(len(m.arm)):
        code = _add_link(m, j)
        if code:
            return code
    gripper = _add(m, tree.FIXED, IDENTITY)
    c.gripper = float(gripper)
    _go_on(m, gripper, IDENTITY)
    fixture = load_matrix(m.free_body.fixture)
    store(apply(fixture, scale(-1.0, load(p.grapple.position))), c.offset)
    held = _add(m, tree.FIXED, transpose(fixture))
    c.payload = float(held)
    b = m.link[held]
    b.mass = p.payload.mass
    for i in range(6):
        j, k = beams.UPPER_ROW[i], beams.UPPER_COLUMN[i]
        b.inertia[i] = 0.5 * (p.payload.inertia[j, k] + p.payload.inertia[k, j])
    return 0
