"""The cost of a separate process for an FMU: the same chain in one process, and with one FMU in another."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dockfmu.components.oscillator import component
from dockfmu.fmus import build
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

H, STEPS, ROUNDS = 1e-3, 4000, 5


def chain(file: Path, *, process: bool) -> Structure:
    """Return an oscillator that pushes another, which may run in a separate process."""
    system = Structure("chain")
    system.add("near", file, {"parameters.initial_position": 1.0})
    system.add("far", file, process=process)
    system.connect("near", "position", "far", "force", convert_units=False)
    system.connect("far", "position", "near", "force", convert_units=False)
    return system


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = build(component(), Path(folder))
        costs = {}
        for process in (False, True):
            results = [
                CoSimulation(chain(file, process=process), Schedule(step=H, stop=STEPS * H)).run()
                for _ in range(ROUNDS)
            ]
            assert all(result.status == "completed" for result in results)
            costs[process] = 1e6 * min(result.wall_s for result in results) / STEPS
            start = min(result.initialise_s for result in results)
            where = "second FMU in a process of its own" if process else "both in one process"
            print(f"{where:38s}{costs[process]:8.2f} us per macro step{start:8.2f} s to start")
        # fmi2SetReal, fmi2DoStep, fmi2GetReal
        print(f"{'one call of the other process':38s}{(costs[True] - costs[False]) / 3:8.2f} us")


if __name__ == "__main__":
    main()
