"""`python -m fmus.check FILE.fmu ... [--report FILE.md]`: findings, and a report of all that was checked."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fmus.check import examine
from fmus.check.memory import check_memory
from fmus.check.report import write_report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fmus.check", description="Check FMUs of FMI 2.0.")
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
        chosen.report.write_text(write_report(results), encoding="utf-8")
        print(chosen.report)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
