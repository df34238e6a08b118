"""Errors of the macro step in `atv_probe_cone`, with and without thrust: tables of docs/validation/validation.md.

    python -m benchmarks.validation.macro_steps [--write]

Micro-steps are 62.5 us in all runs, so that only the coupling differs. Errors are those of the relative position of the
docking units against a macro step of 0.125 ms; `tests/dockfmu/numerics/test_convergence.py` bounds them.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import machine, replace_table

PAGE = Path("docs/validation/validation.md")
STEPS, REFERENCE = (4e-3, 2e-3, 1e-3, 5e-4), 1.25e-4
STOP = 8.0
TIMES = {"coasting": (0.1, 1.0, 1.5, 3.5), "pushed": (1.0, 1.5, 3.0, 8.0)}
"""Times at which positions are compared, s: without thrust, and with it."""


@dataclass(frozen=True)
class Motion:
    """Times, relative position of the units (rows, m), axial force on the station (N), travel of the probe (m)."""

    time: np.ndarray
    position: np.ndarray
    force: np.ndarray
    travel: np.ndarray

    def at(self, time: float) -> np.ndarray:
        """Return the relative position at a time, m."""
        return np.asarray(self.position[np.searchsorted(self.time, time - 1e-9)])


def motion(step: float, push: bool) -> Motion:
    """Run the docking with a macro step, s."""
    values = {"micro_step": 6.25e-5, "micro_tolerance": 0.0}
    settings: dict[str, float] = {f"mechanism.parameters.{name}": value for name, value in values.items()}
    system = dockfmu.load("atv_probe_cone", settings | {"cyclogram.parameters.fault.push": float(not push)})
    names = ["mechanism.docking.position", "mechanism.target.force_now[1]", "mechanism.sensor.axial_travel"]
    run = system.run(step=step, stop=STOP, record=names, every=1)
    return Motion(np.asarray(run.time), *(np.asarray(run[name]) for name in names))


def table(push: bool) -> list[str]:
    """Return the rows of a table."""
    times = TIMES["pushed" if push else "coasting"]
    exact = motion(REFERENCE, push)
    head = " | ".join(f"error at {time:g} s, nm" for time in times)
    lines = [f"| H, ms | {head} | peak push, N | peak pull, N | largest travel, mm |", "|---" * (len(times) + 4) + "|"]
    errors = []
    for step in STEPS:
        found = motion(step, push)
        errors.append([1e9 * float(np.linalg.norm(found.at(time) - exact.at(time))) for time in times])
        cells = " | ".join(f"{error:.2g}" if error < 100.0 else f"{error:.0f}" for error in errors[-1])
        lines.append(f"| {1e3 * step:g} | {cells} | {_peaks(found)} |")
    orders = (np.polyfit(np.log(STEPS), np.log(column), 1)[0] for column in np.array(errors).T)
    lines.append(f"| order | {' | '.join(f'{order:.1f}' for order in orders)} | | | |")
    return [*lines, f"| {1e3 * REFERENCE:g} |{' |' * len(times)} {_peaks(exact)} |"]


def _peaks(found: Motion) -> str:
    """Return the cells of the largest push, pull and travel."""
    return f"{found.force.max():.1f} | {-found.force.min():.1f} | {1e3 * found.travel.max():.4f}"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    options = parser.parse_args()
    for name, push in (("macro steps coasting", False), ("macro steps pushed", True)):
        text = "\n".join([*table(push), "", f"({machine()})"])
        print(f"\n{name}\n\n{text}", flush=True)
        if options.write:
            replace_table(PAGE, name, text)


if __name__ == "__main__":
    main()
