"""Campaigns: runs a second on one and two workers, beside runs alone and FMPy's pattern, and what the cluster costs.

`python -m benchmarks.campaign [--runs N] [--dockings N] [--empty N] [--write docs/validation/benchmarks.md]`. Numbers
of other sizes than those that were run are extrapolated, and said so.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.page import machine, replace_table
from dockfmu.campaign.campaign import Campaign, make_runs, open_session
from dockfmu.campaign.dataset import DataSet
from dockfmu.campaign.description import Kept, Study
from dockfmu.campaign.draws import Draws
from dockfmu.campaign.execution import ClusterOptions, Execution
from dockfmu.campaign.laws import Uniform
from dockfmu.campaign.runner import Runner, RunPoint
from dockfmu.options import RunOptions

ROOT = Path(__file__).parents[1]
VARY = [
    {"name": "initial_conditions.miss", "law": "disc", "radius": "0.2 m"},
    {"name": "initial_conditions.velocity[1]", "law": "uniform", "low": "0.1 m/s", "high": "0.35 m/s"},
]
MEASURES = {
    "force": {"signal": "mechanism.target.force_now"},
    "margin": {"signal": "mechanism.capture.margin", "kind": "min"},
}


def impacts(runs: int, stop: float) -> dict:
    return {"name": f"impact_{stop:g}", "system": "atv_probe_cone", "runs": runs, "seed": 1,
            "run": {"stop": stop}, "vary": VARY, "measures": MEASURES}  # fmt: skip


class NoRun:
    """An empty run, in the place of a Runner."""

    def __init__(self, study: Study, expected: object = None) -> None:
        pass

    def run(self, point: RunPoint) -> dict:
        return {"index": point.index, "status": "completed", "outcome": "done", "wall_s": 1e-3}

    def close(self) -> None:
        pass


def alone(campaign: Campaign, runs: int) -> float:
    """Seconds for each run by a warm runner in this process, the first one left out."""
    runner = Runner(campaign.study)
    runner.run(RunPoint(0))
    began = time.perf_counter()
    for index in range(runs):
        runner.run(RunPoint(index))
    taken = (time.perf_counter() - began) / runs
    runner.close()
    return taken


def loaded_anew(campaign: Campaign, runs: int) -> float:
    """Seconds for each run by a simulation of its own, which is FMPy's pattern without a kept instance."""
    began = time.perf_counter()
    for index in range(runs):
        runner = Runner(campaign.study)
        runner._systems[()] = campaign.system
        runner.run(RunPoint(index))
        runner.close()
    return (time.perf_counter() - began) / runs


def on_workers(campaign: Campaign, workers: int, runs: int) -> tuple[float, list[float]]:
    """(seconds for each run, MiB of client and workers at the end) on a cluster that has made some runs before."""
    campaign.study = campaign.study.with_runs(runs)
    with open_session(campaign, ClusterOptions(workers)) as (data, cluster):
        list(cluster.run(map(RunPoint, range(2 * workers))))
        began = time.perf_counter()
        make_runs(data, cluster, runs)
        taken = (time.perf_counter() - began) / runs
        memory = [_resident(), *cluster._client.run(_resident).values()]
    return taken, memory


def empty(runs: int, workers: int) -> tuple[float, float, float]:
    """(milliseconds for each empty run, MiB of the client after a tenth of the runs and at the end)."""
    study = Study(
        content={}, folder=Path(), name="empty", description="", system="none", settings={}, parameters=(), swap={},
        draws=Draws((Uniform(("x",), (0.0,), (1.0,)),), runs=runs), options=RunOptions(), endings=(), measures=(),
        kept=Kept(peaks=False), time_limit=60.0, answers={},
    )  # fmt: skip
    columns = {"index": "whole", "status": "text", "outcome": "text", "reason": "text"}
    with tempfile.TemporaryDirectory() as folder:
        data_set = DataSet(Path(folder) / "runs.parquet", columns)
        with data_set as data, Execution(study, {}, ClusterOptions(workers), NoRun) as cluster:
            make_runs(data, cluster, runs // 10)
            before, began = _resident(), time.perf_counter()
            make_runs(data, cluster, runs)
            return 1e3 * (time.perf_counter() - began) / (0.9 * runs), before, _resident()


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--dockings", type=int, default=4)
    parser.add_argument("--empty", type=int, default=5000)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args([] if __name__ != "__main__" else None)
    lines = [machine(), "", "| what | measured | |", "|---|---:|---|"]
    with tempfile.TemporaryDirectory() as folder:
        impact = Campaign(impacts(arguments.runs, 15.0), Path(folder) / "impact")
        warm, fresh = alone(impact, arguments.runs), loaded_anew(impact, max(3, arguments.runs // 10))
        one, _ = on_workers(impact, 1, arguments.runs)
        two = Campaign(impacts(arguments.runs, 15.0), Path(folder) / "two")
        both, memory = on_workers(two, 2, 2 * arguments.runs)
        docking = Campaign(impacts(arguments.dockings, 600.0), Path(folder) / "docking")
        whole, _ = on_workers(docking, 2, arguments.dockings)
        each, before, after = empty(arguments.empty, 2)
    lines += [
        f"| impact phase, 15 s, warm, in one process | {1e3 * warm:.0f} ms | {arguments.runs} runs |",
        f"| the same, simulation made anew for each run | {1e3 * fresh:.0f} ms | {fresh / warm:.2f} times |",
        f"| campaign, one worker | {1e3 * one:.0f} ms | {1e3 * (one - warm):+.0f} ms a run |",
        f"| campaign, two workers | {1e3 * both:.0f} ms | {one / both:.2f} times one worker |",
        f"| 10,000 impact phases on two workers, extrapolated | {both * 1e4 / 60:.0f} min | |",
        f"| full docking, two workers | {whole:.1f} s | {arguments.dockings} runs |",
        f"| 1,000 full dockings on two workers, extrapolated | {whole * 1e3 / 60:.0f} min | |",
        f"| empty run | {each:.2f} ms | {arguments.empty} runs |",
        f"| memory of the client over empty runs | {before:.0f} to {after:.0f} MiB | |",
        f"| memory of client and workers after impacts | {', '.join(f'{m:.0f}' for m in memory)} MiB | |",
    ]
    text = "\n".join(lines)
    print(text)
    if arguments.write:
        replace_table(
            ROOT / arguments.write if not arguments.write.is_absolute() else arguments.write, "campaign", text
        )


if __name__ == "__main__":
    main()
