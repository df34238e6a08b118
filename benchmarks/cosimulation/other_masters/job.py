"""The job of a runner and its answer. Runners use their own environments, so this needs the standard library only."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Connection(NamedTuple):
    source: str
    output: str
    target: str
    input: str
    type: str


@dataclass(frozen=True)
class Job:
    """A system and how far to run it: `steps` macro steps of `step` seconds, FMUs in the order of `files`.

    `start` has the values to set before initialisation, `observed` the outputs whose values at the end are requested,
    ("element", "variable"); `ssp` is the same system as a package, `folder` a place for files. Everything is repeated
    `repetitions` times.
    """

    name: str
    files: Mapping[str, str]
    start: Mapping[str, Mapping[str, Any]]
    connections: tuple[Connection, ...]
    observed: tuple[tuple[str, str], ...]
    step: float
    steps: int
    ssp: str
    folder: str
    repetitions: int = 1

    @property
    def stop(self) -> float:
        return self.step * self.steps


class Stopwatch:
    """Wall-clock time since the stopwatch was created."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self._began


def best(job: Job, run: Callable[[Job], tuple[float, list[float]]]) -> tuple[float, list[float]]:
    """Return the shortest time of the repetitions, and the values, which are equal in all of them."""
    found = [run(job) for _ in range(job.repetitions)]
    return min(seconds for seconds, _ in found), found[0][1]


def answer(run: Callable[[Job], tuple[float, list[float]]]) -> None:
    """Read the job named on the command line, run it, and print the answer: seconds of all steps, and values."""
    content = json.loads(Path(sys.argv[1]).read_text())
    content["connections"] = tuple(Connection(*entry) for entry in content["connections"])
    content["observed"] = tuple(map(tuple, content["observed"]))
    job = Job(**content)
    seconds, values = best(job, run)
    print("\nANSWER " + json.dumps({"seconds": seconds, "values": values}), flush=True)
