"""What a coupling algorithm decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True)
class Implicit:
    """Sweeps of a macro step are repeated until the outputs that close a loop change by less than `tolerance`,
    relative to the largest magnitude that outputs of their instance and unit have had; at the most `sweeps` times.

    `relaxation` is the first one of a step by Aitken's method; `derivatives` takes the first Jacobian for Broyden's
    method from the directional derivatives of the FMUs that have them.
    """

    method: Literal["aitken", "broyden"]
    tolerance: float = 1e-8
    sweeps: int = 25
    relaxation: float = 1.0
    derivatives: bool = False


@dataclass(frozen=True)
class Scheme:
    """A macro step.

    The instances of a stage exchange their values, then all step; the next stage sees what they give. Inputs are held
    over the step, but those of the instances in `predicted` are straight lines: from the start through the end of what
    has stepped before, and for what steps later along its derivative: `rates` name the output that is the derivative of
    another (both as "element.variable"; those that a model description names are known), some FMUs give derivatives
    (`maxOutputDerivativeOrder`), for others it is the way of the last step.
    An instance that takes derivatives of inputs gets the line if `slopes`, others the value in its middle.

    The instances of a stage step side by side on as many `threads`.
    """

    stages: tuple[tuple[str, ...], ...]
    predicted: frozenset[str] = frozenset()
    slopes: bool = True
    derivatives: Mapping[str, str] = field(default_factory=dict)
    implicit: Implicit | None = None
    threads: int = 1


class Algorithm(Protocol):
    """How a macro step is taken."""

    @property
    def name(self) -> str: ...

    def scheme(self, order: Sequence[str]) -> Scheme:
        """The scheme for instances in execution order. Raises StructureError for a system it does not fit."""
        ...


def one_by_one(order: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Stages of one instance each."""
    return tuple((name,) for name in order)
