"""Instances that step in parallel on threads: the gain relative to the cost of a step, for elastic spacecraft.

    python -m benchmarks threads [--write docs/validation/coupling.md]

Craft in a ring, each with a number of elastic modes, are coupled by Jacobi at 1 ms, on one and on two threads. Two
threads need two free cores: on a busy machine, `chrt -f 1` before the command provides them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.page import machine, replace_table
from dockfmu.components import spacecraft
from dockfmu.components.spacecraft.modes import Modes
from dockfmu.fmus import build
from dockfmu.master.algorithms import Jacobi
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

MODES = (0, 30, 300, 1000, 3000)
COUNTS = (2, 4, 8)
ROUNDS = 7
SECONDS = 0.05
"""Approximate duration of one measurement, s."""


def craft(modes: int, folder: Path) -> Path:
    """Build the FMU of a craft with a number of modes of random shape."""
    if modes == 0:
        return build(spacecraft.component(), folder)
    rng = np.random.default_rng(modes)
    data = Modes(
        frequency=np.sort(rng.uniform(1.0, 600.0, modes)),
        decrement=np.full(modes, 0.05),
        port=1e-3 * rng.normal(size=(2, 6, modes)),
        thruster=1e-3 * rng.normal(size=(1, 3, modes)),
    )
    return build(spacecraft.component(data), folder)


def fleet(file: Path, count: int) -> Structure:
    """Return craft in a ring: the velocity of each is the force on the next."""
    system = Structure("fleet")
    for i in range(count):
        system.add(f"craft{i}", file, {"parameters.mass": 4e5, "parameters.initial.velocity[1]": 1.0 + i})
    for i in range(count):
        for k in (1, 2, 3):
            target = f"craft{(i + 1) % count}"
            system.connect(
                f"craft{i}", f"port[1].velocity[{k}]", target, f"port[1].force[{k}]", factor=10.0, convert_units=False
            )
    return system


def microseconds(system: Structure, threads: int, steps: int) -> float:
    result = CoSimulation(system, Schedule(step=1e-3, stop=steps * 1e-3), algorithm=Jacobi(), threads=threads).run()
    assert result.status == "completed", result.message
    return 1e6 * result.wall_s / result.macro_steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="put the table into this file, too")
    chosen = parser.parse_args()
    text = [
        machine(),
        "",
        "| modes | one step of a craft, us | "
        + " | ".join(f"{n} craft, us: 1 thread | 2 threads | gain" for n in COUNTS)
        + " |",
        "|---:|---:|" + "---:|---:|---:|" * len(COUNTS),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for modes in MODES:
            file = craft(modes, Path(folder) / str(modes))
            cells, each = [], []
            for count in COUNTS:
                system = fleet(file, count)
                steps = max(20, int(1e6 * SECONDS / microseconds(system, 1, 20)))
                costs = {1: [], 2: []}
                for _ in range(ROUNDS):
                    for threads, found in costs.items():
                        found.append(microseconds(system, threads, steps))
                one, two = min(costs[1]), min(costs[2])
                each.append(one / count)
                cells += [f"{one:.3g}", f"{two:.3g}", f"{one / two:.2f}"]
            text.append(f"| {modes} | {min(each):.3g} | {' | '.join(cells)} |")
            print(text[-1], flush=True)
    print("\n".join(text))
    if chosen.write:
        replace_table(chosen.write, "threads", "\n".join(text))


if __name__ == "__main__":
    main()
