"""Random starts of the five ring systems within their documented limits: how many end how, and their loads.

    python -m benchmarks ring_starts [--starts N] [--systems NAME ...] [--write]

Conditions are drawn in the box of the published runs (source 7.6), the resultants across the axis bounded: miss 0.1 m,
tilt and roll 4 deg, 0.05 to 0.1 m/s along the axis and 0.04 m/s across, rates 0.2 deg/s. A run ends 15 s after its
start. A run that left the domain of the model is counted apart: it says nothing about capture. Loads are the extremes
over all micro-steps at the target port (ruling R52), judged by the limits that the systems declare. With `--write` the
table goes into docs/validation/peripheral.md; rows of systems that are not asked for stay there as they are.
"""

from __future__ import annotations

import argparse
from collections import Counter
from math import cos, pi, radians, sin
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import machine, replace_table, table_rows
from dockfmu.base.fmi import LIMIT_EXCEEDED, outcome_of_category
from dockfmu.master.errors import FmuError

PAGE = Path("docs/validation/peripheral.md")
TABLE = "ring starts"
SYSTEMS = ("expert_peripheral_5t", "electric_ring_5t", "geared_ring_5t", "hydraulic_ring_5t", "hunt_ring_5t")
STOP = 15.0
LOADS = ("compression", "tension", "shear", "torsion", "bending")
ENDS = ("captured", "a petal not latched", "came off", "latched", "in contact", "apart", "outside the model")
"""How a run can end.

Captured by its sensors: held by latches on all petals; a petal was never held; or one that was held is held no more.
Not captured: held by a latch, touching, or apart. Or beyond a limit of the model.
"""


def within(rng: np.random.Generator, radius: float) -> tuple[float, float]:
    """Return a point drawn evenly in a disc of this radius."""
    r, azimuth = radius * np.sqrt(rng.uniform()), rng.uniform(0.0, 2.0 * pi)
    return r * cos(azimuth), r * sin(azimuth)


def conditions(rng: np.random.Generator) -> dict[str, object]:
    """Return one draw of initial conditions."""
    yaw, pitch = within(rng, radians(4.0))
    across = within(rng, 0.04)
    rates = within(rng, radians(0.2))
    return {
        "initial_conditions.miss": within(rng, 0.1),
        "initial_conditions.yaw": yaw,
        "initial_conditions.pitch": pitch,
        "initial_conditions.roll": rng.uniform(-1.0, 1.0) * radians(4.0),
        "initial_conditions.velocity": (rng.uniform(0.05, 0.1), *across),
        "initial_conditions.angular_velocity": (rng.uniform(-1.0, 1.0) * radians(0.2), *rates),
    }


def end_of(run: dockfmu.Outcome) -> str:
    """Return how a run within the domain of the model ended, one of ENDS."""
    latched = np.array([run[f"mechanism.sensor.latched[{k}]"] for k in range(1, 7)])
    # two latches on each petal
    held = latched.reshape(3, 2, -1).max(1) > 0.0
    if run.events.get("capture") is not None:
        if held[:, -1].all():
            return "captured"
        return "came off" if (held.any(1) & ~held[:, -1]).any() else "a petal not latched"
    if held[:, -1].any():
        return "latched"
    recent = run.time > run.time[-1] - 1.0
    return "in contact" if run["mechanism.flag.contact"][recent].any() else "apart"


def draw(system: str, starts: int, seed: int) -> list[str]:
    """Run the starts of one system and return the cells of its row, the first one a title."""
    rng = np.random.default_rng(seed)
    record = [f"mechanism.sensor.latched[{k}]" for k in range(1, 7)] + ["mechanism.flag.contact"]
    ends: Counter[str] = Counter()
    fine, peaks = 0, []
    with dockfmu.load(system).simulate(stop=STOP, record=record, every=1) as simulation:
        for _ in range(starts):
            simulation.reset(conditions(rng))
            try:
                simulation.advance()
                run = simulation.finish()
            except FmuError as error:
                if outcome_of_category(error.category) != LIMIT_EXCEEDED:
                    raise
                ends["outside the model"] += 1
                continue
            ends[end_of(run)] += 1
            limits = run.result.loads["limits"]
            fine += all(limits[name]["ok"] for name in LOADS)
            peaks.append([1e-3 * limits[name]["max"] for name in LOADS])
    worst, median = (", ".join(f"{value:.1f}" for value in each) for each in (np.max(peaks, 0), np.median(peaks, 0)))
    return [f"`{system}`", str(starts), *(str(ends[end]) for end in ENDS), f"{fine} of {len(peaks)}", median, worst]


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=200, help="of each system (default 200)")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS, metavar="NAME", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    options = parser.parse_args()
    rows = table_rows(PAGE, TABLE)
    for system in options.systems:
        cells = draw(system, options.starts, options.seed)
        rows[cells[0]] = "| " + " | ".join(cells) + " |"
        print(rows[cells[0]], flush=True)
    heads = ["system", "starts", *ENDS, "within all limits", "median loads", "largest loads"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += rows.values()
    if options.write:
        replace_table(PAGE, TABLE, "\n".join([*lines, "", f"(the latest rows: {machine()})"]))


if __name__ == "__main__":
    main()
