"""Step control: macro steps of variable length, and retries of discarded ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dockfmu.base.messages import shown, with_article
from dockfmu.base.numbers import is_positive, real
from dockfmu.master.bond import Bond
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.variables import VISIBLE
from dockfmu.master.requests import Trigger
from dockfmu.master.system import Structure

DISCRETE = ("Integer", "Boolean")
"""Kinds of outputs whose changes can be located."""


@dataclass(frozen=True)
class StepDoubling:
    """Estimate the error from the difference between one step and two half steps. All FMUs must support rollback.

    Parameters
    ----------
    tolerance : float
        Largest difference of a continuous coupled output, relative to the largest magnitude that outputs of its
        instance and unit have had.
    order : int
        Power of the step that the difference is proportional to: 2 for held inputs, 3 for linear ones.
    """

    tolerance: float = 1e-4
    order: int = 2

    def __post_init__(self) -> None:
        _check_estimate(self.tolerance, self.order)


@dataclass(frozen=True)
class PowerBonds:
    """Estimate the error from the energy that power bonds create because their sides saw different efforts and flows.

    The energy is the difference between what one side supplied and what the other received, both with the values at the
    end of the step; for held inputs it is twice the energy created, to leading order (Sadjina, Kyllingstad, Skjong,
    Pedersen: Energy conservation and power bonds in co-simulations, 2017). Without rollback, a step that was too long
    only makes the next one shorter.

    Parameters
    ----------
    bonds : tuple of Bond
        The power bonds that are checked.
    tolerance : float
        Largest energy of each bond in a step, J.
    order : int
        Power of the step that the energy is proportional to.
    """

    bonds: tuple[Bond, ...]
    tolerance: float
    order: int = 2

    def __post_init__(self) -> None:
        _check_estimate(self.tolerance, self.order)


@dataclass(frozen=True)
class StepControl:
    """Vary the macro step between two bounds, by a PI controller on an estimate of its error.

    If all FMUs support rollback, steps that are too long or that jump over an event are repeated, and so are steps that
    an FMU discards or that give values that are not finite. After an event the steps begin with `event_step` again.

    Parameters
    ----------
    shortest, longest : float
        Bounds of the macro step, s.
    event_step : float
        An event is located to within a step of this length, s.
    estimate : StepDoubling or PowerBonds, optional
        Estimate of the error; without one, only events limit the step.
    locate : tuple of str, optional
        Integer and Boolean outputs whose changes are events, by full names or patterns with `*`. By default, all that
        are connected.
    levels : mapping of str to float
        Maps a Real output to the level whose crossing is an event.
    """

    shortest: float
    longest: float
    event_step: float
    estimate: StepDoubling | PowerBonds | None = None
    locate: tuple[str, ...] | None = None
    levels: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise StructureError(problems)

    def _problems(self) -> Iterator[str]:
        shortest, event_step, longest = map(real, (self.shortest, self.event_step, self.longest))
        if shortest is None or event_step is None or longest is None:
            given = ", ".join(map(shown, (self.shortest, self.longest, self.event_step)))
            yield f"step control: shortest, longest and event_step must be numbers, not {given}"
        elif not 0.0 < shortest <= event_step <= longest < math.inf:
            yield (
                f"step control: 0 < shortest ({shortest:g}) <= event_step ({event_step:g}) "
                f"<= longest ({longest:g}) is required"
            )
        if self.estimate is not None and not isinstance(self.estimate, StepDoubling | PowerBonds):
            yield f"step control: the estimate must be StepDoubling or PowerBonds, not {shown(self.estimate)}"
        if isinstance(self.locate, str):
            yield f"step control: locate must be a tuple of names, not the text {shown(self.locate)}"
        if not isinstance(self.levels, Mapping):
            yield f"step control: levels must map outputs to their levels, not {shown(self.levels)}"
            return
        for name, level in self.levels.items():
            if (number := real(level)) is None or not math.isfinite(number):
                yield f"step control: the level of {name} must be a finite number, not {shown(level)}"

    def check(self, system: Structure) -> None:
        """Raise StructureError for FMUs that lack a required capability, and for outputs that cannot be located."""
        doubling = isinstance(self.estimate, StepDoubling)
        problems = _unable(system, "step control by doubling" if doubling else "step control", rollback=doubling)
        located = _located(system, self) if self.locate else ()
        allowed = dict.fromkeys(located, DISCRETE) | dict.fromkeys(self.levels, ("Real",))
        for name, kinds in allowed.items():
            _, variable = system.resolve(name)
            what = f"{with_article(variable.causality)} of type {variable.type}"
            if variable.storage not in kinds or variable.causality not in VISIBLE:
                problems.append(f"step control cannot locate {name}, {what}")
        if problems:
            raise StructureError(problems)


@dataclass(frozen=True)
class Retry:
    """Take macro steps of one length, and retry a discarded step with smaller steps.

    A step is retried if an FMU discards it or if it gives values that are not finite. The smaller step ends at the last
    successful time if the FMU reports it; otherwise the step is halved. All FMUs must support rollback.

    Parameters
    ----------
    shortest : float
        Shortest step that is tried, s.
    """

    shortest: float

    def __post_init__(self) -> None:
        if not is_positive(self.shortest):
            raise StructureError([f"retrying steps: the shortest step must be positive, not {shown(self.shortest)}"])

    def check(self, system: Structure) -> None:
        """Raise StructureError for FMUs that lack a required capability."""
        problems = _unable(system, "retrying steps", rollback=True)
        if problems:
            raise StructureError(problems)

    @property
    def as_step_control(self) -> StepControl:
        """The step control whose tables retries use."""
        return StepControl(self.shortest, self.shortest, self.shortest, locate=())


def _check_estimate(tolerance: object, order: object) -> None:
    """Raise StructureError for a tolerance or an order with which no error can be estimated."""
    problems = []
    if not is_positive(tolerance):
        problems.append(f"step control: the tolerance must be positive, not {shown(tolerance)}")
    if not is_positive(order):
        problems.append(f"step control: the order of the estimate must be positive, not {shown(order)}")
    if problems:
        raise StructureError(problems)


def _unable(system: Structure, what: str, *, rollback: bool) -> list[str]:
    """Return sentences on the elements that cannot vary their step and on those that cannot roll back."""
    elements = [(name, element.every, system.description(name)) for name, element in system.elements.items()]
    lacking = {"cannot vary the step": [name for name, _, description in elements if not description.can_vary_step]}
    if rollback:
        lacking["cannot roll back (canGetAndSetFMUstate)"] = [n for n, _, d in elements if not d.can_get_and_set_state]
        lacking["cannot step in a fraction of macro steps"] = [name for name, every, _ in elements if every > 1]
    return [f"{what}: {', '.join(names)} {lack}" for lack, names in lacking.items() if names]


def located_changes(system: Structure, control: StepControl) -> list[Trigger]:
    """Return the triggers of the changes that are located."""
    return [*map(Trigger, _located(system, control)), *(Trigger(name, level) for name, level in control.levels.items())]


def _located(system: Structure, control: StepControl) -> list[str]:
    """Return the full names of the Integer and Boolean outputs whose changes are located."""
    if control.locate is None:
        connected = dict.fromkeys(f"{c.source}.{c.output}" for c in system.connections)
        return [name for name in connected if system.resolve(name)[1].storage in DISCRETE]
    names = {n: system.select(n, VISIBLE, DISCRETE) if "*" in n else [n] for n in control.locate}
    if nothing := [n for n, group in names.items() if not group]:
        raise StructureError([f"step control: no Boolean or Integer output is called {name}" for name in nothing])
    return list(dict.fromkeys(name for group in names.values() for name in group))
