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


def _parts(file: Path, name: str) -> tuple[str, str, str]:
    """Return a document before, between and after the two marks of this name. Raises ValueError if it has none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = file.read_text().partition(begin)
    text, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{file} has no place for the table {name}: {begin} and {end}")
    return before + begin, text, end + after


def table_rows(file: Path, name: str) -> dict[str, str]:
    """Return the lines of a table by their first cells, without its head. Raises ValueError as `replace_table`."""
    lines = [line for line in _parts(file, name)[1].splitlines() if line.startswith("|")]
    return {line.split("|")[1].strip(): line for line in lines[2:]}


def replace_table(file: Path, name: str, text: str) -> None:
    """Put the text between the two marks of this name in a document. Raises ValueError if it has none."""
    before, _, after = _parts(file, name)
    file.write_text(f"{before}\n{text}\n{after}")
