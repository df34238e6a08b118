"""Run the command `dockfmu`, in this process or in a separate one."""

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from dockfmu.cli import main
from dockfmu.master.observers.recording.results import Results, read_results


@dataclass(frozen=True)
class Run:
    """Files and output of a run of the command."""

    summary: dict
    results: Results
    folder: Path

    def time(self, event: str) -> float:
        """Return the time of the first event of that name, s."""
        return next(entry["t"] for entry in self.summary["events"] if entry["name"] == event)


def dockfmu(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Run `dockfmu ARGUMENTS` in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "dockfmu", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=600,
    )


def run_system(folder: Path, *arguments: object, cwd: Path | None = None, statuses: Sequence[int] = (0, 3)) -> Run:
    """Run `dockfmu run ARGUMENTS --json` in this process; results are in `folder`, and a bad exit status fails."""
    shown, told = io.StringIO(), io.StringIO()
    with chdir(cwd or Path.cwd()), redirect_stdout(shown), redirect_stderr(told):
        status = status_of("run", *arguments, "--json", "-o", folder)
    assert status in statuses, told.getvalue()
    return Run(json.loads(shown.getvalue()), read_results(folder / "results.h5"), folder)


def status_of(*arguments: object) -> int:
    """Return the exit status of `dockfmu ARGUMENTS` in this process."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return int(end.code or 0)
