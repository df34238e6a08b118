"""Random starts of the five ring systems within their documented limits: how many end how, and their loads.

    python -m benchmarks ring_starts [--starts N] [--rows NAME ...] [--write]

Conditions are drawn in the box of the published runs (source 7.6), the resultants across the axis bounded: miss 0.1 m,
tilt and roll 4 deg, 0.05 to 0.1 m/s along the axis and 0.04 m/s across, rates 0.2 deg/s. A run ends 15 s after its
start. A run that left the domain of the model is counted apart: it says nothing about capture. Loads are the extremes
over all micro-steps at the target port (ruling R52), judged by the limits that the systems declare. With `--write` the
table goes into docs/validation/peripheral.md; rows that are not asked for by `--rows` stay there as they are.
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
from dockfmu.components.physics.contact.ring_pair import PARAMETER_SETS
from dockfmu.master.errors import FmuError

PAGE = Path("docs/validation/peripheral.md")
TABLE = "ring starts"
SYSTEMS = ("expert_peripheral_5t", "electric_ring_5t", "geared_ring_5t", "hydraulic_ring_5t", "hunt_ring_5t")
(HOOKS,) = (
    {f"mechanism.{path}": x for path, x in each.values.items()}
    for each in PARAMETER_SETS
    if each.name == "RefRing-hooks"
)
ROWS = {name: (name, {}) for name in SYSTEMS} | {
    f"{name}, longer hooks": (name, HOOKS) for name in ("expert_peripheral_5t", "electric_ring_5t")
}
"""Title of a row: its system and settings. `hydraulic_ring_5t` has the longer hooks itself."""
STOP = 15.0
LOADS = ("compression", "tension", "shear", "torsion", "bending")
ENDS = ("captured", "unlatched", "latched", "in contact", "apart", "outside the model")
"""How a run can end: held by latches on all petals since capture; captured, but no latch of a petal holds any more; not
captured, but held by a latch, touching, or apart; or beyond a limit of the model."""


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
    held = [run[f"mechanism.sensor.latched[{k}]"][-1] for k in range(1, 7)]
    if run.events.get("capture") is not None:
        return "captured" if all(max(held[k : k + 2]) for k in (0, 2, 4)) else "unlatched"
    if any(held):
        return "latched"
    recent = run.time > run.time[-1] - 1.0
    return "in contact" if run["mechanism.flag.contact"][recent].any() else "apart"


def cell(title: str) -> str:
    """Return the first cell of a row: the system as code, and what is changed."""
    system, comma, change = title.partition(",")
    return f"`{system}`{comma}{change}"


def draw(title: str, starts: int, seed: int) -> list[str]:
    """Run the starts of one row and return its cells."""
    system, settings = ROWS[title]
    rng = np.random.default_rng(seed)
    record = [f"mechanism.sensor.latched[{k}]" for k in range(1, 7)] + ["mechanism.flag.contact"]
    ends: Counter[str] = Counter()
    fine, peaks = 0, []
    with dockfmu.load(system, settings).simulate(stop=STOP, record=record, every=1) as simulation:
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
    return [cell(title), str(starts), *(str(ends[end]) for end in ENDS), f"{fine} of {len(peaks)}", median, worst]


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=200, help="of each system (default 200)")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS, metavar="NAME", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    options = parser.parse_args()
    rows = table_rows(PAGE, TABLE)
    for title in options.rows:
        rows[cell(title)] = "| " + " | ".join(draw(title, options.starts, options.seed)) + " |"
        print(rows[cell(title)], flush=True)
    heads = ["system", "starts", *ENDS, "within all limits", "median loads", "largest loads"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += [rows[cell(title)] for title in ROWS if cell(title) in rows]
    if options.write:
        replace_table(PAGE, TABLE, "\n".join([*lines, "", f"(the latest rows: {machine()})"]))


if __name__ == "__main__":
    main()
