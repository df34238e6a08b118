"""Elastic bodies in the recursion: their modes are eliminated where they are (flexible 3.6).

With I, S_j the articulated inertia of body and nodes about the origin of E and the motion of E relative to the inner
node by mode j, M_j the momentum of a unit rate of the mode, f the load and u_j those of the modes,

    U_j = I S_j + M_j,    D_ij = delta_ij + S_i . U_j + M_i . S_j + sum of phi_ik . I_k phi_jk over the nodes k,

the modes are w'' = D^-1 (u - U^T a), and what the node feels is I - U D^-1 U^T and f - U D^-1 u
(multibody-formulations 3.5). D is of the size of one body and is factored once in an evaluation; nothing couples modes
of different bodies.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import accumulate, add, axpy, cross, dot, load, store, subtract
from dockfmu.components.physics.tree.articulated import nine, pass_on, resisted, six


@kernel
def reduce_node(b, p, link, flex):
    """Add the articulated inertia of a node, and the load of all beyond, to its frame p and to the modes."""
    elastic, mode, shape, factor = flex.body, flex.mode, flex.shape, flex.factor
    o = elastic[int(b.flex)]
    count = int(o.count)
    T, S, J = six(b.tt), nine(b.tr), six(b.rr)
    opposed, turned = resisted(T, S, J, load(b.linear), load(b.angular))
    f = subtract(load(b.force), opposed)
    t = subtract(load(b.torque), turned)
    r = load(b.reach)
    # a node that carries forces alone has no inertia
    heavy = T[0] + T[3] + T[5] + J[0] + J[3] + J[5] > 0.0
    first = int(b.first_shape)
    for i in range(count):
        s = shape[first + i]
        moved = load(s.moved)
        rotated = load(s.turned)
        link[int(o.modes) + i].force[0] += dot(moved, f) + dot(rotated, t)
        if not heavy:
            continue
        force, torque = resisted(T, S, J, moved, rotated)
        m = mode[int(o.first_mode) + i]
        accumulate(force, m.coupled_force)
        accumulate(add(torque, cross(r, force)), m.coupled_torque)
        row = int(o.factor) + i * count
        for j in range(i + 1):
            other = shape[first + j]
            factor[row + j] += dot(force, load(other.moved)) + dot(torque, load(other.turned))
    pass_on(T, S, J, f, t, r, p)


@kernel
def _factor(o, link, factor):
    """Factor D of a body into L and its pivots, in place."""
    count = int(o.count)
    begin = int(o.factor)
    for i in range(count):
        row = begin + i * count
        pivot = factor[row + i]
        for j in range(i):
            upper = begin + j * count
            total = factor[row + j]
            for k in range(j):
                total -= factor[row + k] * factor[upper + k]
            factor[row + j] = total
        # rows hold L times pivots until here
        for j in range(i):
            scaled = factor[row + j] / factor[begin + j * count + j]
            pivot -= scaled * factor[row + j]
            factor[row + j] = scaled
        factor[row + i] = pivot
        link[int(o.modes) + i].mobility = 1.0 / pivot if pivot != 0.0 else -1.0


@kernel
def _solve(o, mode, factor, place):
    """Solve D x = y in place for number `place` of the seven columns `gain` of the modes of a body."""
    count = int(o.count)
    begin = int(o.factor)
    first = int(o.first_mode)
    for i in range(count):
        row = begin + i * count
        total = mode[first + i].gain[place]
        for j in range(i):
            total -= factor[row + j] * mode[first + j].gain[place]
        mode[first + i].gain[place] = total
    for i in range(count - 1, -1, -1):
        total = mode[first + i].gain[place] / factor[begin + i * count + i]
        for j in range(i + 1, count):
            total -= factor[begin + j * count + i] * mode[first + j].gain[place]
        mode[first + i].gain[place] = total


@kernel
def reduce_frame(b, p, link, flex):
    """Eliminate the modes of a body, and add what its inner node p feels to the node."""
    elastic, mode, shape, factor = flex.body, flex.mode, flex.shape, flex.factor
    o = elastic[int(b.flex)]
    count = int(o.count)
    first = int(o.first_mode)
    T, S, J = six(b.tt), nine(b.tr), six(b.rr)
    linear = load(b.linear)
    angular = load(b.angular)
    opposed, turned = resisted(T, S, J, linear, angular)
    f = subtract(load(b.force), opposed)
    t = subtract(load(b.torque), turned)
    for i in range(count):
        s = shape[int(b.first_shape) + i]
        m = mode[first + i]
        x = link[int(o.modes) + i]
        slide = load(s.moved)
        turn = load(s.turned)
        coupled = load(m.coupled_force)
        twisted = load(m.coupled_torque)
        force, torque = resisted(T, S, J, slide, turn)
        force = add(force, coupled)
        torque = add(torque, twisted)
        store(force, m.felt_force)
        store(torque, m.felt_torque)
        row = int(o.factor) + i * count
        for j in range(i + 1):
            other = mode[first + j]
            one = shape[int(b.first_shape) + j]
            factor[row + j] += dot(force, load(one.moved)) + dot(torque, load(one.turned))
            factor[row + j] += dot(load(other.coupled_force), slide) + dot(load(other.coupled_torque), turn)
        factor[row + i] += x.armature
        effort = x.force[0] + x.drive + dot(slide, f) + dot(turn, t)
        effort -= dot(coupled, linear) + dot(twisted, angular)
        x.effort = effort
        for k in range(3):
            m.gain[k] = force[k]
            m.gain[3 + k] = torque[k]
        m.gain[6] = effort
    _factor(o, link, factor)
    for k in range(7):
        _solve(o, mode, factor, k)
    for i in range(count):
        mode[first + i].driven = mode[first + i].gain[6]
    t0 = t1 = t2 = t3 = t4 = t5 = 0.0
    r0 = r1 = r2 = r3 = r4 = r5 = 0.0
    s0 = (0.0, 0.0, 0.0)
    s1 = (0.0, 0.0, 0.0)
    s2 = (0.0, 0.0, 0.0)
    for i in range(count):
        m = mode[first + i]
        u = load(m.felt_force)
        v = load(m.felt_torque)
        g = m.gain
        f = axpy(-g[6], u, f)
        t = axpy(-g[6], v, t)
        t0 += u[0] * g[0]
        t1 += u[0] * g[1]
        t2 += u[0] * g[2]
        t3 += u[1] * g[1]
        t4 += u[1] * g[2]
        t5 += u[2] * g[2]
        r0 += v[0] * g[3]
        r1 += v[0] * g[4]
        r2 += v[0] * g[5]
        r3 += v[1] * g[4]
        r4 += v[1] * g[5]
        r5 += v[2] * g[5]
        s0 = axpy(u[0], (g[3], g[4], g[5]), s0)
        s1 = axpy(u[1], (g[3], g[4], g[5]), s1)
        s2 = axpy(u[2], (g[3], g[4], g[5]), s2)
    T = (T[0] - t0, T[1] - t1, T[2] - t2, T[3] - t3, T[4] - t4, T[5] - t5)
    J = (J[0] - r0, J[1] - r1, J[2] - r2, J[3] - r3, J[4] - r4, J[5] - r5)
    S = (
        S[0] - s0[0],
        S[1] - s0[1],
        S[2] - s0[2],
        S[3] - s1[0],
        S[4] - s1[1],
        S[5] - s1[2],
        S[6] - s2[0],
        S[7] - s2[1],
        S[8] - s2[2],
    )
    pass_on(T, S, J, f, t, load(b.reach), p)


@kernel
def _felt(g, a, e):
    """Return what a mode feels of the accelerations a, e of the node that carries the body."""
    return g[0] * a[0] + g[1] * a[1] + g[2] * a[2] + g[3] * e[0] + g[4] * e[1] + g[5] * e[2]


@kernel
def accelerate_frame(b, p, link, flex):
    """Set the accelerations of the modes of a body and of its frame from those of its inner node p."""
    elastic, mode, shape = flex.body, flex.mode, flex.shape
    o = elastic[int(b.flex)]
    e = load(p.angular_acceleration)
    a = add(load(p.acceleration), cross(e, load(b.reach)))
    linear = add(a, load(b.linear))
    angular = add(e, load(b.angular))
    for i in range(int(o.count)):
        m = mode[int(o.first_mode) + i]
        s = shape[int(b.first_shape) + i]
        x = link[int(o.modes) + i]
        x.qdd = m.driven - _felt(m.gain, a, e)
        linear = axpy(x.qdd, load(s.moved), linear)
        angular = axpy(x.qdd, load(s.turned), angular)
    store(linear, b.acceleration)
    store(angular, b.angular_acceleration)


@kernel
def accelerate_node(b, p, link, flex):
    """Set the acceleration of a node from those of its frame p and of the modes."""
    o = flex.body[int(b.flex)]
    e = load(p.angular_acceleration)
    a = add(add(load(p.acceleration), cross(e, load(b.reach))), load(b.linear))
    e = add(e, load(b.angular))
    for i in range(int(o.count)):
        s = flex.shape[int(b.first_shape) + i]
        change = link[int(o.modes) + i].qdd
        a = axpy(change, load(s.moved), a)
        e = axpy(change, load(s.turned), e)
    store(a, b.acceleration)
    store(e, b.angular_acceleration)


@kernel
def push_node(b, p, link, flex):
    """Hand the push on a node to its frame p and to the modes."""
    o = flex.body[int(b.flex)]
    f = load(b.push_force)
    t = load(b.push_torque)
    for i in range(int(o.count)):
        s = flex.shape[int(b.first_shape) + i]
        link[int(o.modes) + i].push_force[0] += dot(load(s.moved), f) + dot(load(s.turned), t)
    accumulate(f, p.push_force)
    accumulate(add(t, cross(load(b.reach), f)), p.push_torque)


@kernel
def push_frame(b, p, link, flex):
    """Hand the push on a frame, and on the modes of its body, to the inner node p."""
    elastic, mode, shape, factor = flex.body, flex.mode, flex.shape, flex.factor
    o = elastic[int(b.flex)]
    first = int(o.first_mode)
    f = load(b.push_force)
    t = load(b.push_torque)
    for i in range(int(o.count)):
        s = shape[int(b.first_shape) + i]
        x = link[int(o.modes) + i]
        x.push_felt = x.push_force[0] + dot(load(s.moved), f) + dot(load(s.turned), t)
        mode[first + i].gain[6] = x.push_felt
    _solve(o, mode, factor, 6)
    for i in range(int(o.count)):
        m = mode[first + i]
        x = link[int(o.modes) + i]
        x.push_driven = m.gain[6]
        f = axpy(-x.push_driven, load(m.felt_force), f)
        t = axpy(-x.push_driven, load(m.felt_torque), t)
    accumulate(f, p.push_force)
    accumulate(add(t, cross(load(b.reach), f)), p.push_torque)


@kernel
def respond_frame(b, p, link, flex):
    """Set the changes of the accelerations of modes and frame by the pushes. Returns (linear, angular)."""
    elastic, mode, shape = flex.body, flex.mode, flex.shape
    o = elastic[int(b.flex)]
    e = load(p.push_angular)
    a = add(load(p.push_linear), cross(e, load(b.reach)))
    linear = a
    angular = e
    for i in range(int(o.count)):
        m = mode[int(o.first_mode) + i]
        s = shape[int(b.first_shape) + i]
        x = link[int(o.modes) + i]
        x.push_load = x.push_felt - dot(load(m.felt_force), a) - dot(load(m.felt_torque), e)
        x.push_qdd = x.push_driven - _felt(m.gain, a, e)
        linear = axpy(x.push_qdd, load(s.moved), linear)
        angular = axpy(x.push_qdd, load(s.turned), angular)
    return linear, angular


@kernel
def respond_node(b, p, link, flex):
    """Return the changes of the accelerations (linear, angular) of a node by the pushes."""
    o = flex.body[int(b.flex)]
    e = load(p.push_angular)
    a = add(load(p.push_linear), cross(e, load(b.reach)))
    for i in range(int(o.count)):
        s = flex.shape[int(b.first_shape) + i]
        change = link[int(o.modes) + i].push_qdd
        a = axpy(change, load(s.moved), a)
        e = axpy(change, load(s.turned), e)
    return a, e


@kernel
def spread_modes(b, link, flex, h, share):
    """Return (linear, angular): what the modes change between a frame or node and its carrier, as in `spread`."""
    o = flex.body[int(b.flex)]
    a = (0.0, 0.0, 0.0)
    e = (0.0, 0.0, 0.0)
    for i in range(int(o.count)):
        s = flex.shape[int(b.first_shape) + i]
        x = link[int(o.modes) + i]
        change = x.last_rate + share * h * x.qdd - x.rate
        a = axpy(change, load(s.moved), a)
        e = axpy(change, load(s.turned), e)
    return a, e
