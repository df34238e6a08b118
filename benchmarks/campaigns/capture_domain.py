"""Which misalignments each ring mechanism captures: a sweep over lateral miss and lateral rate.

    python -m benchmarks capture_domain [--write] [--points N]

The conditions are those of `expert_peripheral_5t` except for the miss and the lateral rate along it, for every
mechanism, without thrust and with thrust from first contact to capture. A run ends at capture or when the rings have
separated. With `--write` the table and its figure go into docs/validation/capture-domain.md.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import machine, replace_table
from master.errors import FmuError

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
    "initial_conditions.pitch": "4deg",
    "initial_conditions.roll": "4deg",
    "initial_conditions.angular_velocity": (np.radians(0.2), 0.0, -np.radians(0.2)),
    "initial_conditions.start_gap": 0.0223,
}
SPEED = 0.05
"""Speed along the axis, m/s."""


@dataclass(frozen=True)
class Domain:
    """Captures of one mechanism: misses (m) by rates (m/s), and s to capture, NaN without, by [miss, rate]."""

    name: str
    push: bool
    misses: np.ndarray
    rates: np.ndarray
    times: np.ndarray

    @property
    def captured(self) -> int:
        """Number of points that are captured."""
        return int(np.isfinite(self.times).sum())


def time_of_capture(run: dockfmu.Simulation, miss: float, rate: float) -> float:
    """Return the time of capture in s, NaN if the craft separate or nothing happens for a long time."""
    run.reset({"initial_conditions.miss": (miss, 0.0), "initial_conditions.velocity": (SPEED, rate, 0.0)})
    closest = np.inf
    while not run.finished:
        try:
            run.advance(run.time + INTERVAL)
        except FmuError:  # a leg at the end of its travel: beyond what the mechanism is made for
            return np.nan
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
        times = np.array([[time_of_capture(run, float(miss), float(rate)) for rate in rates] for miss in misses])
    return Domain(name, push, misses, rates, times)


def widest_rate(domain: Domain) -> list[str]:
    """Return, for each miss, the largest rate in mm/s up to which all points are captured; a dash for none."""
    cells = []
    for row in np.isfinite(domain.times):
        held = len(row) if row.all() else int(np.argmin(row))
        cells.append(f"{1e3 * domain.rates[held - 1]:.0f}" if held else "-")
    return cells


def table(domains: list[Domain]) -> list[str]:
    """Return the lines of the table: largest lateral rate by miss, and how many points are captured."""
    misses = [f"{1e3 * miss:.0f} mm" for miss in domains[0].misses]
    lines = ["| Mechanism | Thrust | captured | " + " | ".join(misses) + " |", "|" + " --- |" * (len(misses) + 3)]
    for domain in domains:
        share = f"{domain.captured} of {domain.times.size}"
        thrust = "from contact" if domain.push else "none"
        lines.append(f"| {domain.name} | {thrust} | {share} | " + " | ".join(widest_rate(domain)) + " |")
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
        found = np.isfinite(domain.times)
        dots = place.scatter(miss[found], rate[found], c=domain.times[found], cmap="viridis_r", vmin=0, vmax=10, s=60)
        place.scatter(miss[~found], rate[~found], marker="x", color="0.65", s=35)
        place.plot([0, 100, 100], [40, 40, 0], color="tab:red", lw=1, ls="--")
        place.set_title(
            f"{domain.name}{', thrust' if domain.push else ''}: {domain.captured}/{found.size}", fontsize=10
        )
    for place in axes[-1]:
        place.set_xlabel("lateral miss, mm")
    for row in axes:
        row[0].set_ylabel("lateral rate, mm/s")
    figure.colorbar(dots, ax=axes, label="time of capture, s", shrink=0.8)
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
