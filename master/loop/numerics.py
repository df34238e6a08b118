"""Compiled numerics on plain arrays: scales of errors, an inverse, extremes, and balances over recorded rows."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dockfmu.master.loop.compiler import compiled

BLOCK = 32
"""Number of rows whose extremes are found before they are compared with those of earlier rows."""


@compiled
def grow(scale, group, slot, values):
    """Raise each scale to the largest magnitude of the values of its group."""
    for j in range(slot.size):
        scale[group[j]] = max(scale[group[j]], abs(values[slot[j]]))


@compiled
def weight(scale):
    """Return 1 / scale, bounded so that its square is finite where the scale is 0."""
    return 1.0 / max(scale, 1e-150)


@compiled
def relative(difference, scale):
    """Return |difference| / scale, 0 where both are 0."""
    return 0.0 if difference == 0.0 else abs(difference) * weight(scale)


@compiled
def invert(a, inverse):
    """Invert the square matrix `a`, which is destroyed, by Gauss-Jordan elimination with partial pivoting.

    Directions in which `a` is singular are left out.
    """
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        for j in range(n):
            a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            inverse[k, j], inverse[pivot, j] = inverse[pivot, j], inverse[k, j]
        factor = 1.0 / a[k, k] if a[k, k] != 0.0 else 0.0
        for j in range(n):
            a[k, j] *= factor
            inverse[k, j] *= factor
        for i in range(n):
            if i != k:
                factor = a[i, k]
                for j in range(n):
                    a[i, j] -= factor * a[k, j]
                    inverse[i, j] -= factor * inverse[k, j]


@compiled
def _extremes_of_block(values, first, last, high, low, nan):
    """Find the extremes of each column in the rows `first` to `last`, without branches, so that it vectorizes.

    `nan` becomes NaN where a column has one.
    """
    for column in range(values.shape[1]):
        high[column] = low[column] = values[first, column]
        nan[column] = 0.0
    # four rows for each access to what was found so far
    whole = first + (last - first) // 4 * 4
    for row in range(first, whole, 4):
        for column in range(values.shape[1]):
            a, b = values[row, column], values[row + 1, column]
            c, d = values[row + 2, column], values[row + 3, column]
            most, least = high[column], low[column]
            most = a if a > most else most
            most = b if b > most else most
            most = c if c > most else most
            most = d if d > most else most
            least = a if a < least else least
            least = b if b < least else least
            least = c if c < least else least
            least = d if d < least else least
            high[column], low[column] = most, least
            nan[column] = np.nan if (a != a) | (b != b) | (c != c) | (d != d) else nan[column]
    for row in range(whole, last):
        for column in range(values.shape[1]):
            value = values[row, column]
            high[column] = value if value > high[column] else high[column]
            low[column] = value if value < low[column] else low[column]
            nan[column] = np.nan if value != value else nan[column]


@compiled
def _time_of(time, values, first, column, value):
    """Return the time of the first row, from `first` on, that has a value."""
    row = first
    while values[row, column] != value:
        row += 1
    return time[row]


@compiled
def extremes(time, values, highest, highest_time, lowest, lowest_time, work):
    """Update the extremes of columns, shape (m,) each, by the rows of time, shape (n,), and values, shape (n, m).

    Of equal values the first counts. A column that was ever NaN stays NaN. `work`, shape (3, m), is overwritten.
    """
    rows, columns = values.shape
    high, low, nan = work[0], work[1], work[2]
    for first in range(0, rows, BLOCK):
        _extremes_of_block(values, first, min(first + BLOCK, rows), high, low, nan)
        for column in range(columns):
            if nan[column] != nan[column]:
                highest[column] = lowest[column] = np.nan
            if high[column] > highest[column]:
                highest[column] = high[column]
                highest_time[column] = _time_of(time, values, first, column, high[column])
            if low[column] < lowest[column]:
                lowest[column] = low[column]
                lowest_time[column] = _time_of(time, values, first, column, low[column])


@compiled
def resultants(time, values, vectors, squares, times):
    """Update the squares of the largest resultants, and their times, by the rows of time and values.

    The 3-vectors are given by their columns of `values`, shape (vectors, 3). Of `squares` and `times`, shape
    (vectors, 2), the first column is that across x, the second that of all three elements. Of equal ones the first
    counts; one that is NaN does not.
    """
    for row in range(values.shape[0]):
        for v in range(vectors.shape[0]):
            x, y, z = values[row, vectors[v, 0]], values[row, vectors[v, 1]], values[row, vectors[v, 2]]
            across = y * y + z * z
            for k, square in enumerate((across, x * x + across)):
                if square > squares[v, k]:
                    squares[v, k] = square
                    times[v, k] = time[row]


@compiled
def drifts(values, first, momenta, impulses, drift):
    """Compute, for each row, the norm of the change of the sum of `momenta` less that of the sum of `impulses`.

    The 3-vectors are given by their columns of `values`, shape (vectors, 3); changes count from the row `first`; the
    norms go into `drift`. Returns the largest change of any momentum, and the largest momentum.
    """
    changed, longest = 0.0, 0.0
    for row in range(values.shape[0]):
        x, y, z = 0.0, 0.0, 0.0
        for m in range(momenta.shape[0]):
            i, j, k = momenta[m, 0], momenta[m, 1], momenta[m, 2]
            a, b, c = values[row, i], values[row, j], values[row, k]
            longest = max(longest, a * a + b * b + c * c)
            a, b, c = a - first[i], b - first[j], c - first[k]
            changed = max(changed, a * a + b * b + c * c)
            x, y, z = x + a, y + b, z + c
        u, v, w = 0.0, 0.0, 0.0
        for m in range(impulses.shape[0]):
            i, j, k = impulses[m, 0], impulses[m, 1], impulses[m, 2]
            u, v, w = u + (values[row, i] - first[i]), v + (values[row, j] - first[j]), w + (values[row, k] - first[k])
        x, y, z = x - u, y - v, z - w
        drift[row] = sqrt(x * x + y * y + z * z)
    return sqrt(changed), sqrt(longest)


@compiled
def _about(values, row, pole, angular, linear, axis):
    """Return a component of an angular momentum about `pole`, from that about the origin and the linear momentum."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    arm = values[row, pole[a]] * linear[b] - values[row, pole[b]] * linear[a]
    return angular[axis] - arm


@compiled
def drifts_about(values, first, pole, angular, angular_impulses, linear, linear_impulses, work, drift):
    """Compute, for each row, the norm of the change of the angular momentum of all about the place `pole` of that row.

    `angular` and `linear` are the columns of the momenta of instances one by one, about the origin, `angular_impulses`
    and `linear_impulses` those of what was supplied. Changes count from the row `first`. `work` has the shape (4, 3).
    Returns the largest change of any momentum about the pole, and the largest momentum about the origin.
    """
    changed, longest = 0.0, 0.0
    gained, moved, turned, shifted = work[0], work[1], work[2], work[3]
    for row in range(values.shape[0]):
        for axis in range(3):
            gained[axis] = -_change(values, first, row, angular_impulses[:, axis])
            moved[axis] = -_change(values, first, row, linear_impulses[:, axis])
        for m in range(angular.shape[0]):
            length = 0.0
            for axis in range(3):
                length += values[row, angular[m, axis]] * values[row, angular[m, axis]]
                turned[axis] = values[row, angular[m, axis]] - first[angular[m, axis]]
                shifted[axis] = values[row, linear[m, axis]] - first[linear[m, axis]]
                gained[axis] += turned[axis]
                moved[axis] += shifted[axis]
            square = 0.0
            for axis in range(3):
                square += _about(values, row, pole, turned, shifted, axis) ** 2
            changed, longest = max(changed, square), max(longest, length)
        square = 0.0
        for axis in range(3):
            square += _about(values, row, pole, gained, moved, axis) ** 2
        drift[row] = sqrt(square)
    return sqrt(changed), sqrt(longest)


@compiled
def _change(values, first, row, columns):
    """Return the change of the sum of columns since the row `first`."""
    total = 0.0
    for j in range(columns.size):
        total += values[row, columns[j]] - first[columns[j]]
    return total


@compiled
def _work_of(velocity, values, first, row, momenta):
    """Return the product of a velocity and the change of the sum of 3-vectors since the row `first`."""
    total = 0.0
    for axis in range(3):
        for m in range(momenta.shape[0]):
            total += velocity[axis] * (values[row, momenta[m, axis]] - first[momenta[m, axis]])
    return total


@compiled
def residuals(values, first, kinetic, stored, dissipated, supplied, momenta, impulses, velocity, changes, residual):
    """Compute, for each row, the growth of stored and dissipated energies less that of the supplied energies.

    Energies are given by their columns of `values`; changes count from the row `first`; the differences go into
    `residual`. They are those in a frame that moves with `velocity`, in which a kinetic energy changes by the product
    of `velocity` and the change of the momentum less, and the work from outside by that with the impulses.

    The least and largest change of the sum of `kinetic`, then of that of `stored`, widen those in `changes`. Returns
    the largest magnitude of the sums.
    """
    largest = 0.0
    for row in range(values.shape[0]):
        motion, energy = 0.0, 0.0
        for j in range(kinetic.size):
            motion += values[row, kinetic[j]]
        for j in range(stored.size):
            energy += values[row, stored[j]]
        largest = max(largest, abs(motion), abs(energy))
        motion = _change(values, first, row, kinetic) - _work_of(velocity, values, first, row, momenta)
        energy = _change(values, first, row, stored)
        changes[0], changes[1] = min(changes[0], motion), max(changes[1], motion)
        changes[2], changes[3] = min(changes[2], energy), max(changes[3], energy)
        given = _change(values, first, row, supplied) - _work_of(velocity, values, first, row, impulses)
        residual[row] = motion + energy + _change(values, first, row, dissipated) - given
    return largest
