"""A straight beam as an elastic body: shapes, modes, and inertia invariants (flexible 3.2, 3.3).

The frame E stands at the start of the beam. Its shapes are the six static ones of its end, Hermite's cubics across and
linear along it, and a quartic between clamped ends in each plane of bending, 16 x^2 (1 - x)^2: the Craig-Bampton
reduction of a uniform beam to its ends. Loads at the end are carried exactly; the quartic has the lowest frequency of a
clamped beam to 0.4 %. Mass lies in displaced rigid bodies at Gauss points, which integrate these polynomials exactly.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.flexible.ports import SHAPES
from dockfmu.components.physics.mechanics import eigen
from dockfmu.components.physics.mechanics.rotation import apply
from dockfmu.components.physics.mechanics.vector import accumulate, add, axpy, cross, dot, norm, scale, store

POINTS = (0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332)
WEIGHTS = (0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683, 0.118463442528095)
"""Gauss's five points and weights on 0 to 1, exact to degree 9."""
BEAM_MASS = 352
UPPER_ROW = (0, 0, 0, 1, 1, 2)
UPPER_COLUMN = (0, 1, 2, 1, 2, 2)
"""The upper triangle of a symmetric matrix, by rows."""


@kernel
def _across(e):
    """Return two unit vectors across a unit vector e and across each other."""
    axis = (0.0, 0.0, 1.0)
    if fabs(e[2]) > 0.9:
        axis = (0.0, 1.0, 0.0)
    one = cross(axis, e)
    one = scale(1.0 / norm(one), one)
    return one, cross(e, one)


@kernel
def _unit(a):
    """Return the unit vector number a."""
    return (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)


@kernel
def set_shapes(work, e, size, x):
    """Set displacement and rotation at x, 0 to 1 along a beam in the direction e, by a unit of each shape.

    Shapes 1 to 3 are displacements of the end, 4 to 6 its rotations, 7 and 8 the quartics in both planes.
    """
    cubic = x * x * (3.0 - 2.0 * x)
    slope = 6.0 * x * (1.0 - x) / size
    swing = size * x * x * (x - 1.0)
    turn = x * (3.0 * x - 2.0)
    moved, turned = work.moved, work.turned
    for a in range(3):
        u = _unit(a)
        along = scale(x * e[a], e)
        across = axpy(-e[a], e, u)
        leaning = cross(e, u)
        for i in range(3):
            moved[i, a] = along[i] + cubic * across[i]
            turned[i, a] = slope * leaning[i]
            moved[i, 3 + a] = -swing * leaning[i]
            turned[i, 3 + a] = along[i] + turn * across[i]
    bow = 16.0 * x * x * (1.0 - x) * (1.0 - x)
    tilt = 32.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / size
    one, other = _across(e)
    for i in range(3):
        moved[i, 6] = bow * one[i]
        moved[i, 7] = bow * other[i]
        turned[i, 6] = tilt * other[i]
        turned[i, 7] = -tilt * one[i]


@kernel
def set_stiffness(work, e, size, bending, torsion, extension):
    """Set the stiffness of the shapes of a beam: of its end against its start, and of the quartics."""
    K = work.stiffness
    for i in range(SHAPES):
        for j in range(SHAPES):
            K[i, j] = 0.0
    for a in range(3):
        leaning = cross(e, _unit(a))
        for b in range(3):
            along = e[a] * e[b]
            across = (1.0 if a == b else 0.0) - along
            K[a, b] = extension / size * along + 12.0 * bending / (size * size * size) * across
            K[3 + a, 3 + b] = torsion / size * along + 4.0 * bending / size * across
            # a rotation of the end moves it by -(e x u) of the slope
            K[b, 3 + a] = 6.0 * bending / (size * size) * leaning[b]
            K[3 + a, b] = K[b, 3 + a]
    for a in range(6, SHAPES):
        K[a, a] = 204.8 * bending / (size * size * size)


@kernel
def _column(matrix, a):
    """Return column a of a matrix with three rows."""
    return (matrix[0, a], matrix[1, a], matrix[2, a])


@kernel
def _store_column(v, matrix, a):
    """Store a vector in column a of a matrix with three rows."""
    for i in range(3):
        matrix[i, a] = v[i]


@kernel
def _move_beside(work, shift):
    """Change the displacements from those of the line to those of the mass beside it, at `shift` in link axes."""
    for a in range(SHAPES):
        _store_column(add(_column(work.moved, a), cross(_column(work.turned, a), shift)), work.moved, a)


@kernel
def _to_modes(work, values):
    """Change the displacements, or rotations, of the shapes to those of the modes, in place."""
    for i in range(3):
        row = (values[i, 0], values[i, 1], values[i, 2], values[i, 3], values[i, 4], values[i, 5], values[i, 6],
               values[i, 7])  # fmt: skip
        for a in range(SHAPES):
            total = 0.0
            for b in range(SHAPES):
                total += row[b] * work.modes[b, a]
            values[i, a] = total


@kernel
def _set_modes(work):
    """Set the modes of the beam held at its start, ascending. Returns False if the shapes have no mass.

    With M = L L^T and L^-1 K L^-T = V diag(omega^2) V^T they are L^-T V.
    """
    L, K, P, V = work.mass, work.stiffness, work.product, work.modes
    if not eigen.factor_cholesky(L):
        return False
    for j in range(SHAPES):
        for i in range(SHAPES):
            total = K[i, j]
            for k in range(i):
                total -= L[i, k] * P[k, j]
            P[i, j] = total / L[i, i]
    for i in range(SHAPES):
        for j in range(SHAPES):
            total = P[i, j]
            for k in range(j):
                total -= L[j, k] * K[i, k]
            K[i, j] = total / L[j, j]
    for i in range(SHAPES):
        for j in range(i):
            K[i, j] = 0.5 * (K[i, j] + K[j, i])
            K[j, i] = K[i, j]
    eigen.diagonalize_with_vectors(K, V)
    eigen.sort(K, V)
    for j in range(SHAPES):
        for i in range(SHAPES - 1, -1, -1):
            total = V[i, j]
            for k in range(i + 1, SHAPES):
                total -= L[k, i] * V[k, j]
            V[i, j] = total / L[i, i]
    return True


@kernel
def _clear_invariants(o, mode, pair):
    """Set the invariants of a body to zero."""
    store((0.0, 0.0, 0.0), o.moment)
    for i in range(6):
        o.inertia[i] = 0.0
    for a in range(SHAPES):
        p = mode[int(o.first_mode) + a]
        store((0.0, 0.0, 0.0), p.translation)
        store((0.0, 0.0, 0.0), p.rotation)
        for i in range(6):
            p.slope[i] = 0.0
        for b in range(SHAPES):
            q = pair[int(o.first_pair) + a * SHAPES + b]
            store((0.0, 0.0, 0.0), q.gyration)
            for i in range(6):
                q.curvature[i] = 0.0


@kernel
def _add_outer(factor, u, v, upper):
    """Add factor times (u . v) 1 - (u v^T + v u^T) / 2 to a symmetric matrix of six numbers."""
    inner = dot(u, v)
    for i in range(6):
        j, k = UPPER_ROW[i], UPPER_COLUMN[i]
        value = -0.5 * (u[j] * v[k] + v[j] * u[k])
        if j == k:
            value += inner
        upper[i] += factor * value


@kernel
def _add_body(work, o, mode, pair, mass, inertia, place):
    """Add a rigid body at a place in E, with central inertia, to the invariants I1 to I5 of a beam."""
    accumulate(scale(mass, place), o.moment)
    _add_outer(mass, place, place, o.inertia)
    for i in range(6):
        o.inertia[i] += inertia[UPPER_ROW[i]][UPPER_COLUMN[i]]
    for a in range(SHAPES):
        h = _column(work.moved, a)
        p = mode[int(o.first_mode) + a]
        accumulate(scale(mass, h), p.translation)
        spin = apply(inertia, _column(work.turned, a))
        accumulate(axpy(mass, cross(place, h), spin), p.rotation)
        _add_outer(2.0 * mass, h, place, p.slope)
        for b in range(SHAPES):
            g = _column(work.moved, b)
            q = pair[int(o.first_pair) + a * SHAPES + b]
            accumulate(scale(mass, cross(h, g)), q.gyration)
            _add_outer(mass, h, g, q.curvature)


@kernel
def _add_shape_mass(work, mass, inertia):
    """Add a rigid body at the place of the shapes to their mass matrix."""
    for a in range(SHAPES):
        h = _column(work.moved, a)
        spin = apply(inertia, _column(work.turned, a))
        for b in range(SHAPES):
            work.mass[a, b] += mass * dot(h, _column(work.moved, b)) + dot(spin, _column(work.turned, b))


@kernel
def set_beam_body(m, number, length, data, mass, inertia, shift):
    """Set modes and invariants of beam `number`, from 0: `m.flex`. Returns 0, or the code of a beam without mass.

    `length` is its vector, link axes; `data` = (EJ, GJ_p, EA); mass, central inertia of its sections in all (kg m2,
    rows), and their offset from its line.
    """
    work = m.beam
    mode, pair, shape = m.flex.mode, m.flex.pair, m.flex.shape
    o = m.flex.body[number]
    size = norm(length)
    e = scale(1.0 / size, length)
    for a in range(SHAPES):
        for b in range(SHAPES):
            work.mass[a, b] = 0.0
    for k in range(5):
        set_shapes(work, e, size, POINTS[k])
        _move_beside(work, shift)
        _add_shape_mass(work, WEIGHTS[k] * mass, scaled(WEIGHTS[k], inertia))
    set_stiffness(work, e, size, data[0], data[1], data[2])
    if not _set_modes(work):
        return fail(m.status, BEAM_MASS, 0.0, number + 1)
    _clear_invariants(o, mode, pair)
    for k in range(5):
        set_shapes(work, e, size, POINTS[k])
        _move_beside(work, shift)
        _to_modes(work, work.moved)
        _to_modes(work, work.turned)
        place = axpy(POINTS[k], length, shift)
        _add_body(work, o, mode, pair, WEIGHTS[k] * mass, scaled(WEIGHTS[k], inertia), place)
    for a in range(SHAPES):
        mode[int(o.first_mode) + a].frequency = sqrt(max(0.0, work.stiffness[a, a]))
        mode[int(o.first_mode) + a].damping = 0.0
        for i in range(6):
            shape[(number + 1) * SHAPES + a].value[i] = work.modes[i, a]
    return 0


@kernel
def scaled(factor, matrix):
    """Return a matrix of rows times a number."""
    return scale(factor, matrix[0]), scale(factor, matrix[1]), scale(factor, matrix[2])
