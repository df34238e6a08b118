"""Ratio of the CPU times of whole runs in this checkout and in another one, alternated on the same machine.

`python -m benchmarks checkouts FOLDER [--systems NAME ...] [--rounds N]`. FOLDER is a checkout with its own environment
in `.venv`. Each round runs each system once in both, in turns that change; everything is built before. Ratios of one
round share the load of the machine, so their median is steadier than the times. Other work only adds to a time, so the
ratio of the least times is shown beside it: where the two differ, the machine was too busy to tell.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.page import machine

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = ("atv_probe_cone", "expert_peripheral_5t")

RUN = """
import json, sys, time
import dockfmu
system = dockfmu.load(sys.argv[1])
start = time.process_time()
summary = system.record(sys.argv[2], report=False).summary
print(json.dumps([time.process_time() - start, summary["macro_steps"]]))
"""


def microseconds(checkout: Path, system: str) -> float:
    """Return the CPU time of a recorded and audited run in a checkout, per macro step, us."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(checkout / ".venv/bin/python"), "-c", RUN, system, folder]
        done = subprocess.run(words, cwd=checkout, check=True, capture_output=True, text=True)
    seconds, steps = json.loads(done.stdout.splitlines()[-1])
    return 1e6 * seconds / steps


def compare(other: Path, system: str, rounds: int) -> tuple[float, float, float, float]:
    """Return the medians of the other times, of the own ones and of their ratios, and the ratio of the least times."""
    pairs = []
    for k in range(-1, rounds):
        order = (other, ROOT) if k % 2 == 0 else (ROOT, other)
        found = {checkout: microseconds(checkout, system) for checkout in order}
        # the first round builds what is not built yet
        if k >= 0:
            pairs.append((found[other], found[ROOT], found[ROOT] / found[other]))
    others, own, ratios = zip(*pairs, strict=True)
    return statistics.median(others), statistics.median(own), statistics.median(ratios), min(own) / min(others)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks checkouts", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", help="folder of the other checkout")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(sys.argv[1:])
    if options.other is None:
        print("name the folder of another checkout to compare with: python -m benchmarks checkouts FOLDER")
        return
    print(f"{machine()}\n\n{'CPU, us per macro step':28s}{'other':>10s}{'this':>10s}{'ratio':>8s}{'least':>8s}")
    for system in options.systems:
        before, now, ratio, least = compare(options.other.resolve(), system, options.rounds)
        print(f"{system:28s}{before:10.2f}{now:10.2f}{ratio:8.3f}{least:8.3f}", flush=True)


if __name__ == "__main__":
    main()
