"""Campaigns whose parent or workers are killed at random moments, and that go on until they are done.

    python -m tests.fuzz.killed_campaigns FIRST COUNT CAMPAIGN.toml

makes the campaign once to its end, and then again for each seed from FIRST on: up to three times SIGKILL reaches, at a
random moment, the parent, in which the scheduler runs, with all it started; the parent alone; or one process that it
started: a nanny, a worker, or the process of an FMU. A parent that ended is started again in its folder. In the end
each row is there once, equal to that of the undisturbed campaign. Prints a line for each seed that fails.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import psutil

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.dataset import read_runs
from tests.fuzz.seeds import try_seeds

UNEQUAL = ("wall_s", "host", "pid", "attempts")
"""What a repeated run may have otherwise."""


def begun(campaign: Path, folder: Path) -> subprocess.Popen[str]:
    """Start a campaign, or go on with it."""
    words = ["campaign", campaign, "-o", folder, "--workers", 2, "--no-answers"]
    command = [sys.executable, "-m", "dockfmu", *map(str, words)]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "said.txt").open("a") as said:
        return subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def kill(process: psutil.Process) -> None:
    """Kill a process, which may have ended by itself."""
    with suppress(psutil.NoSuchProcess):
        process.kill()


def strike(parent: subprocess.Popen[str], rng: random.Random) -> str:
    """Kill what the seed chooses; return its name."""
    with suppress(psutil.NoSuchProcess):
        # Python's tracker of shared resources is spared: what replaces it prints a traceback for each of them
        started = [
            process
            for process in psutil.Process(parent.pid).children(recursive=True)
            if "resource_tracker" not in " ".join(process.cmdline())
        ]
        victim = rng.choice(["all", "parent", "child", "child"])
        if victim == "child" and started:
            chosen = rng.choice(sorted(started, key=lambda process: process.pid))
            kill(chosen)
            return "child"
        parent.send_signal(signal.SIGKILL)
        if victim == "all":
            for process in started:
                kill(process)
        parent.wait()
        return victim
    return "none"


def rows(folder: Path) -> pd.DataFrame:
    """Return the rows of a campaign by index, without what a repeated run may have otherwise."""
    table = read_runs(folder / "runs.parquet")
    return table.drop(columns=[name for name in UNEQUAL if name in table.columns])


def trial(campaign: Path, whole: pd.DataFrame, took: float, folder: Path, seed: int) -> tuple[list[str], str]:
    """Kill parts of a campaign and go on with it; return failures, and what was killed."""
    rng = random.Random(seed)
    changed = []
    process = begun(campaign, folder / "out")
    for _ in range(rng.randint(1, 3)):
        after = rng.uniform(0.0, took)
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        if process.poll() is None:
            changed.append(f"{strike(process, rng)} after {after:.1f} s")
        if process.poll() is not None:
            # workers notice that their parent has gone
            time.sleep(rng.uniform(0.0, 2.0))
            process = begun(campaign, folder / "out")
    status = process.wait(10.0 * took + 300.0)
    if status:
        status = begun(campaign, folder / "out").wait(10.0 * took + 300.0)
    failures = []
    said = (folder / "said.txt").read_text()
    if "Traceback" in said:
        failures.append(said[-800:])
    if status:
        failures.append(f"status {status}: {said[-300:]}")
    try:
        found = rows(folder / "out")
    except DockfmuError as error:
        return [*failures, f"its rows are lost: {error}"], ", ".join(changed)
    if found["index"].tolist() != whole["index"].tolist():
        failures.append(f"rows {found['index'].tolist()}")
    elif not found[whole.columns].equals(whole):
        names = [name for name in whole.columns if not found[name].equals(whole[name])]
        failures.append(f"columns differ: {names}, {found[names].iloc[0].tolist()} {whole[names].iloc[0].tolist()}")
    return failures, ", ".join(changed)


def run(first: int, count: int, campaign: str) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    file = Path(campaign).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        begun(file, place / "first" / "out").wait()
        start = time.monotonic()
        begun(file, place / "whole" / "out").wait()
        took = time.monotonic() - start
        whole = rows(place / "whole" / "out")
        print(f"{len(whole)} rows in {took:.0f} s, {whole['status'].value_counts().to_dict()}", flush=True)
        return try_seeds(first, count, place, lambda folder, seed: trial(file, whole, took, folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
