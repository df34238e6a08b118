"""Random starts of the arms, within the documented limits of their initial conditions: how many end how, none silent.

    python -m benchmarks.validation.berthing_starts [contact|whole|insert] [--seeds N] [--only WORD]

For each case, or those with WORD in their title, and for each of N seeds (default: 200) the misses and angles are
drawn (`initial_conditions.seed`). `contact` (the default) runs the contact phase alone, from a short distance before
the first contact: Insert of ERA, constant rate and limp arm of SSRMS. `whole` runs the whole sequences of ERA with
their Steps, `insert` the contact phase of the airlock with other ends and speeds of its Insert. Prints the tables of
docs/validation/berthing.md, with failures by their messages.
"""

from __future__ import annotations

import argparse
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

AT_THE_BOTTOM = 0.084
"""Insert from the gap of the first case after which the head touches the bottom of the socket, m."""


def _insert(beyond: float, speed: float) -> Case:
    """Return the first case with an Insert to `beyond` (m) past the bottom, at a speed (m/s)."""
    changes = {f"{INSERT}.amplitude[1]": AT_THE_BOTTOM + beyond, f"{INSERT}.speed[1]": speed}
    return Case(
        f"{1e3 * speed:g} mm/s to {1e3 * beyond:g} mm past the bottom",
        CASES[0].system,
        CASES[0].settings | changes,
        "contact",
    )


INSERTS = (
    *(_insert(0.011, speed) for speed in (0.01, 0.015, 0.02, 0.025)),
    *(_insert(beyond, 0.02) for beyond in (0.0085, 0.006, 0.003, 0.0)),
)
TABLES = {"contact": CASES, "whole": SEQUENCES, "insert": INSERTS}


@dataclass
class Tally:
    """Count how the runs of a case ended."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    force: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    torque: list[float] = field(default_factory=list)
    told: int = 0

    def add(self, case: Case, system: dockfmu.System, seed: int) -> None:
        """Run the system of the case from one draw. A run that fails is counted by its message."""
        force, load = f"{case.contact}.target.force_now[1]", "sequence.load.peak_force"
        torque = "sequence.load.peak_torque"
        try:
            done = system.with_values({"initial_conditions.seed": seed}).run(
                stop=case.stop, record=[force, load, torque]
            )
        except dockfmu.DockfmuError as error:
            self.failures[_kind(str(error))] += 1
            return
        self.outcomes[str(done.outcome)] += 1
        self.told += bool(done.result.warnings)
        self.force.append(float(np.abs(done[force]).max()))
        self.load.append(float(done[load][-1]))
        self.torque.append(float(done[torque][-1]))

    def row(self, case: Case) -> str:
        """Return the row of the table."""
        runs = self.outcomes.total() + self.failures.total()
        ends = ", ".join(f"{count} {name}" for name, count in self.outcomes.most_common())
        failed = "; ".join(f"{count}: {name}" for name, count in self.failures.most_common()) or "none"
        peaks = ((self.force, "N"), (self.load, "N"), (self.torque, "N m"))
        loads = " | ".join(f"{np.median(x):.0f} to {max(x):.0f} {unit}" if x else "" for x, unit in peaks)
        return f"| {case.title} | {runs} | {ends} | {failed} | {loads} | {self.told} |"


def _kind(message: str) -> str:
    """Return the cause in a message, without its numbers."""
    for words in ("penetration", "off that of the", "has rotated", "cannot bring its payload", "would have to turn"):
        if words in message:
            return words
    return message.splitlines()[0][:80]


def main() -> None:
    """Run the chosen cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", choices=TABLES, default="contact")
    parser.add_argument("--only", metavar="WORD", default="", help="cases with this in their title; default: all")
    parser.add_argument("--seeds", type=int, default=200, help="starts of each case")
    options = parser.parse_args()
    print(
        "| system | runs | outcomes | failed, by name | axial force, median to largest "
        "| force on the gripper | torque on the gripper | told |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for case in TABLES[options.table]:
        if options.only not in case.title:
            continue
        tally, system = Tally(), dockfmu.load(case.system, {**SHORT, **case.settings})
        for seed in range(1, options.seeds + 1):
            tally.add(case, system, seed)
            print(f"{case.title}: {seed} of {options.seeds}, {dict(tally.outcomes)}", file=sys.stderr, flush=True)
        print(tally.row(case), flush=True)


if __name__ == "__main__":
    main()
