"""Runs of whole systems through the command line, each done once for the tests of a file."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from master.observers.recorder import Results, read_results


@dataclass(frozen=True)
class Run:
    """What a run of the command left."""

    summary: dict
    results: Results
    folder: Path

    def time(self, event: str) -> float:
        """Time of the first event of that name, s."""
        return next(entry["t"] for entry in self.summary["events"] if entry["name"] == event)


def dockfmu(*arguments: object) -> subprocess.CompletedProcess:
    """`dockfmu ARGUMENTS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "dockfmu", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def run_system(folder: Path, *arguments: object) -> Run:
    """`dockfmu run ARGUMENTS --json`, with its results in `folder`; fails with what the command said."""
    done = dockfmu("run", *arguments, "--json", "-o", folder)
    assert done.returncode == 0, done.stderr
    return Run(json.loads(done.stdout), read_results(folder / "results.h5"), folder)


@pytest.fixture(scope="session")
def atv(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("atv"), "atv_probe_cone")


@pytest.fixture(scope="session")
def central_impact(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("central"), "central_impact_20t")
