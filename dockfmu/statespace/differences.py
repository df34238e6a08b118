"""Derivatives of a step by differences: which numbers of the memory are a state, and the Jacobian.

Every number that the next step reads is found by moving groups of numbers at once and halving the groups that matter.
The derivatives are central differences of several sizes; for each entry that size is taken at which two neighbours
agree best, rounding counted, and their disagreement is the error that is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.statespace.coordinates import Coordinate, differences
from dockfmu.statespace.operating_point import OperatingPoint

SIZES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Sizes of the differences, relative to the scale of a coordinate."""
PROBE = 1e-6
"""Size of the moves that find out what is read."""
CORNER = 0.1
"""Differences to both sides that disagree by more than this part are those of a corner."""
JUMP = 1e-6
"""Smallest jump, relative to the value of a row or to 1 in SI units: less is rounding."""
LEAST = 1e-2
"""Smallest magnitude of a row, in SI units, that its rounding is taken for: a value of 0 is a sum of larger ones."""
_GROUP = 256


def scale(value: float) -> float:
    """Return the scale of a number of the memory: 1 in SI units, more for large values."""
    return max(1.0, 1e-2 * abs(value))


def relevant(
    point: OperatingPoint, candidates: Sequence[int], count: int, copies: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """Return the candidates that the next `count` steps read, and those with which an FMU refuses to step.

    A number that is recomputed, or that is only added to, changes nothing else: it is no state of the dynamics.
    `copies` are numbers that keep what others were before the step: they do not count as changed.
    """
    base = point.memory
    counts = np.ones(len(base), bool)
    counts[list(copies)] = False
    reference = point.after(base, count)
    assert reference is not None, "the step was taken before"
    random = np.random.default_rng(35)
    factors = random.uniform(0.5, 1.0, len(base))
    found: list[int] = []
    refused: list[int] = []
    queue = [list(candidates[k : k + _GROUP]) for k in range(0, len(candidates), _GROUP)]
    while queue:
        group = queue.pop()
        moved = base.copy()
        for index in group:
            moved[index] += PROBE * scale(base[index]) * factors[index]
        result = point.after(moved, count)
        if result is not None:
            changed = np.flatnonzero((result != reference) & counts)
            inside = set(group)
            # a sum that starts elsewhere ends elsewhere, but for rounding
            error = np.abs(result - reference - (moved - base))
            rounding = 4.0 * np.finfo(float).eps * (np.abs(result) + np.abs(moved))
            if all(k in inside and error[k] <= rounding[k] for k in changed):
                continue
        if len(group) == 1:
            (refused if result is None else found).append(group[0])
        else:
            half = len(group) // 2
            queue += [group[:half], group[half:]]
    return sorted(found), sorted(refused)


def constant(point: OperatingPoint, candidates: Sequence[int]) -> list[int]:
    """Return the candidates that a step leaves as they are, whichever of the other numbers or continuous inputs moves.

    One number is moved at a time: flags and indices among the candidates, moved together with the states, would switch
    off what acts on these. The operating point is that of one element.
    """
    base = point.memory
    factors = np.random.default_rng(36).uniform(0.5, 1.0, len(base))
    inputs = [index for index, place in enumerate(point.places) if place is not None and place.drives]
    left = np.array(candidates, int)
    for mover in sorted({*candidates, *inputs}):
        moved = base.copy()
        moved[mover] += PROBE * scale(base[mover]) * factors[mover]
        result = point.after(moved)
        if result is not None:
            left = left[result[left] == moved[left]]
    return [int(index) for index in left]


@dataclass
class Jacobian:
    """Derivatives of rows after a step by columns before it, with their errors and what is remarkable about them."""

    matrix: np.ndarray
    error: np.ndarray
    corners: np.ndarray
    """Whether the derivatives to both sides differ."""
    jumps: np.ndarray
    """Whether there is no derivative: the row jumps, however small the move of the column."""

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> Jacobian:
        """Return some rows and columns."""
        chosen = np.ix_(rows, columns)
        return Jacobian(self.matrix[chosen], self.error[chosen], self.corners[chosen], self.jumps[chosen])


def jacobian(
    point: OperatingPoint, rows: Sequence[Coordinate], columns: Sequence[Coordinate], count: int, states: int = 0
) -> Jacobian:
    """Return the derivatives of `rows` after `count` steps by `columns` before them.

    The first `states` of the rows and of the columns are the same coordinates. Columns of those that no further row
    depends on, directly or through others, are left at 0: the largest moves to both sides tell them apart.
    """
    base = point.memory
    reference = point.after(base, count)
    assert reference is not None, "the step was taken before"
    shape = len(rows), len(columns)
    found = Jacobian(np.zeros(shape), np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool))
    magnitude = np.array([max(abs(reference[list(row.indices)]).max(), LEAST) for row in rows])
    difference = differences(rows)

    def slopes(column: Coordinate, relative: float) -> np.ndarray:
        """Return the difference quotients to both sides (2, rows), NaN where the FMU refuses the move."""
        size = relative * scale(base[column.indices[0]])
        sides = np.full((2, len(rows)), np.nan)
        for side, sign in enumerate((1.0, -1.0)):
            moved = base.copy()
            column.move(moved, sign * size)
            result = point.after(moved, count)
            if result is not None:
                sides[side] = difference(result, reference) / (sign * size)
        return sides

    largest = [slopes(column, SIZES[0]) for column in columns]
    moves = np.array([np.any(sides != 0.0, axis=0) for sides in largest], bool).reshape(len(columns), len(rows)).T
    for k in [*sorted(_reached(moves, states)), *range(states, len(columns))]:
        size = scale(base[columns[k].indices[0]])
        sides = np.array([largest[k], *(slopes(columns[k], relative) for relative in SIZES[1:])])
        _choose(found, k, sides, magnitude / size, JUMP * np.maximum(1.0, magnitude) / size)
    return found


def _reached(moves: np.ndarray, states: int) -> set[int]:
    """Return those of the first `states` columns that move a row beyond the first `states`, perhaps through others."""
    reached: set[int] = set()
    rows = list(range(states, len(moves)))
    while rows:
        rows = [k for k in range(states) if k not in reached and moves[rows, k].any()]
        reached.update(rows)
    return reached


def _choose(found: Jacobian, k: int, sides: np.ndarray, rounding: np.ndarray, least_jump: np.ndarray) -> None:
    """Choose the size of the difference for each row of column k, and note corners and jumps."""
    sizes = np.array(SIZES)[:, None]
    # where the FMU refused the move to one side, the other side counts
    ahead, behind = sides[:, 0], sides[:, 1]
    central = np.where(np.isnan(ahead), behind, np.where(np.isnan(behind), ahead, 0.5 * (ahead + behind)))
    noise = 4.0 * np.finfo(float).eps * rounding / sizes
    disagreement = np.abs(np.diff(central, axis=0)) + noise[:-1]
    usable = np.where(np.isnan(disagreement), np.inf, disagreement)
    best = usable.argmin(axis=0)
    across = np.arange(len(rounding))
    value, error = central[best, across], usable[best, across]
    forward, backward = sides[best, 0, across], sides[best, 1, across]
    split = np.abs(forward - backward)
    largest = np.maximum(np.abs(forward), np.abs(backward))
    # at a smooth extremum the two sides agree more and more as the move shrinks
    smaller = np.minimum(best + 1, len(SIZES) - 1)
    stays = np.abs(sides[smaller, 0, across] - sides[smaller, 1, across]) > 0.5 * split
    corner = stays & (split > CORNER * largest) & (split > 20.0 * noise[smaller, across])
    # a change that does not shrink with the move is a jump
    farthest = np.fmax(np.abs(sides[:, 0]), np.abs(sides[:, 1])) * sizes
    first, last = farthest[1], farthest[-2]
    found.jumps[:, k] = jump = (last > 0.3 * first) & (last > least_jump)
    found.corners[:, k] = corner & ~jump
    found.matrix[:, k] = np.where(np.abs(value) > 2.0 * noise[best, across], value, 0.0)
    found.error[:, k] = np.where(np.isfinite(error), error, 0.0)
