"""The reference docking: cost of a macro step, overhead of co-simulation to the kernels, real-time factor of a run."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import dockfmu
from benchmarks.cosimulation.direct import Direct
from dockfmu.declare.packages import bundle
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation

SPANS = {"first contact to capture, 0 to 2 s": 2000, "with absorption and rest, 0 to 20 s": 20000}
ROUNDS = 5


def _direct_seconds(folder: Path, steps: int) -> float:
    direct = Direct("atv_probe_cone", folder)
    direct.run(1)
    started = time.perf_counter()
    direct.run(steps - 1, 1)
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        direct = Direct("atv_probe_cone", folder / "fmus")
        file = bundle.write_bundle(direct.system, direct.plan, "", folder / "system.ssp")
        system, plan, _, _ = bundle.read_bundle(file, folder / "unpacked")
        print(f"{'us per macro step of 1 ms':40s}{'kernels':>10s}{'FMUs':>10s}{'ratio':>8s}")
        for span, steps in SPANS.items():
            pairs = []
            for _ in range(ROUNDS):
                kernels = _direct_seconds(folder / "fmus", steps)
                fmus = CoSimulation(system, Schedule(step=plan.step, stop=steps * plan.step)).run().wall_s
                pairs.append((kernels / steps * 1e6, fmus / steps * 1e6, fmus / kernels))
            kernels, fmus, ratio = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(f"{span:40s}{kernels:10.2f}{fmus:10.2f}{ratio:8.2f}")
        summary = dockfmu.load("atv_probe_cone").record(folder / "results", report=False).summary
        print(f"\nwhole run: {summary['t_end']:.1f} s in {summary['wall_s']:.1f} s, recorded and audited:", end=" ")
        print(f"{summary['real_time_factor']:.1f} times real time")


if __name__ == "__main__":
    main()
