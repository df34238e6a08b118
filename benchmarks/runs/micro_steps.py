"""Micro-steps of the probe mechanism: the cost of their tolerance, and its share in the errors of an impact.

`python -m benchmarks micro_steps [--system NAME] [--runs N] [--stop S]`. The reference runs have the same starts and
equal micro-steps of 20 us; macro steps are the same in all runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.campaigns.campaign import impacts
from benchmarks.page import machine
from dockfmu.campaign.campaign import Campaign
from dockfmu.campaign.runner import Runner, RunPoint

LOADS = {
    "force": {"signal": "mechanism.target.force_now"},
    "torque": {"signal": "mechanism.target.torque_now"},
    "base": {"signal": "mechanism.base.force_now"},
}
PLACE = {f"place_{k}": {"signal": f"mechanism.docking.position[{k}]", "kind": "final"} for k in (1, 2, 3)}
SETTING = "mechanism.parameters."


def equal(length: float) -> dict[str, float]:
    """Return the settings of micro-steps of this length, s."""
    values = {"micro_tolerance": 0.0, "micro_step": length, "longest_micro_step": length}
    return {SETTING + name: value for name, value in values.items()}


def runs(system: str, count: int, stop: float, values: Mapping[str, float]) -> tuple[dict[str, np.ndarray], float]:
    """Return the measures of `count` runs, and the CPU seconds of each."""
    content = impacts(count, stop) | {"system": system, "measures": LOADS | PLACE, "values": dict(values)}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Campaign(content, Path(folder) / "runs").study)
        runner.run(RunPoint(0))
        began = time.thread_time()
        rows = [runner.run(RunPoint(index)) for index in range(count)]
        taken = (time.thread_time() - began) / count
        runner.close()
    return {name: np.array([row[name] for row in rows], float) for name in (*LOADS, *PLACE)}, taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--system", default="atv_probe_cone")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--stop", type=float, default=3.0)
    arguments = parser.parse_args([] if __name__ != "__main__" else None)
    chosen = arguments.system, arguments.runs, arguments.stop
    reference, _ = runs(*chosen, equal(2e-5))
    print(f"{machine()}; {arguments.system}, {arguments.runs} runs of {arguments.stop:g} s\n")
    print(
        "| micro-steps | CPU, ms a run | error of the largest loads, median | largest | of the last place, median, m |"
    )
    print("|---|---:|---:|---:|---:|")
    settings = {f"all {1e3 * length:g} ms": equal(length) for length in (1e-4, 5e-5)}
    settings |= {
        f"tolerance {value:g} m/s": {SETTING + "micro_tolerance": value} for value in (5e-7, 1e-6, 2e-6, 4e-6, 1e-5)
    }
    for title, values in settings.items():
        found, taken = runs(*chosen, values)
        error = np.abs([found[name] / reference[name] - 1.0 for name in LOADS])
        apart = np.sqrt(sum((found[name] - reference[name]) ** 2 for name in PLACE))
        print(f"| {title} | {1e3 * taken:.0f} | {np.median(error):.1e} | {error.max():.1e} | {np.median(apart):.1e} |")


if __name__ == "__main__":
    main()
