"""Random starts of the arms, within the documented limits of their initial conditions: how many end how, none silent.

    python -m benchmarks.validation.berthing_starts [SEEDS]
    python -m benchmarks.validation.berthing_starts whole [SEEDS]

For each system and each of SEEDS (default: 50) seeds the misses and angles are drawn (`initial_conditions.seed`). The
first runs the contact phase alone, from a short distance before the first contact: Insert of ERA, constant rate and
limp arm of SSRMS. The second runs the whole sequences of ERA with their Steps. Prints the tables of
docs/validation/berthing.md, with failures by their messages.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dockfmu

STOP = 120.0
WHOLE = 600.0
"""Time at which a run of the contact phase, and a whole one, that has not ended counts as unfinished, s."""


@dataclass(frozen=True)
class Case:
    """A system from near its berth: title, system, settings, and the element with the contact."""

    title: str
    system: str
    settings: dict[str, Any]
    contact: str
    stop: float = STOP


INSERT = "sequence.parameters.step"
SHORT = {"sequence.parameters.post_time": 1.0, "manipulator.parameters.control.settle_time": 1.0}
"""The contact phase alone: 1 s after the end of the command or the capture."""
CASES = (
    Case(
        "airlock, Insert at 20 mm/s from 50 mm", "airlock_era_coarse",
        {"initial_conditions.gap": "320mm", f"{INSERT}.amplitude[1]": 0.095, f"{INSERT}.speed[1]": 0.02,
         f"{INSERT}.begin[1]": 0.0}, "contact",
    ),
    Case(
        "radiator, Insert at 10 mm/s from 65 mm", "radiator_era_blind",
        {f"{INSERT}.speed[1]": 0.01, f"{INSERT}.begin[1]": 0.0}, "contact",
    ),
    Case("MIM-1, NRT at 19 mm/s from 0.1 m", "mim1_ssrms_nrt74", {"initial_conditions.gap": "700mm"}, "mechanism"),
    Case("MIM-1, limp arm, 200 N from 0.1 m", "mim1_ssrms_limp", {"initial_conditions.gap": "700mm"}, "mechanism"),
)  # fmt: skip

SEQUENCES = (
    Case("airlock, two kinds of Steps and Insert", "airlock_era", {}, "contact", WHOLE),
    Case("radiator, Steps that leave a part, Insert", "radiator_era", {}, "contact", WHOLE),
)


@dataclass
class Tally:
    """Count how the runs of a case ended."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    force: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    told: int = 0

    def add(self, case: Case, system: dockfmu.System, seed: int) -> None:
        """Run the system of the case from one draw. A run that fails is counted by its message."""
        force, load = f"{case.contact}.target.force_now[1]", "sequence.load.peak_force"
        try:
            done = system.with_values({"initial_conditions.seed": seed}).run(stop=case.stop, record=[force, load])
        except dockfmu.DockfmuError as error:
            self.failures[_kind(str(error))] += 1
            return
        self.outcomes[str(done.outcome)] += 1
        self.told += bool(done.result.warnings)
        self.force.append(float(np.abs(done[force]).max()))
        self.load.append(float(done[load][-1]))

    def row(self, case: Case) -> str:
        """Return the row of the table."""
        runs = self.outcomes.total() + self.failures.total()
        ends = ", ".join(f"{count} {name}" for name, count in self.outcomes.most_common())
        failed = "; ".join(f"{count}: {name}" for name, count in self.failures.most_common()) or "none"
        force, load = (f"{np.median(x):.0f} to {max(x):.0f} N" if x else "" for x in (self.force, self.load))
        return f"| {case.title} | {runs} | {ends} | {failed} | {force} | {load} | {self.told} |"


def _kind(message: str) -> str:
    """Return the cause in a message, without its numbers."""
    for words in ("penetration", "off that of the", "has rotated", "cannot bring its payload", "would have to turn"):
        if words in message:
            return words
    return message.splitlines()[0][:80]


def main(seeds: int = 50, cases: tuple[Case, ...] = CASES) -> None:
    """Run all cases and print the table."""
    print(
        "| system | runs | outcomes | failed, by name | axial force, median to largest | load on the gripper | told |"
    )
    print("|---|---|---|---|---|---|---|")
    for case in cases:
        tally, system = Tally(), dockfmu.load(case.system, {**SHORT, **case.settings})
        for seed in range(1, seeds + 1):
            tally.add(case, system, seed)
            print(f"{case.title}: {seed} of {seeds}, {dict(tally.outcomes)}", file=sys.stderr, flush=True)
        print(tally.row(case), flush=True)


if __name__ == "__main__":
    whole = sys.argv[1:2] == ["whole"]
    seeds = [int(argument) for argument in sys.argv[1 + whole :]]
    main(*(seeds or [50]), SEQUENCES if whole else CASES)
