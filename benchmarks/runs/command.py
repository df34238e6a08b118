"""Where the time of `dockfmu run` goes: from the start of the process to its end, the second run, wall clock and CPU.

`python -m benchmarks command [SYSTEM]` runs the command several times in separate processes and prints the median of
each part. CPU time is meaningful on a busy machine too, and counts all threads of the process.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

MODULES = ("dockfmu.cli", "dockfmu.record", "dockfmu.system", "lxml.etree")
"""Modules that a run imports before its first step; here they are imported before anything else."""

PARTS = {
    "system, FMUs and SSP from the cache": "dockfmu.system:System.load",
    "FMUs unpacked, instantiated": "dockfmu.master.run.instances:instantiate",
    "FMUs initialised": "dockfmu.master.run.initialisation:Initialisation.run",
    "tables and code of the loop": "dockfmu.master.run.session:Session.__init__",
    "observers, recording opened": "dockfmu.master.run.session:Session.begin",
    "steps": "dockfmu.master.run.stepping:FixedSteps.advance",
    "rows to observers, recording": "dockfmu.master.run.session:Session._deliver",
    "end of the run, summary": "dockfmu.master.run.simulation:Running.__exit__",
    "report, with its imports": "dockfmu.record:_report",
}
"""Parts of a run, by the function that does it; time in the function of another part counts there."""

START_UP = ("interpreter", "imports", *tuple(PARTS)[:5], "else")


class Stopwatch:
    """Time of parts, wall clock and CPU, each without the other parts nested in it."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self._within: list[list[float]] = [[0.0, 0.0]]

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.perf_counter(), time.process_time()
        self._within.append([0.0, 0.0])
        try:
            yield
        finally:
            took = time.perf_counter() - began[0], time.process_time() - began[1]
            inner, sums = self._within.pop(), self.seconds.setdefault(name, [0.0, 0.0])
            for k in range(2):
                sums[k] += took[k] - inner[k]
                self._within[-1][k] += took[k]

    def watch(self, name: str, place: str) -> None:
        """Count the time in a function as part of a named part."""
        module, _, path = place.partition(":")
        owner: Any = functools.reduce(getattr, path.split(".")[:-1], sys.modules[module])
        function: Callable[..., Any] = getattr(owner, path.split(".")[-1])

        @functools.wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.part(name):
                return function(*arguments, **options)

        raw = vars(owner)[path.split(".")[-1]]
        setattr(
            owner, path.split(".")[-1], staticmethod(timed) if isinstance(raw, classmethod | staticmethod) else timed
        )


def measure(system: str, folder: str, began: float) -> None:
    """Run the command in this process, which began at a given time of the clock, and print the times as JSON."""
    watch = Stopwatch()
    watch.seconds["interpreter"] = [time.perf_counter() - began, time.process_time()]
    with watch.part("imports"):
        for module in MODULES:
            __import__(module)
    for name, place in PARTS.items():
        watch.watch(name, place)
    from dockfmu.cli import main

    with watch.part("else"), Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        status = main(["run", system, "-o", folder])
    print(json.dumps([status, watch.seconds, time.perf_counter()]))


def _once(system: str, folder: str) -> dict[str, list[float]]:
    code = f"import benchmarks.runs.command as c; c.measure({system!r}, {folder!r}, {time.perf_counter()!r})"
    # users have bytecode files: without them, imports take twice as long
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    status, seconds, end = json.loads(done.stdout)
    assert status in (0, 3), done.stderr
    seconds["exit"] = [time.perf_counter() - end, 0.0]
    return dict(seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", nargs="?", default="atv_probe_cone")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _once(chosen.system, folder)
        rounds = [_once(chosen.system, folder) for _ in range(chosen.rounds)]
    names = ("interpreter", "imports", *PARTS, "else", "exit")
    times = {
        name: [statistics.median(found.get(name, [0.0, 0.0])[k] for found in rounds) for k in range(2)]
        for name in names
    }
    print(f"{'dockfmu run ' + chosen.system + ', s':45s}{'wall':>8s}{'CPU':>8s}")
    for name, (wall, cpu) in times.items():
        print(f"{name:45s}{wall:8.2f}{cpu:8.2f}")
    for name, parts in (("start-up to the first step", START_UP), ("all", names)):
        wall, cpu = (sum(times[part][k] for part in parts) for k in range(2))
        print(f"{name:45s}{wall:8.2f}{cpu:8.2f}")


if __name__ == "__main__":
    main()
