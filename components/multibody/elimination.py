"""Multipliers of cut joints by elimination along the tree, in a time proportional to the lengths of the loops.

Sought are the multipliers lambda of the independent rows with which the response of the tree is `wanted`. Every link
has a wrench about its reference point that it takes from the joint that carries it,

    f = (I + X) a - w - sum K_i lambda_i,    y_i = K_i . a + sum L_ij lambda_j + c_i,

with the articulated inertia I of the recursion, what the loops closed beyond it add to that, X, and their wrench, w;
the sums are over the rows whose loop is open at the link: one end of it is beyond the link, the other is not. A joint
turns them, as the recursion turns inertias, to those of its carrier (D = u . (I + X) u, s_i = u . K_i):

    L_ij += s_i s_j / D,    c_i += s_i (u . w) / D,    K_i -= (I + X) u s_i / D,    w -= (I + X) u (u . w) / D.

Where both ends of a loop have come to the same link, the loop is closed: its rows must have y = 0, which is

    lambda_r = -(K_r . a + sum L_ri lambda_i + c_r) / L_rr

for one row after the other, and turns the others by the same elimination: X += K_r K_r^T / L_rr, w -= K_r c_r / L_rr.
The outward pass has the accelerations a, and with them the multipliers. Loops without a common link but the base are
never combined. `loop_order` numbers the rows in the order in which they are eliminated.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody.cut_rows import DISC, TRANSLATION
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, dot, load, scale, store, subtract
from dockfmu.components.physics.tree import articulated
from dockfmu.components.physics.tree.links import FIXED, FREE, PRISMATIC, REVOLUTE, SCREW, SPHERICAL

LEAST_PIVOT = 1e-12
"""Of L_rr, relative to what joints have added to it: below it a row depends on those before."""


@kernel
def _put(force, torque, pull):
    """Store a wrench as six numbers."""
    for i in range(3):
        pull[i] = force[i]
        pull[i + 3] = torque[i]


@kernel
def _take(pull):
    """Return (force, torque) of a wrench of six numbers."""
    return (pull[0], pull[1], pull[2]), (pull[3], pull[4], pull[5])


@kernel
def _pull(o, second):
    """Return (force, torque) of a row on one of its sides."""
    return _take(o.second_pull) if second != 0.0 else _take(o.first_pull)


@kernel
def _put_pull(force, torque, o, second):
    """Store the wrench of a row on one of its sides."""
    if second != 0.0:
        _put(force, torque, o.second_pull)
    else:
        _put(force, torque, o.first_pull)


@kernel
def _clear(x):
    """Set to zero what loops add to the link of a carrier: inertia and wrench."""
    for i in range(6):
        x.tt[i] = 0.0
        x.rr[i] = 0.0
    for i in range(9):
        x.tr[i] = 0.0
    store(ZERO, x.force)
    store(ZERO, x.torque)


@kernel
def _begin(link, cut, row, solver, run):
    """Set wrenches and right-hand sides of all rows, and clear what is added to."""
    matrix, entry, front, carrier = solver.matrix, solver.entry, solver.front, solver.carrier
    for i in range(int(run.rows)):
        o = row[i]
        o.rest = -o.wanted
        o.strength = 0.0
        o.multiplier = 0.0
        c = cut[int(o.joint)]
        n = load(o.normal)
        if o.kind == TRANSLATION or o.kind >= DISC:
            r = load(c.rolling)
            _put(scale(-1.0, n), cross(n, add(load(c.first_reach), r)), o.first_pull)
            _put(n, cross(add(load(c.second_reach), r), n), o.second_pull)
        else:
            _put(ZERO, scale(-1.0, n), o.first_pull)
            _put(ZERO, n, o.second_pull)
    for k in range(int(run.fronts)):
        f = front[k]
        b = link[int(f.link)]
        last = int(f.first + f.count)
        for i in range(int(f.first), last):
            for j in range(i, last):
                matrix[i, j] = 0.0
            for e in range(int(b.first_entry), int(b.first_entry + b.entries)):
                matrix[i, int(entry[e].row)] = 0.0
    for k in range(int(run.carriers)):
        _clear(carrier[k])


@kernel
def _close_loops(f, b, x, row, solver):
    """Eliminate the rows of the loops that close at link b, x its carrier. Returns 0, or 1 + a row that cannot be."""
    matrix, entry = solver.matrix, solver.entry
    first = int(f.first)
    last = int(f.first + f.count)
    begin = int(b.first_entry)
    end = int(b.first_entry + b.entries)
    for r in range(first, last):
        o = row[r]
        ahead, turning = _take(o.first_pull)
        more, other = _take(o.second_pull)
        _put(add(ahead, more), add(turning, other), o.hold)
    for r in range(first, last):
        o = row[r]
        if o.independent == 0.0:
            continue
        pivot = matrix[r, r]
        if not pivot > LEAST_PIVOT * o.strength:
            return r + 1
        o.pivot = pivot
        force, torque = _take(o.hold)
        for i in range(r + 1, last):
            factor = matrix[r, i] / pivot
            if factor == 0.0:
                continue
            for j in range(i, last):
                matrix[i, j] -= factor * matrix[r, j]
            for e in range(begin, end):
                matrix[i, int(entry[e].row)] -= factor * matrix[r, int(entry[e].row)]
            later = row[i]
            later.rest -= factor * o.rest
            for j in range(6):
                later.hold[j] -= factor * o.hold[j]
        for e in range(begin, end):
            i = int(entry[e].row)
            factor = matrix[r, i] / pivot
            if factor == 0.0:
                continue
            for j in range(e, end):
                matrix[i, int(entry[j].row)] -= factor * matrix[r, int(entry[j].row)]
            later = row[i]
            later.rest -= factor * o.rest
            f_now, t_now = _pull(later, entry[e].second)
            _put_pull(axpy(-factor, force, f_now), axpy(-factor, torque, t_now), later, entry[e].second)
        if f.link > 0.0:
            _add_outer(x, force, torque, 1.0 / pivot)
            share = -o.rest / pivot
            store(axpy(share, force, load(x.force)), x.force)
            store(axpy(share, torque, load(x.torque)), x.torque)
    return 0


@kernel
def _add_outer(x, f, t, size):
    """Add size times the product of the wrench (f, t) with itself to an inertia."""
    place = 0
    for i in range(3):
        for j in range(i, 3):
            x.tt[place] += size * f[i] * f[j]
            x.rr[place] += size * t[i] * t[j]
            place += 1
        for j in range(3):
            x.tr[3 * i + j] += size * f[i] * t[j]


@kernel
def _sum6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def _sum9(a, b):
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@kernel
def _hand_on(x, r, y):
    """Add what a carrier holds, reduced by its joint, to that of the link that carries it; r is between them."""
    T, S, J = articulated.six(x.tt), articulated.nine(x.tr), articulated.six(x.rr)
    articulated.pass_on(T, S, J, load(x.force), load(x.torque), r, y)


@kernel
def _felt(b, f, t):
    """Return what the joint of one coordinate of link b feels of a wrench."""
    u = load(b.along)
    if b.kind == REVOLUTE:
        return dot(u, t)
    if b.kind == PRISMATIC:
        return dot(u, f)
    return b.lead * dot(u, f) + dot(u, t)


@kernel
def _reduce_axis(b, x, stiff, row, solver):
    """Turn rows and what loops have added beyond a joint of one coordinate to those that its carrier feels."""
    matrix, entry = solver.matrix, solver.entry
    uf = load(b.felt_force)
    ut = load(b.felt_torque)
    mobility = b.mobility
    driven = 0.0
    if stiff:
        u = load(b.along)
        zero = (0.0, 0.0, 0.0)
        slide = zero if b.kind == REVOLUTE else scale(1.0 if b.kind == PRISMATIC else b.lead, u)
        turn = zero if b.kind == PRISMATIC else u
        af = add(articulated.times(x.tt, slide), articulated.row_times(x.tr, turn))
        at = add(articulated.column_times(x.tr, slide), articulated.times(x.rr, turn))
        before = mobility
        wf = uf
        wt = ut
        uf = add(uf, af)
        ut = add(ut, at)
        if mobility != 0.0:
            mobility = 1.0 / (1.0 / mobility + dot(slide, af) + dot(turn, at))
        store(uf, x.felt_force)
        store(ut, x.felt_torque)
        x.mobility = mobility
        x.felt = _felt(b, load(x.force), load(x.torque))
        driven = mobility * x.felt
        _add_outer(x, wf, wt, before)
        _add_outer(x, uf, ut, -mobility)
        store(axpy(-driven, uf, load(x.force)), x.force)
        store(axpy(-driven, ut, load(x.torque)), x.torque)
    begin = int(b.first_entry)
    end = int(b.first_entry + b.entries)
    for e in range(begin, end):
        o = row[int(entry[e].row)]
        f, t = _pull(o, entry[e].second)
        s = _felt(b, f, t)
        entry[e].share[0] = s
        o.rest += s * driven
        s *= mobility
        o.strength += s * entry[e].share[0]
        _put_pull(axpy(-s, uf, f), axpy(-s, ut, t), o, entry[e].second)
        for j in range(begin, e + 1):
            matrix[int(entry[j].row), int(entry[e].row)] += s * entry[j].share[0]


@kernel
def _spherical_inertia(b, x, stiff):
    """Return (inverse of the inertia that a spherical joint feels, part S of the inertia), with loops if `stiff`."""
    S = (b.tr[0], b.tr[1], b.tr[2], b.tr[3], b.tr[4], b.tr[5], b.tr[6], b.tr[7], b.tr[8])
    if not stiff:
        return articulated.six(b.inverse), S
    return articulated.inverse_of(_sum6(articulated.six(b.rr), x.rr)), _sum9(S, x.tr)


@kernel
def _reduce_spherical(b, x, stiff, row, solver):
    """Turn rows and what loops have added beyond a spherical joint to those that its carrier feels."""
    matrix, entry = solver.matrix, solver.entry
    inverse, S = _spherical_inertia(b, x, stiff)
    given = ZERO
    if stiff:
        given = load(x.torque)
        for i in range(6):
            x.inverse[i] = inverse[i]
        store(articulated.times(inverse, given), x.felt_torque)
        own = articulated.six(b.inverse)
        place = 0
        for i in range(3):
            row_now = (S[3 * i], S[3 * i + 1], S[3 * i + 2])
            now = articulated.times(inverse, row_now)
            was = articulated.times(own, (b.tr[3 * i], b.tr[3 * i + 1], b.tr[3 * i + 2]))
            for j in range(i, 3):
                x.tt[place] += b.tr[3 * j] * was[0] + b.tr[3 * j + 1] * was[1] + b.tr[3 * j + 2] * was[2]
                x.tt[place] -= S[3 * j] * now[0] + S[3 * j + 1] * now[1] + S[3 * j + 2] * now[2]
                place += 1
        store(subtract(load(x.force), articulated.row_times(S, load(x.felt_torque))), x.force)
        store(ZERO, x.torque)
        for i in range(3):
            x.spherical_tr[i] = S[3 * i]
            x.spherical_tr[i + 3] = S[3 * i + 1]
            x.spherical_tr[i + 6] = S[3 * i + 2]
        for i in range(6):
            x.spherical_rr[i] = b.rr[i] + x.rr[i]
            x.rr[i] = 0.0
        for i in range(9):
            x.tr[i] = 0.0
    begin = int(b.first_entry)
    end = int(b.first_entry + b.entries)
    for e in range(begin, end):
        o = row[int(entry[e].row)]
        f, t = _pull(o, entry[e].second)
        turn = articulated.times(inverse, t)
        _put(turn, t, entry[e].share)
        o.rest += dot(turn, given)
        o.strength += dot(turn, t)
        for j in range(begin, e + 1):
            _, other = _take(entry[j].share)
            matrix[int(entry[j].row), int(entry[e].row)] += dot(turn, other)
        _put_pull(subtract(f, articulated.row_times(S, turn)), ZERO, o, entry[e].second)


@kernel
def _reduce_free(b, x, stiff, row, solver):
    """Let a free joint take all wrenches: it passes nothing on."""
    matrix, entry = solver.matrix, solver.entry
    T = articulated.six(b.tt)
    S = (b.tr[0], b.tr[1], b.tr[2], b.tr[3], b.tr[4], b.tr[5], b.tr[6], b.tr[7], b.tr[8])
    J = articulated.six(b.rr)
    force = ZERO
    torque = ZERO
    if stiff:
        T = _sum6(T, x.tt)
        S = _sum9(S, x.tr)
        J = _sum6(J, x.rr)
        force = load(x.force)
        torque = load(x.torque)
        a, turn = articulated.free_acceleration(T, S, J, force, torque)
        store(a, x.felt_force)
        store(turn, x.felt_torque)
        _clear(x)
    begin = int(b.first_entry)
    end = int(b.first_entry + b.entries)
    for e in range(begin, end):
        o = row[int(entry[e].row)]
        f, t = _pull(o, entry[e].second)
        a, turn = articulated.free_acceleration(T, S, J, f, t)
        _put(a, turn, entry[e].share)
        o.rest += dot(a, force) + dot(turn, torque)
        o.strength += dot(a, f) + dot(turn, t)
        for j in range(e, end):
            f2, t2 = _pull(row[int(entry[j].row)], entry[j].second)
            matrix[int(entry[e].row), int(entry[j].row)] += dot(a, f2) + dot(turn, t2)
        _put_pull(ZERO, ZERO, o, entry[e].second)


@kernel
def _inward(link, row, solver, run):
    """Take all rows inward and eliminate them where their loops close. Returns 0, or 1 + a row that cannot be."""
    entry, front, carrier = solver.entry, solver.front, solver.carrier
    place = 0
    fronts = int(run.fronts)
    for k in range(len(link) - 1, -1, -1):
        b = link[k]
        stiff = b.carrier >= 0.0
        x = carrier[int(max(b.carrier, 0.0))]
        while place < fronts and front[place].link == k:
            failed = _close_loops(front[place], b, x, row, solver)
            if failed:
                return failed
            place += 1
        if k == 0 or (b.entries == 0.0 and not stiff):
            continue
        kind = b.kind
        if FIXED < kind <= SCREW:
            _reduce_axis(b, x, stiff, row, solver)
        elif kind == SPHERICAL and b.held == 0.0:
            _reduce_spherical(b, x, stiff, row, solver)
        elif kind == FREE and b.held == 0.0:
            _reduce_free(b, x, stiff, row, solver)
        r = load(b.reach)
        for e in range(int(b.first_entry), int(b.first_entry + b.entries)):
            o = row[int(entry[e].row)]
            f, t = _pull(o, entry[e].second)
            _put_pull(f, add(t, cross(r, f)), o, entry[e].second)
        p = link[int(b.parent)]
        if stiff and p.carrier >= 0.0:
            _hand_on(x, r, carrier[int(p.carrier)])
    return 0


@kernel
def _solve_front(f, b, x, row, solver):
    """Set the multipliers of the loops that close at link b, whose acceleration its carrier x has."""
    matrix, entry = solver.matrix, solver.entry
    last = int(f.first + f.count)
    for r in range(last - 1, int(f.first) - 1, -1):
        o = row[r]
        if o.independent == 0.0:
            continue
        value = o.rest
        if f.link > 0.0:
            force, torque = _take(o.hold)
            value += dot(force, load(x.acceleration)) + dot(torque, load(x.angular_acceleration))
        for i in range(r + 1, last):
            value += matrix[r, i] * row[i].multiplier
        for e in range(int(b.first_entry), int(b.first_entry + b.entries)):
            value += matrix[r, int(entry[e].row)] * row[int(entry[e].row)].multiplier
        o.multiplier = -value / o.pivot


@kernel
def _accelerate(b, x, a, e, row, entry):
    """Set the acceleration of a carrier from that of the joint's point and the multipliers of its open rows."""
    kind = b.kind
    begin = int(b.first_entry)
    end = int(b.first_entry + b.entries)
    if FIXED < kind <= SCREW:
        effort = x.felt - dot(load(x.felt_force), a) - dot(load(x.felt_torque), e)
        for k in range(begin, end):
            effort += entry[k].share[0] * row[int(entry[k].row)].multiplier
        u = load(b.along)
        change = x.mobility * effort
        if kind != PRISMATIC:
            e = axpy(change, u, e)
        if kind != REVOLUTE:
            a = axpy(change * (1.0 if kind == PRISMATIC else b.lead), u, a)
    elif kind == SPHERICAL and b.held == 0.0:
        carried = add(articulated.row_times(x.spherical_tr, a), articulated.times(x.spherical_rr, e))
        turn = subtract(load(x.felt_torque), articulated.times(x.inverse, carried))
        for k in range(begin, end):
            spin, _ = _take(entry[k].share)
            turn = axpy(row[int(entry[k].row)].multiplier, spin, turn)
        e = add(e, turn)
    elif kind == FREE and b.held == 0.0:
        a = load(x.felt_force)
        e = load(x.felt_torque)
        for k in range(begin, end):
            moved, spin = _take(entry[k].share)
            size = row[int(entry[k].row)].multiplier
            a = axpy(size, moved, a)
            e = axpy(size, spin, e)
    store(a, x.acceleration)
    store(e, x.angular_acceleration)


@kernel
def _outward(link, row, solver, run):
    """Set the multipliers of all rows from the base outward."""
    entry, front, carrier = solver.entry, solver.front, solver.carrier
    place = int(run.fronts) - 1
    for k in range(len(link)):
        if place < 0:
            return
        b = link[k]
        if k > 0 and b.carrier < 0.0:
            continue
        x = carrier[int(max(b.carrier, 0.0))]
        if k > 0:
            p = link[int(b.parent)]
            a = ZERO
            e = ZERO
            if p.carrier >= 0.0:
                y = carrier[int(p.carrier)]
                e = load(y.angular_acceleration)
                a = add(load(y.acceleration), cross(e, load(b.reach)))
            _accelerate(b, x, a, e, row, entry)
        while place >= 0 and front[place].link == k:
            _solve_front(front[place], b, x, row, solver)
            place -= 1


@kernel
def solve(link, cut, row, solver, run):
    """Set the multipliers of the independent rows so that the response of the rows is `wanted`.

    The links are accelerated. Returns 0, or 1 + the index of a row that depends on those before.
    """
    _begin(link, cut, row, solver, run)
    failed = _inward(link, row, solver, run)
    if failed == 0:
        _outward(link, row, solver, run)
    return failed
