"""Values that several tables of a declaration have: vectors, rotations, the two bodies that a part joins."""

from __future__ import annotations

from typing import Any

from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.model.vectors import Matrix, Vector


def vector(numbers: Any) -> Vector:
    """Return three numbers as a tuple."""
    x, y, z = map(float, numbers)
    return x, y, z


def matrix(rows: Any) -> Matrix:
    """Return three rows of three numbers as tuples."""
    x, y, z = map(vector, rows)
    return x, y, z


def pair(entries: Entries) -> tuple[str, str] | None:
    """Return the two bodies that a joint or a spring joins."""
    given = entries.items("bodies")
    if "bodies" not in entries:
        entries.problem("bodies", "is missing; give the two bodies, such as ['base', 'panel']")
        return None
    if len(given) > 2:
        entries.problem(
            "bodies",
            "joins exactly two bodies; enter the meeting of more in one hinge as several joints "
            "at one point (multibody-formulations E3)",
        )
        return None
    if len(given) != 2 or not all(isinstance(body, str) for body in given):
        entries.problem("bodies", "must be the names of two bodies")
        return None
    first, second = given
    return first, second
