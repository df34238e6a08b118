"""Tables of benchmarks in the pages of the documentation."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def machine() -> str:
    """Return day, processor, load and Python in one line."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    load = os.getloadavg()[0]
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    return f"{day}, {os.cpu_count()} cores of {model}, load {load:.1f}, Python {platform.python_version()}"


def replace_table(file: Path, name: str, text: str) -> None:
    """Put the text between the two marks of this name in a document. Raises ValueError if it has none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = file.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{file} has no place for the table {name}: {begin} and {end}")
    file.write_text(f"{before}{begin}\n{text}\n{end}{after}")
