"""Jacobians of small stand-ins: moves that are refused, states that no output depends on, rotations."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from dockfmu.statespace.coordinates import Coordinate, coordinates, differences
from dockfmu.statespace.differences import constant, jacobian, relevant
from dockfmu.statespace.memory import Place

pytestmark = pytest.mark.quick

SPEED, ANGLE, FIRST, SECOND, FORCE = range(5)
SPAN = 2.0


@dataclass
class Linkage:
    """Stand for the operating point of a driven coordinate beside two arms in line that fill a span.

    A step of 0.1 s is refused if the span is left open by more than `limit`, as a declared model refuses open loops.
    """

    limit: float
    memory: np.ndarray = field(default_factory=lambda: np.array([0.5, 0.2, 1.0, 1.0, 0.0]))
    places: list[Place] = field(
        default_factory=lambda: [
            Place(f"number{k}", "1", "Real", "input" if k == FORCE else "private", "continuous", k) for k in range(5)
        ]
    )

    def after(self, memory, count=1):
        """Return the memory after some steps, None if the span is open."""
        if abs(memory[FIRST] + memory[SECOND] - SPAN) > self.limit:
            return None
        result = memory.copy()
        for _ in range(count):
            result[SPEED] += 0.1 * (memory[FORCE] - result[ANGLE] * memory[FIRST])
            result[ANGLE] += 0.1 * result[SPEED]
        return result


def test_large_moves_that_open_a_loop_leave_the_small_ones():
    """Both arms may move by 1e-4, not by 1e-3 to either side: d speed / d length = -0.1 angle, without a warning."""
    states = [Coordinate(f"number{k}", "1", (k,)) for k in (SPEED, ANGLE, FIRST, SECOND)]
    found = jacobian(Linkage(5e-4), states, states, 1)
    expected = [[1.0, -0.1, -0.02, 0.0], [0.1, 0.99, -0.002, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    np.testing.assert_allclose(found.matrix, expected, rtol=0.0, atol=1e-10)
    assert np.all(found.error < 1e-8)
    assert not found.corners.any()
    assert not found.jumps.any()


@pytest.mark.parametrize("limit", [5e-4, 1e-6], ids=["they can", "they cannot"])
def test_constants_are_found_whether_or_not_they_can_move_together(limit):
    """Moves are 0.5e-6 to 1e-6 each: two of them open the span by more than 1e-6. Speed and angle do change."""
    assert constant(Linkage(limit), [SPEED, ANGLE, FIRST, SECOND]) == [FIRST, SECOND]


def test_a_number_that_cannot_move_is_told_as_refused():
    assert relevant(Linkage(1e-9), [SPEED, ANGLE, FIRST, SECOND], 1) == ([SPEED, ANGLE], [FIRST, SECOND])


@dataclass
class Chain:
    """Stand for the operating point of numbers that each follow the next one: 0 is the output, 4 and 5 are apart.

    It counts the steps that are taken.
    """

    memory: np.ndarray = field(default_factory=lambda: np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    taken: int = 0

    def after(self, memory, count=1):
        """Return the memory after a step; None if number 3 has moved by more than 5e-4."""
        self.taken += 1
        if abs(memory[3] - 0.4) > 5e-4:
            return None
        return np.array([2.0 * memory[1], 3.0 * memory[2], memory[3] ** 2, 0.5 * memory[3], memory[5], memory[0]])


def test_states_that_no_output_depends_on_cost_one_pair_of_moves():
    """The output follows 1, 2 and, though it refuses the largest moves, 3; 0 is read by 5 and 5 by 4 alone."""
    states = [Coordinate(f"number{k}", "1", (k,)) for k in range(1, 6)]
    rows = [*states, Coordinate("number0", "1", (0,))]
    whole, part = Chain(), Chain()
    expected = jacobian(whole, rows, states, 1).matrix
    found = jacobian(part, rows, states, 1, len(states)).matrix
    np.testing.assert_array_equal(found[:, :3], expected[:, :3])
    np.testing.assert_allclose(found[[5, 0, 1], [0, 1, 2]], [2.0, 3.0, 0.8], rtol=1e-9)
    assert expected[3, 4] == pytest.approx(1.0)
    assert not found[:, 3:].any()
    assert (whole.taken, part.taken) == (1 + 5 * 12, 1 + 3 * 12 + 2 * 2)


def test_a_rotation_differs_by_what_it_was_moved():
    """About each axis of a frame that stands anywhere, to second order in the move."""
    names = ["x", *(f"body.quaternion[{k}]" for k in (1, 2, 3, 4))]
    chosen = coordinates(names, ["m", *4 * ["1"]], range(5))
    assert [one.axis for one in chosen[1:]] == [0, 1, 2]
    base = np.array([3.0, 0.5, -0.1, 0.7, 0.5])
    for k, one in enumerate(chosen):
        moved = base.copy()
        one.move(moved, 1e-4)
        np.testing.assert_allclose(differences(chosen)(moved, base), 1e-4 * (np.arange(4) == k), atol=1e-12)
