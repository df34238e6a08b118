"""Sums of momenta and energies over rows of values: how much of them is gone, or came from nowhere."""

from __future__ import annotations

from math import sqrt

from master.loop.compiled import compiled


@compiled
def drifts(values, first, momenta, impulses, drift):
    """Row by row into `drift`: how long the change of the sum of `momenta` is, less that of the sum of `impulses`.

    The 3-vectors are given by their columns of `values`, shape (vectors, 3); changes count from the row `first`.
    Returns the longest change of any momentum, and the longest momentum.
    """
    changed, longest = 0.0, 0.0
    for row in range(values.shape[0]):
        square = 0.0
        for axis in range(3):
            gained, given = 0.0, 0.0
            for m in range(momenta.shape[0]):
                gained += values[row, momenta[m, axis]] - first[momenta[m, axis]]
            for m in range(impulses.shape[0]):
                given += values[row, impulses[m, axis]] - first[impulses[m, axis]]
            square += (gained - given) * (gained - given)
        drift[row] = sqrt(square)
        for m in range(momenta.shape[0]):
            change, length = 0.0, 0.0
            for axis in range(3):
                value, start = values[row, momenta[m, axis]], first[momenta[m, axis]]
                change += (value - start) * (value - start)
                length += value * value
            changed, longest = max(changed, change), max(longest, length)
    return sqrt(changed), sqrt(longest)


@compiled
def _change(values, first, row, columns):
    total = 0.0
    for j in range(columns.size):
        total += values[row, columns[j]] - first[columns[j]]
    return total


@compiled
def residuals(values, first, stored, dissipated, supplied, residual):
    """Row by row into `residual`: by how much stored and dissipated energies have grown more than those supplied.

    Energies are given by their columns of `values`; changes count from the row `first`. Returns the largest magnitude
    of the sum of `stored`.
    """
    largest = 0.0
    for row in range(values.shape[0]):
        energy = 0.0
        for j in range(stored.size):
            energy += values[row, stored[j]]
        largest = max(largest, abs(energy))
        kept = _change(values, first, row, stored) + _change(values, first, row, dissipated)
        residual[row] = kept - _change(values, first, row, supplied)
    return largest
