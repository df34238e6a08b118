"""Forward dynamics of a tree by the articulated-body method: three loops over the links (multibody-formulations 3.5).

`link[0]` is the base, every other link comes after the one that carries it. A joint of several degrees of freedom is a
chain of links of one degree, all but the last without mass and at one point; a spherical and a free joint are one link.
All vectors are in axes of I, those of one link about its reference point: the point of its joint that is fixed in it.
Nothing depends on a velocity that all bodies have in common.

With the articulated inertia T, S, J (force = T a + S alpha, torque = S^T a + J alpha, a the acceleration of the
reference point) the recursion is (3.176) to (3.179), with the joint forces of the note below them.
*Errata (3.178), (3.179): the asterisks of M_k, Q_k are missing.*
"""

from __future__ import annotations

from math import cos, sin

from dockfmu.components.core.inlining import inlined
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import (
    apply,
    apply_transposed,
    from_quaternion,
    load_matrix,
    load_quaternion,
    store_matrix,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, dot, load, scale, store, subtract
from dockfmu.components.physics.tree import elastic_bodies, elastic_recursion
from dockfmu.components.physics.tree.articulated import (
    column_times,
    free_acceleration,
    inverse_of,
    nine,
    pass_on,
    row_times,
    six,
    times,
    with_free_rotation,
)

FRAME = -2.0
NODE = -1.0
FIXED = 0.0
REVOLUTE = 1.0
PRISMATIC = 2.0
MODE = 3.0
SCREW = 4.0
SPHERICAL = 5.0
FREE = 6.0
"""Kinds of links. Frames, nodes and modes are those of elastic bodies (`elastic_bodies`).

A mode has a coordinate, as joints of one degree of freedom have; its motion is that of frame and nodes.
"""


@kernel
def _rows(A, mount):
    """Return mount A, the product of two rotations as rows."""
    return (
        axpy(mount[0, 0], A[0], axpy(mount[0, 1], A[1], scale(mount[0, 2], A[2]))),
        axpy(mount[1, 0], A[0], axpy(mount[1, 1], A[1], scale(mount[1, 2], A[2]))),
        axpy(mount[2, 0], A[0], axpy(mount[2, 1], A[1], scale(mount[2, 2], A[2]))),
    )


@kernel
def _outward(A, v):
    """Return A^T v, components of a link in axes of I."""
    return axpy(v[0], A[0], axpy(v[1], A[1], scale(v[2], A[2])))


@inlined
def _place(b, p):
    """Set pose, rates and velocity terms of a link from those of the link that carries it.

    `along` is the axis in I, `linear` and `angular` what the accelerations are without those of the joint.
    Returns (rotation, angular velocity in I) of the link.
    """
    kind = b.kind
    c = 1.0
    s = 0.0
    if kind in (REVOLUTE, SCREW):
        # first: nothing has to be kept over the call
        c = cos(b.q)
        s = sin(b.q)
    carrier = load_matrix(p.rotation)
    w = load(p.angular_velocity)
    A = _rows(carrier, b.mount)
    r = _outward(carrier, load(b.arm))
    u = A[2]
    angular = (0.0, 0.0, 0.0)
    spin = w
    if kind == REVOLUTE:
        A = (axpy(c, A[0], scale(s, A[1])), subtract(scale(c, A[1]), scale(s, A[0])), u)
        turn = scale(b.rate, u)
        spin = add(w, turn)
        angular = cross(w, turn)
        linear = cross(w, cross(w, r))
    elif kind == PRISMATIC:
        r = axpy(b.q, u, r)
        slide = scale(b.rate, u)
        linear = cross(w, add(cross(w, r), scale(2.0, slide)))
    elif kind == SCREW:
        A = (axpy(c, A[0], scale(s, A[1])), subtract(scale(c, A[1]), scale(s, A[0])), u)
        turn = scale(b.rate, u)
        spin = add(w, turn)
        angular = cross(w, turn)
        r = axpy(b.lead * b.q, u, r)
        linear = cross(w, add(cross(w, r), scale(2.0 * b.lead * b.rate, u)))
    elif kind >= SPHERICAL:
        linear = (0.0, 0.0, 0.0)
        if kind == FREE:
            r = add(r, _outward(A, load(b.place)))
            linear = scale(2.0, cross(w, _outward(A, load(b.speed))))
        turned = from_quaternion(load_quaternion(b.quaternion))
        A = (_outward(A, turned[0]), _outward(A, turned[1]), _outward(A, turned[2]))
        turn = _outward(A, load(b.spin))
        spin = add(w, turn)
        angular = cross(w, turn)
        linear = add(linear, cross(w, cross(w, r)))
    else:
        linear = cross(w, cross(w, r))
    store_matrix(A, b.rotation)
    store(u, b.along)
    store(r, b.reach)
    store(add(load(p.position), r), b.position)
    store(spin, b.angular_velocity)
    if b.held != 0.0 and b.forced != 0.0:
        # prescribed: the acceleration of the coordinate is one of the velocity terms
        if kind != PRISMATIC:
            angular = axpy(b.forced, u, angular)
        if kind != REVOLUTE:
            linear = axpy(b.forced * (1.0 if kind == PRISMATIC else b.lead), u, linear)
    store(linear, b.linear)
    store(angular, b.angular)
    return A, spin


@inlined
def _set_inertia(b, A, w):
    """Set the inertia of a link alone in axes of I, and its inertial force and torque; w is its angular velocity in I.

    Links inside a joint have none.
    """
    if b.mass == 0.0:
        for i in range(6):
            b.tt[i] = 0.0
            b.rr[i] = 0.0
        for i in range(9):
            b.tr[i] = 0.0
        for i in range(3):
            b.force[i] = 0.0
            b.torque[i] = 0.0
        return
    a0, a1, a2 = A
    s = axpy(b.moment[0], a0, axpy(b.moment[1], a1, scale(b.moment[2], a2)))
    # the columns of A^T J, then J in I
    j = b.inertia
    k0 = axpy(j[0], a0, axpy(j[1], a1, scale(j[2], a2)))
    k1 = axpy(j[1], a0, axpy(j[3], a1, scale(j[4], a2)))
    k2 = axpy(j[2], a0, axpy(j[4], a1, scale(j[5], a2)))
    xx = k0[0] * a0[0] + k1[0] * a1[0] + k2[0] * a2[0]
    xy = k0[0] * a0[1] + k1[0] * a1[1] + k2[0] * a2[1]
    xz = k0[0] * a0[2] + k1[0] * a1[2] + k2[0] * a2[2]
    yy = k0[1] * a0[1] + k1[1] * a1[1] + k2[1] * a2[1]
    yz = k0[1] * a0[2] + k1[1] * a1[2] + k2[1] * a2[2]
    zz = k0[2] * a0[2] + k1[2] * a1[2] + k2[2] * a2[2]
    ws = cross(w, s)
    spun = (
        xx * w[0] + xy * w[1] + xz * w[2],
        xy * w[0] + yy * w[1] + yz * w[2],
        xz * w[0] + yz * w[1] + zz * w[2],
    )
    m = b.mass
    b.tt[0] = m
    b.tt[1] = 0.0
    b.tt[2] = 0.0
    b.tt[3] = m
    b.tt[4] = 0.0
    b.tt[5] = m
    b.tr[0] = 0.0
    b.tr[1] = s[2]
    b.tr[2] = -s[1]
    b.tr[3] = -s[2]
    b.tr[4] = 0.0
    b.tr[5] = s[0]
    b.tr[6] = s[1]
    b.tr[7] = -s[0]
    b.tr[8] = 0.0
    b.rr[0] = xx
    b.rr[1] = xy
    b.rr[2] = xz
    b.rr[3] = yy
    b.rr[4] = yz
    b.rr[5] = zz
    store(cross(ws, w), b.force)
    store(cross(spun, w), b.torque)


@kernel
def _clear(base):
    """Set the inertia that the base feels to zero: the links add to it."""
    for i in range(6):
        base.tt[i] = 0.0
        base.rr[i] = 0.0
    for i in range(9):
        base.tr[i] = 0.0


@kernel
def place(link, flex):
    """Place all links from the base outward: poses, rates, velocity terms, own inertia and inertial force.

    The base, `link[0]`, must have rotation, position, angular velocity and accelerations.
    """
    store(ZERO, link[0].force)
    store(ZERO, link[0].torque)
    for k in range(1, len(link)):
        b = link[k]
        if b.kind < FIXED:
            _place_elastic(b, link[int(b.parent)], link, flex)
        elif b.kind != MODE:
            A, w = _place(b, link[int(b.parent)])
            _set_inertia(b, A, w)


@kernel
def place_rigid(link):
    """Place all links as `place` does, where none is of an elastic body: what these need is not handed over."""
    store(ZERO, link[0].force)
    store(ZERO, link[0].torque)
    for k in range(1, len(link)):
        b = link[k]
        A, w = _place(b, link[int(b.parent)])
        _set_inertia(b, A, w)


@kernel
def _place_elastic(b, p, link, flex):
    """Place the frame or a node of an elastic body as `_place` does, with inertia and inertial loads."""
    if b.kind == NODE:
        A, w = elastic_bodies.place_node(b, p, link, flex)
    else:
        elastic_bodies.deform_inertia(b, link, flex)
        A, w = elastic_bodies.place_frame(b, p, link, flex)
    store_matrix(A, b.rotation)
    store(add(load(p.position), load(b.reach)), b.position)
    store(w, b.angular_velocity)
    _set_inertia(b, A, w)
    if b.kind == FRAME:
        elastic_bodies.load_frame(b, A, w, link, flex)


@kernel
def _reduce_free(b, T, S, J, f, t):
    """Solve for the acceleration of a link on a free joint, which passes nothing on."""
    a, e = free_acceleration(T, S, J, f, t)
    store(a, b.acceleration)
    store(e, b.angular_acceleration)


@kernel
def _reduce_spherical(b, T, S, J, f, t, p):
    """Add the articulated inertia of a link on a spherical joint, and its force, to the link that carries it."""
    inverse = inverse_of(J)
    driven = times(inverse, t)
    store(driven, b.felt_force)
    f = subtract(f, row_times(S, driven))
    for i in range(6):
        b.inverse[i] = inverse[i]
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    felt = with_free_rotation(T, S, inverse)
    pass_on(felt, (0.0, 0.0, 0.0, *nothing), nothing, f, (0.0, 0.0, 0.0), load(b.reach), p)


@inlined
def _reduce(b, p, passed):
    """Add the articulated inertia of a link, and the force of it and of all beyond, to the link that carries it.

    Unless they are to be `passed`, only what a joint of one coordinate itself needs is set.
    """
    T = six(b.tt)
    S = nine(b.tr)
    J = six(b.rr)
    kind = b.kind
    f = load(b.force)
    t = load(b.torque)
    if kind == FREE and b.held == 0.0:
        _reduce_free(b, T, S, J, f, t)
        return
    linear = load(b.linear)
    angular = load(b.angular)
    f = subtract(f, add(times(T, linear), row_times(S, angular)))
    t = subtract(t, add(column_times(S, linear), times(J, angular)))
    if kind == SPHERICAL and b.held == 0.0:
        _reduce_spherical(b, T, S, J, f, t, p)
        return
    # what resists along the axis; nothing does where the joint does not move
    uf = (0.0, 0.0, 0.0)
    ut = (0.0, 0.0, 0.0)
    mobility = 0.0
    driven = 0.0
    if FIXED < kind <= SCREW:
        u = load(b.along)
        if kind == REVOLUTE:
            uf = row_times(S, u)
            ut = times(J, u)
            felt = dot(u, ut)
            load_now = dot(u, t)
        elif kind == PRISMATIC:
            uf = times(T, u)
            ut = column_times(S, u)
            felt = dot(u, uf)
            load_now = dot(u, f)
        else:
            slid = scale(b.lead, u)
            uf = add(times(T, slid), row_times(S, u))
            ut = add(column_times(S, slid), times(J, u))
            felt = b.lead * dot(u, uf) + dot(u, ut)
            load_now = b.lead * dot(u, f) + dot(u, t)
        effort = b.drive + load_now
        if b.held == 0.0:
            mobility = 1.0 / (felt + b.armature)
        driven = mobility * effort
        b.effort = effort
        b.mobility = mobility
        store(uf, b.felt_force)
        store(ut, b.felt_torque)
    if not passed:
        return
    f = subtract(f, scale(driven, uf))
    t = subtract(t, scale(driven, ut))
    vf = scale(mobility, uf)
    vt = scale(mobility, ut)
    T = (
        T[0] - uf[0] * vf[0],
        T[1] - uf[0] * vf[1],
        T[2] - uf[0] * vf[2],
        T[3] - uf[1] * vf[1],
        T[4] - uf[1] * vf[2],
        T[5] - uf[2] * vf[2],
    )
    S = (
        S[0] - uf[0] * vt[0],
        S[1] - uf[0] * vt[1],
        S[2] - uf[0] * vt[2],
        S[3] - uf[1] * vt[0],
        S[4] - uf[1] * vt[1],
        S[5] - uf[1] * vt[2],
        S[6] - uf[2] * vt[0],
        S[7] - uf[2] * vt[1],
        S[8] - uf[2] * vt[2],
    )
    J = (
        J[0] - ut[0] * vt[0],
        J[1] - ut[0] * vt[1],
        J[2] - ut[0] * vt[2],
        J[3] - ut[1] * vt[1],
        J[4] - ut[1] * vt[2],
        J[5] - ut[2] * vt[2],
    )
    pass_on(T, S, J, f, t, load(b.reach), p)


@inlined
def _accelerate(b, p):
    """Set the acceleration of the joint and of its link from those of the link that carries it."""
    kind = b.kind
    e = load(p.angular_acceleration)
    a = add(load(p.acceleration), cross(e, load(b.reach)))
    if kind == FREE and b.held == 0.0:
        # relative to what the joint's own acceleration does not contain
        linear = subtract(subtract(load(b.acceleration), a), load(b.linear))
        turn = subtract(subtract(load(b.angular_acceleration), e), load(b.angular))
        carried = _rows(load_matrix(p.rotation), b.mount)
        store((dot(carried[0], linear), dot(carried[1], linear), dot(carried[2], linear)), b.speed_rate)
        A = load_matrix(b.rotation)
        store(apply(A, turn), b.spin_rate)
        return
    linear = load(b.linear)
    angular = load(b.angular)
    if kind == SPHERICAL and b.held == 0.0:
        moved = add(column_times(b.tr, a), times(b.rr, e))
        turn = subtract(load(b.felt_force), times(b.inverse, moved))
        A = load_matrix(b.rotation)
        store(apply(A, turn), b.spin_rate)
        store(add(a, linear), b.acceleration)
        store(add(add(e, angular), turn), b.angular_acceleration)
        return
    a_now = add(a, linear)
    e_now = add(e, angular)
    if kind >= SPHERICAL:
        # a lock holds it
        store(ZERO, b.spin_rate)
        store(ZERO, b.speed_rate)
    elif kind > FIXED:
        b.load = b.effort - (dot(load(b.felt_force), a) + dot(load(b.felt_torque), e))
        qdd = b.mobility * b.load
        u = load(b.along)
        if kind == REVOLUTE:
            e_now = axpy(qdd, u, e_now)
        elif kind == PRISMATIC:
            a_now = axpy(qdd, u, a_now)
        else:
            e_now = axpy(qdd, u, e_now)
            a_now = axpy(qdd * b.lead, u, a_now)
        b.qdd = b.forced if b.held != 0.0 else qdd
    store(a_now, b.acceleration)
    store(e_now, b.angular_acceleration)


@kernel
def accelerate(link, to_base, flex):
    """Set the accelerations of all joints and links: the backward and the second forward pass, after `place`.

    Forces on the links, drives and armatures must be set between. Afterwards, if the forces are passed on `to_base`, it
    holds the wrench on it at zero acceleration and the inertia that it feels.
    """
    if to_base:
        _clear(link[0])
    for k in range(len(link) - 1, 0, -1):
        b = link[k]
        p = link[int(b.parent)]
        if b.kind == NODE:
            elastic_recursion.reduce_node(b, p, link, flex)
        elif b.kind == FRAME:
            elastic_recursion.reduce_frame(b, p, link, flex)
        elif b.kind != MODE:
            _reduce(b, p, to_base or b.parent != 0.0)
    carry(link, flex)


@kernel
def accelerate_rigid(link, to_base):
    """Set all accelerations as `accelerate` does, where no link is of an elastic body."""
    if to_base:
        _clear(link[0])
    for k in range(len(link) - 1, 0, -1):
        b = link[k]
        _reduce(b, link[int(b.parent)], to_base or b.parent != 0.0)
    for k in range(1, len(link)):
        b = link[k]
        _accelerate(b, link[int(b.parent)])


@kernel
def carry(link, flex):
    """Set the accelerations of all joints and links for another acceleration of the base, after `accelerate`."""
    for k in range(1, len(link)):
        b = link[k]
        p = link[int(b.parent)]
        if b.kind == NODE:
            elastic_recursion.accelerate_node(b, p, link, flex)
        elif b.kind == FRAME:
            elastic_recursion.accelerate_frame(b, p, link, flex)
        elif b.kind != MODE:
            _accelerate(b, p)


@kernel
def move(link):
    """Set the velocities of the reference points relative to the origin of the base, after `place`."""
    for k in range(1, len(link)):
        b = link[k]
        p = link[int(b.parent)]
        v = add(load(p.velocity), cross(load(p.angular_velocity), load(b.reach)))
        kind = b.kind
        if kind == PRISMATIC:
            v = axpy(b.rate, load(b.along), v)
        elif kind == SCREW:
            v = axpy(b.lead * b.rate, load(b.along), v)
        elif kind == FREE:
            A = mounted(b, p)
            v = add(v, apply_transposed(A, load(b.speed)))
        elif kind < FIXED:
            v = add(v, load(b.flow))
        store(v, b.velocity)


@kernel
def mounted(b, p):
    """Return the rotation of a joint at zero, I -> joint axes, from the link p that carries it."""
    return _rows(load_matrix(p.rotation), b.mount)
