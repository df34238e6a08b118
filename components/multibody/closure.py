"""Closed chains: the forces of cut joints, from the response of the tree to them.

Theory: LOOP on ABA, multibody-formulations 3.6.

With the acceleration H q'' + gamma of the rows (`cut_rows`) in the motion without multipliers,

    (H M^-1 H^T) lambda = -(H q'' + gamma) - k1 g' - k0 g

gives the multipliers, g and g' being what the closure lacks in position and velocity (multibody-formulations 3.7).
They come from an elimination along the tree (`elimination`), and the tree responds to them (`pushes`). Rows that depend
on others are found by pivoting in H M^-1 H^T at the start and whenever a lock has closed or opened, and left out: the
force in a redundant constraint is not determined by rigid bodies.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import elimination, failures, sparse_loops
from dockfmu.components.multibody.cut_rows import (
    DISC,
    TRANSLATION,
    frames,
    joint_acceleration,
    row_acceleration,
    set_rows,
)
from dockfmu.components.multibody.pushes import add_response, clear_pushes, push, pushes, respond, row_response
from dockfmu.components.physics.mechanics.rotation import advance, apply, load_matrix, load_quaternion
from dockfmu.components.physics.mechanics.rotation import store_quaternion as keep_quaternion
from dockfmu.components.physics.mechanics.vector import ZERO, accumulate, cross, dot, load, scale, store
from dockfmu.components.physics.tree import links
from dockfmu.components.physics.tree.links import FIXED, FREE, REVOLUTE, SCREW, SPHERICAL

RANK = 1e-9
"""Pivot relative to the row's own response below which it depends on others: loops of grams stand beside tons."""
NEAR = 1e-10
"""m, rad: accepted error of the closure at the start."""
ATTEMPTS = 50
SPEED = 0.2
"""Frequency of the stabilisation times the micro-step, or the short one if that is longer."""
SLIP = 10.0
"""1/s: the joint's `closure_limit` times this is the accepted rate of what rolls and depends on others."""
CORRECTIONS = 4
EXACT, ACCEPTED = 1e-11, 1e-9
"""Of the sparse solution: at most so many; what rows lack, relative to the largest that is wanted."""
IMPACT = -1.0
RESPONSE = -2.0
"""In the place of a micro-step: accelerations stand for changes of rates."""


@kernel
def set_matrix(link, cut, row, solver, run):
    """Set H M^-1 H^T of the rows, after `links.accelerate`."""
    count = int(run.rows)
    matrix = solver.matrix
    for j in range(count):
        clear_pushes(link)
        push(link, cut, row[j], 1.0)
        respond(link, solver.flex)
        for i in range(count):
            matrix[i, j] = row_response(link, cut, row[i])


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
    for i in range(count):
        row[i].independent = 0.0
        least = RANK * RANK * _natural(link, cut[int(row[i].joint)], row[i].kind)
        row[i].strength = matrix[i, i] if matrix[i, i] > least else 0.0
    for _ in range(count):
        best = -1
        largest = RANK
        for i in range(count):
            if row[i].independent == 0.0 and matrix[i, i] > largest * row[i].strength > 0.0:
                best = i
                largest = matrix[i, i] / row[i].strength
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
def _rank(link, cut, row, solver, run):
    """Find the independent rows, for links that are accelerated and rows that are set; count the others by joint."""
    matrix = solver.matrix
    set_matrix(link, cut, row, solver, run)
    _choose_rows(link, cut, row, matrix, run)
    for k in range(int(run.cuts)):
        cut[k].redundant = 0.0
    run.rank = run.rows
    run.freedoms = 0.0
    for k in range(1, len(link)):
        b = link[k]
        if b.held == 0.0 and b.kind > FIXED:
            run.freedoms += 6.0 if b.kind == FREE else (3.0 if b.kind == SPHERICAL else 1.0)
    for i in range(int(run.rows)):
        if row[i].independent == 0.0:
            cut[int(row[i].joint)].redundant += 1.0
            run.rank -= 1.0
    run.freedoms -= run.rank


@kernel
def _push_all(link, cut, row, solver, run):
    """Push with all multipliers, and set the response."""
    clear_pushes(link)
    for i in range(int(run.rows)):
        if row[i].independent != 0.0:
            push(link, cut, row[i], row[i].multiplier)
    respond(link, solver.flex)


@kernel
def _solve_dense(link, cut, row, solver, run):
    """Set the multipliers as `elimination.solve` does, by the matrix of the rows: loops with elastic bodies."""
    set_matrix(link, cut, row, solver, run)
    matrix = solver.matrix
    count = int(run.rows)
    for i in range(count):
        row[i].multiplier = 0.0
        row[i].rest = row[i].wanted
        row[i].strength = matrix[i, i]
    for k in range(count):
        if row[k].independent == 0.0:
            continue
        pivot = matrix[k, k]
        if not pivot > elimination.LEAST_PIVOT * row[k].strength:
            return k + 1
        for i in range(k + 1, count):
            if row[i].independent == 0.0:
                continue
            factor = matrix[i, k] / pivot
            for j in range(k + 1, count):
                matrix[i, j] -= factor * matrix[k, j]
            row[i].rest -= factor * row[k].rest
    for k in range(count - 1, -1, -1):
        if row[k].independent == 0.0:
            continue
        total = row[k].rest
        for j in range(k + 1, count):
            if row[j].independent != 0.0:
                total -= matrix[k, j] * row[j].multiplier
        row[k].multiplier = total / matrix[k, k]
    return 0


@kernel
def _solve_sparse(link, cut, row, solver, run):
    """Set multipliers and response as `elimination.solve` and `_push_all` do. Returns whether all rows respond so.

    What the bodies alone lose of a row, by the response of the whole, is corrected.
    """
    if not sparse_loops.prepare(link, cut, row, solver, run):
        return False
    size = 0.0
    for i in range(int(run.rows)):
        o = row[i]
        o.multiplier = 0.0
        o.rest = o.wanted
        if o.independent != 0.0:
            size = max(size, fabs(o.wanted))
    left = size
    for _ in range(CORRECTIONS):
        sparse_loops.add_multipliers(row, solver)
        _push_all(link, cut, row, solver, run)
        before = left
        left = 0.0
        for i in range(int(run.rows)):
            o = row[i]
            if o.independent != 0.0:
                o.rest = o.wanted - row_response(link, cut, o)
                left = max(left, fabs(o.rest))
        if left <= EXACT * size:
            return True
        if not left < 0.1 * before:
            break
    return left <= ACCEPTED * size


@kernel
def _solve(link, cut, row, solver, run):
    """Set the multipliers and the response to them. Returns whether the rows determine them; else `run` tells."""
    if run.ties > 0.0 and _solve_sparse(link, cut, row, solver, run):
        return True
    if run.elastic > 0.0 or run.ties > 0.0:
        failed = _solve_dense(link, cut, row, solver, run)
    else:
        failed = elimination.solve(link, cut, row, solver, run)
    if failed:
        o = row[failed - 1]
        run.open = 1.0
        failures.note(run, failures.SINGULAR_CLOSURE, o.joint + 1.0, o.error)
        return False
    _push_all(link, cut, row, solver, run)
    return True


@kernel
def _watch(cut, row, run):
    """Note a loop that has opened, or a redundant row that is not so any more; what slips has no other error."""
    for i in range(int(run.rows)):
        o = row[i]
        limit = cut[int(o.joint)].closure_limit
        if o.kind >= DISC and o.independent == 0.0 and fabs(o.rate) > SLIP * limit:
            failures.note(run, failures.SLIPS, o.joint + 1.0, fabs(o.rate))
        elif fabs(o.error) > limit:
            code = failures.OPENED if o.independent != 0.0 else failures.RANK_CHANGED
            failures.note(run, code, o.joint + 1.0, o.error)


@kernel
def constrain(link, cut, row, solver, run, h):
    """Add the forces of the cut joints to the accelerations of a micro-step h; h = 0: no stabilisation.

    The links are placed with their velocities and accelerated. With h = IMPACT or RESPONSE, accelerations stand for
    changes of rates; in an impact the rates of the rows are to become zero, else they stay. Sets `run.open` if the
    constraints cannot be solved.
    """
    if run.rows == 0.0:
        return
    impact = h < 0.0
    set_rows(link, cut, row, run)
    if run.rank_again != 0.0:
        run.rank_again = 0.0
        _rank(link, cut, row, solver, run)
    if h > 0.0:
        _watch(cut, row, run)
    for k in range(int(run.cuts)):
        joint_acceleration(link, cut[k], not impact)
    # a sliver of a step is not to close in it what longer ones have opened
    speed = SPEED / max(h, run.short) if h > 0.0 else 0.0
    for i in range(int(run.rows)):
        o = row[i]
        o.wanted = -row_acceleration(cut, o, not impact)
        if h == IMPACT:
            o.wanted -= o.rate
        elif not impact:
            o.wanted -= speed * (2.0 * o.rate + speed * o.error)
    if _solve(link, cut, row, solver, run):
        add_response(link)


@kernel
def constrain_again(link, cut, row, solver, run, h):
    """Constrain accelerations that have changed since `constrain`; multipliers are the sums of both."""
    if run.rows == 0.0 or run.open != 0.0:
        return
    for i in range(int(run.rows)):
        row[i].earlier = row[i].multiplier
    constrain(link, cut, row, solver, run, h)
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
def accelerate(link, to_base, solver, run):
    """Set all accelerations as `links.accelerate` does, and what `constrain` and `correct` then solve loops with."""
    sparse_loops.keep_masses(link, solver, run)
    links.accelerate(link, to_base, solver.flex)


@kernel
def correct(link, cut, row, solver, run, rates):
    """Correct coordinates or rates once by what the rows lack; the links are placed with their velocities."""
    accelerate(link, False, solver, run)
    for i in range(int(run.rows)):
        o = row[i]
        o.wanted = -o.rate if rates else -o.error
    if not _solve(link, cut, row, solver, run):
        return
    if rates:
        _shift_rates(link)
    else:
        _shift(link)


@kernel
def measure(link, cut, row, solver, run):
    """Find the independent rows, for links that are placed with their velocities; count the others by joint."""
    set_rows(link, cut, row, run)
    links.accelerate(link, False, solver.flex)
    _rank(link, cut, row, solver, run)


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
        first, _ = frames(c)
        n = load(o.normal)
        push = scale(o.multiplier, (dot(first[0], n), dot(first[1], n), dot(first[2], n)))
        if pushes(o):
            accumulate(push, c.force)
            r = load(c.rolling)
            arm = (dot(first[0], r), dot(first[1], r), dot(first[2], r))
            accumulate(cross(arm, push), c.torque)
        else:
            accumulate(push, c.torque)
        c.error = max(c.error, fabs(o.error))
