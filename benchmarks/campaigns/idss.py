"""Dockings by the international standard: random starts within its limits, outcomes and loads.

    python -m benchmarks idss [--write] [--draws N] [--stop S]

Each draw is `initial_conditions.seed = 1, 2, ... N` of `idss_electric_20t`, `idss_hydraulic_20t` and
`idss_adaptive_20t`: uniform in the discs of the vector sums, about the middle of the closing speeds. A run ends at the
given time; the sequence retracts the ring 10 s after capture, which takes minutes and is not part of it by default.
With `--write` the table goes into docs/theory/idss.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import dockfmu
from benchmarks.page import machine, replace_table
from dockfmu.base.fmi import LIMIT_EXCEEDED, outcome_of_category

PAGE = Path("docs/theory/idss.md")
SYSTEMS = {
    "electric": ("idss_electric_20t", {}),
    "hydraulic, thrust from contact": ("idss_hydraulic_20t", {}),
    "adaptive, thrust from contact": ("idss_adaptive_20t", {}),
    "adaptive": ("idss_adaptive_20t", {"cyclogram.parameters.push": 0.0}),
}
LOADS = ("compression", "tension", "shear", "torsion", "bending")
STOP = 30.0
"""Time after which a run ends, s: beyond the limits of the sequence for capture, and 10 s of absorption."""


@dataclass
class Tally:
    """Outcomes of the draws of one mechanism, and its loads."""

    name: str
    draws: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    exceeded: Counter[str] = field(default_factory=Counter)
    within: int = 0
    largest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LOADS, 0.0))
    invalid: int = 0

    def add(self, outcome: dockfmu.Outcome) -> None:
        """Count one run. One that failed left the domain of its model: its loads are no result."""
        self.draws += 1
        result = outcome.result
        if result.status == "failed":
            self.outcomes["left the domain"] += 1
            return
        ended = outcome.outcome
        self.outcomes["captured" if ended == "docked" else ended] += 1
        self.invalid += any(counter["count"] for counter in result.validity.values())
        over = []
        for name, limit in result.loads["limits"].items():
            self.largest[name] = max(self.largest[name], limit["max"])
            over += [] if limit["ok"] else [name]
        self.exceeded.update(over)
        self.within += not over and ended in ("captured", "docked")


def run(name: str, draws: int, stop: float) -> Tally:
    """Return the tally of the first `draws` seeds of a mechanism."""
    system, settings = SYSTEMS[name]
    tally = Tally(name)
    for seed in range(1, draws + 1):
        loaded = dockfmu.load(system, {**settings, "initial_conditions.seed": seed})
        try:
            tally.add(loaded.run(stop=stop, record=["mechanism.docking.plane_gap"], every=1000))
        except dockfmu.FmuError as error:
            if outcome_of_category(error.category) != LIMIT_EXCEEDED:
                raise
            tally.draws += 1
            tally.outcomes["left the domain"] += 1
    return tally


def table(tallies: list[Tally]) -> list[str]:
    """Return the lines of the table: a row for each mechanism."""
    lines = [
        "| Mechanism | draws | captured | retreated | other | left the domain | captured within all limits | "
        + " | ".join(f"{name}, over, largest" for name in LOADS) + " |",
        "|" + " --- |" * (7 + len(LOADS)),
    ]  # fmt: skip
    for tally in tallies:
        known = ("captured", "retreated", "left the domain")
        other = ", ".join(f"{n} {name}" for name, n in sorted(tally.outcomes.items()) if name not in known) or "0"
        loads = [f"{tally.exceeded[name]}, {1e-3 * tally.largest[name]:.1f}" for name in LOADS]
        counts = [str(tally.outcomes[name]) for name in known]
        cells = [tally.name, str(tally.draws), *counts[:2], other, counts[2], str(tally.within), *loads]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print the table, or write it into the page of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    parser.add_argument("--draws", type=int, default=100, help="of each mechanism (default 100)")
    parser.add_argument("--stop", type=float, default=STOP, help=f"end of a run in s (default {STOP:g})")
    arguments = parser.parse_args()
    tallies = []
    for name in SYSTEMS:
        tallies.append(run(name, arguments.draws, arguments.stop))
        print(table(tallies)[-1], flush=True)
    if arguments.write:
        replace_table(PAGE, "idss", "\n".join([*table(tallies), "", f"({machine()})"]))


if __name__ == "__main__":
    main()
