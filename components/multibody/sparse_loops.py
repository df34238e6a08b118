"""Multipliers of cut joints by a sparse matrix of all joints in loops, where the tree does not suit the loops.

Sought are the multipliers with which the response of the rows is `wanted`, as in `elimination`. Here the joints of the
tree have multipliers too, and bodies are free of each other: with the constraints J of all joints, their bonds, and the
mass matrices M of the bodies alone,

    (J M^-1 J^T + C) lambda = {0, wanted},

C = 1/D where an armature D of a free coordinate stands in the place of a constraint, 0 elsewhere. (28) of flexible 3.6.
The matrix is positive, so that any order of elimination is sound. It couples the joints of one body; which joints are
cut, and how far from the base, does not matter to it. A body has M = L L^T and adds (L^-1 J^T)^T (L^-1 J^T). An elastic
one has its modes in M, with what its implicit springs add, and the shapes of its nodes in J.

The base does not move in the response. `keep_masses` comes before the recursion, which overwrites what it reads.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import sparse_ldl
from dockfmu.components.multibody.pushes import pushes
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, dot, load, scale, subtract
from dockfmu.components.physics.tree.articulated import nine, resisted, six
from dockfmu.components.physics.tree.links import FIXED, FRAME, NODE, SCREW


@kernel
def _moved(b, frame, shape, j):
    """Return (motion, rotation) of the link b of an elastic body by its mode j with the frame at rest.

    Every other link than a node is the inner node, which carries the frame.
    """
    if b.kind == NODE:
        s = shape[int(b.first_shape) + j]
        return load(s.moved), load(s.turned)
    s = shape[int(frame.first_shape) + j]
    turn = load(s.turned)
    return subtract(cross(turn, load(frame.reach)), load(s.moved)), scale(-1.0, turn)


@kernel
def _beside(b, island, frame):
    """Return the place of the link b of an island from the reference point of the island."""
    if island.modes == 0.0 or b.kind == FRAME:
        return ZERO
    return load(b.reach) if b.kind == NODE else scale(-1.0, load(frame.reach))


@kernel
def _add_load(b, island, frame, shape, force, torque, vector):
    """Add to the loads on the accelerations of an island, its modes last, those of a wrench on its link b."""
    about = add(torque, cross(_beside(b, island, frame), force))
    for i in range(3):
        vector[i] += force[i]
        vector[i + 3] += about[i]
    if b.kind != FRAME:
        for j in range(int(island.modes)):
            moved, turned = _moved(b, frame, shape, j)
            vector[6 + j] += dot(moved, force) + dot(turned, torque)


@kernel
def _add_mass(b, island, frame, shape, mass):
    """Add the inertia of mechanisms on a node b of an elastic body to its mass matrix."""
    T, S, J = six(b.tt), nine(b.tr), six(b.rr)
    if not T[0] + T[3] + T[5] + J[0] + J[3] + J[5] > 0.0:
        return
    size = 6 + int(island.modes)
    beside = _beside(b, island, frame)
    for k in range(size):
        axis = k % 3
        one = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
        a = ZERO
        e = ZERO
        if k < 3:
            a = one
        elif k < 6:
            a = cross(one, beside)
            e = one
        else:
            a, e = _moved(b, frame, shape, k - 6)
        force, torque = resisted(T, S, J, a, e)
        _add_load(b, island, frame, shape, force, torque, mass[k * size : (k + 1) * size])


@kernel
def _set_mass(island, link, flex, affine, mass):
    """Set the mass matrix of a body alone: rows, of which the lower triangle is read."""
    b = link[int(island.link)]
    size = 6 + int(island.modes)
    place = 0
    for i in range(3):
        for j in range(3):
            mass[(3 + i) * size + j] = b.tr[3 * j + i]
        for j in range(i, 3):
            mass[j * size + i] = b.tt[place]
            mass[(3 + j) * size + 3 + i] = b.rr[place]
            place += 1
    if island.modes == 0.0:
        return
    o = flex.body[int(b.flex)]
    for j in range(int(island.modes)):
        m = flex.mode[int(o.first_mode) + j]
        row = (6 + j) * size
        for i in range(3):
            mass[row + i] = m.coupled_force[i]
            mass[row + 3 + i] = m.coupled_torque[i]
        for i in range(j + 1):
            mass[row + 6 + i] = flex.factor[int(o.factor) + j * int(o.count) + i]
        mass[row + 6 + j] += link[int(o.modes) + j].armature
    if affine:
        _add_mass(link[int(b.parent)], island, b, flex.shape, mass)
        for k in range(int(island.link) + 1, len(link)):
            if link[k].kind == NODE and link[k].parent == island.link:
                _add_mass(link[k], island, b, flex.shape, mass)


@kernel
def _factor_mass(size, mass):
    """Factor a mass matrix into L L^T in place, the diagonal of L inverted. Returns whether it is positive."""
    for i in range(size):
        row = i * size
        for j in range(i + 1):
            other = j * size
            total = mass[row + j]
            for k in range(j):
                total -= mass[row + k] * mass[other + k]
            if j < i:
                mass[row + j] = total * mass[other + j]
            elif total > 0.0:
                mass[row + i] = 1.0 / sqrt(total)
            else:
                return False
    return True


@kernel
def keep_masses(link, solver, run):
    """Factor the mass matrices of the bodies in loops, before the recursion adds to them what they carry."""
    if run.ties == 0.0:
        return
    loops = solver.sparse
    for k in range(len(loops.island)):
        island = loops.island[k]
        size = 6 + int(island.modes)
        first = int(island.mass)
        mass = loops.mass[first : first + size * size]
        _set_mass(island, link, solver.flex, run.affine_ports > 0.0, mass)
        island.sound = 1.0 if _factor_mass(size, mass) else 0.0


@kernel
def _wrench(tie, bond, link):
    """Set the wrenches of the bonds of a joint of the tree on both its links, and which of them hold."""
    first = load(link[int(bond[int(tie.first_bond)].link)].reach)
    second = ZERO
    k = int(tie.second)
    while k != int(tie.pivot):
        second = subtract(second, load(link[k].reach))
        k = int(link[k].parent)
    while k != int(bond[int(tie.first_bond)].link):
        first = add(first, load(link[k].reach))
        k = int(link[k].parent)
    for i in range(int(tie.first_bond), int(tie.first_bond + tie.bonds)):
        o = bond[i]
        o.active = 1.0
        o.spare = 0.0
        if o.stage >= 0.0:
            b = link[int(o.stage)]
            if b.held == 0.0:
                o.active = 0.0
                if FIXED < b.kind <= SCREW and b.armature > 0.0:
                    o.active = 1.0
                    o.spare = 1.0 / b.armature
        n = load_matrix(link[int(o.link)].rotation)[int(o.axis)]
        force = scale(o.slide, n)
        torque = scale(o.turn, n)
        _put(force, add(torque, cross(second, force)), o.second_pull)
        _put(scale(-1.0, force), scale(-1.0, add(torque, cross(first, force))), o.first_pull)


@kernel
def _wrench_of_row(o, row, cut):
    """Set the wrenches of a row of a cut joint on both its links, and whether it holds."""
    r = row[int(o.row)]
    c = cut[int(r.joint)]
    n = load(r.normal)
    o.active = r.independent
    o.spare = 0.0
    if pushes(r):
        point = load(c.rolling)
        _put(n, cross(add(load(c.second_reach), point), n), o.second_pull)
        _put(scale(-1.0, n), cross(n, add(load(c.first_reach), point)), o.first_pull)
    else:
        _put(ZERO, n, o.second_pull)
        _put(ZERO, scale(-1.0, n), o.first_pull)


@kernel
def _put(force, torque, pull):
    """Store a wrench as six numbers."""
    for i in range(3):
        pull[i] = force[i]
        pull[i + 3] = torque[i]


@kernel
def _set_share(end, island, link, loops, flex):
    """Set L^-1 J^T of the bonds of a joint at an island."""
    t = loops.tie[int(end.tie)]
    b = link[int(end.link)]
    frame = link[int(island.link)]
    size = 6 + int(island.modes)
    mass = loops.mass[int(island.mass) : int(island.mass) + size * size]
    for r in range(int(t.bonds)):
        o = loops.bond[int(t.first_bond) + r]
        x = loops.share[int(end.share) + r * size : int(end.share) + (r + 1) * size]
        for i in range(size):
            x[i] = 0.0
        if o.active == 0.0:
            continue
        pull = o.second_pull if end.second != 0.0 else o.first_pull
        force = (pull[0], pull[1], pull[2])
        torque = (pull[3], pull[4], pull[5])
        _add_load(b, island, frame, flex.shape, force, torque, x)
        for i in range(size):
            total = x[i]
            for k in range(i):
                total -= mass[i * size + k] * x[k]
            x[i] = total * mass[i * size + i]


@kernel
def _couple(one, other, size, loops, place):
    """Add to the panel of the tie of one end, at `place`, its coupling with the tie of the other by their island."""
    columns = int(loops.tie[int(one.tie)].bonds)
    rows = int(loops.tie[int(other.tie)].bonds)
    for r in range(rows):
        y = int(other.share) + r * size
        for c in range(columns):
            x = int(one.share) + c * size
            total = 0.0
            for k in range(size):
                total += loops.share[x + k] * loops.share[y + k]
            loops.panel[place + r * columns + c] += total


@kernel
def _add_island(island, link, loops, flex):
    """Add what a body couples."""
    size = 6 + int(island.modes)
    begin = int(island.first_end)
    last = int(island.first_end + island.ends)
    for e in range(begin, last):
        _set_share(loops.end[e], island, link, loops, flex)
    for e in range(begin, last):
        one = loops.end[e]
        t = loops.tie[int(one.tie)]
        search = int(t.first_below)
        place = int(t.panel)
        _couple(one, one, size, loops, place)
        before = one.tie
        for i in range(e + 1, last):
            other = loops.end[i]
            if other.tie == one.tie:
                # both ends of a joint on one elastic body
                _couple(one, other, size, loops, place)
                _couple(other, one, size, loops, place)
                continue
            if before == one.tie:
                place += int(t.bonds * t.bonds)
                before = other.tie
            while loops.below[search].tie != other.tie:
                place += int(loops.tie[int(loops.below[search].tie)].bonds * t.bonds)
                search += 1
            _couple(one, other, size, loops, place)


@kernel
def prepare(link, cut, row, solver, run):
    """Set and factor the matrix for links that were accelerated after `keep_masses`. Returns whether it could be."""
    loops = solver.sparse
    for j in range(len(loops.tie)):
        t = loops.tie[j]
        if loops.bond[int(t.first_bond)].row < 0.0:
            _wrench(t, loops.bond, link)
        else:
            for i in range(int(t.first_bond), int(t.first_bond + t.bonds)):
                _wrench_of_row(loops.bond[i], row, cut)
    for i in range(len(loops.panel)):
        loops.panel[i] = 0.0
    for k in range(len(loops.island)):
        if loops.island[k].sound == 0.0:
            return False
        _add_island(loops.island[k], link, loops, solver.flex)
    for j in range(len(loops.tie)):
        t = loops.tie[j]
        width = int(t.bonds)
        for c in range(width):
            o = loops.bond[int(t.first_bond) + c]
            place = int(t.panel) + c * width + c
            loops.panel[place] += o.spare
            if o.active == 0.0:
                loops.panel[place] = 1.0
            o.strength = loops.panel[place]
    return sparse_ldl.factor(loops.tie, loops.bond, loops.below, loops.panel, loops.scaled) == 0


@kernel
def add_multipliers(row, solver):
    """Add to the multipliers those that change the response of the independent rows by `rest`, after `prepare`."""
    loops = solver.sparse
    for i in range(len(loops.bond)):
        o = loops.bond[i]
        loops.value[i] = 0.0
        if o.row >= 0.0 and o.active != 0.0:
            loops.value[i] = row[int(o.row)].rest
    sparse_ldl.solve(loops.tie, loops.bond, loops.below, loops.panel, loops.value)
    for i in range(len(loops.bond)):
        o = loops.bond[i]
        if o.row >= 0.0 and o.active != 0.0:
            row[int(o.row)].multiplier += loops.value[i]
