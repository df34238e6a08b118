"""Which misalignments each ring mechanism captures: a sweep over lateral miss and lateral rate.

    python -m benchmarks capture_domain [--write] [--points N]

The conditions are those of `expert_peripheral_5t` except for the miss and the lateral rate along it, for every
mechanism, without thrust and with thrust from first contact to capture. Each point is run with several signs of roll,
tilt and their rates. A run ends at capture or when the rings have separated; one that leaves the domain of the model
before says nothing about capture and is counted apart. With `--write` the table and its figure go into
docs/validation/capture-domain.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import machine, replace_table
from dockfmu.base.fmi import LIMIT_EXCEEDED, outcome_of_category
from dockfmu.master.errors import FmuError

PAGE = Path("docs/validation/capture-domain.md")
FIGURE = "capture_domain.png"
LARGEST_MISS, LARGEST_RATE = 0.12, 0.06
"""Ranges in m and m/s: the standard's limits, 0.1 m and 0.04 m/s, lie inside."""
LONGEST = 30.0
"""Time after which a run counts as one without capture, s."""
INTERVAL = 0.25
"""Interval at which a run is checked, s."""
PARTED = 0.05
"""Distance by which the planes must have moved apart from their closest position, with the rings free, m."""

MECHANISMS = {
    "elastic-adaptive": "expert_peripheral_5t",
    "electric": "electric_ring_5t",
    "geared": "geared_ring_5t",
    "hydraulic": "hydraulic_ring_5t",
    "Hunt": "hunt_ring_5t",
}
CONDITIONS = {
    "initial_conditions.start_gap": 0.0223,
    "mechanism.ring_pair.parameters.latch.length": "20 mm",
    "mechanism.ring_pair.parameters.latch.stiffness": "4 kN/m",
    "mechanism.ring_pair.parameters.latch.preload": "60 N",
}
"""Start of the named system, and the latches of RefRing for all, as those of `hydraulic_ring_5t` are longer."""
MEMBERS = ((1, 1, 1, -1), (1, 1, -1, -1), (-1, 1, 1, -1), (-1, -1, -1, 1))
"""Signs of roll, of the tilt toward the miss, and of the rates of both; the first is that of the named system."""
OUTSIDE = -1.0
"""Time of a run that left the domain of the model."""
SPEED = 0.05
"""Speed along the axis, m/s."""


@dataclass(frozen=True)
class Domain:
    """Captures of one mechanism over misses (m) and rates (m/s).

    `times` by [member, miss, rate]: s to capture, NaN without, OUTSIDE where the run left the domain of the model.
    """

    name: str
    push: bool
    misses: np.ndarray
    rates: np.ndarray
    times: np.ndarray

    def share(self) -> np.ndarray:
        """Return the share of captures among the members that stayed within the model, NaN where none did."""
        inside = (self.times != OUTSIDE).sum(0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.times > 0.0).sum(0) / inside

    def counts(self) -> tuple[list[int], int, int]:
        """Return (captures of each member, runs outside the model, all runs)."""
        by_member = [int((times > 0.0).sum()) for times in self.times]
        return by_member, int((self.times == OUTSIDE).sum()), self.times.size


def member_conditions(signs: tuple[int, ...]) -> dict[str, object]:
    """Return the angles and rates of a sign member: 4 deg and 0.2 deg/s."""
    roll, tilt, roll_rate, tilt_rate = signs
    return {
        "initial_conditions.pitch": tilt * np.radians(4.0),
        "initial_conditions.roll": roll * np.radians(4.0),
        "initial_conditions.angular_velocity": (roll_rate * np.radians(0.2), 0.0, tilt_rate * np.radians(0.2)),
    }


def time_of_capture(run: dockfmu.Simulation, signs: tuple[int, ...], miss: float, rate: float) -> float:
    """Return the time of capture in s, NaN if the craft separate or nothing happens for a long time, or OUTSIDE."""
    place = {"initial_conditions.miss": (miss, 0.0), "initial_conditions.velocity": (SPEED, rate, 0.0)}
    run.reset(member_conditions(signs) | place)
    closest = np.inf
    while not run.finished:
        try:
            run.advance(run.time + INTERVAL)
        except FmuError as error:  # a stroke, a stop or a contact beyond its limit: no result
            if outcome_of_category(error.category) != LIMIT_EXCEEDED:
                raise
            return OUTSIDE
        if run["cyclogram.captured"]:
            return float(run["cyclogram.event.capture"])
        gap = run["mechanism.docking.plane_gap"]
        closest = min(closest, gap)
        if gap > closest + PARTED and not run["mechanism.flag.contact"]:
            return np.nan
    return np.nan


def sweep(name: str, push: bool, points: int) -> Domain:
    """Return the domain of a mechanism on a grid of points x points."""
    misses, rates = np.linspace(0.0, LARGEST_MISS, points), np.linspace(0.0, LARGEST_RATE, points)
    system = dockfmu.load(MECHANISMS[name], {**CONDITIONS, "cyclogram.parameters.push": float(push)})
    with system.simulate(stop=LONGEST, record=["mechanism.docking.plane_gap"], every=1000) as run:
        times = np.array(
            [
                [[time_of_capture(run, signs, float(miss), float(rate)) for rate in rates] for miss in misses]
                for signs in MEMBERS
            ]
        )
    return Domain(name, push, misses, rates, times)


def table(domains: list[Domain]) -> list[str]:
    """Return the lines of the table: the share of captures by miss, over rates and members, and the spread."""
    misses = [f"{1e3 * miss:.0f} mm" for miss in domains[0].misses]
    heads = ["Mechanism", "Thrust", "captured, by member", "of", "outside the model", *misses]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for domain in domains:
        by_member, outside, _ = domain.counts()
        shares = ["-" if np.isnan(row).all() else f"{100.0 * np.nanmean(row):.0f} %" for row in domain.share()]
        cells = [domain.name, "from contact" if domain.push else "none", ", ".join(map(str, by_member)),
                 str(domain.times[0].size), str(outside), *shares]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def draw(domains: list[Domain], file: Path) -> None:
    """Draw the domains: a column for each mechanism, without thrust above and with thrust below."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(MECHANISMS), figsize=(13, 5.6), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for domain in domains:
        place = axes[int(domain.push), list(MECHANISMS).index(domain.name)]
        miss, rate = np.meshgrid(1e3 * domain.misses, 1e3 * domain.rates, indexing="ij")
        share, outside = domain.share(), (domain.times == OUTSIDE).any(0)
        dots = place.scatter(miss, rate, c=share, cmap="RdYlGn", vmin=0, vmax=1, s=60)
        place.scatter(miss[outside], rate[outside], marker="x", color="black", s=35)
        place.plot([0, 100, 100], [40, 40, 0], color="tab:red", lw=1, ls="--")
        place.set_title(f"{domain.name}{', thrust' if domain.push else ''}", fontsize=10)
    for place in axes[-1]:
        place.set_xlabel("lateral miss, mm")
    for row in axes:
        row[0].set_ylabel("lateral rate, mm/s")
    figure.colorbar(dots, ax=axes, label="share of sign members that is captured", shrink=0.8)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def main() -> None:
    """Print the table, or write it and its figure into the page of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    parser.add_argument("--points", type=int, default=7, help="of the grid, each way (default 7)")
    arguments = parser.parse_args()
    domains = []
    for push in (False, True):
        for name in MECHANISMS:
            domains.append(sweep(name, push, arguments.points))
            print(table(domains)[-1], flush=True)
    lines = table(domains)
    if arguments.write:
        replace_table(PAGE, "capture-domain", "\n".join([*lines, "", f"({machine()})"]))
        draw(domains, PAGE.parent / "figures" / FIGURE)


if __name__ == "__main__":
    main()
