"""The interface of coupling algorithms, and the scheme of a macro step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from dockfmu.base.messages import shown
from dockfmu.base.numbers import LARGEST_COUNT, is_integer, is_positive
from dockfmu.master.errors import StructureError


@dataclass(frozen=True)
class Implicit:
    """Iteration over a macro step.

    The sweep is repeated, at most `sweeps` times, until the residual of the outputs that close a loop is below
    `tolerance`, relative to the largest magnitude that outputs of their instance and unit have had. `relaxation` is the
    first relaxation factor of a step in Aitken's method. With `derivatives`, the first Jacobian of Broyden's method is
    computed from the directional derivatives of the FMUs that provide them.
    """

    method: Literal["aitken", "broyden"]
    tolerance: float = 1e-8
    sweeps: int = 25
    relaxation: float = 1.0
    derivatives: bool = False


@dataclass(frozen=True)
class Scheme:
    """Order of operations in a macro step.

    The inputs of all instances of a stage are set, then all of them step; the next stage sees their new outputs. Inputs
    are held over the step, except those of the instances in `predicted`, which are straight lines: interpolated if the
    source has already stepped, extrapolated otherwise. The slope of an extrapolation is, in order of preference, the
    output that is the derivative (`derivatives` maps an output to it, both as "element.variable"; those that a model
    description declares are known), the derivative that the FMU provides (`maxOutputDerivativeOrder`), or the increment
    over the last step. With `slopes`, instances that accept input derivatives get the line; all others get the value in
    the middle of the step.

    The instances of a stage step in parallel on `threads` threads.
    """

    stages: tuple[tuple[str, ...], ...]
    predicted: frozenset[str] = frozenset()
    slopes: bool = True
    derivatives: Mapping[str, str] = field(default_factory=dict)
    implicit: Implicit | None = None
    threads: int = 1


class Algorithm(Protocol):
    """A coupling algorithm."""

    @property
    def name(self) -> str:
        """The name by which users select it."""
        ...

    def scheme(self, order: Sequence[str]) -> Scheme:
        """Return the scheme for instances in order of execution. Raises StructureError for systems it does not fit."""
        ...


def check_iteration(name: str, tolerance: object, sweeps: object, relaxation: object = 1.0) -> None:
    """Raise StructureError for values with which an implicit algorithm cannot iterate."""
    problems = []
    if not is_positive(tolerance):
        problems.append(f"algorithm {name}: the tolerance must be positive and finite, not {shown(tolerance)}")
    if not (is_integer(sweeps) and 1 <= sweeps <= LARGEST_COUNT):  # type: ignore[operator]
        problems.append(f"algorithm {name}: sweeps must be an integer from 1 to {LARGEST_COUNT}, not {shown(sweeps)}")
    if not is_positive(relaxation):
        problems.append(f"algorithm {name}: the relaxation factor must be positive and finite, not {shown(relaxation)}")
    if problems:
        raise StructureError(problems)


def one_by_one(order: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return a stage for each instance."""
    return tuple((name,) for name in order)
