"""Closed chains: the forces of cut joints, from the response of the tree to them.

Theory: LOOP on ABA, multibody-formulations 3.6.

A cut joint is a set of rows n . z' or n . Omega on the motion of its successor relative to its predecessor, n being an
axis of the predecessor's joint frame. A unit multiplier of a row is a force along n at the successor's joint point, or
a torque about n, on the successor, and its opposite on the predecessor. The recursion has the articulated inertias
already: the response to such a push takes one more pass inward and outward, without new inertias. The responses of all
rows to all pushes are H M^-1 H^T; with it

    (H M^-1 H^T) lambda = -(H q'' + gamma) - k1 g' - k0 g

gives the multipliers, g and g' being what the closure lacks in position and velocity (multibody-formulations 3.7). Rows
that depend on others are found at the start by pivoting, and left out: the force in a redundant constraint is not
determined by rigid bodies.

Non-holonomic rows (slip of a rolling body, of a knife edge) are of the same form without an error g: the velocity in a
point of the successor at c from its joint point, n . (z' + Omega x c), whose rate is n' . (z' + Omega x c) + n . (z'' +
Omega' x c + Omega x c'), n' and c' as seen from the predecessor.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import links
from dockfmu.components.multibody.links import FIXED, FREE, PRISMATIC, REVOLUTE, SCREW, SPHERICAL
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    compose,
    load_matrix,
    load_quaternion,
)
from dockfmu.components.physics.mechanics.rotation import store_quaternion as keep_quaternion
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
)

TRANSLATION = 0.0
ALIGNED = 1.0
TURNED = 2.0
CROSSED = 3.0
DISC = 4.0
BALL = 5.0
EDGE = 6.0
"""Rows: displacement along an axis; tilt of z against z; any rotation; x of the predecessor across the other's y.

Then those of velocities: a disc with the axis z of the successor, or a ball, rolls on the plane across z of the
predecessor (axis 0 and 1: slip; axis 2: its distance from the plane, holonomic); no slip along z of the successor.
"""

RANK = 1e-9
"""Pivot relative to the largest below which a row depends on the others."""
NEAR = 1e-10
"""m, rad: accepted error of the closure at the start."""
ATTEMPTS = 50
SPEED = 0.2
"""Frequency of the stabilisation times the micro-step."""
IMPACT = -1.0
RESPONSE = -2.0
"""In the place of a micro-step: accelerations stand for changes of rates."""


@kernel
def _point(b, arm):
    """Return (point from the reference point, point from the base, its velocity relative to the base's origin), I."""
    r = apply_transposed(load_matrix(b.rotation), load(arm))
    v = add(load(b.velocity), cross(load(b.angular_velocity), r))
    return r, add(load(b.position), r), v


@kernel
def _set_joint(link, c):
    """Set the relative motion in a cut joint, for links that are placed with their velocities."""
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    _, start, _ = _point(inner, c.first_arm)
    r2, end, v2 = _point(outer, c.second_arm)
    reach = subtract(end, load(inner.position))
    w1 = load(inner.angular_velocity)
    w2 = load(outer.angular_velocity)
    store(subtract(end, start), c.gap)
    carried = add(load(inner.velocity), cross(w1, reach))
    store(subtract(v2, carried), c.gap_rate)
    store(subtract(w2, w1), c.spin)
    store(reach, c.first_reach)
    store(r2, c.second_reach)
    store(ZERO, c.rolling)
    store(ZERO, c.rolling_rate)


@kernel
def _place_rolling(link, c, kind):
    """Set the point of the successor that rolls, from its joint point, and its rate as seen from the predecessor.

    Returns the height of the joint point above the plane, m.
    """
    first, second = _frames(link, c)
    z = first[2]
    if kind == BALL:
        store(scale(-c.radius, z), c.rolling)
        return c.radius
    e = second[2]
    cosine = dot(z, e)
    turning = cross(load(c.spin), e)
    change = dot(z, turning)
    inclined = axpy(-cosine, e, z)
    sine = sqrt(dot(inclined, inclined))
    if sine == 0.0:
        # the disc lies on the plane
        return 0.0
    rate = axpy(-change, e, scale(-cosine, turning))
    rate = axpy(cosine * change / (sine * sine), inclined, rate)
    store(scale(-c.radius / sine, inclined), c.rolling)
    store(scale(-c.radius / sine, rate), c.rolling_rate)
    return c.radius * sine


@kernel
def _joint_acceleration(link, c, velocity_terms):
    """Set the relative acceleration in a cut joint, seen from its predecessor."""
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    e1 = load(inner.angular_acceleration)
    e2 = load(outer.angular_acceleration)
    reach = load(c.first_reach)
    r2 = load(c.second_reach)
    a = subtract(add(load(outer.acceleration), cross(e2, r2)), add(load(inner.acceleration), cross(e1, reach)))
    e = subtract(e2, e1)
    if velocity_terms:
        w1 = load(inner.angular_velocity)
        w2 = load(outer.angular_velocity)
        a = add(a, subtract(cross(w2, cross(w2, r2)), cross(w1, cross(w1, reach))))
        a = axpy(-2.0, cross(w1, load(c.gap_rate)), a)
        e = subtract(e, cross(w1, load(c.spin)))
    store(a, c.gap_acceleration)
    store(e, c.spin_rate)


@kernel
def _frames(link, c):
    """Return the rotations I -> joint frame on the predecessor and on the successor."""
    first = compose(load_matrix(c.first_axes), load_matrix(link[int(c.first_link)].rotation))
    return first, compose(load_matrix(c.second_axes), load_matrix(link[int(c.second_link)].rotation))


@kernel
def _set_row(link, cut, o):
    """Set direction, error and rate of a row."""
    c = cut[int(o.joint)]
    first, second = _frames(link, c)
    axis = int(o.axis)
    n = first[axis]
    if o.kind == TRANSLATION:
        o.error = dot(n, load(c.gap))
        o.rate = dot(n, load(c.gap_rate))
    elif o.kind >= DISC:
        o.error = 0.0
        if o.kind == EDGE:
            n = second[2]
        else:
            height = _place_rolling(link, c, o.kind)
            if axis == 2:
                o.error = dot(n, load(c.gap)) - height
        o.rate = dot(n, add(load(c.gap_rate), cross(load(c.spin), load(c.rolling))))
    else:
        if o.kind == ALIGNED:
            o.error = dot(n, cross(first[2], second[2]))
        elif o.kind == TURNED:
            tilt = add(cross(first[0], second[0]), add(cross(first[1], second[1]), cross(first[2], second[2])))
            o.error = 0.5 * dot(n, tilt)
        else:
            n = cross(first[0], second[1])
            o.error = -dot(first[0], second[1])
        o.rate = dot(n, load(c.spin))
    store(n, o.normal)


@kernel
def _row_acceleration(cut, link, o, velocity_terms):
    """Return the acceleration of a row, from that of its joint."""
    c = cut[int(o.joint)]
    n = load(o.normal)
    if o.kind == TRANSLATION:
        return dot(n, load(c.gap_acceleration))
    if o.kind >= DISC:
        spin = load(c.spin)
        value = dot(n, add(load(c.gap_acceleration), cross(load(c.spin_rate), load(c.rolling))))
        if velocity_terms:
            value += dot(n, cross(spin, load(c.rolling_rate)))
            if o.kind == EDGE:
                value += dot(cross(spin, n), load(c.gap_rate))
        return value
    value = dot(n, load(c.spin_rate))
    if o.kind == CROSSED and velocity_terms:
        first, second = _frames(link, c)
        spin = load(c.spin)
        # the normal turns relative to the predecessor
        value += dot(cross(first[0], cross(spin, second[1])), spin)
    return value


@kernel
def set_rows(link, cut, row, run):
    """Set all rows for links that are placed with their velocities. Returns the largest errors (position, rate)."""
    for k in range(int(run.cuts)):
        _set_joint(link, cut[k])
    error = 0.0
    rate = 0.0
    for i in range(int(run.rows)):
        _set_row(link, cut, row[i])
        error = max(error, fabs(row[i].error))
        rate = max(rate, fabs(row[i].rate))
    return error, rate


@kernel
def clear_pushes(link):
    """Set the pushes on all links to zero."""
    for k in range(len(link)):
        store(ZERO, link[k].push_force)
        store(ZERO, link[k].push_torque)


@kernel
def _pushes(o):
    """Return whether the multiplier of a row is a force, not a torque."""
    return o.kind == TRANSLATION or o.kind >= DISC


@kernel
def _push(link, cut, o, size):
    """Push with a row: its normal as force or torque on the successor, its opposite on the predecessor."""
    c = cut[int(o.joint)]
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    n = scale(size, load(o.normal))
    back = scale(-size, load(o.normal))
    if _pushes(o):
        accumulate(n, outer.push_force)
        accumulate(cross(add(load(c.second_reach), load(c.rolling)), n), outer.push_torque)
        accumulate(back, inner.push_force)
        accumulate(cross(add(load(c.first_reach), load(c.rolling)), back), inner.push_torque)
    else:
        accumulate(n, outer.push_torque)
        accumulate(back, inner.push_torque)


@kernel
def respond(link):
    """Set the changes of all accelerations by the pushes, after `links.accelerate`: one pass inward, one outward."""
    for k in range(len(link) - 1, 0, -1):
        b = link[k]
        p = link[int(b.parent)]
        f = load(b.push_force)
        t = load(b.push_torque)
        kind = b.kind
        if kind == FREE and b.held == 0.0:
            continue
        if kind == SPHERICAL and b.held == 0.0:
            turn = links.times(b.inverse, t)
            store(turn, b.push_turn)
            f = subtract(f, links.row_times(b.tr, turn))
            t = ZERO
        elif FIXED < kind <= SCREW:
            u = load(b.along)
            if kind == REVOLUTE:
                felt = dot(u, t)
            elif kind == PRISMATIC:
                felt = dot(u, f)
            else:
                felt = b.lead * dot(u, f) + dot(u, t)
            b.push_felt = felt
            driven = b.mobility * felt
            b.push_driven = driven
            f = axpy(-driven, load(b.felt_force), f)
            t = axpy(-driven, load(b.felt_torque), t)
        accumulate(f, p.push_force)
        accumulate(add(t, cross(load(b.reach), f)), p.push_torque)
    store(ZERO, link[0].push_linear)
    store(ZERO, link[0].push_angular)
    for k in range(1, len(link)):
        b = link[k]
        p = link[int(b.parent)]
        e = load(p.push_angular)
        a = add(load(p.push_linear), cross(e, load(b.reach)))
        kind = b.kind
        if kind >= SPHERICAL and b.held != 0.0:
            store(ZERO, b.push_turn)
            store(ZERO, b.push_slide)
        elif kind == FREE:
            alone, turned = links.free_acceleration(b.tt, b.tr, b.rr, load(b.push_force), load(b.push_torque))
            store(subtract(alone, a), b.push_slide)
            store(subtract(turned, e), b.push_turn)
            a = alone
            e = turned
        elif kind == SPHERICAL:
            moved = add(links.column_times(b.tr, a), links.times(b.rr, e))
            turn = subtract(load(b.push_turn), links.times(b.inverse, moved))
            store(turn, b.push_turn)
            e = add(e, turn)
        elif kind > FIXED:
            carried = dot(load(b.felt_force), a) + dot(load(b.felt_torque), e)
            b.push_load = b.push_felt - carried
            change = b.push_driven - b.mobility * carried
            b.push_qdd = change
            u = load(b.along)
            if kind != PRISMATIC:
                e = axpy(change, u, e)
            if kind != REVOLUTE:
                a = axpy(change * (1.0 if kind == PRISMATIC else b.lead), u, a)
        store(a, b.push_linear)
        store(e, b.push_angular)


@kernel
def _row_response(link, cut, o):
    """Return the acceleration of a row by the pushes."""
    c = cut[int(o.joint)]
    inner = link[int(c.first_link)]
    outer = link[int(c.second_link)]
    e1 = load(inner.push_angular)
    e2 = load(outer.push_angular)
    n = load(o.normal)
    if _pushes(o):
        a1 = add(load(inner.push_linear), cross(e1, add(load(c.first_reach), load(c.rolling))))
        a2 = add(load(outer.push_linear), cross(e2, add(load(c.second_reach), load(c.rolling))))
        return dot(n, subtract(a2, a1))
    return dot(n, subtract(e2, e1))


@kernel
def _set_matrix(link, cut, row, matrix, run):
    """Set H M^-1 H^T of the rows, after `links.accelerate`."""
    count = int(run.rows)
    for j in range(count):
        clear_pushes(link)
        _push(link, cut, row[j], 1.0)
        respond(link)
        for i in range(count):
            matrix[i, j] = _row_response(link, cut, row[i])


@kernel
def _natural(link, c, kind):
    """Return what a row of the cut joint c would respond, as `matrix` has it, if the bodies were free of each other."""
    largest = 0.0
    for index in (c.first_link, c.second_link):
        b = link[int(index)]
        inertia = b.mass if kind == TRANSLATION else (b.inertia[0] + b.inertia[3] + b.inertia[5]) / 3.0
        if inertia > 0.0:
            largest = max(largest, 1.0 / inertia)
    return largest


@kernel
def _choose_rows(link, cut, row, matrix, run):
    """Mark the rows that are independent, by elimination with diagonal pivots, which destroys the matrix.

    The rows between two bodies that the tree holds together are all zero, to rounding.
    """
    count = int(run.rows)
    largest = 0.0
    for i in range(count):
        row[i].independent = 0.0
        largest = max(largest, matrix[i, i])
    for _ in range(count):
        best = -1
        for i in range(count):
            least = max(RANK * largest, RANK * RANK * _natural(link, cut[int(row[i].joint)], row[i].kind))
            above = matrix[i, i] > least and (best < 0 or matrix[i, i] > matrix[best, best])
            if row[i].independent == 0.0 and above:
                best = i
        if best < 0:
            return
        row[best].independent = 1.0
        for i in range(count):
            if row[i].independent == 0.0:
                factor = matrix[i, best] / matrix[best, best]
                for j in range(count):
                    if row[j].independent == 0.0:
                        matrix[i, j] -= factor * matrix[best, j]


@kernel
def _solve(row, matrix, run):
    """Set the multipliers of the independent rows to A^-1 times their `wanted`. Returns whether A is regular."""
    count = int(run.rows)
    largest = 0.0
    for i in range(count):
        row[i].multiplier = row[i].wanted if row[i].independent != 0.0 else 0.0
        largest = max(largest, matrix[i, i])
    for i in range(count):
        if row[i].independent == 0.0:
            continue
        pivot = matrix[i, i]
        if not pivot > 1e-3 * RANK * largest:
            return False
        for j in range(i + 1, count):
            if row[j].independent != 0.0:
                factor = matrix[j, i] / pivot
                for k in range(i, count):
                    matrix[j, k] -= factor * matrix[i, k]
                row[j].multiplier -= factor * row[i].multiplier
    for i in range(count - 1, -1, -1):
        if row[i].independent != 0.0:
            value = row[i].multiplier
            for k in range(i + 1, count):
                if row[k].independent != 0.0:
                    value -= matrix[i, k] * row[k].multiplier
            row[i].multiplier = value / matrix[i, i]
    return True


@kernel
def _push_all(link, cut, row, run):
    """Push with all multipliers, and set the response."""
    clear_pushes(link)
    for i in range(int(run.rows)):
        if row[i].independent != 0.0:
            _push(link, cut, row[i], row[i].multiplier)
    respond(link)


@kernel
def add_response(link):
    """Add the response to the accelerations, and what holds held coordinates and the base to their loads."""
    for k in range(1, len(link)):
        b = link[k]
        accumulate(load(b.push_linear), b.acceleration)
        accumulate(load(b.push_angular), b.angular_acceleration)
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            b.load += b.push_load
            if b.held == 0.0:
                b.qdd += b.push_qdd
        elif kind >= SPHERICAL:
            A = load_matrix(b.rotation)
            turn = load(b.push_turn)
            accumulate(apply(A, turn), b.spin_rate)
            if kind == FREE:
                frame = links.mounted(b, link[int(b.parent)])
                slide = load(b.push_slide)
                accumulate(apply(frame, slide), b.speed_rate)
    accumulate(load(link[0].push_force), link[0].force)
    accumulate(load(link[0].push_torque), link[0].torque)


@kernel
def constrain(link, cut, row, matrix, run, h):
    """Add the forces of the cut joints to the accelerations of a micro-step h; h = 0: no stabilisation.

    The links are placed with their velocities and accelerated. With h = IMPACT or RESPONSE, accelerations stand for
    changes of rates; in an impact the rates of the rows are to become zero, else they stay. Sets `run.open` if the
    constraints cannot be solved.
    """
    if run.rows == 0.0:
        return
    impact = h < 0.0
    set_rows(link, cut, row, run)
    for k in range(int(run.cuts)):
        _joint_acceleration(link, cut[k], not impact)
    speed = SPEED / h if h > 0.0 else 0.0
    for i in range(int(run.rows)):
        o = row[i]
        o.wanted = -_row_acceleration(cut, link, o, not impact)
        if h == IMPACT:
            o.wanted -= o.rate
        elif not impact:
            o.wanted -= speed * (2.0 * o.rate + speed * o.error)
    _set_matrix(link, cut, row, matrix, run)
    if not _solve(row, matrix, run):
        run.open = 1.0
        return
    _push_all(link, cut, row, run)
    add_response(link)


@kernel
def constrain_again(link, cut, row, matrix, run, h):
    """Constrain accelerations that have changed since `constrain`; multipliers are the sums of both."""
    if run.rows == 0.0 or run.open != 0.0:
        return
    for i in range(int(run.rows)):
        row[i].earlier = row[i].multiplier
    constrain(link, cut, row, matrix, run, h)
    for i in range(int(run.rows)):
        row[i].multiplier += row[i].earlier


@kernel
def _shift(link):
    """Move the coordinates by the response, as if changes of accelerations were changes of coordinates."""
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                b.q += b.push_qdd
        elif kind >= SPHERICAL:
            A = load_matrix(b.rotation)
            turn = load(b.push_turn)
            q = advance(load_quaternion(b.quaternion), apply(A, turn))
            keep_quaternion(q, b.quaternion)
            if kind == FREE:
                frame = links.mounted(b, link[int(b.parent)])
                slide = load(b.push_slide)
                accumulate(apply(frame, slide), b.place)


@kernel
def _shift_rates(link):
    """Change the rates by the response."""
    for k in range(1, len(link)):
        b = link[k]
        kind = b.kind
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0:
                b.rate += b.push_qdd
        elif kind >= SPHERICAL:
            A = load_matrix(b.rotation)
            turn = load(b.push_turn)
            accumulate(apply(A, turn), b.spin)
            if kind == FREE:
                frame = links.mounted(b, link[int(b.parent)])
                slide = load(b.push_slide)
                accumulate(apply(frame, slide), b.speed)


@kernel
def correct(link, cut, row, matrix, run, rates):
    """Correct coordinates or rates once by what the rows lack; the links are placed with their velocities."""
    links.accelerate(link, False)
    for i in range(int(run.rows)):
        o = row[i]
        o.wanted = -o.rate if rates else -o.error
    _set_matrix(link, cut, row, matrix, run)
    if not _solve(row, matrix, run):
        run.open = 1.0
        return
    _push_all(link, cut, row, run)
    if rates:
        _shift_rates(link)
    else:
        _shift(link)


@kernel
def measure(link, cut, row, matrix, run):
    """Find the independent rows, for links that are placed with their velocities; count the others by joint."""
    set_rows(link, cut, row, run)
    links.accelerate(link, False)
    _set_matrix(link, cut, row, matrix, run)
    _choose_rows(link, cut, row, matrix, run)
    for k in range(int(run.cuts)):
        cut[k].redundant = 0.0
    for i in range(int(run.rows)):
        if row[i].independent == 0.0:
            cut[int(row[i].joint)].redundant += 1.0


@kernel
def publish(link, cut, row, run):
    """Set force and torque of the cut joints on their successors, and the error of their closure."""
    for k in range(int(run.cuts)):
        c = cut[k]
        store(ZERO, c.force)
        store(ZERO, c.torque)
        c.error = 0.0
    for i in range(int(run.rows)):
        o = row[i]
        c = cut[int(o.joint)]
        first, _ = _frames(link, c)
        n = load(o.normal)
        push = scale(o.multiplier, (dot(first[0], n), dot(first[1], n), dot(first[2], n)))
        if _pushes(o):
            accumulate(push, c.force)
            r = load(c.rolling)
            arm = (dot(first[0], r), dot(first[1], r), dot(first[2], r))
            accumulate(cross(arm, push), c.torque)
        else:
            accumulate(push, c.torque)
        c.error = max(c.error, fabs(o.error))
