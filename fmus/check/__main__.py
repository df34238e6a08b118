"""`python -m dockfmu.fmus.check FILE.fmu ... [--report FILE.md]`: print findings, and write a conformance report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dockfmu.fmus.check import behaviour, dependencies, examine, instances, states
from dockfmu.fmus.check.findings import write_report
from dockfmu.fmus.check.memory import check_memory
from dockfmu.fmus.check.process import CHECKS

_STAGES = {
    "archive": "The archive can be unpacked: no path leads out of it, no link, no entities in its XML",
    "description": "The model description follows the schema and the rules of sections 2.2 and 4.3, and is consistent",
    "libraries": "The libraries export all functions and need only what is on every machine",
    "loading": "The library for this platform can be loaded",
}
_SECTIONS = {behaviour: "4.2", states: "4.2.4", dependencies: "2.2.8, 4.2.1", instances: "4.3.1"}


def listed_checks() -> dict[str, tuple[str, str]]:
    """Return (what it checks, section of FMI 2.0) for the key of each check, in the order in which checks are run."""
    sections = {module.__name__: section for module, section in _SECTIONS.items()}
    behaviour_checks = {check.__name__: (_summary(check), sections[check.__module__]) for check in CHECKS}
    stages = {key: (text, "2") for key, text in _STAGES.items()}
    return stages | behaviour_checks | {check_memory.__name__: (_summary(check_memory), "2.1.5")}


def _summary(function: object) -> str:
    first = (function.__doc__ or "").splitlines()[0].rstrip(".").removeprefix("Check ").removeprefix("that ")
    return first[:1].upper() + first[1:]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, by default those of the process; return 1 if any check found an error."""
    parser = argparse.ArgumentParser(prog="python -m dockfmu.fmus.check", description="Check FMUs of FMI 2.0 and 3.0.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.fmu")
    parser.add_argument("--report", type=Path, metavar="FILE.md", help="conformance report, with a check of memory")
    chosen = parser.parse_args(arguments)
    results, wrong = {}, False
    for file in chosen.files:
        results[file.name] = found = examine(file)
        if chosen.report and (memory := check_memory(file)) is not None:
            found["check_memory"] = memory
        for finding in (finding for findings in found.values() for finding in findings):
            wrong = wrong or finding.severity == "error"
            print(f"{file.name}: {finding}")
    if chosen.report:
        chosen.report.parent.mkdir(parents=True, exist_ok=True)
        chosen.report.write_text(write_report(listed_checks(), results), encoding="utf-8")
        print(chosen.report)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
