"""Steps of variable length: what they are chosen by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from master.bond import Bond
from master.errors import StructureError
from master.fmi.variables import VISIBLE
from master.loop import tables
from master.system import System
from master.tables.iteration import scale_groups
from master.tables.triggers import Watch

if TYPE_CHECKING:
    from master.tables.coupling import Coupling


DISCRETE = ("Integer", "Boolean")
"""Kinds of outputs whose changes can be located."""
TRAIL = 8
"""Steps at the most between two states that are saved, all of which are taken again to go back."""


@dataclass(frozen=True)
class StepDoubling:
    """The difference between one step and two halves, of all continuous coupled outputs, relative to the largest
    magnitude that outputs of their instance and unit have had. All FMUs must be able to go back.

    The difference goes with the power `order` of the step: 2 for held inputs, 3 for lines.
    """

    tolerance: float = 1e-4
    order: int = 2


@dataclass(frozen=True)
class PowerBonds:
    """The energy in J that each power bond makes in a step, because its sides saw different efforts and flows: what one
    gave at the end of the step less what the other got, which for held inputs is twice what arises, at leading order.

    Sadjina, Kyllingstad, Skjong, Pedersen: Energy conservation and power bonds in co-simulations, 2017. FMUs that
    cannot go back will do: then a step that was too long only makes the next one shorter.
    """

    bonds: tuple[Bond, ...]
    tolerance: float
    order: int = 2


@dataclass(frozen=True)
class StepControl:
    """Macro steps between `shortest` and `longest` s, chosen by a PI controller on an estimate of their error.

    Where all FMUs can go back, steps that are too long are repeated, and so are those that jump over an event: a change
    of an Integer or Boolean output in `locate` (full names or, with `*`, patterns of them; without it, of all that are
    connected), or the crossing of a level of a Real output in `levels`, is found within a step of `event_step` s. A
    step that an FMU discards, or that gives values that are not finite, is repeated too. After an event the steps begin
    with `event_step` again.
    """

    shortest: float
    longest: float
    event_step: float
    estimate: StepDoubling | PowerBonds | None = None
    locate: tuple[str, ...] | None = None
    levels: Mapping[str, float] = field(default_factory=dict)

    def check(self, system: System) -> None:
        """Raises StructureError for what cannot be, and for FMUs that cannot do what is asked."""
        problems = []
        if not 0.0 < self.shortest <= self.event_step <= self.longest < float("inf"):
            problems.append(
                f"step control: 0 < shortest ({self.shortest:g}) <= event_step ({self.event_step:g}) "
                f"<= longest ({self.longest:g}) is wanted"
            )
        if self.estimate is not None and not self.estimate.tolerance > 0.0:
            problems.append(f"step control: the tolerance must be positive, not {self.estimate.tolerance!r}")
        doubling = isinstance(self.estimate, StepDoubling)
        problems += _unable(system, "step control by doubling" if doubling else "step control", going_back=doubling)
        located = _located(system, self) if self.locate else ()
        wanted = dict.fromkeys(located, DISCRETE) | dict.fromkeys(self.levels, ("Real",))
        for name, kinds in wanted.items():
            _, variable = system.resolve(name)
            if variable.storage not in kinds or variable.causality not in VISIBLE:
                problems.append(f"step control cannot locate {name}, a {variable.causality} of type {variable.type}")
        if problems:
            raise StructureError(problems)


@dataclass(frozen=True)
class Retry:
    """Macro steps of one length, of which one that an FMU discards, or that gives values that are not finite, is gone
    back from and made of shorter ones: to the last successful time, if the FMU tells, else by halves, none shorter than
    `shortest` s. All FMUs must be able to go back.
    """

    shortest: float

    def check(self, system: System) -> None:
        """Raises StructureError for FMUs that cannot do what is asked."""
        problems = _unable(system, "retrying steps", going_back=True)
        if not self.shortest > 0.0:
            problems.append(f"retrying steps: the shortest step must be positive, not {self.shortest!r}")
        if problems:
            raise StructureError(problems)

    @property
    def bounds(self) -> StepControl:
        """What it takes of the tables of step control."""
        return StepControl(self.shortest, self.shortest, self.shortest, locate=())


def _unable(system: System, what: str, *, going_back: bool) -> list[str]:
    """A sentence each on the elements that cannot vary their step, and on those that cannot go back to its start."""
    elements = [(name, element.every, system.description(name)) for name, element in system.elements.items()]
    lacking = {"cannot vary the step": [name for name, _, description in elements if not description.can_vary_step]}
    if going_back:
        lacking["cannot go back (canGetAndSetFMUstate)"] = [n for n, _, d in elements if not d.can_get_and_set_state]
        lacking["cannot step in a fraction of macro steps"] = [name for name, every, _ in elements if every > 1]
    return [f"{what}: {', '.join(names)} {lack}" for lack, names in lacking.items() if names]


def located_changes(system: System, control: StepControl) -> list[Watch]:
    """The changes of outputs that are located."""
    return [*map(Watch, _located(system, control)), *(Watch(name, level) for name, level in control.levels.items())]


def _located(system: System, control: StepControl) -> list[str]:
    """Full names of the Integer and Boolean outputs whose changes are located."""
    if control.locate is None:
        connected = dict.fromkeys(f"{c.source}.{c.output}" for c in system.connections)
        return [name for name in connected if system.resolve(name)[1].storage in DISCRETE]
    names = (system.select(n, VISIBLE, DISCRETE) if "*" in n else [n] for n in control.locate)
    return list(dict.fromkeys(name for group in names for name in group))


def control_tables(coupling: Coupling, control: StepControl | None) -> tables.Control:
    """Without `control` all is empty."""
    estimate = control.estimate if control is not None else None
    pairs = _pairs(coupling, estimate.bonds) if isinstance(estimate, PowerBonds) else []
    names = _compared(coupling) if isinstance(estimate, StepDoubling) else []
    group = scale_groups(coupling, names)
    kinds = {StepDoubling: tables.DOUBLING, PowerBonds: tables.POWER_BONDS}
    shortest, longest, event = (control.shortest, control.longest, control.event_step) if control else (0.0, 0.0, 0.0)
    instances = coupling.instances if control is not None else []
    return tables.Control(
        estimate=kinds.get(type(estimate), tables.NO_ESTIMATE),  # type: ignore[arg-type]
        rollback=int(control is not None and coupling.can_roll_back()),
        shortest=shortest,
        longest=longest,
        event_step=event,
        order=float(estimate.order) if estimate is not None else 1.0,
        tolerance=float(estimate.tolerance) if estimate is not None else 1.0,
        slot=np.array([coupling.outputs.real[name] for name in names], np.uint64),
        group=group,
        scale=np.zeros(int(group.max()) + 1 if names else 0),
        coarse=np.zeros(len(names)),
        bond=np.array([number for number, *_ in pairs], np.uint64),
        effort=np.array([effort for _, effort, _, _ in pairs], np.uint64).reshape(-1, 2),
        flow=np.array([flow for _, _, flow, _ in pairs], np.uint64).reshape(-1, 2),
        ratio=np.array([ratio for *_, ratio in pairs], float),
        energy=np.zeros(len(estimate.bonds) if isinstance(estimate, PowerBonds) else 0),
        real_status=np.array([i.entry("fmi2GetRealStatus") for i in instances], np.int64),
        reached=np.zeros(1),
        clock=np.array([0.0, 0.0, -np.inf, 1.0, np.inf, 0.0]),
        rejected=np.zeros(1, np.int64),
        # halves go back themselves, and what an iteration has learned is not gone back from
        trail=np.zeros((0 if isinstance(estimate, StepDoubling) or coupling.feedback else TRAIL, 2)),
        past=np.zeros(2, np.int64),
    )


def _compared(coupling: Coupling) -> list[str]:
    """The coupled outputs that are continuous, and no means over steps of whatever length."""
    means = {f"{c.source}.{c.output}" for c in coupling.system.connections if c.mean}
    coupled = {f"{c.source}.{c.output}" for c in coupling.inputs.real} - means
    return [
        name
        for name in coupling.outputs.real_names
        if name in coupled and coupling.system.resolve(name)[1].variability == "continuous"
    ]


def _pairs(coupling: Coupling, bonds: tuple[Bond, ...]) -> list[tuple[int, tuple[int, int], tuple[int, int], float]]:
    """For each pair of an effort and a flow: number of the bond, places of both as output and input, ratio of factors.

    Raises StructureError for efforts and flows that are not connected crosswise.
    """
    place = {(f"{c.source}.{c.output}", c.target): k for k, c in enumerate(coupling.inputs.real)}
    found, problems = [], []
    for number, bond in enumerate(bonds):
        for effort, flow in zip(bond.efforts, bond.flows, strict=True):
            owner, other = coupling.system.resolve(effort)[0], coupling.system.resolve(flow)[0]
            if (effort, other) not in place or (flow, owner) not in place:
                problems.append(f"bond {bond.name}: {effort} does not go to {other}, or {flow} not to {owner}")
                continue
            k, j = place[effort, other], place[flow, owner]
            factors = [coupling.system.transformation(coupling.inputs.real[i])[0] for i in (k, j)]
            found.append(
                (number, (coupling.outputs.real[effort], k), (coupling.outputs.real[flow], j), factors[0] / factors[1])
            )
    if problems:
        raise StructureError(problems)
    return found
