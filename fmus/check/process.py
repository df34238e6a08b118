"""Run the checks of behaviour in a separate process, so that a crash or a hang of the FMU becomes a finding."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dockfmu.base.platforms import this_platform
from dockfmu.base.processes import python_command, with_temporary_files_in
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.check import behaviour, dependencies, instances, states
from dockfmu.fmus.check.findings import Finding, error, warning
from dockfmu.fmus.check.subject import Subject
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu

TIME_LIMIT = 600.0

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    behaviour.check_guid,
    behaviour.check_start,
    behaviour.check_readable,
    behaviour.check_settable,
    behaviour.check_initial_outputs,
    behaviour.check_determinism,
    behaviour.check_state,
    behaviour.check_step_size,
    states.check_state_machine,
    states.check_reset,
    dependencies.check_dependencies,
    dependencies.check_initial_dependencies,
    dependencies.check_derivatives,
    instances.check_many_instances,
    instances.check_threads,
)
OF_FMI2 = (states.check_state_machine,)
"""Checks of functions that FMI 3.0 does not have, or under other rules."""

_WORKER = "from dockfmu.fmus.check.process import work; work()"
_ESSENTIAL = (behaviour.check_guid, behaviour.check_start)


def run_checks(path: Path, report: Callable[[dict[str, Any]], None]) -> None:
    """Run all checks in this process; call `report` with each check that begins and with each finding."""
    try:
        description = read_description(path)
        platform = this_platform(description.fmi_version)
        if platform not in description.binaries:
            nothing = warning(path.name, "binaries/", f"there is no library for {platform}", "Nothing was run")
            report({"finding": asdict(nothing)})
            return
        with Fmu(path) as fmu:
            subject = Subject(fmu)
            for check in CHECKS:
                if subject.version != "2" and check in OF_FMI2:
                    continue
                report({"check": check.__name__})
                found = []
                try:
                    for finding in check(subject):
                        found.append(finding)
                        report({"finding": asdict(finding)})
                except MasterError as fault:
                    found.append(error(subject.file, check.__name__, str(fault), "See the message of the FMU"))
                    report({"finding": asdict(found[-1])})
                if check in _ESSENTIAL and any(finding.severity == "error" for finding in found):
                    return
    except MasterError as fault:
        report({"finding": asdict(error(path.name, "", str(fault), "Export the FMU again"))})


def check_in_process(path: Path) -> dict[str, list[Finding]]:
    """Return the findings about the FMU at `path` by the name of the check, from "loading" to the last one begun."""
    found: dict[str, list[Finding]] = {"loading": []}
    check, advice = "loading", "Run it under a debugger"
    try:
        # an FMU that ends the process leaves what was unpacked
        with TemporaryFolder("validate") as folder:
            done = subprocess.run(
                python_command("-c", _WORKER, str(path.absolute())),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIME_LIMIT,
                check=False,
                env=with_temporary_files_in(folder),
            )
    except subprocess.TimeoutExpired:
        text = f"the FMU has not finished its checks after {TIME_LIMIT:g} s"
        return {"loading": [error(path.name, "", text, advice)]}
    for line in done.stdout.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue  # the FMU writes to standard output
        if not isinstance(message, dict):
            continue
        check = message.get("check", check)
        found.setdefault(check, [])
        if "finding" in message:
            found[check].append(Finding(**message["finding"]))
    if done.returncode:
        what = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        last = done.stderr.strip().splitlines()[-1:] or [""]
        found[check].append(
            error(path.name, check, f"the process that ran the FMU ended with {what} {last[0]}".strip(), advice)
        )
    return found


def work() -> None:
    """Run the checks of the FMU named on the command line; print a line of JSON for each check and each finding."""
    run_checks(Path(sys.argv[1]), lambda message: print(json.dumps(message), flush=True))
