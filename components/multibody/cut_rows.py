"""The rows of cut joints: direction, error and rate, for links that are placed with their velocities.

A cut joint is a set of rows n . z' or n . Omega on the motion of its successor relative to its predecessor, n being an
axis of the predecessor's joint frame. Non-holonomic rows (slip of a rolling body, of a knife edge) are of the same form
without an error: the velocity in a point of the successor at c from its joint point, n . (z' + Omega x c), whose rate
is n' . (z' + Omega x c) + n . (z'' + Omega' x c + Omega x c'), n' and c' as seen from the predecessor.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply_transposed, compose, load_matrix, store_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, dot, load, scale, store, subtract

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
    store_matrix(compose(load_matrix(c.first_axes), load_matrix(inner.rotation)), c.first_frame)
    store_matrix(compose(load_matrix(c.second_axes), load_matrix(outer.rotation)), c.second_frame)


@kernel
def _place_rolling(c, kind):
    """Set the point of the successor that rolls, from its joint point, and its rate as seen from the predecessor.

    Returns the height of the joint point above the plane, m.
    """
    first, second = frames(c)
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
def joint_acceleration(link, c, velocity_terms):
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
def frames(c):
    """Return the rotations I -> joint frame on the predecessor and on the successor."""
    return load_matrix(c.first_frame), load_matrix(c.second_frame)


@kernel
def _set_row(cut, o):
    """Set direction, error and rate of a row."""
    c = cut[int(o.joint)]
    first, second = frames(c)
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
            height = _place_rolling(c, o.kind)
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
def turned_over(cut, row, run):
    """Return the number of the first cut joint, from 1, whose frames are more than a quarter turn apart; 0 if none is.

    The rows of a rotation are sines, zero after half a turn too.
    """
    for i in range(int(run.rows)):
        o = row[i]
        if o.kind in (ALIGNED, TURNED):
            first, second = frames(cut[int(o.joint)])
            cosine = dot(first[2], second[2])
            if o.kind == TURNED:
                cosine += dot(first[0], second[0]) + dot(first[1], second[1])
            if cosine < 0.0:
                return o.joint + 1.0
    return 0.0


@kernel
def row_acceleration(cut, o, velocity_terms):
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
        first, second = frames(c)
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
        _set_row(cut, row[i])
        error = max(error, fabs(row[i].error))
        rate = max(rate, fabs(row[i].rate))
    return error, rate
