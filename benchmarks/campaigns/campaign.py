"""Campaigns: runs per second on one and two workers, compared with single runs and FMPy's pattern; cost of the cluster.

`python -m benchmarks campaign [--runs N] [--dockings N] [--empty N] [--write docs/validation/benchmarks.md]`. Numbers
for sizes that were not run are extrapolated, and marked as such.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaigns import fmpy_campaign
from benchmarks.page import machine, replace_table
from dockfmu.campaign.campaign import Campaign, make_runs, open_session
from dockfmu.campaign.cluster.execution import ClusterOptions, Execution
from dockfmu.campaign.dataset import DataSet
from dockfmu.campaign.description import Kept, Study
from dockfmu.campaign.runner import PEAKS, Runner, RunPoint
from dockfmu.campaign.sampling.distributions import Uniform
from dockfmu.campaign.sampling.draws import Draws
from dockfmu.options import RunOptions

ROOT = Path(__file__).parents[2]
VARY = [
    {"name": "initial_conditions.miss", "law": "disc", "radius": "0.2 m"},
    {"name": "initial_conditions.velocity[1]", "law": "uniform", "low": "0.06 m/s", "high": "0.15 m/s"},
]
MEASURES = {
    "force": {"signal": "mechanism.target.force_now"},
    "margin": {"signal": "mechanism.capture.margin", "kind": "min"},
}
TOLERANCE = 1e-5
"""Tolerance of step control in full dockings, as in the table `[adaptive]` of the system."""

COMPARED_S = 1.0
"""Simulated time over which the forces of FMPy's runs are compared with ours, s; later the couplings diverge."""


LONG_STEPS = ROOT / "docs/examples/atv_long_steps.toml"


def impacts(runs: int, stop: float, system: str | Path = "atv_probe_cone", **options: float) -> dict:
    return {"name": f"impact_{stop:g}", "system": str(system), "runs": runs, "seed": 1,
            "run": {"stop": stop} | options, "vary": VARY, "measures": MEASURES}  # fmt: skip


class NoRun:
    """An empty run in place of a Runner: it sleeps for `takes` seconds, and has the requested `peaks`."""

    def __init__(self, study: Study, expected: object = None) -> None:
        self.takes, self.peaks = study.settings["takes"], {name: [0.0] * 4 for name in study.settings["peaks"]}

    def run(self, point: RunPoint) -> dict:
        time.sleep(self.takes)
        return {"index": point.index, "status": "completed", "outcome": "done", "wall_s": max(self.takes, 1e-3),
                "peaks": self.peaks}  # fmt: skip

    def close(self) -> None:
        pass


def alone(campaign: Campaign, runs: int) -> float:
    """Return the seconds per run of a warm runner in this process, without the first run."""
    runner = Runner(campaign.study)
    runner.run(RunPoint(0))
    began = time.perf_counter()
    for index in range(runs):
        runner.run(RunPoint(index))
    taken = (time.perf_counter() - began) / runs
    runner.close()
    return taken


def loaded_anew(campaign: Campaign, runs: int) -> float:
    """Return the seconds per run with a new simulation for each, which is FMPy's pattern without a kept instance."""
    began = time.perf_counter()
    for index in range(runs):
        runner = Runner(campaign.study)
        runner._systems[()] = campaign.system
        runner.run(RunPoint(index))
        runner.close()
    return (time.perf_counter() - began) / runs


def on_workers(campaign: Campaign, workers: int, runs: int) -> tuple[float, list[float]]:
    """Return (seconds per run, MiB of client and workers at the end) of a cluster that has made runs before."""
    campaign.study = campaign.study.with_runs(runs)
    with open_session(campaign, ClusterOptions(workers)) as (data, cluster):
        list(cluster.run([RunPoint(index) for index in range(2 * workers)]))
        began = time.perf_counter()
        make_runs(data, cluster, runs)
        taken = (time.perf_counter() - began) / runs
        return taken, _residents(cluster)


def change_of_force(one: Campaign, other: Campaign) -> float:
    """Return the largest relative difference of the largest forces of two campaigns with the same draws.

    Raises AssertionError if the outcome of a run differs.
    """
    runs = [campaign.runs(["index", "outcome", "force"]).set_index("index").sort_index() for campaign in (one, other)]
    assert (runs[0]["outcome"] == runs[1]["outcome"]).all()
    return float((runs[1]["force"] / runs[0]["force"] - 1.0).abs().max())


def largest_difference(campaign: Campaign, forces: Sequence[float]) -> float:
    """Return the largest relative difference of these largest forces from those of the campaign's first runs."""
    runner = Runner(campaign.study)
    ours = [runner.run(RunPoint(index))["force"] for index in range(len(forces))]
    runner.close()
    return max(abs(theirs - mine) / mine for theirs, mine in zip(forces, ours, strict=True))


@dataclass(frozen=True)
class Empty:
    """Runs that compute nothing: wall and CPU seconds (of client and scheduler) per run, MiB early and at the end.

    Client, scheduler and nannies are one process, whose memory comes first, then those of the workers.
    """

    wall: float
    cpu: float
    before: list[float]
    after: list[float]


def empty(runs: int, workers: int, takes: float = 0.0, peaks: int = 0) -> Empty:
    """Make runs that sleep for `takes` seconds; the first tenth of them is not counted."""
    names = tuple(f"output_{k}" for k in range(peaks))
    study = Study(
        content={},
        folder=Path(),
        name="empty",
        description="",
        system="none",
        settings={"takes": takes, "peaks": names},
        parameters=(),
        swap={},
        draws=Draws((Uniform(("x",), (0.0,), (1.0,)),), runs=runs),
        options=RunOptions(),
        endings=(),
        measures=(),
        kept=Kept(peaks=bool(peaks)),
        time_limit=60.0,
        answers={},
    )
    columns = {"index": "whole", "status": "text", "outcome": "text", "reason": "text"}
    columns |= {f"peak_{part}": "numbers" for part in PEAKS} if peaks else {}
    with tempfile.TemporaryDirectory() as folder:
        data_set = DataSet(Path(folder) / "runs.parquet", columns, names)
        with data_set as data, Execution(study, {}, ClusterOptions(workers), NoRun) as cluster:
            make_runs(data, cluster, runs // 10)
            before = _residents(cluster)
            began, used = time.perf_counter(), time.process_time()
            make_runs(data, cluster, runs)
            wall, cpu = time.perf_counter() - began, time.process_time() - used
            return Empty(wall / (0.9 * runs), cpu / (0.9 * runs), before, _residents(cluster))


def _residents(cluster: Execution) -> list[float]:
    return [_resident(), *cluster._client.run(_resident).values()]


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _listed(memory: list[float]) -> str:
    return ", ".join(f"{mib:.0f}" for mib in memory)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--dockings", type=int, default=4)
    parser.add_argument("--empty", type=int, default=5000)
    parser.add_argument("--many", type=int, default=16, help="workers whose scheduler is measured")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args([] if __name__ != "__main__" else None)
    lines = [machine(), "", "| what | measured | |", "|---|---:|---|"]
    # before this process has loaded any FMU
    quick = empty(arguments.empty, 2)
    many = empty(60 * arguments.many, arguments.many, 0.2, 331)
    with tempfile.TemporaryDirectory() as folder:
        impact = Campaign(impacts(arguments.runs, 15.0), Path(folder) / "impact")
        warm, fresh = alone(impact, arguments.runs), loaded_anew(impact, max(3, arguments.runs // 10))
        one, _ = on_workers(impact, 1, arguments.runs)
        two = Campaign(impacts(arguments.runs, 15.0), Path(folder) / "two")
        both, memory = on_workers(two, 2, 2 * arguments.runs)
        docking = Campaign(impacts(arguments.dockings, 600.0), Path(folder) / "docking")
        whole, _ = on_workers(docking, 2, arguments.dockings)
        stepped = Campaign(impacts(arguments.dockings, 600.0, adaptive=TOLERANCE), Path(folder) / "stepped")
        controlled, _ = on_workers(stepped, 2, arguments.dockings)
        change = change_of_force(docking, stepped)
        long = Campaign(impacts(arguments.dockings, 600.0, LONG_STEPS, adaptive=TOLERANCE), Path(folder) / "long")
        longer, _ = on_workers(long, 2, arguments.dockings)
        change_of_long = change_of_force(docking, long)
        unpacked, starts = fmpy_campaign.prepare(impact, max(2, arguments.runs // 4), 1e-3, Path(folder))
        peer, _ = fmpy_campaign.time_runs(unpacked, starts, 1e-3, 15.0, 2)
        beginning = Campaign(impacts(len(starts), COMPARED_S), Path(folder) / "beginning")
        _, forces = fmpy_campaign.time_runs(unpacked, starts, 1e-3, COMPARED_S, 2)
        apart = largest_difference(beginning, forces)
    lines += [
        f"| impact phase, 15 s, warm, in one process | {1e3 * warm:.0f} ms | {arguments.runs} runs |",
        f"| the same, simulation made anew for each run | {1e3 * fresh:.0f} ms | {fresh / warm:.2f} times |",
        f"| campaign, one worker | {1e3 * one:.0f} ms | {1e3 * (one - warm):+.0f} ms a run |",
        f"| campaign, two workers | {1e3 * both:.0f} ms | {one / both:.2f} times one worker |",
        f"| 10,000 impact phases on two workers, extrapolated | {both * 1e4 / 60:.1f} min | |",
        f"| full docking, two workers | {whole:.2f} s | {arguments.dockings} runs |",
        f"| 1,000 full dockings on two workers, extrapolated | {whole * 1e3 / 60:.0f} min | |",
        f"| the same with step control, `adaptive = {TOLERANCE:g}` | {controlled:.2f} s | same outcomes, largest "
        f"forces to {change:.1%} |",
        f"| 1,000 of these, extrapolated | {controlled * 1e3 / 60:.1f} min | |",
        f"| with steps of 1 ms and longer, `docs/examples/{LONG_STEPS.name}` | {longer:.2f} s | same outcomes, largest "
        f"forces to {change_of_long:.2%} |",
        f"| 1,000 of these, extrapolated | {longer * 1e3 / 60:.1f} min | |",
        f"| FMPy's container under `dask.bag`, two processes | {1e3 * peer:.0f} ms | {peer / both:.1f} times ours |",
        f"| largest relative difference of its largest forces from ours, first {COMPARED_S:g} s | {apart:.2%} | "
        f"{len(forces)} runs |",
        f"| empty run, two workers | {1e3 * quick.wall:.2f} ms | {arguments.empty} runs |",
        f"| client and scheduler for each empty run | {1e3 * quick.cpu:.2f} ms | {quick.cpu / quick.wall:.0%} of one "
        "core |",
        f"| memory of client with scheduler, and of workers, from a tenth of the empty runs to all | "
        f"{_listed(quick.before)} to {_listed(quick.after)} MiB | |",
        f"| runs of 200 ms with 331 peaks, {arguments.many} workers | {1e3 * many.wall:.1f} ms | "
        f"{0.2 / arguments.many / many.wall:.0%} of the ideal rate |",
        f"| client and scheduler for each of them | {1e3 * many.cpu:.2f} ms | {many.cpu / many.wall:.0%} of one core |",
        f"| memory of client and workers after impacts | {_listed(memory)} MiB | |",
    ]
    text = "\n".join(lines)
    print(text)
    if arguments.write:
        replace_table(
            ROOT / arguments.write if not arguments.write.is_absolute() else arguments.write, "campaign", text
        )


if __name__ == "__main__":
    main()
