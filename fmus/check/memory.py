"""Check of memory: whole life cycles of instances, in a C program under valgrind."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from dockfmu.base.platforms import this_platform
from dockfmu.fmus.check.findings import Finding, error
from dockfmu.fmus.check.importer.experiment import experiment_for
from dockfmu.fmus.check.importer.program import RunError, run
from dockfmu.fmus.toolchain.zig import LinkError
from dockfmu.master.fmi.description import read_description

VALGRIND = (
    "valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all",
    "--errors-for-leak-kinds=all",
)  # fmt: skip
CYCLES, STEPS = 3, 20


def check_memory(path: Path) -> list[Finding] | None:
    """Check for invalid accesses, use of uninitialised memory, and leaks.

    Returns None without valgrind, or if a program without Python cannot run the FMU on this platform.
    """
    description = read_description(path)
    if (
        shutil.which("valgrind") is None
        or description.needs_execution_tool
        or this_platform() not in description.binaries
    ):
        return None
    for amplitude in (1e-2, 0.0):
        experiment = experiment_for(description, amplitude, STEPS)
        try:
            # without valgrind first: an FMU that does not run has no fault of memory
            run(path, experiment)
            run(path, experiment, cycles=CYCLES, wrapper=VALGRIND)
            return []
        except (RunError, LinkError, subprocess.TimeoutExpired) as fault:
            failure = str(fault)
        if "==" in failure:
            break
    lines = [line.split("== ")[-1].strip() for line in failure.splitlines() if "==" in line] or [failure]
    return [error(f"binaries/{this_platform()}", "valgrind", "; ".join(lines[:6]), "Run the importer under valgrind")]
