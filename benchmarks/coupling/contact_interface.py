"""Contact inside the mechanism compared with contact in a separate FMU: cost and error of both.

The reference docking without thrust, from first contact to latch pulse, is compared with the inside version with
micro-steps of a sixteenth: errors of the relative position of the docking units, of loads and of the energy balance,
and CPU time. With `--docking` the whole docking with thrust is compared instead; `--write` puts that table into
docs/guide/contact-interface.md.

    python -m benchmarks contact_interface
    python -m benchmarks contact_interface --docking [--write]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dockfmu
from benchmarks.page import replace_table
from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import assemble
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.watch.audit import audit

INSIDE, OUTSIDE = "atv_probe_cone", "atv_probe_cone_external"
STOP = 6.0
RECORD = 1e-3
"""Interval between the times at which runs are compared, s; a multiple of all macro steps."""

FORCE, TRAVEL = "mechanism.target.force_now[1]", "mechanism.sensor.axial_travel"
POSITION = [f"mechanism.docking.position[{k}]" for k in (1, 2, 3)]


@dataclass(frozen=True)
class Outcome:
    """Results of a run: CPU seconds per simulated second, position of the units (rows of m), force N, travel m, and the
    residual of the energy balance, J."""

    cpu: float
    position: np.ndarray
    force: np.ndarray
    travel: np.ndarray
    energy: float


class Bench:
    """Return systems by name, without thrust, with their FMUs built into `folder`."""

    def __init__(self, folder: Path, names: tuple[str, ...] = (INSIDE, OUTSIDE)) -> None:
        self.folder = folder
        self.assembled = {name: assemble(declaration.read(name), folder, lambda _: None) for name in names}
        for system, _ in self.assembled.values():
            system.elements["cyclogram"].start["parameters.fault.push"] = 1.0

    def run(self, name: str, step: float, micro_step: float, stop: float = STOP) -> Outcome:
        """Make a run with a macro step and a micro-step of the mechanism, s. Raises RuntimeError if it fails."""
        system, plan = self.assembled[name]
        system.elements["mechanism"].start |= {
            "parameters.micro_step": micro_step,
            "parameters.micro_tolerance": 0.0,
        }
        file = self.folder / "run.h5"
        balance = audit(system, plan)
        recorder = Recorder(file, [FORCE, TRAVEL, *POSITION], every=max(1, round(RECORD / step)))
        start = time.process_time()
        result = CoSimulation(system, Schedule(step=step, stop=stop), observers=[recorder, balance]).run()
        spent = time.process_time() - start
        if result.status != "completed":
            raise RuntimeError(result.message)
        with read_results(file) as found:
            position = np.column_stack([found[name] for name in POSITION])
            energy = balance.largest["energy"]
            return Outcome(spent / stop, position, found[FORCE][:], found[TRAVEL][:], energy)


CASES = (
    (INSIDE, 1e-3, 1e-4),
    (INSIDE, 1e-3, 5e-5),
    (INSIDE, 1e-4, 1e-4),
    (OUTSIDE, 5e-4, 1e-4),
    (OUTSIDE, 2e-4, 1e-4),
    (OUTSIDE, 1e-4, 1e-4),
    (OUTSIDE, 5e-5, 5e-5),
    (OUTSIDE, 2.5e-5, 2.5e-5),
)


PAGE = Path("docs/guide/contact-interface.md")
LOADS_UNTIL = 10.0
"""End of the time in which the loads of whole dockings are compared, s."""
EQUAL_STEPS = (1e-4, 5e-5, 2.5e-5)
"""Micro-steps of whole dockings with contact inside, s."""


def docking(name: str, changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Run a whole docking with thrust; return the cells of its column of the table by the titles of the rows."""
    done = dockfmu.load(name, changes).run(record=[FORCE], every=1)
    first = done[FORCE][done.time <= LOADS_UNTIL]
    late = done[FORCE][done.time > LOADS_UNTIL]
    at, balance = done.events, done.result.audit
    rollers = sorted(time for event, time in at.items() if event.startswith("roller_contact"))
    return {
        "capture, bottom, start of the sequence": f"{at['capture']:.3f}, {at['socket_bottom']:.3f}, "
        f"{at['docking_start']:.3f} s",
        "largest push and pull of the first 10 s": f"{first.max():.1f}, {-first.min():.1f} N",
        "contacts of the three rollers": f"{', '.join(f'{time:.2f}' for time in rollers)} s",
        "largest push after 10 s": f"{late.max():.0f} N",
        "end of retraction": f"{at['end_of_retraction']:.2f} s",
        "drift of linear, angular momentum": f"{balance['linear_momentum_drift']:.1e}, "
        f"{balance['angular_momentum_drift']:.1e}",
        "drift with the mechanism's own momentum": f"{balance['mechanism_momentum_drift']:.1e}",
        "energy residual": f"{balance['energy_residual']:.1e}",
    }


def docking_table() -> list[str]:
    """Return the comparison of whole dockings as lines of Markdown."""
    columns = {"outside, H = 0.1 ms": docking(OUTSIDE), "inside, H = 1 ms": docking(INSIDE)}
    for step in EQUAL_STEPS:
        changes = {"mechanism.parameters.micro_step": step, "mechanism.parameters.micro_tolerance": 0.0}
        columns[f"inside, {1e6 * step:.0f} µs"] = docking(INSIDE, changes)
    lines = [f"| | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    for title in next(iter(columns.values())):
        lines.append(f"| {title} | {' | '.join(column[title] for column in columns.values())} |")
    return lines


def main() -> None:
    """Print the table of the first seconds, or that of whole dockings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docking", action="store_true", help="compare whole dockings")
    parser.add_argument("--write", action="store_true", help=f"with --docking: write the table into {PAGE}")
    chosen = parser.parse_args()
    if not chosen.docking:
        first_seconds()
        return
    text = "\n".join(docking_table())
    print(text)
    if chosen.write:
        replace_table(PAGE, "docking", text)


def first_seconds() -> None:
    """Print the table of the docking without thrust."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        exact = bench.run(INSIDE, 1.25e-4, 6.25e-6)
        print(f"{'contact':9s}{'H':>7s}{'micro':>8s}{'CPU ms/s':>10s}{'0.1 s':>10s}{'1 s':>10s}{'6 s':>10s}", end="")
        print(f"{'push':>8s}{'pull':>8s}{'travel':>9s}{'energy':>10s}")
        print(
            f"{'':9s}{'us':>7s}{'us':>8s}{'':10s}{'nm':>10s}{'nm':>10s}{'nm':>10s}{'N':>8s}{'N':>8s}{'mm':>9s}{'mJ':>10s}"
        )
        for name, step, micro_step in CASES:
            print(f"{'inside' if name == INSIDE else 'outside':9s}{step * 1e6:7.0f}{micro_step * 1e6:8.0f}", end="")
            try:
                got = bench.run(name, step, micro_step)
            except RuntimeError as error:
                print(f"  {error}")
                continue
            print(f"{got.cpu * 1e3:10.1f}", end="")
            for at in (0.1, 1.0, STOP):
                row = round(at / RECORD)
                print(f"{np.linalg.norm(got.position[row] - exact.position[row]) * 1e9:10.1f}", end="")
            print(f"{got.force.max():8.1f}{-got.force.min():8.1f}{got.travel.max() * 1e3:9.4f}{got.energy * 1e3:10.3f}")


if __name__ == "__main__":
    main()
