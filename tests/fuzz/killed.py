"""Runs that are killed or interrupted at random moments, read and resumed.

    python -m tests.fuzz.killed FIRST COUNT [SYSTEM STOP]

runs the system once to its end, by default 20 s of a docking, and then again for each seed from FIRST on, with SIGKILL
or SIGINT at a random moment after its recording has begun. What is left must be rows of the undisturbed run, bitwise,
and a checkpoint must lead to its end. Prints a line for each seed that fails.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.master.observers.recording.results import Results, read_results
from dockfmu.report.files import CHECKPOINT
from tests.fuzz.seeds import try_seeds


def command(system: str, stop: str, folder: Path, *more: object) -> list[str]:
    """Return the command of a run."""
    # an interrupted run ends with a row wherever it is: every row is compared with one of the undisturbed run
    words = ["run", system, "--stop", stop, "--every", 1, "--no-report", "-o", folder, *more]
    return [sys.executable, "-m", "dockfmu", *map(str, words)]


def differing(whole: Results, file: Path) -> str:
    """Return what of a recording is not in the undisturbed one; empty if all of it is, bitwise."""
    with read_results(file) as part:
        if not np.isin(part.time, whole.time).all():
            return "it has times of its own"
        at = np.searchsorted(whole.time, part.time)
        names = [n for n in part.variables if not np.array_equal(whole[n][at], part[n], equal_nan=True)]
        return f"{len(names)} variables differ, such as {names[0]}" if names else ""


def trial(whole: Results, system: str, stop: str, longest: float, folder: Path, seed: int) -> tuple[list[str], str]:
    """End a run at a random moment, within `longest` s of the start of its recording; return failures and it."""
    rng = random.Random(seed)
    number, after = rng.choice([signal.SIGKILL, signal.SIGINT]), rng.uniform(0.0, longest)
    file, failures = folder / "results.h5", []
    journal = file.with_name(f"{file.name}.journal")
    with subprocess.Popen(
        command(system, stop, folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        while process.poll() is None and not file.exists():
            time.sleep(0.005)
        time.sleep(after)
        process.send_signal(number)
        said, _ = process.communicate(timeout=120)
    changed = f"{number.name} after {after:.3f} s"
    if "Traceback" in said:
        failures.append(said[-500:])
    try:
        failures += filter(None, [differing(whole, file)])
    except DockfmuError as error:
        # killed before its first rows were written, a recording has none; an interruption is orderly at any time
        if number != signal.SIGKILL or journal.exists():
            failures.append(f"its recording is lost: {error}")
    if (folder / CHECKPOINT).is_file():
        more = command(system, stop, folder, "--resume", folder / CHECKPOINT)
        done = subprocess.run(more, capture_output=True, text=True, check=False)
        # it may have been at its end
        if "Traceback" in done.stderr or done.returncode == 1:
            failures.append(f"it does not go on: {done.stderr[-500:]}")
        elif difference := differing(whole, file):
            failures.append(f"resumed: {difference}")
        with read_results(file) as resumed:
            if resumed.time[-1] != whole.time[-1]:
                failures.append(f"resumed, it ends at {resumed.time[-1]} s")
    return failures, changed


def run(first: int, count: int, system: str = "soyuz_probe_cone_v3", stop: str = "20") -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        subprocess.run(command(system, stop, place / "first"), capture_output=True, check=False)
        begun = time.monotonic()
        subprocess.run(command(system, stop, place / "whole"), capture_output=True, check=False)
        longest = time.monotonic() - begun
        with read_results(place / "whole" / "results.h5") as whole:
            return try_seeds(first, count, place, lambda folder, k: trial(whole, system, stop, longest, folder, k))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5])))
