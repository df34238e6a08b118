"""Models of a component that refuses to step from some of the moved memories."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from dockfmu.statespace.coordinates import Coordinate
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
